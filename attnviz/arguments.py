"""The words of a command line, and what they stand for: the settings of a link or of a file."""

from __future__ import annotations

import json
from pathlib import Path

from attnviz.engine.pretrained import model_registry
from attnviz.engine.records.config import Config
from attnviz.models import hosting
from attnviz.settings import url_codec
from attnviz.settings.faults import ConfigError, shorten
from attnviz.ui.session.selection import Selection

FAULTS = {
    "file": "{name} cannot be {done}: {why}",
    "saved": "{name} holds no settings; give a setting that was saved as a file",
}


def linked(link: str | None) -> tuple[Config, Selection, list[str]]:
    """Read a link or a file: its records, and the changes that were needed; the defaults without any."""
    if link is None:
        return Config(), Selection(), []
    if link.lower().endswith(".json") and "=" not in link:
        (config, selection), problems = url_codec.from_file(_saved(link), Config, Selection)
    else:
        (config, selection), problems = url_codec.open_link(link, Config, Selection)
    return config, selection, problems


def _saved(name: str) -> str:
    """Return the text of a file that holds settings.

    One that holds none is refused, where the page would use the defaults.
    """
    try:
        text = Path(name).read_text(encoding="utf-8-sig")
        is_setting = isinstance(json.loads(text, parse_int=str), dict)
    except OSError as error:
        raise unusable(name, "read", error) from None
    except (ValueError, RecursionError):
        is_setting = False
    if not is_setting:
        raise ConfigError(FAULTS["saved"].format(name=shorten(name, 120)))
    return text


def with_model(config: Config, must: bool) -> Config:
    """Return the setting, and offer the model that it names if that is installed. Raises ConfigError if it is not."""
    name = config.model.partition("~")[0]
    if name and name not in model_registry.MODELS:
        try:
            hosting.offer([name])
        except ConfigError:
            if must:
                raise
    if must and name and model_registry.find(config.model) is None:
        raise ConfigError(model_registry.unavailable(config.model))
    return config


def unusable(name: str, done: str, error: Exception) -> ConfigError:
    why = getattr(error, "strerror", None) or str(error)
    return ConfigError(FAULTS["file"].format(name=shorten(name, 120), done=done, why=why.lower()))
