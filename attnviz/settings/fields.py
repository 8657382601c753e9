"""The fields of a settings record: their allowed values, and how they are written in a link.

A record is a frozen dataclass whose fields are made by the helpers in this file. Each carries its *kind*, of one value
from `kinds`, of several from `tuple_kinds`, or `Changes`, which is other fields of a record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any

from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.kinds import Named, Number, Option, Ordinal, Switch, Text
from attnviz.settings.language import translate
from attnviz.settings.rows import Choice, Entry
from attnviz.settings.tuple_kinds import Knobs, Listed, Options, SerialisedTuple, Widths


@dataclass(frozen=True)
class Changes:
    """Some fields of another record, by name, as they are written in a link: the differences of a second setting.

    of      the class of that record
    prefix  stands before each name in an address, where every change has a parameter of its own
    """

    of: type
    prefix: str

    def check(self, value: Any) -> tuple[tuple[str, str], ...]:
        """Return the changes in the order of the record's fields.

        What they say is for a reader of addresses to judge.
        """
        names = [item.name for item in settings(self.of)]
        try:
            pairs = dict(value)
        except (TypeError, ValueError):
            raise ConfigError(translate("is {given}; give pairs of a name and a text", given=shorten(value))) from None
        for name, text in pairs.items():
            if name not in names or not isinstance(text, str):
                raise ConfigError(
                    translate(
                        "changes {name} to {text}; give the name of a setting and a text",
                        name=shorten(name),
                        text=shorten(text),
                    )
                )
        return tuple((name, pairs[name]) for name in names if name in pairs)

    def write(self, value: tuple[tuple[str, str], ...]) -> str:
        return " ".join(name for name, _ in value)

    def read(self, text: str) -> tuple[tuple[tuple[str, str], ...], str | None]:
        raise ValueError(text)


Kind = Text | Number | Switch | Option | Options | Widths | Listed | SerialisedTuple | Knobs | Changes | Named


def _setting(default: Any, kind: Kind, label: str, help: str, group: str, always: bool = False) -> Any:
    return field(
        default=default, metadata={"kind": kind, "label": label, "help": help, "group": group, "always": always}
    )


def text(
    default: str,
    *,
    label: str,
    longest: int,
    lines: int = 1,
    shorter: Callable[[str], str] = str,
    whole: Callable[[str], str] = str,
    help: str = "",
    group: str = "",
) -> Any:
    """Return a field that holds a string; `shorter` and `whole` as `Text` has them."""
    return _setting(default, Text(longest, lines, shorter, whole), label, help, group)


def number(
    default: float | None,
    low: float,
    high: float,
    *,
    label: str,
    step: float = 1,
    integer: bool = True,
    none: str | None = None,
    stops: tuple[float, ...] = (),
    offered: Callable[[Mapping[str, Any]], tuple[float, ...]] | None = None,
    help: str = "",
    group: str = "",
    always: bool = False,
) -> Any:
    """Return a field that holds a number in low..high, or None if `none` describes that case.

    `always` keeps it on the page though some rows list it among what they use and none of those is chosen.
    """
    return _setting(default, Number(low, high, step, integer, none, stops, offered), label, help, group, always)


def position(default: int | None, most: int, *, label: str, none: str | None = None) -> Any:
    """Return a field that holds one of `most` positions, counted from 0 and written from 1: see `Ordinal`."""
    return _setting(default, Ordinal(1, most, 1, True, none), label, "", "")


def switch(default: bool, *, label: str, help: str = "", group: str = "") -> Any:
    """Return a field that is on or off."""
    return _setting(default, Switch(), label, help, group)


def option(table: Mapping[str, Choice | Entry], default: str, *, label: str, help: str = "", group: str = "") -> Any:
    """Return a field that names one row of `table`."""
    return _setting(default, Option(table), label, help, group)


def options(table: Mapping[str, Choice | Entry], default: str, *, label: str, help: str = "", group: str = "") -> Any:
    """Return a field that names any rows of `table`; `default` is the row that stands for none."""
    return _setting((default,), Options(table, default), label, help, group)


def widths(default: int, low: int, high: int, *, most: int, label: str, help: str = "", group: str = "") -> Any:
    """Return a field that holds one width, or a tuple of at most `most` of them."""
    return _setting(default, Widths(low, high, most), label, help, group)


def listed(
    table: Mapping[str, Choice | Entry],
    default: tuple[str, ...],
    *,
    most: int,
    each: Callable[[Mapping[str, Any]], int],
    label: str,
    help: str = "",
    group: str = "",
) -> Any:
    """Return a field that names rows of `table` in order, one for `each` of at most `most` things.

    The last one repeats.
    """
    return _setting(default, Listed(table, most, each), label, help, group)


def serialised(most: int, canonical: Any, written: Any, parsed: Any, *, label: str, help: str = "") -> Any:
    """Return a field that holds a tuple of things and has no widget: see `SerialisedTuple`."""
    return _setting((), SerialisedTuple(most, canonical, written, parsed), label, help, "")


def named(
    offered: Callable[[], tuple[str, ...]],
    present: Callable[[str], str],
    *,
    label: str,
    help: str = "",
    group: str = "",
) -> Any:
    """Return a field that holds the name of something that a host may have, or nothing: see `Named`."""
    return _setting("", Named(offered, present), label, help, group)


def knobs(of: str, rows: Mapping[str, Choice], *, most: int, label: str, help: str = "", group: str = "") -> Any:
    """Return a field that holds the knobs of the rows of a table: see `Knobs`."""
    return _setting((), Knobs(of, rows, most), label, help, group)


def changes(of: type, *, prefix: str, label: str, help: str = "") -> Any:
    """Return a field that holds the differences of a second record of the class `of`: see `Changes`."""
    return _setting((), Changes(of, prefix), label, help, "")


def settings(record: object) -> tuple[Field[Any], ...]:
    """Return the fields of a record (or record class) that were made by the helpers above."""
    return _settings(record if isinstance(record, type) else type(record))


@cache
def _settings(cls: Any) -> tuple[Field[Any], ...]:
    return tuple(item for item in fields(cls) if "kind" in item.metadata)


def default(item: Field[Any]) -> Any:
    """Return the default of a field."""
    return item.default if item.default is not MISSING else None


def check(record: object) -> None:
    """Give every field of a frozen record its checked value; call it from `__post_init__`.

    Raises ConfigError, which names the field, its value, what is allowed and how to correct it.
    """
    for item in settings(record):
        value = getattr(record, item.name)
        if value is item.default:  # a page makes many records in a move, and most of their fields are as they were
            continue
        try:
            value = item.metadata["kind"].check(value)
        except ConfigError as error:
            raise ConfigError(f"{item.name} {error}") from None
        object.__setattr__(record, item.name, value)
    _, problems = snap_to_valid(type(record), {item.name: getattr(record, item.name) for item in settings(record)})
    if problems:
        raise ConfigError(problems[0])


def snap_to_valid(record_type: type, values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Move each number that does not fit the others to the nearest below that does; the values, and sentences on that.

    >>> snap_to_valid(object, {})
    ({}, [])
    """
    fitting, problems = dict(values), []
    for item in _offering(record_type) if is_dataclass(record_type) else ():
        value = values[item.name]
        if value is not None:
            offered = item.metadata["kind"].offered(values)
            if value not in offered:
                fitting[item.name] = max((number for number in offered if number < value), default=min(offered))
                listed = ", ".join(f"{number:g}" for number in offered)
                problems.append(
                    translate(
                        "{name} is {value}; with the other settings choose one of: {listed}",
                        name=item.name,
                        value=value,
                        listed=listed,
                    )
                )
    return fitting, problems


@cache
def _offering(cls: Any) -> tuple[Field[Any], ...]:
    """Return the numbers of which the others decide what is offered."""
    kinds = [(item, item.metadata["kind"]) for item in settings(cls)]
    return tuple(item for item, kind in kinds if isinstance(kind, Number) and kind.offered)


def relevant_fields(record: object) -> tuple[str, ...]:
    """Return the names of the fields that matter under the current choices, in order.

    A field that some table's row lists in `uses` matters only while such a row is chosen; every other field always
    does. Other fields keep their values; they are merely not drawn.
    """
    chosen: set[str] = set()
    for item in settings(record):
        kind = item.metadata["kind"]
        if isinstance(kind, (Option, Options, Listed)):
            value = getattr(record, item.name)
            names = (value,) if isinstance(value, str) else value
            chosen.update(used for name in names for used in kind.table[name].uses)
        if isinstance(kind, Knobs) and kind.rows[getattr(record, kind.of)].knobs:
            chosen.add(item.name)
    sometimes = conditional_fields(record)
    return tuple(item.name for item in settings(record) if item.name not in sometimes or item.name in chosen)


def conditional_fields(record: object) -> frozenset[str]:
    """Return the names of the fields of a record (or record class) that matter only while a row that uses them is
    chosen.
    """
    return _conditional(record if isinstance(record, type) else type(record))


@cache
def _conditional(cls: Any) -> frozenset[str]:
    tables = [item.metadata["kind"].table for item in settings(cls) if hasattr(item.metadata["kind"], "table")]
    used = {name for table in tables for row in table.values() for name in row.uses}
    used |= {item.name for item in settings(cls) if isinstance(item.metadata["kind"], Knobs)}
    return frozenset(item.name for item in settings(cls) if item.name in used and not item.metadata["always"])
