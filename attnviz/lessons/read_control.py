"""The reader of what can be tried on a slide: the table [slides.control] of a lesson file.

`measures` names what is printed, `paint = true` lets the mask be painted, and `moves` are inline tables, each with a
label and either `field` and `stops`, a slider over the numbers of one setting, or `choices`, each with a label and a
`change`, a `fault`, or `turned = true`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attnviz.lessons.control import WITHOUT_FAULT, Control, ControlChoice, ControlMove
from attnviz.lessons.faults import FAULTS
from attnviz.lessons.inert_markdown import inert
from attnviz.settings.faults import ConfigError, shorten

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
    entries = _checked(table, "control", where)
    moves = entries.get("moves", [])
    measures = entries.get("measures", [])
    if not measures or not all(isinstance(name, str) for name in measures):
        raise ConfigError(f"{where} measures nothing; give measures, a list of names")
    if not moves and not entries.get("paint"):
        raise ConfigError(f"{where} moves nothing; give moves, or paint = true")
    if len(moves) > MOST_MOVES:
        raise ConfigError(f"{where} has {len(moves)} moves; at most {MOST_MOVES} fit")
    return Control(
        measures=tuple(measures),
        moves=tuple(_move(each, f"move {n} of {where}", read_change) for n, each in enumerate(moves, 1)),
        paint=entries.get("paint", False),
    )


def _move(table: Any, where: str, read_change: ChangeReader) -> ControlMove:
    entries = _checked(table, "move", where)
    name, stops, choices = entries.get("field"), entries.get("stops", []), entries.get("choices", [])
    if "label" not in entries or (name is None) == (not choices) or not 2 <= len(stops or choices) <= MOST_CHOICES:
        raise ConfigError(
            f"{where} has to have a label, and either a field and its stops, or choices; from 2 to {MOST_CHOICES}"
        )
    if name is not None:
        if not all(isinstance(stop, int | float) for stop in stops):
            raise ConfigError(f"the stops of {where} are {shorten(stops)}, and have to be numbers")
        numbers = (ControlChoice(f"{stop:g}", read_change({name: stop}, where)) for stop in stops)
        return ControlMove(inert(entries["label"]), tuple(numbers), is_slider=True)
    return ControlMove(inert(entries["label"]), tuple(_choice(each, where, read_change) for each in choices))


def _choice(table: Any, where: str, read_change: ChangeReader) -> ControlChoice:
    entries = _checked(table, "choice", f"a choice of {where}")
    fault = entries.get("fault", "")
    if "label" not in entries or fault not in {"", WITHOUT_FAULT, *FAULTS}:
        raise ConfigError(
            f"a choice of {where} has to have a label; its fault may be {WITHOUT_FAULT}, {', '.join(FAULTS)}"
        )
    change = read_change(entries.get("change", {}), where)
    return ControlChoice(inert(entries["label"]), change, fault, entries.get("turned", False))


def _checked(table: Any, kind: str, where: str) -> Mapping[str, Any]:
    keys = _KEYS[kind]
    if not isinstance(table, dict):
        raise ConfigError(f"{where} is {shorten(table)}; write a table of {', '.join(keys)}")
    for key, value in table.items():
        if key not in keys:
            raise ConfigError(f"{where} has a {shorten(key)}; there are {', '.join(keys)}")
        if type(value) is not keys[key]:
            raise ConfigError(f"{key} of {where} is {shorten(value)}, and has to be a TOML {keys[key].__name__}")
    return table
