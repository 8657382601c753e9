"""The values that the session holds for the widgets of a record's fields, by their keys."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import Field
from typing import Any

import streamlit as st

from attnviz.settings.fields import Changes, settings
from attnviz.settings.kinds import Number, Ordinal
from attnviz.settings.rows import Knob, KnobValue
from attnviz.settings.tuple_kinds import Knobs, Listed, Options, SerialisedTuple, Widths

MOVING = "_moving"
"""Of the session: the fields that move by themselves, and where each is; the records keep what they hold."""
MOST_STOPS = 256  # a slider with more stops than this cannot be set by hand


def show(*records: object, unlike: Sequence[object] = ()) -> dict[str, Any]:
    """Make the widgets show the records; must come before the widgets are drawn, or in a callback.

    Gives what each widget was told, by its key: all of them, or those in which the records differ from `unlike`.
    """
    values: dict[str, Any] = {}
    for number, record in enumerate(records):
        for item in settings(record):
            value = getattr(record, item.name)
            if not unlike or getattr(unlike[number], item.name) != value:
                values |= held_values(item, value)
    st.session_state.update(values)
    return values


def held_values(item: Field[Any], value: Any, prefix: str = "") -> dict[str, Any]:
    """Return the values of a field's widgets, by their keys; unparsable ones are left to the field."""
    match item.metadata["kind"]:
        case SerialisedTuple():
            return {}
        case Changes() as kind:
            others = {other.name: other for other in settings(kind.of)}
            values: dict[str, Any] = {item.name: [name for name, _ in value]}
            for name, text in value:
                with suppress(ValueError):
                    values |= held_values(others[name], others[name].metadata["kind"].read(text)[0], kind.prefix)
            return values
        case Knobs() as kind:
            numbers = dict(value)
            shown = {at: numbers.get(at, knob.default) for at, knob in kind.known.items()}
            return {knob_key(prefix + item.name, at): shown_knob(knob, shown[at]) for at, knob in kind.known.items()}
        case Listed() as kind:
            return {position_key(prefix + item.name, at): name for at, name in enumerate(each_position(kind, value))}
        case _:
            return {prefix + item.name: shown_value(item, value)}


def shown_value(item: Field[Any], value: Any) -> Any:
    """Return a field's value as its widget holds it."""
    match item.metadata["kind"]:
        case Options(empty=empty):
            return [name for name in value if name != empty]
        case Widths() as kind:
            return kind.write(value).replace(".", ", ").rstrip(" ")
        case Number() as kind if is_picked(kind):
            return kind.write(value)
        case Changes():
            return [name for name, _ in value]
        case Number() as kind if kind.none:
            return "" if value is None else kind.write(value)
        case _:
            return value


def start(key: str, otherwise: Any) -> Any:
    """Return the first value of a widget: the one that it holds already, or else `otherwise`.

    It is said in every run. A slow browser may have the second answer before it has drawn the first, and takes what is
    said there: a slider of which nothing is said starts at its lowest number.
    """
    value = st.session_state.get(key)
    return otherwise if value is None else value


def first_value(draft: object, item: Field[Any], key: str) -> Any:
    """Return the first value of a field's widget."""
    return start(key, shown_value(item, getattr(draft, item.name)))


def reset_invalid_choice(key: str, options: Sequence[str], otherwise: Any) -> None:
    """Have a list hold what it offers: a browser may still say the words of the language before."""
    value = st.session_state.get(key)
    if value is not None and not {*(value if isinstance(value, list) else [value])} <= {*options}:
        st.session_state[key] = otherwise


def knob_key(key: str, at: str) -> str:
    """Return the key of the widget of one knob."""
    return f"{key}.{at}"


def shown_knob(knob: Knob, value: KnobValue) -> KnobValue | str:
    """Return a knob's value as its widget holds it."""
    return ", ".join(f"{each:g}" for each in (value if isinstance(value, tuple) else (value,))) if knob.heads else value


def position_key(key: str, position: int) -> str:
    """Return the key of the widget for one position of a list."""
    return f"{key}.{position}"


def each_position(kind: Listed, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return a name for every position there can be: the last one repeats."""
    return (*names, *(names[-1],) * (kind.most - len(names)))


def is_picked(kind: Number) -> bool:
    """Return whether a number is picked from a list: it depends on others, may be None, or is a position."""
    is_listed = kind.none is not None or isinstance(kind, Ordinal)
    return kind.offered is not None or (is_listed and kind.integer and kind.high - kind.low < MOST_STOPS)
