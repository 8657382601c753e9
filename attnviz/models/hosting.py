"""The models that a host offers: opened when the process starts, from what its owner says and never from a visitor."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from attnviz.engine.pretrained.model_registry import MODELS
from attnviz.engine.records.offered_models import FORMER
from attnviz.models import boxed
from attnviz.models.model import Model, load
from attnviz.models.safetensors import Tensors
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

VARIABLE, TOKENS = "ATTNVIZ_MODELS", "ATTNVIZ_MODEL_TOKENS"
MOST_TOKENS, MOST_ALLOWED = 32, 1024
"""Tokens of a sentence that a host allows if it says nothing, and at most."""

FAULTS = Words(
    {
        "name": "the model's name is {given}; give up to 24 lower-case letters, digits, _ and -, as in tiny=/srv/tiny",
        "unknown": "there is no model {given} to install; name its folder, as in {name}=/srv/{name}, or choose one of: "
        "{known}",
        "model": "the model {name}: {error}",
        "images": "it reads images as {n} tokens, and a sentence may have {most} here; let {variable} say {n} or more, "
        "up to {allowed}",
        "tokens": "{variable} is {given}; choose 2 to {most}",
    }
)


def offer(written: Iterable[str], most_tokens: str = "") -> None:
    """Open models and offer them: `minilm` is one that is installed, `tiny=/srv/tiny` a folder under a name.

    Raises ConfigError, in one sentence, for one that cannot be opened; then none is offered.
    """
    limit = _limit(most_tokens)
    models = dict(_opened(each.strip()) for each in written if each.strip())
    for name, model in models.items():
        model.limit = limit
        if model.n_patches >= limit:
            fault = {"n": model.n_patches + 1, "most": limit, "variable": TOKENS, "allowed": MOST_ALLOWED}
            raise ConfigError(FAULTS["model"].format(name=name, error=FAULTS["images"].format(**fault)))
        _ = model.digest, model.sizes  # read now, not when the first visitor comes
    FORMER.update({name: _former(name, model) for name, model in models.items()})
    MODELS.update(models)


def offer_those_in_the_package() -> None:
    """Offer the models in the package, but those whose name a host has given to another. Raises ConfigError."""
    for name in boxed.NAMES:
        if name not in MODELS:
            model = load(name)
            _ = model.digest, model.sizes
            FORMER[name] = _former(name, model)
            MODELS.setdefault(name, model)


def offer_those_of_the_environment(environment: Mapping[str, str] = os.environ) -> None:
    """Offer what ATTNVIZ_MODELS lists, separated as folders in PATH are. Raises ConfigError as `offer`."""
    offer(environment.get(VARIABLE, "").split(os.pathsep), environment.get(TOKENS, ""))


def _former(name: str, model: Model) -> tuple[str, ...]:
    """Return the digests that the model of this name in the package had before; none for a host's own."""
    card = boxed.card_of(model.digest)
    return tuple(each[:8] for each in card.get("former", ())) if card and card["name"] == name else ()


def _opened(written: str) -> tuple[str, Model]:
    name, _, folder = written.partition("=")
    if not re.fullmatch(r"[a-z0-9_-]{1,24}", name):
        raise ConfigError(FAULTS["name"].format(given=shorten(name)))
    try:
        place = boxed.folder_of(folder or _installed(name))
        model = load(place)
        Tensors(place).check_finite()
        return name, model
    except ConfigError as error:
        if not folder:
            raise
        raise ConfigError(FAULTS["model"].format(name=name, error=error)) from None


def _installed(name: str) -> Path:
    """Return the folder of a model that is in the package or installed."""
    if name in boxed.NAMES:
        return boxed.folder_of(name)
    if name not in boxed.PACKAGES:
        known = ", ".join([*boxed.NAMES, *boxed.PACKAGES])
        raise ConfigError(FAULTS["unknown"].format(given=shorten(name), name=name, known=known))
    return boxed.installed(name)


def _limit(written: str) -> int:
    if not written:
        return MOST_TOKENS
    n = int(written) if written.isascii() and written.isdecimal() and len(written) < 6 else 0
    if not 2 <= n <= MOST_ALLOWED:
        raise ConfigError(FAULTS["tokens"].format(variable=TOKENS, given=shorten(written), most=MOST_ALLOWED))
    return n
