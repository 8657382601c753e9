"""The reader of what can be tried on a slide: the table [slides.control] of a lesson file.

`measures` names what is printed, `paint = true` lets the mask be painted, and `moves` are inline tables, each with a
label and either `field` and `stops`, a slider over the numbers of one setting, or `choices`, each with a label and a
`change`, a `fault`, or `turned = true`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attnviz.lessons.checked_table import checked
from attnviz.lessons.control import WITHOUT_FAULT, Control, ControlChoice, ControlMove
from attnviz.lessons.faults import FAULTS
from attnviz.lessons.inert_markdown import inert
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

WORDS = Words(
    {
        "move": "move {n} of {where}",
        "choice": "a choice of {where}",
        "measures": "{where} measures nothing; give measures, a list of names",
        "moves": "{where} moves nothing; give moves, or paint = true",
        "many": "{where} has {n} moves; at most {most} fit",
        "parts": "{where} has to have a label, and either a field and its stops, or choices; from 2 to {most}",
        "stops": "the stops of {where} are {given}, and have to be numbers",
        "choice_parts": "{where} has to have a label; its fault may be {allowed}",
    }
)

ChangeReader = Callable[[Any, str], dict[str, Any]]
"""A reader of changes to the setting, with the position for a fault."""

MOST_MOVES, MOST_CHOICES = 3, 12
_KEYS: dict[str, dict[str, type]] = {
    "control": {"measures": list, "moves": list, "paint": bool},
    "move": {"label": str, "field": str, "stops": list, "choices": list},
    "choice": {"label": str, "change": dict, "fault": str, "turned": bool},
}


def read_control(table: Any, where: str, read_change: ChangeReader) -> Control:
    """Return the control that a table holds.

    Raises ConfigError, with the position, for an unknown key, another type, or too much of it.
    """
    entries = checked(table, _KEYS["control"], where)
    moves = entries.get("moves", [])
    measures = entries.get("measures", [])
    if not measures or not all(isinstance(name, str) for name in measures):
        raise ConfigError(WORDS["measures"].format(where=where))
    if not moves and not entries.get("paint"):
        raise ConfigError(WORDS["moves"].format(where=where))
    if len(moves) > MOST_MOVES:
        raise ConfigError(WORDS["many"].format(where=where, n=len(moves), most=MOST_MOVES))
    return Control(
        measures=tuple(measures),
        moves=tuple(
            _move(each, WORDS["move"].format(n=n, where=where), read_change) for n, each in enumerate(moves, 1)
        ),
        paint=entries.get("paint", False),
    )


def _move(table: Any, where: str, read_change: ChangeReader) -> ControlMove:
    entries = checked(table, _KEYS["move"], where)
    name, stops, choices = entries.get("field"), entries.get("stops", []), entries.get("choices", [])
    if "label" not in entries or (name is None) == (not choices) or not 2 <= len(stops or choices) <= MOST_CHOICES:
        raise ConfigError(WORDS["parts"].format(where=where, most=MOST_CHOICES))
    if name is not None:
        if not all(isinstance(stop, int | float) and not isinstance(stop, bool) for stop in stops):
            raise ConfigError(WORDS["stops"].format(where=where, given=shorten(stops)))
        numbers = (ControlChoice(f"{stop:g}", read_change({name: stop}, where)) for stop in stops)
        return ControlMove(inert(entries["label"]), tuple(numbers), is_slider=True)
    return ControlMove(inert(entries["label"]), tuple(_choice(each, where, read_change) for each in choices))


def _choice(table: Any, where: str, read_change: ChangeReader) -> ControlChoice:
    position = WORDS["choice"].format(where=where)
    entries = checked(table, _KEYS["choice"], position)
    fault = entries.get("fault", "")
    if "label" not in entries or fault not in {"", WITHOUT_FAULT, *FAULTS}:
        allowed = ", ".join((WITHOUT_FAULT, *FAULTS))
        raise ConfigError(WORDS["choice_parts"].format(where=position, allowed=allowed))
    change = read_change(entries.get("change", {}), where)
    return ControlChoice(inert(entries["label"]), change, fault, entries.get("turned", False))
