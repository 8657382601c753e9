"""The values that a kind of field allows, in words."""

from __future__ import annotations

import difflib

from attnviz.settings.fields import Changes, Kind
from attnviz.settings.kinds import Named, Number, Option, Switch, Text
from attnviz.settings.language import translate
from attnviz.settings.tuple_kinds import Knobs, Listed, Options, SerialisedTuple, Widths

MOST_NAMED, FEW = 16, 3
"""Names that a sentence lists; of longer tables only the few that look most like what was given."""


def allowed(kind: Kind, given: str) -> str:
    """Return what a field may hold, to stand after “choose”; of a long table the names most like what was given."""
    match kind:
        case Number():
            return kind.range
        case Switch():
            return translate("yes or no")
        case Option() | Options() | Listed():
            return _named(list(kind.table), given)
        case Widths():
            return translate("{low} to {high}, once or for each head", low=kind.low, high=kind.high)
        case Named():
            names = ", ".join(kind.offered()) or "minilm~53aa5117"
            return translate("a name, such as {names}", names=names)
        case SerialisedTuple() | Knobs() | Changes():
            return translate("as a link that was copied has it")
        case Text():
            return translate("at most {n:,} characters", n=kind.longest)


def _named(names: list[str], given: str) -> str:
    if len(names) <= MOST_NAMED:
        return translate("from {names}", names=", ".join(names))
    near = difflib.get_close_matches(given[:40], names, FEW, cutoff=0.5) or names[:FEW]
    return translate("from {n} names, such as {names}", n=len(names), names=", ".join(near))
