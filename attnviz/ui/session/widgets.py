"""Widgets for the fields of a settings record.

Knows the kinds of fields and no field by name. The record is the truth and widgets are views of it: one that is not
drawn leaves its field as it was, and one that is drawn for the first time starts from the record.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import streamlit as st

from attnviz.settings import url_codec
from attnviz.settings.fields import Changes, conditional_fields, default, relevant_fields, settings, snap_to_valid
from attnviz.settings.kinds import Named, Number, Option, Ordinal, Text
from attnviz.settings.language import translate
from attnviz.settings.tuple_kinds import Listed, Options, SerialisedTuple
from attnviz.text.format.html_math import as_markdown
from attnviz.ui.session import session_state
from attnviz.ui.session.field_widgets import draw_field, moved_to, stops_of
from attnviz.ui.session.widget_values import (
    first_value,
    held_values,
    position_key,
    reset_invalid_choice,
    shown_value,
    start,
)

IN_LINE = 2
"""Fields that stand in the row of the list which names them; more have rows of three below it."""

_NONE = "none"
_OPEN = "_open-{}"

Record = TypeVar("Record")


def draw(
    record: Record,
    *names: str,
    group: str | None = None,
    skip: tuple[str, ...] = (),
    prefix: str = "",
    empty: Mapping[str, str] | None = None,
    moved: Callable[[str], None] | None = None,
) -> Record:
    """Draw the named fields, or those of a group, or all, here; return the updated record.

    Only fields that matter under the current choices are drawn. The fields may be spread over several calls, so the
    result is a draft whose fields have not been held against each other: give the last one to `checked`. `prefix`
    stands before the keys of the widgets of a second record. `empty` has, by field, what a list says of which nothing
    is chosen, where that is another word than the field's own. `moved` is called with the name of a number or a
    text that a visitor has changed, before the next run.
    """
    items = {item.name: item for item in settings(record)}
    in_group = [name for name, item in items.items() if group in (None, item.metadata["group"])]
    draft = copy.copy(record)
    wanted = [name for name in names or in_group if name not in skip]
    live = _wanted(draft, prefix) if conditional_fields(record) & {*wanted} else _drawable(record)
    for name in wanted:
        if name in live:
            word = (empty or {}).get(name, "")
            object.__setattr__(draft, name, draw_field(draft, items[name], prefix, word, moved))
    return draft


def fold(
    record: Record, group: str, *, skip: tuple[str, ...] = (), moved: Callable[[str], None] | None = None
) -> Record:
    """Draw the fields of a group behind its heading, while that is open; return the updated record.

    What is folded away costs nothing. When it is closed it is drawn once more, as a value may have come with the
    closing; when it is opened, its widgets start from the record.
    """
    seen = _OPEN.format(group)
    before = st.session_state.get(seen)
    box = st.expander(translate(group), key=f"group-{group}", on_change="rerun")
    if box.open and before is False:
        _forget(record, group)
    if box.open or before:
        with box:
            record = draw(record, group=group, skip=skip, moved=moved)
    st.session_state[seen] = box.open
    return record


def after_move(record: Record, name: str) -> Record | None:
    """Return the record with what a visitor has changed, for a callback; None where other fields are drawn anew.

    That is where a change of it decides which others matter or what they offer, where the two do not go together, and
    where what is wrong with a number is said beside it.
    """
    item = next(item for item in settings(record) if item.name == name)
    try:
        after = replace(record, **{name: moved_to(record, item)})  # type: ignore[type-var]
    except ValueError:  # ConfigError, too
        return None
    return after if name == "seed" or _offers(after) == _offers(record) else None  # nothing hangs on the seed


def _offers(record: object) -> list[Any]:
    """Return which fields of a record matter, and what those offer that are drawn and depend on others."""
    values = {item.name: getattr(record, item.name) for item in settings(record)}
    offered: list[Any] = []
    for item in settings(record):
        match item.metadata["kind"]:
            case Number(offered=of_others) if of_others and item.name in st.session_state:
                offered.append(of_others(values))
            case Number(stops=stops) as kind if stops and item.name in st.session_state:
                offered.append(stops_of(kind, values[item.name]))
            case Listed(each=for_how_many) if position_key(item.name, 0) in st.session_state:
                offered.append(for_how_many(values))
    return [relevant_fields(record), offered]


def reset(record: Record, name: str) -> Record:
    """Return the record with the default of a field, which its widget shows where it is drawn after this."""
    item = next(item for item in settings(record) if item.name == name)
    changed = copy.copy(record)
    object.__setattr__(changed, name, default(item))
    for key in held_values(item, getattr(record, name)).keys() & {*st.session_state}:
        del st.session_state[key]
    return changed


def is_open(record: object, name: str) -> bool:
    """Return whether the group of a field was open in the last run of the whole page."""
    group = next(item.metadata["group"] for item in settings(record) if item.name == name)
    return bool(st.session_state.get(_OPEN.format(group)))


def _forget(record: object, group: str) -> None:
    """Delete what the session holds for the widgets of a group."""
    items = [item for item in settings(record) if item.metadata["group"] == group]
    keys = {key for item in items for key in held_values(item, getattr(record, item.name))}
    for key in keys & {*st.session_state}:
        del st.session_state[key]


def fitting(draft: Record) -> Record:
    """Return the draft with each number that does not go with the others lowered to the next that does, as the list of
    its widget does where that is drawn."""
    values, _ = snap_to_valid(type(draft), {item.name: getattr(draft, item.name) for item in settings(draft)})
    for name, value in values.items():
        object.__setattr__(draft, name, value)
    return draft


def live(draft: object) -> tuple[str, ...]:
    """Return the fields that matter under the choices that the widgets hold."""
    return _wanted(draft)


def _wanted(draft: object, prefix: str = "") -> tuple[str, ...]:
    """Return the fields that matter under the choices that the widgets hold, also those that are drawn further down."""
    foreseen = copy.copy(draft)
    for item in settings(draft):
        kind = item.metadata["kind"]
        if not isinstance(kind, (Options, Option)):
            continue
        value = st.session_state.get(prefix + item.name)
        if isinstance(kind, Options) and value is not None:
            object.__setattr__(foreseen, item.name, kind.check([name for name in value if name in kind.table]))
        elif isinstance(kind, Option) and value in kind.table:
            object.__setattr__(foreseen, item.name, value)
    drawable = _drawable(draft)
    return tuple(name for name in relevant_fields(foreseen) if name in drawable)


def _drawable(record: object) -> list[str]:
    """Return the fields that have a widget: a name has one where there is something to choose."""
    return [item.name for item in settings(record) if _has_widget(item.metadata["kind"], getattr(record, item.name))]


def _has_widget(kind: Any, value: Any) -> bool:
    if isinstance(kind, Named):
        return bool(value or kind.offered())
    return not isinstance(kind, (SerialisedTuple, Changes))


def checked(draft: Record) -> Record:
    """Return the draft as a checked record.

    Raises ConfigError if its fields do not go together; the widgets keep what was typed.
    """
    return replace(draft)  # type: ignore[type-var]


def longest(cls: type[Any], prefix: str = "") -> dict[str, int]:
    """Return the most characters that the text fields of a record hold, by their keys."""
    kinds = {prefix + item.name: item.metadata["kind"] for item in settings(cls)}
    return {name: kind.longest for name, kind in kinds.items() if isinstance(kind, Text)}


def groups(record: object, skip: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the groups that have something to draw under the current choices, in the record's order."""
    live = _wanted(record)
    return tuple(
        dict.fromkeys(
            item.metadata["group"] for item in settings(record) if item.name in live and item.name not in skip
        )
    )


def choose(record: Record, name: str, skip: Collection[str] = ()) -> Record:
    """Draw a field that names one row of a table as a line of buttons; return the updated record.

    `skip` are rows that are not offered here; the record must not hold one.
    """
    item = next(item for item in settings(record) if item.name == name)
    rows = {row: choice for row, choice in item.metadata["kind"].table.items() if row not in skip}
    reset_invalid_choice(name, list(rows), getattr(record, name))
    chosen = st.segmented_control(
        translate(item.metadata["label"]),
        list(rows),
        format_func=lambda row: as_markdown(rows[row].label),
        key=name,
        default=first_value(record, item, name),
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
    words: Callable[[Any], str] | None = None,
    otherwise: Any = None,
    none: str | None = None,
    buttons: bool = False,
    **layout: Any,
) -> Record:
    """Draw a field of which this run has only some values, as a list or a line of buttons; return the updated record.

    The record may change by other ways than this widget, by a click in a picture or by Back, and then the widget
    follows. `otherwise` is shown, and nothing changed, while the record holds what is not among the options. `none` is
    a first option that stands for None, in words. Options of a position count from 0 and are shown from 1.
    """
    kinds = {item.name: item.metadata["kind"] for item in settings(record)}
    wording = words or (kinds[name].write if isinstance(kinds.get(name), Ordinal) else str)
    key, seen, value = session_state.of_this_arrival(f"pick-{name}"), f"_picked-{name}", getattr(record, name)
    if none is not None:
        options, otherwise = [_NONE, *options], _NONE
    shown = value if value in options else options[0] if otherwise is None else otherwise

    def worded(option: Any) -> str:
        return none if none is not None and option == _NONE else wording(option)

    if key in st.session_state and (
        st.session_state.get(seen) != (value, shown) or st.session_state[key] not in options
    ):
        st.session_state[key] = shown
    first = start(key, shown)
    if buttons:
        chosen = st.segmented_control(
            label, options, default=first, format_func=worded, key=key, required=True, **layout
        )
    else:
        chosen = st.selectbox(label, options, list(options).index(first), format_func=worded, key=key, **layout)
    if chosen not in options:  # a browser that says nothing
        chosen = shown
    kept = value if chosen == shown else None if chosen == _NONE else chosen
    session_state.with_records(seen, (kept, chosen))
    return replace(record, **{name: kept})  # type: ignore[type-var]


def edit_overrides(
    record: object, holder: Record, name: str, beside: Callable[[Record], Record] = lambda holder: holder
) -> Record:
    """Draw what is otherwise in a second record like `record`: a list of what differs, and a widget for each.

    `holder` keeps it in its field `name`; returns the updated holder. `beside` draws, and updates, what else of the
    holder stands beside the list.
    """
    item = next(item for item in settings(holder) if item.name == name)
    kind, overrides = item.metadata["kind"], dict(getattr(holder, name))
    labels, drawable = url_codec.labels(kind.of), _drawable(kind.of)
    other, _ = url_codec.apply_changes(record, overrides.items())
    options = [at for at in labels if at in drawable or at in overrides]
    reset_invalid_choice(name, options, shown_value(item, getattr(holder, name)))
    shown = [at for at in st.session_state.get(name, overrides) if not _is_wide(kind.of, at)]
    in_line = len(shown) if len(shown) <= IN_LINE else 0  # a few stand in the same row
    left, *fields, right = st.columns([2.15, *[1.25] * in_line, 1.5])
    with left:
        chosen = st.multiselect(
            translate(item.metadata["label"]),
            options,
            first_value(holder, item, name),
            format_func=lambda at: labels[at],
            key=name,
            help=translate(item.metadata["help"]) or None,
            placeholder=translate("Choose one or more"),
            select_all=False,
        )
    with right:
        holder = beside(holder)
    texts = [at for at in chosen if _is_wide(kind.of, at)]
    for at in texts:
        other = draw(other, at, prefix=kind.prefix)
    others = [at for at in chosen if at not in texts]
    columns = fields or (st.columns(3) if others else [])
    for number, at in enumerate(others):
        with columns[number % len(columns)]:
            other = draw(other, at, prefix=kind.prefix)
    written = {at.name: at.metadata["kind"].write(getattr(other, at.name)) for at in settings(kind.of)}
    return replace(holder, **{name: tuple((at, written[at]) for at in chosen)})  # type: ignore[type-var]


def _is_wide(record: type[Any], name: str) -> bool:
    """Return whether a field holds a text, which takes the whole width: a sentence is longer than a third of it."""
    return any(item.name == name and isinstance(item.metadata["kind"], Text) for item in settings(record))
