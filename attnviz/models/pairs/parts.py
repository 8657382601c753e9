"""The parts of a model with an encoder and a decoder, and which of them is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

PARTS = ("encoder", "decoder", "cross", "both")
"""The encoder; of the decoder its attention to its own text, that to the encoder's, and all of its steps."""

FAULTS = Words(
    {
        "target": "target is a second text, for the decoder of a model that has an encoder as well; this one has not "
        "both",
        "no_parts": "part chooses between an encoder and a decoder, and this model has not both; leave it out",
        "second": "{part} needs a second text, that of the decoder: model(text, target)",
        "part": "part is {given}; this model has {parts}",
        "free": "{name} can be chosen for the encoder and for the whole decoder; leave it out, or choose "
        "part='encoder' or 'both'",
    }
)


def asked(has_decoder: bool, target: str | None, part: str | None, changed: Sequence[str]) -> str:
    """Return the part of a model that is asked for.

    changed  the names of what else is to be other than it is

    Raises ConfigError for a part that there is not, for a decoder without its text, and for one of its two kinds of
    attention alone with anything changed.
    """
    if not has_decoder and (target is not None or part is not None):
        raise ConfigError(FAULTS["no_parts" if target is None else "target"])
    part = part or ("encoder" if target is None else "cross")
    if part not in PARTS:
        raise ConfigError(FAULTS["part"].format(given=shorten(part), parts=", ".join(PARTS)))
    if part != "encoder" and target is None:
        raise ConfigError(FAULTS["second"].format(part=part))
    if part in ("decoder", "cross") and changed:
        raise ConfigError(FAULTS["free"].format(name=changed[0]))
    return part
