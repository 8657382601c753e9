"""The picture that is pinned: the link holds its setting, and the browser asks for the stages of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from attnviz.engine.records import offered_models
from attnviz.engine.records.config import Config
from attnviz.settings import url_codec
from attnviz.settings.language import Words, sign
from attnviz.ui.hosting import public_address
from attnviz.ui.session.notices import notice
from attnviz.ui.session.selection import Selection

SEEN = ("layer", "shown", "specials", "colours", "from_query", "from_key")
"""The part of a selection that the pinned picture is of, as the present one is."""
WORDS = Words({"fault": "What the link pins cannot be shown: {why}"})


def address(selection: Selection, follow: Mapping[str, Any] | None) -> str | None:
    """Return where the stages of what is pinned are, below the address of the page; None where nothing is.

    follow  how the stages of other settings are asked for, as `held_fields.of_run` has it
    """
    if not selection.pinned or follow is None:
        return None
    values = dict(parse_qsl(selection.pinned))
    written = values.get("model", "")
    (config,), problems = url_codec.decode(values | {"model": offered_models.present(written)}, Config)
    if problems:
        notice(WORDS["fault"].format(why=sign(" ").join(problems)), kind="fault")
        return None
    if config.model != written:  # which the decoding then says
        notice(*url_codec.decode({"model": written}, Config)[1])
    seen = replace(Selection(), **{name: getattr(selection, name) for name in SEEN})
    beside = {name: follow["setting"][name] for name in ("lang", public_address.EDITION)}
    return f"{follow['address']}?{urlencode(url_codec.encode(config, seen) | beside)}"
