"""A record's fields as widgets, and the record that they then say.

Knows the kinds of fields and no field by name. The record is the truth and widgets are views of it: one that is not
drawn leaves its field as it was, and one that is drawn for the first time starts from the record.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import Field, replace
from typing import Any, TypeVar

import streamlit as st

from attnviz.settings import url_codec
from attnviz.settings.fields import (
    Changes,
    Knobs,
    Listed,
    Named,
    Number,
    Option,
    Options,
    SerialisedTuple,
    Switch,
    Text,
    Widths,
    conditional_fields,
    read_knob,
    relevant_fields,
    settings,
    snap_to_valid,
)
from attnviz.settings.language import translate
from attnviz.settings.plain_text import clean
from attnviz.settings.rows import Knob, KnobValue

_NONE = "none"
_EACH = "{low} to {high}, once or for each head: 4, 3, 2"
_MOST_STOPS = 256  # a slider with more stops than this cannot be set by hand

Record = TypeVar("Record")


def draw(record: Record, *names: str, group: str | None = None, skip: tuple[str, ...] = (), prefix: str = "") -> Record:
    """Draw the named fields, or those of a group, or all, here; the record as the widgets now say it.

    Only fields that matter under the present choices are drawn. The fields may be spread over several calls, so the
    result is a draft whose fields have not been held against each other: give the last one to `checked`. `prefix`
    tells the widgets of a second record from those of the first.
    """
    items = {item.name: item for item in settings(record)}
    in_group = [name for name, item in items.items() if group in (None, item.metadata["group"])]
    draft = copy.copy(record)
    asked = [name for name in names or in_group if name not in skip]
    live = _wanted(draft, prefix) if conditional_fields(record) & {*asked} else _drawable(record)
    for name in asked:
        if name in live:
            object.__setattr__(draft, name, _widget(draft, items[name], prefix))
    return draft


def fold(record: Record, group: str, *, skip: tuple[str, ...] = ()) -> Record:
    """Draw the fields of a group behind its heading, while that is open; the record as they now say it.

    What is folded away costs nothing. When it is closed it is drawn once more, as a value may have come with the
    closing; when it is opened, its widgets start from the record.
    """
    seen = f"_open-{group}"
    before = st.session_state.get(seen)
    box = st.expander(translate(group), key=f"group-{group}", on_change="rerun")
    if box.open and before is False:
        _forget(record, group)
    if box.open or before:
        with box:
            record = draw(record, group=group, skip=skip)
    st.session_state[seen] = box.open
    return record


def _forget(record: object, group: str) -> None:
    """Let go of what the session holds for the widgets of a group."""
    items = [item for item in settings(record) if item.metadata["group"] == group]
    keys = {key for item in items for key in _held(item, getattr(record, item.name))}
    for key in keys & {*st.session_state}:
        del st.session_state[key]


def fitting(draft: Record) -> Record:
    """The draft, each number that does not go with the others moved to the nearest below that does, as its list does
    where that is drawn."""
    values, _ = snap_to_valid(type(draft), {item.name: getattr(draft, item.name) for item in settings(draft)})
    for name, value in values.items():
        object.__setattr__(draft, name, value)
    return draft


def live(draft: object) -> tuple[str, ...]:
    """The fields that matter under the choices that the widgets hold."""
    return _wanted(draft)


def _wanted(draft: object, prefix: str = "") -> tuple[str, ...]:
    """The fields that matter under the choices that the widgets hold, also those that are drawn further down."""
    foreseen = copy.copy(draft)
    for item in settings(draft):
        kind, held = item.metadata["kind"], st.session_state.get(prefix + item.name)
        if isinstance(kind, Options) and held is not None:
            object.__setattr__(foreseen, item.name, kind.check([name for name in held if name in kind.table]))
        elif isinstance(kind, Option) and held in kind.table:
            object.__setattr__(foreseen, item.name, held)
    drawable = _drawable(draft)
    return tuple(name for name in relevant_fields(foreseen) if name in drawable)


def _drawable(record: object) -> list[str]:
    """The fields that have a widget: a name has one where there is something to choose."""
    return [item.name for item in settings(record) if _has_widget(item.metadata["kind"], getattr(record, item.name))]


def _has_widget(kind: Any, value: Any) -> bool:
    if isinstance(kind, Named):
        return bool(value or kind.offered())
    return not isinstance(kind, (SerialisedTuple, Changes))


def checked(draft: Record) -> Record:
    """The draft as a record of its own right.

    Raises ConfigError if its fields do not go together; the widgets keep what was typed.
    """
    return replace(draft)  # type: ignore[type-var]


def longest(cls: type[Any], prefix: str = "") -> dict[str, int]:
    """Return the most characters that the text fields of a record hold, by their keys."""
    kinds = {prefix + item.name: item.metadata["kind"] for item in settings(cls)}
    return {name: kind.longest for name, kind in kinds.items() if isinstance(kind, Text)}


def groups(record: object, skip: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The groups that have something to draw under the present choices, in the record's order."""
    live = _wanted(record)
    return tuple(
        dict.fromkeys(
            item.metadata["group"] for item in settings(record) if item.name in live and item.name not in skip
        )
    )


def show(*records: object, unlike: Sequence[object] = ()) -> dict[str, Any]:
    """Make the widgets show the records; must come before the widgets are drawn, or in a callback.

    Gives what each widget was told, by its key: all of them, or those in which the records differ from `unlike`.
    """
    held: dict[str, Any] = {}
    for number, record in enumerate(records):
        for item in settings(record):
            value = getattr(record, item.name)
            if not unlike or getattr(unlike[number], item.name) != value:
                held |= _held(item, value)
    st.session_state.update(held)
    return held


def _held(item: Field[Any], value: Any, prefix: str = "") -> dict[str, Any]:
    """Return the values of a field's widgets, by their keys; unparsable ones are left to the field."""
    match item.metadata["kind"]:
        case SerialisedTuple():
            return {}
        case Changes() as kind:
            others = {other.name: other for other in settings(kind.of)}
            held: dict[str, Any] = {item.name: [name for name, _ in value]}
            for name, text in value:
                with suppress(ValueError):
                    held |= _held(others[name], others[name].metadata["kind"].read(text)[0], kind.prefix)
            return held
        case Knobs() as kind:
            numbers = dict(value)
            shown = {at: numbers.get(at, knob.default) for at, knob in kind.known.items()}
            return {_knob_key(prefix + item.name, at): _shown_knob(knob, shown[at]) for at, knob in kind.known.items()}
        case Listed() as kind:
            return {_place(prefix + item.name, at): name for at, name in enumerate(_each(kind, value))}
        case _:
            return {prefix + item.name: _shown(item, value)}


def _shown(item: Field[Any], value: Any) -> Any:
    """A field's value as its widget holds it."""
    match item.metadata["kind"]:
        case Options(empty=empty):
            return [name for name in value if name != empty]
        case Widths() as kind:
            return kind.write(value).replace(".", ", ").rstrip(" ")
        case Number() as kind if _picked(kind):
            return kind.write(value)
        case Changes():
            return [name for name, _ in value]
        case Number() as kind if kind.none:
            return "" if value is None else kind.write(value)
        case _:
            return value


def _widget(draft: object, item: Field[Any], prefix: str) -> Any:
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
        case Number() if _picked(kind):
            make = _pick
        case Widths() | Number() if isinstance(kind, Widths) or kind.none:
            make = _typed
        case Number(stops=stops) if stops:
            make = _stops
        case _:
            make = _number
    label, help = translate(item.metadata["label"]), translate(item.metadata["help"])
    return make(draft, item, kind, {"label": label, "key": prefix + item.name, "help": help or None})


def start(key: str, otherwise: Any) -> Any:
    """Return the first value of a widget: the one that it holds already, or else `otherwise`.

    It is said in every run. A slow browser may have the second answer before it has drawn the first, and takes what is
    said there: a slider of which nothing is said starts at its lowest number.
    """
    held = st.session_state.get(key)
    return otherwise if held is None else held


def _start(draft: object, item: Field[Any], key: str) -> Any:
    """Return the first value of a field's widget."""
    return start(key, _shown(item, getattr(draft, item.name)))


def reset_invalid_choice(key: str, options: Sequence[str], otherwise: Any) -> None:
    """Have a list hold what it offers: a browser may still say the words of the language before."""
    held = st.session_state.get(key)
    if held is not None and not {*(held if isinstance(held, list) else [held])} <= {*options}:
        st.session_state[key] = otherwise


def _text(draft: object, item: Field[Any], kind: Text, common: dict[str, Any]) -> str:
    common |= {"max_chars": kind.longest, "value": _start(draft, item, common["key"])}
    typed = st.text_input(**common) if kind.lines == 1 else st.text_area(height=max(68, 28 * kind.lines), **common)
    return clean(typed or "", kind.lines)


def _switch(draft: object, item: Field[Any], kind: Switch, common: dict[str, Any]) -> bool:
    return st.toggle(value=_start(draft, item, common["key"]), **common)


def _option(draft: object, item: Field[Any], kind: Option, common: dict[str, Any]) -> str:
    names = list(kind.table)
    reset_invalid_choice(common["key"], names, getattr(draft, item.name))
    held = _start(draft, item, common["key"])
    common |= {"index": names.index(held), "help": _explained(item, [held])}
    return st.selectbox(options=names, format_func=lambda name: kind.table[name].label, **common)


def _named(draft: object, item: Field[Any], kind: Named, common: dict[str, Any]) -> str:
    """A list of what this host has; a name that it has not is kept, and said to be missing."""
    held = getattr(draft, item.name)
    names = list(dict.fromkeys(("", *kind.offered(), held)))
    reset_invalid_choice(common["key"], names, held)
    at = names.index(_start(draft, item, common["key"]))

    def worded(name: str) -> str:
        if not name:
            return translate("None: made here")
        short = name.partition("~")[0]
        return short if name in kind.offered() else translate("{name} (not here)", name=short)

    return st.selectbox(options=names, index=at, format_func=worded, **common)


def _options(draft: object, item: Field[Any], kind: Options, common: dict[str, Any]) -> tuple[str, ...]:
    names = [name for name in kind.table if name != kind.empty]
    reset_invalid_choice(common["key"], names, _shown(item, getattr(draft, item.name)))
    held = _start(draft, item, common["key"])
    common |= {"default": held, "help": _explained(item, held)}
    chosen = st.multiselect(
        options=names,
        format_func=lambda name: kind.table[name].label,
        placeholder=kind.table[kind.empty].label,
        **common,
    )
    return kind.check(chosen)


def _listed(draft: object, item: Field[Any], kind: Listed, common: dict[str, Any]) -> tuple[str, ...]:
    """A list to pick from for each thing that a row is named for; names beyond them are kept."""
    values = {each.name: getattr(draft, each.name) for each in settings(draft)}
    held, options = _each(kind, getattr(draft, item.name)), list(kind.table)
    n = min(kind.each(values), kind.most)
    chosen = []
    for place in range(n):
        key = _place(common["key"], place)
        reset_invalid_choice(key, options, held[place])
        label = f"{common['label']} {place + 1}" if n > 1 else common["label"]
        name = start(key, held[place])
        help, at = _explained(item, [name]), options.index(name)
        chosen.append(
            st.selectbox(label, options, at, format_func=lambda name: kind.table[name].label, key=key, help=help)
        )
    return kind.check([*chosen, *getattr(draft, item.name)[n:]])


def _knobs(draft: object, item: Field[Any], kind: Knobs, common: dict[str, Any]) -> tuple[tuple[str, KnobValue], ...]:
    """A slider for each knob of the row that is chosen, or a field where every head may have a number of its own."""
    held = dict(getattr(draft, item.name))
    row = kind.rows[getattr(draft, kind.of)]
    for knob in row.knobs:
        at = f"{row.name}.{knob.name}"
        key, now = _knob_key(common["key"], at), held.get(at, knob.default)
        if not knob.heads:
            value = start(key, now)
            held[at] = st.slider(knob.label, float(knob.low), float(knob.high), value, float(knob.step), key=key)
            continue
        typed = st.text_input(knob.label, start(key, _shown_knob(knob, now)), key=key)
        try:
            held[at], problem = read_knob(knob, typed or "", kind.most)
        except ValueError:
            problem = "unreadable"
        if problem:  # in our own words, as with other typed numbers
            choice = translate(_EACH, low=f"{knob.low:g}", high=f"{knob.high:g}")
            used = _shown_knob(knob, held.get(at, knob.default))
            st.caption(translate("Choose {choice}. Used now: {value}", choice=choice, value=used))
    return kind.check(held)


def _knob_key(key: str, at: str) -> str:
    """The key of the widget of one knob."""
    return f"{key}.{at}"


def _shown_knob(knob: Knob, value: KnobValue) -> KnobValue | str:
    """A knob's value as its widget holds it."""
    return ", ".join(f"{each:g}" for each in (value if isinstance(value, tuple) else (value,))) if knob.heads else value


def _place(key: str, place: int) -> str:
    """The key of the widget for one place of a list."""
    return f"{key}.{place}"


def _each(kind: Listed, names: tuple[str, ...]) -> tuple[str, ...]:
    """A name for every place there can be: the last one repeats."""
    return (*names, *(names[-1],) * (kind.most - len(names)))


def _explained(item: Field[Any], names: list[str] | tuple[str, ...]) -> str | None:
    """The field's help, and the note of every row that is chosen."""
    table = item.metadata["kind"].table
    notes = [f"**{table[name].label}.** {table[name].note}".rstrip() for name in names if name in table]
    return "\n\n".join(filter(None, [translate(item.metadata["help"]), *notes])) or None


def _typed(draft: object, item: Field[Any], kind: Number | Widths, common: dict[str, Any]) -> Any:
    """A field for what no slider can hold: several numbers, or one that may be left empty.

    A number field of Streamlit's own goes back to what it started from when it is emptied, and None could not be set.
    """
    empty = kind.none if isinstance(kind, Number) else None
    common["value"] = _start(draft, item, common["key"])
    typed = (st.text_input(placeholder=empty, **common) or "").strip()
    try:
        value, problem = (None, None) if empty and not typed else kind.read(typed)
    except ValueError:
        value, problem = getattr(draft, item.name), "unreadable"
    if problem:  # in our own words: a caption is markdown, so what was typed must not enter it
        each = {} if isinstance(kind, Number) else {"low": kind.low, "high": kind.high}
        choice = kind.range if isinstance(kind, Number) else translate(_EACH, **each)
        st.caption(translate("Choose {choice}. Used now: {value}", choice=choice, value=_shown(item, value) or empty))
    return value


def _picked(kind: Number) -> bool:
    """Return whether a number is picked from a list: it depends on others, or may be None."""
    return kind.offered is not None or (kind.none is not None and kind.integer and kind.high - kind.low < _MOST_STOPS)


def _pick(draft: object, item: Field[Any], kind: Number, common: dict[str, Any]) -> int | float | None:
    """A list of the numbers that go with the rest of the draft; for one that no longer does, the nearest below."""
    values = {other.name: getattr(draft, other.name) for other in settings(draft)}
    offered = kind.offered(values) if kind.offered else range(int(kind.low), int(kind.high) + 1)
    words = [*(["auto"] if kind.none else []), *map(kind.write, offered)]
    fitting = kind.write(snap_to_valid(type(draft), values)[0][item.name])
    held = st.session_state.get(common["key"])
    at = words.index(held if held in words else fitting)
    chosen = st.selectbox(options=words, index=at, format_func=lambda word: _worded(kind, word), **common)
    return kind.read(chosen or words[at])[0]


def _worded(kind: Number, word: str) -> str:
    return kind.none or word if word == "auto" else word


def _stops(draft: object, item: Field[Any], kind: Number, common: dict[str, Any]) -> int | float:
    """A slider over the stops, and over a value between two of them that came from a link."""
    held = _start(draft, item, common["key"])
    stops = sorted({*kind.stops, held})
    words = str if kind.integer else _short
    return st.select_slider(options=stops, value=held, format_func=words, **common)


def _short(number: float) -> str:
    """A number of any size as the page writes it: −1e9."""
    return f"{number:g}".replace("e+0", "e").replace("e+", "e").replace("-", "−")


def _number(draft: object, item: Field[Any], kind: Number, common: dict[str, Any]) -> int | float | None:
    kept = int if kind.integer else float
    held = _start(draft, item, common["key"])
    common["value"] = kept(held if kind.low <= held <= kind.high else getattr(draft, item.name))
    common |= {"min_value": kept(kind.low), "max_value": kept(kind.high), "step": kept(kind.step)}
    common["format"] = None if kind.integer else "%g"
    if (kind.high - kind.low) / kind.step < _MOST_STOPS:
        return st.slider(**common)
    return st.number_input(**common)


def choose(record: Record, name: str, skip: Collection[str] = ()) -> Record:
    """Draw a field that names one row of a table as a line of buttons; the record as they now say it.

    `skip` are rows that are not offered here; the record must not hold one.
    """
    item = next(item for item in settings(record) if item.name == name)
    rows = {row: choice for row, choice in item.metadata["kind"].table.items() if row not in skip}
    reset_invalid_choice(name, list(rows), getattr(record, name))
    chosen = st.segmented_control(
        translate(item.metadata["label"]),
        list(rows),
        format_func=lambda row: rows[row].label,
        key=name,
        default=_start(record, item, name),
        required=True,
        label_visibility="collapsed",
    )
    return replace(record, **{name: chosen or getattr(record, name)})  # type: ignore[type-var]


def choose_available(
    record: Record,
    name: str,
    label: str,
    options: Sequence[Any],
    *,
    words: Callable[[Any], str] = str,
    otherwise: Any = None,
    none: str | None = None,
    buttons: bool = False,
    **place: Any,
) -> Record:
    """Draw a field of which this run has only some values, as a list or a line of buttons; the record as it then says.

    The record may change by other ways than this widget, by a click in a picture or by Back, and then the widget
    follows. `otherwise` is shown, and nothing changed, while the record holds what is not among the options. `none` is
    a first option that stands for None, in words.
    """
    key, seen, held = f"pick-{name}", f"_picked-{name}", getattr(record, name)
    if none is not None:
        options, otherwise = [_NONE, *options], _NONE
    shown = held if held in options else options[0] if otherwise is None else otherwise

    def worded(option: Any) -> str:
        return none if none is not None and option == _NONE else words(option)

    if key in st.session_state and (
        st.session_state.get(seen) != (held, shown) or st.session_state[key] not in options
    ):
        st.session_state[key] = shown
    first = start(key, shown)
    if buttons:
        chosen = st.segmented_control(
            label, options, default=first, format_func=worded, key=key, required=True, **place
        )
    else:
        chosen = st.selectbox(label, options, list(options).index(first), format_func=worded, key=key, **place)
    if chosen not in options:  # a browser that says nothing
        chosen = shown
    kept = held if chosen == shown else None if chosen == _NONE else chosen
    st.session_state[seen] = kept, chosen
    return replace(record, **{name: kept})  # type: ignore[type-var]


def edit_overrides(record: object, holder: Record, name: str) -> Record:
    """Draw what is otherwise in a second record like `record`: a list of what differs, and a widget for each.

    `holder` keeps it in its field `name`; the holder as the widgets now say it.
    """
    item = next(item for item in settings(holder) if item.name == name)
    kind, held = item.metadata["kind"], dict(getattr(holder, name))
    labels, drawable = url_codec.labels(kind.of), _drawable(kind.of)
    other, _ = url_codec.apply_changes(record, held.items())
    options = [at for at in labels if at in drawable or at in held]
    reset_invalid_choice(name, options, _shown(item, getattr(holder, name)))
    chosen = st.multiselect(
        translate(item.metadata["label"]),
        options,
        _start(holder, item, name),
        format_func=lambda at: labels[at],
        key=name,
        help=translate(item.metadata["help"]) or None,
    )
    texts = [at for at in chosen if _is_wide(kind.of, at)]
    for at in texts:
        other = draw(other, at, prefix=kind.prefix)
    columns = st.columns(3)
    for number, at in enumerate(at for at in chosen if at not in texts):
        with columns[number % 3]:
            other = draw(other, at, prefix=kind.prefix)
    written = {at.name: at.metadata["kind"].write(getattr(other, at.name)) for at in settings(kind.of)}
    return replace(holder, **{name: tuple((at, written[at]) for at in chosen)})  # type: ignore[type-var]


def _is_wide(record: type[Any], name: str) -> bool:
    """Return whether a field holds a text, which takes the whole width: a sentence is longer than a third of it."""
    return any(item.name == name and isinstance(item.metadata["kind"], Text) for item in settings(record))
