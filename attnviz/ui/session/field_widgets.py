"""A widget for each kind of field, drawn from the field and the value that the record holds.

Knows the kinds of fields and no field by name. What is typed and cannot be read leaves the field as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field
from typing import Any

import streamlit as st

from attnviz.settings.counting import ordinal
from attnviz.settings.fields import settings, snap_to_valid
from attnviz.settings.kinds import Named, Number, Option, Switch, Text
from attnviz.settings.language import translate
from attnviz.settings.plain_text import clean
from attnviz.settings.rows import KnobValue
from attnviz.settings.tuple_kinds import Knobs, Listed, Options, Widths, read_knob
from attnviz.text.format.cell_number import in_language
from attnviz.ui.session.widget_values import (
    MOST_STOPS,
    MOVING,
    each_position,
    first_value,
    is_picked,
    knob_key,
    position_key,
    reset_invalid_choice,
    shown_knob,
    shown_value,
    start,
)

_EACH = "{low} to {high}, once or for each head: 4, 3, 2"


def draw_field(
    draft: object, item: Field[Any], prefix: str, empty: str = "", moved: Callable[[str], None] | None = None
) -> Any:
    """Draw the widget of one field here, and return what the field then holds.

    prefix  stands before its key;  empty  what a list says of which nothing is chosen; empty for the field's own word
    moved   is called with the name of a number or a text that a visitor has changed, before the next run
    """
    kind = item.metadata["kind"]
    make: Callable[..., Any]
    match kind:
        case Text():
            make = _text
        case Switch():
            make = _switch
        case Option():
            make = _option
        case Options():
            make = _options
        case Named():
            make = _named
        case Listed():
            make = _listed
        case Knobs():
            make = _knobs
        case Number() if is_picked(kind):
            make = _pick
        case Widths() | Number() if isinstance(kind, Widths) or kind.none:
            make = _typed
        case Number(stops=stops) if stops:
            make = _stops
        case _:
            make = _number
    label, help = translate(item.metadata["label"]), translate(item.metadata["help"])
    named: dict[str, Any] = {"placeholder": empty} if empty and isinstance(kind, Options) else {}
    if moved and isinstance(kind, Number | Knobs | Text):
        named |= {"on_change": moved, "args": (item.name,)}
    common = {"label": label, "key": prefix + item.name, "help": help or None} | named
    moving = st.session_state.get(MOVING, {})
    return _follow(moving, draft, item, make, common) if common["key"] in moving else make(draft, item, kind, common)


def _follow(
    moving: Mapping[str, Any], draft: object, item: Field[Any], make: Callable[..., Any], common: dict[str, Any]
) -> Any:
    """Show where a field is that moves by itself, in a widget that takes no other number; return what it holds."""
    key = f"{MOVING}-{common['key']}"
    st.session_state[key] = shown_value(item, moving[common["key"]])
    make(draft, item, item.metadata["kind"], common | {"key": key, "disabled": True})
    return getattr(draft, item.name)


def moved_to(draft: object, item: Field[Any]) -> Any:
    """Return what the widget of a number or a text holds, as the field does; for a callback, where none is drawn.

    Raises ValueError for a field in which numbers are typed: what is wrong with them is said beside it.
    """
    kind = item.metadata["kind"]
    if isinstance(kind, Knobs):
        row = kind.rows[getattr(draft, kind.of)]
        if any(knob.heads for knob in row.knobs):
            raise ValueError(item.name)
        names = [f"{row.name}.{knob.name}" for knob in row.knobs]
        held = {at: st.session_state[knob_key(item.name, at)] for at in names}
        return kind.check(dict(getattr(draft, item.name)) | held)
    if isinstance(kind, Text):
        return clean(st.session_state[item.name] or "", kind.lines)
    if is_picked(kind):
        return kind.read(st.session_state[item.name])[0]
    if kind.none:
        raise ValueError(item.name)
    return st.session_state[item.name]


def _text(draft: object, item: Field[Any], kind: Text, common: dict[str, Any]) -> str:
    common |= {"max_chars": kind.longest, "value": first_value(draft, item, common["key"])}
    typed = st.text_input(**common) if kind.lines == 1 else st.text_area(height=max(68, 28 * kind.lines), **common)
    return clean(typed or "", kind.lines)


def _switch(draft: object, item: Field[Any], kind: Switch, common: dict[str, Any]) -> bool:
    return st.toggle(value=first_value(draft, item, common["key"]), **common)


def _option(draft: object, item: Field[Any], kind: Option, common: dict[str, Any]) -> str:
    names = list(kind.table)
    reset_invalid_choice(common["key"], names, getattr(draft, item.name))
    value = first_value(draft, item, common["key"])
    common |= {"index": names.index(value), "help": _explained(item, [value])}
    return st.selectbox(options=names, format_func=lambda name: kind.table[name].label, **common)


def _named(draft: object, item: Field[Any], kind: Named, common: dict[str, Any]) -> str:
    """Draw a list of what this host has; a name that it has not is kept, and said to be missing."""
    value = getattr(draft, item.name)
    names = list(dict.fromkeys(("", *kind.offered(), value)))
    reset_invalid_choice(common["key"], names, value)
    at = names.index(first_value(draft, item, common["key"]))

    def worded(name: str) -> str:
        if not name:
            return translate("None: made here")
        short = name.partition("~")[0]
        is_here = name in kind.offered() or (
            name == short and any(each.startswith(f"{name}~") for each in kind.offered())
        )
        return short if is_here else translate("{name} (not here)", name=short)

    return st.selectbox(options=names, index=at, format_func=worded, **common)


def _options(draft: object, item: Field[Any], kind: Options, common: dict[str, Any]) -> tuple[str, ...]:
    names = [name for name in kind.table if name != kind.empty]
    reset_invalid_choice(common["key"], names, shown_value(item, getattr(draft, item.name)))
    value = first_value(draft, item, common["key"])
    common |= {"default": value, "help": _explained(item, value)}
    chosen = st.multiselect(
        options=names,
        format_func=lambda name: kind.table[name].label,
        select_all=False,
        **{"placeholder": kind.table[kind.empty].label} | common,
    )
    return kind.check(chosen)


def _listed(draft: object, item: Field[Any], kind: Listed, common: dict[str, Any]) -> tuple[str, ...]:
    """Draw a list to pick from for each thing that a row is named for; names beyond them are kept."""
    values = {each.name: getattr(draft, each.name) for each in settings(draft)}
    present, options = each_position(kind, getattr(draft, item.name)), list(kind.table)
    n = min(kind.each(values), kind.most)
    chosen = []
    for position in range(n):
        key = position_key(common["key"], position)
        reset_invalid_choice(key, options, present[position])
        label = f"{common['label']} {ordinal(position)}" if n > 1 else common["label"]
        name = start(key, present[position])
        help, at = _explained(item, [name]), options.index(name)
        chosen.append(
            st.selectbox(label, options, at, format_func=lambda name: kind.table[name].label, key=key, help=help)
        )
    return kind.check([*chosen, *getattr(draft, item.name)[n:]])


def _knobs(draft: object, item: Field[Any], kind: Knobs, common: dict[str, Any]) -> tuple[tuple[str, KnobValue], ...]:
    """Draw a slider for each knob of the chosen row, or a field where every head may have a number of its own."""
    knobs = dict(getattr(draft, item.name))
    row = kind.rows[getattr(draft, kind.of)]
    moved = {name: common[name] for name in ("on_change", "args") if name in common}
    for knob in row.knobs:
        at = f"{row.name}.{knob.name}"
        key, now = knob_key(common["key"], at), knobs.get(at, knob.default)
        if not knob.heads:
            range = (float(knob.low), float(knob.high))
            knobs[at] = st.slider(knob.label, *range, start(key, now), float(knob.step), key=key, **moved)
            continue
        typed = st.text_input(knob.label, start(key, shown_knob(knob, now)), key=key)
        try:
            knobs[at], problem = read_knob(knob, typed or "", kind.most)
        except ValueError:
            problem = "unreadable"
        if problem:  # in our own words, as with other typed numbers
            choice = translate(_EACH, low=f"{knob.low:g}", high=f"{knob.high:g}")
            used = shown_knob(knob, knobs.get(at, knob.default))
            st.caption(translate("Choose {choice}. Used now: {value}", choice=choice, value=used))
    return kind.check(knobs)


def _explained(item: Field[Any], names: list[str] | tuple[str, ...]) -> str | None:
    """Draw the field's help, and the note of every row that is chosen."""
    table = item.metadata["kind"].table
    notes = [f"**{table[name].label}.** {table[name].note}".rstrip() for name in names if name in table]
    return "\n\n".join(filter(None, [translate(item.metadata["help"]), *notes])) or None


def _typed(draft: object, item: Field[Any], kind: Number | Widths, common: dict[str, Any]) -> Any:
    """Draw a field for what no slider can hold: several numbers, or one that may be left empty.

    A number field of Streamlit's own goes back to what it started from when it is emptied, and None could not be set.
    """
    empty = kind.none if isinstance(kind, Number) else None
    common["value"] = first_value(draft, item, common["key"])
    typed = (st.text_input(placeholder=empty, **common) or "").strip()
    try:
        value, problem = (None, None) if empty and not typed else kind.read(typed)
    except ValueError:
        value, problem = getattr(draft, item.name), "unreadable"
    if problem:  # in our own words: a caption is markdown, so what was typed must not enter it
        each = {} if isinstance(kind, Number) else {"low": kind.low, "high": kind.high}
        choice = kind.range if isinstance(kind, Number) else translate(_EACH, **each)
        st.caption(
            translate("Choose {choice}. Used now: {value}", choice=choice, value=shown_value(item, value) or empty)
        )
    return value


def _pick(draft: object, item: Field[Any], kind: Number, common: dict[str, Any]) -> int | float | None:
    """Draw a list of the numbers that fit the rest of the draft; one that no longer does becomes the nearest below."""
    values = {other.name: getattr(draft, other.name) for other in settings(draft)}
    offered = kind.offered(values) if kind.offered else kind.values
    words = [*(["auto"] if kind.none else []), *map(kind.write, offered)]
    fitting = kind.write(snap_to_valid(type(draft), values)[0][item.name])
    value = st.session_state.get(common["key"])
    at = words.index(value if value in words else fitting)
    chosen = st.selectbox(options=words, index=at, format_func=lambda word: _worded(kind, word), **common)
    return kind.read(chosen or words[at])[0]


def _worded(kind: Number, word: str) -> str:
    return kind.none or word if word == "auto" else word


def _stops(draft: object, item: Field[Any], kind: Number, common: dict[str, Any]) -> int | float:
    """Draw a slider over the stops, and over a value between two of them that came from a link."""
    value = first_value(draft, item, common["key"])
    stops = stops_of(kind, value)
    words = str if kind.integer else _short
    return st.select_slider(options=stops, value=value, format_func=words, **common)


def stops_of(kind: Number, value: float) -> list[float]:
    """Return the numbers that a slider stops at where it stands at one of them, or between two."""
    return sorted({*kind.stops, value})


def _short(number: float) -> str:
    """Return a number of any size as the page writes it: −1e9."""
    return in_language(f"{number:g}".replace("e+0", "e").replace("e+", "e").replace("-", "−"))


def _number(draft: object, item: Field[Any], kind: Number, common: dict[str, Any]) -> int | float | None:
    kept = int if kind.integer else float
    value = first_value(draft, item, common["key"])
    common["value"] = kept(value if kind.low <= value <= kind.high else getattr(draft, item.name))
    common |= {"min_value": kept(kind.low), "max_value": kept(kind.high), "step": kept(kind.step)}
    common["format"] = None if kind.integer else "%g"
    if (kind.high - kind.low) / kind.step < MOST_STOPS:
        return st.slider(**common)
    return st.number_input(**common)
