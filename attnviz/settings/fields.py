"""The fields of a settings record: what each may hold, and how it is written down.

A record is a frozen dataclass whose fields are made by the helpers at the end of this file. Each carries a *kind*
that knows three things and nothing about attention: which values are allowed (`check`), how a value is written in an
address (`write`), and how it is read back from one (`read`). A widget is drawn from the same kind.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any

from attnviz.settings.language import translate
from attnviz.settings.rows import Choice, Entry, Knob, KnobValue


class ConfigError(ValueError):
    """A setting that cannot be used. The message says what was given, what is allowed and what to do."""


@dataclass(frozen=True)
class Text:
    """A string of at most `longest` characters.

    shorter  the same in fewer characters, for an address; `whole` reads it back, and leaves any other text as it is
    """

    longest: int
    lines: int = 1
    shorter: Callable[[str], str] = str
    whole: Callable[[str], str] = str

    def check(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ConfigError(translate("is {given}, which is no text; give a string", given=repr(value)))
        if len(value) > self.longest:
            raise ConfigError(
                translate(
                    "has {n:,} characters; at most {longest:,} fit, so shorten it", n=len(value), longest=self.longest
                )
            )
        return value

    def write(self, value: str) -> str:
        return self.shorter(value)

    def read(self, text: str) -> tuple[str, str | None]:
        text = self.whole(text)
        if len(text) > self.longest:
            problem = translate("had {n:,} characters; the first {kept:,} are kept", n=len(text), kept=self.longest)
            return text[: self.longest], problem
        return text, None


@dataclass(frozen=True)
class Number:
    """An integer or a real number in low..high; None as well when `nothing` says what that means.

    nothing  what None means, in English; `none` says it
    stops    the values that a slider stops at, where every whole number would be too many
    offered  the values that fit the record's other values, for the rare number that depends on another
    """

    low: float
    high: float
    step: float
    integer: bool
    nothing: str | None = None
    stops: tuple[float, ...] = ()
    offered: Callable[[Mapping[str, Any]], tuple[float, ...]] | None = None

    @property
    def none(self) -> str | None:
        return translate(self.nothing) if self.nothing else None

    @property
    def range(self) -> str:
        ends = {"low": self.low, "high": self.high}
        if self.integer and self.step != 1:
            found = translate("{low:,g} to {high:,g} in steps of {step:g}", **ends, step=self.step)
        else:
            found = translate("{low:,g} to {high:,g}", **ends)
        return translate("{range}, or {none}", range=found, none=self.none) if self.none else found

    def check(self, value: Any) -> int | float | None:
        if value is None and self.none:
            return None
        number = self._number(value)
        if isinstance(value, str) and (read := self._quoted(value)) is not None:
            raise ConfigError(translate("is {given}, a text; give the number {number}", given=repr(value), number=read))
        if number is None or not self.low <= number <= self.high or number != self._on_grid(number):
            raise ConfigError(translate("is {given}; choose {range}", given=repr(value), range=self.range))
        return number

    def _quoted(self, text: str) -> int | float | None:
        """Return the number of the range that a text spells."""
        try:
            number, problem = self.read(text)
        except (ValueError, OverflowError):
            return None
        return number if problem is None else None

    def _on_grid(self, number: float) -> float:
        """Return the whole number at or below that `step` reaches from `low`; any real number is fine as it is."""
        return number - (number - self.low) % self.step if self.integer else number

    def _number(self, value: Any) -> int | float | None:
        if isinstance(value, bool):
            return None
        try:
            return operator.index(value) if self.integer else float(value)
        except (TypeError, ValueError, OverflowError):
            return None

    def write(self, value: int | float | None) -> str:
        return "auto" if value is None else repr(value)

    def read(self, text: str) -> tuple[int | float | None, str | None]:
        """Return the number that `text` means, moved into the range; raises ValueError if it means none."""
        if text == "auto" and self.none:
            return None, None
        number = float(text)
        if math.isnan(number) or "_" in text or not text.isascii():
            raise ValueError(text)
        inside = min(max(number, self.low), self.high)
        value = int(self._on_grid(round(inside))) if self.integer else inside
        if value == number:
            return value, None
        return value, translate(
            "was {given}; {value:.12g} is used, from the range {range}",
            given=shorten(text),
            value=value,
            range=self.range,
        )


@dataclass(frozen=True)
class Switch:
    """True or False."""

    def check(self, value: Any) -> bool:
        if value is not True and value is not False:
            raise ConfigError(translate("is {given}; choose True or False", given=repr(value)))
        return value

    def write(self, value: bool) -> str:
        return "yes" if value else "no"

    def read(self, text: str) -> tuple[bool, str | None]:
        if text not in ("yes", "no"):
            raise ValueError(text)
        return text == "yes", None


@dataclass(frozen=True)
class Option:
    """The name of one row of a table."""

    table: Mapping[str, Choice | Entry]

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.table:
            raise ConfigError(
                translate("is {given}; choose one of: {names}", given=repr(value), names=", ".join(self.table))
            )
        return value

    def write(self, value: str) -> str:
        return value

    def read(self, text: str) -> tuple[str, str | None]:
        if text not in self.table:
            raise ValueError(text)
        return text, None


@dataclass(frozen=True)
class Options:
    """The names of any rows of a table, all of which apply; `empty` is the row that stands for none of them."""

    table: Mapping[str, Choice | Entry]
    empty: str

    def check(self, value: Any) -> tuple[str, ...]:
        names = (value,) if isinstance(value, str) else value
        if not isinstance(names, (tuple, list)):
            raise ConfigError(translate("is {given}; give a name or a tuple of names", given=repr(value)))
        for name in names:
            Option(self.table).check(name)
        return self._tidy(names)

    def _tidy(self, names: tuple[str, ...] | list[str]) -> tuple[str, ...]:
        """Return the names in the table's order, each once, and `empty` only when it stands alone: so that equal
        masks are equal settings.
        """
        return tuple(name for name in self.table if name in names and name != self.empty) or (self.empty,)

    def write(self, value: tuple[str, ...]) -> str:
        return ".".join(value)

    def read(self, text: str) -> tuple[tuple[str, ...], str | None]:
        names = text.split(".")
        return self._tidy([name for name in names if name in self.table]), _unknown(names, self.table)


@dataclass(frozen=True)
class Widths:
    """One width for every head, or a tuple with one width a head."""

    low: int
    high: int
    most: int

    def check(self, value: Any) -> int | tuple[int, ...]:
        one = Number(self.low, self.high, 1, integer=True)
        if not isinstance(value, (tuple, list)):
            return int(one.check(value) or 0)
        if not 1 <= len(value) <= self.most:
            raise ConfigError(translate("lists {n} widths; give 1 to {most}", n=len(value), most=self.most))
        return tuple(int(one.check(width) or 0) for width in value)

    def write(self, value: int | tuple[int, ...]) -> str:
        return ".".join(map(str, value)) + ("." if len(value) == 1 else "") if isinstance(value, tuple) else str(value)

    def read(self, text: str) -> tuple[int | tuple[int, ...], str | None]:
        one = Number(self.low, self.high, 1, integer=True)
        parts = text.replace(",", ".").replace(" ", ".").split(".")
        given = [one.read(part) for part in parts if part]
        if not given:
            raise ValueError(text)
        problem = "; ".join([said for _, said in given if said][:3]) or None
        if len(given) > self.most:
            problem = translate("listed {n:,} widths; the first {most} are kept", n=len(given), most=self.most)
        widths = tuple(int(width or 0) for width, _ in given[: self.most])
        return widths[0] if len(parts) == 1 else widths, problem


@dataclass(frozen=True)
class Listed:
    """The names of one to `most` rows of a table, in order, a row as often as one likes; the last one repeats.

    each  for how many things a row is named, given the record's other values: so many need to be drawn
    """

    table: Mapping[str, Choice | Entry]
    most: int
    each: Callable[[Mapping[str, Any]], int]

    def check(self, value: Any) -> tuple[str, ...]:
        names = (value,) if isinstance(value, str) else value
        if not isinstance(names, (tuple, list)) or not 1 <= len(names) <= self.most:
            raise ConfigError(
                translate("is {given}; give a name or a tuple of 1 to {most} names", given=repr(value), most=self.most)
            )
        return self._tidy([Option(self.table).check(name) for name in names])

    def _tidy(self, names: list[str]) -> tuple[str, ...]:
        """Without what only repeats the last one: equal lists are equal settings."""
        while len(names) > 1 and names[-1] == names[-2]:
            names = names[:-1]
        return tuple(names)

    def write(self, value: tuple[str, ...]) -> str:
        return ".".join(value)

    def read(self, text: str) -> tuple[tuple[str, ...], str | None]:
        given = [name for name in text.replace(",", ".").replace(" ", ".").split(".") if name]
        names = [name for name in given if name in self.table]
        if not names:
            raise ValueError(text)
        if len(names) > self.most:
            problem = translate("listed {n:,} names; the first {most} are kept", n=len(names), most=self.most)
            return self._tidy(names[: self.most]), problem
        return self._tidy(names), _unknown(given, self.table)


@dataclass(frozen=True)
class SerialisedTuple:
    """A tuple of things that no widget of its own stands for, such as numbers changed by hand.

    tidy     the things in their proper types and order; raises ConfigError for one that is none
    written  the things as one line
    parsed   the things that a line means, and the parts of it that mean none
    """

    most: int
    tidy: Callable[[Any], tuple[Any, ...]]
    written: Callable[[Any], str]
    parsed: Callable[[str], tuple[tuple[Any, ...], list[str]]]

    def check(self, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (tuple, list)):
            raise ConfigError(translate("is {given}; give a tuple", given=repr(value)))
        if len(value) > self.most:
            raise ConfigError(
                translate("lists {n:,} things; at most {most:,} fit, so take some out", n=len(value), most=self.most)
            )
        return self.tidy(value)

    def write(self, value: tuple[Any, ...]) -> str:
        return self.written(value)

    def read(self, text: str) -> tuple[tuple[Any, ...], str | None]:
        found, unread = self.parsed(text)
        if len(found) > self.most:
            return found[: self.most], translate(
                "listed {n:,}; the first {most:,} are kept", n=len(found), most=self.most
            )
        if not unread:
            return found, None
        return found, translate("holds what could not be read, {part}; that is left out", part=shorten(unread[0]))


@dataclass(frozen=True)
class Knobs:
    """The knobs of the rows of a table that are not at their defaults, as pairs of `row.knob` and a number.

    of    the field that chooses the row: only the knobs of that row are drawn
    most  for how many heads a knob may have a number of its own
    """

    of: str
    rows: Mapping[str, Choice]
    most: int

    @property
    def known(self) -> dict[str, Knob]:
        """Every knob of the table by `row.knob`."""
        return {f"{row.name}.{knob.name}": knob for row in self.rows.values() for knob in row.knobs}

    def check(self, value: Any) -> tuple[tuple[str, KnobValue], ...]:
        try:
            given, known = dict(value), self.known
        except (TypeError, ValueError):
            raise ConfigError(translate("is {given}; give a dict of names and numbers", given=repr(value))) from None
        for name in given:
            if name not in known:
                names = ", ".join(known)
                raise ConfigError(translate("names {name}; choose one of: {names}", name=repr(name), names=names))
        return self._tidy(
            {name: self._checked(name, knob, given[name]) for name, knob in known.items() if name in given}
        )

    def _checked(self, name: str, knob: Knob, value: Any) -> KnobValue:
        one = number_of(knob)
        many = isinstance(value, (tuple, list))
        if many and not (knob.heads and 1 <= len(value) <= self.most):
            raise ConfigError(translate("gives {name} {n} numbers; give one", name=name, n=len(value)))
        try:
            return tuple(float(one.check(each) or 0) for each in value) if many else float(one.check(value) or 0)
        except ConfigError as error:
            raise ConfigError(f"{name} {error}") from None

    def _tidy(self, values: Mapping[str, KnobValue]) -> tuple[tuple[str, KnobValue], ...]:
        """In the table's order, without what is at its default: equal numbers are equal settings."""
        found = []
        for name, knob in self.known.items():
            value = values.get(name, knob.default)
            if isinstance(value, tuple):
                while len(value) > 1 and value[-1] == value[-2]:
                    value = value[:-1]
                value = value[0] if len(value) == 1 else value
            if value != knob.default:
                found.append((name, value))
        return tuple(found)

    def write(self, value: tuple[tuple[str, KnobValue], ...]) -> str:
        return "~~".join(f"{name}~{written_knob(number)}" for name, number in value)

    def read(self, text: str) -> tuple[tuple[tuple[str, KnobValue], ...], str | None]:
        found: dict[str, KnobValue] = {}
        problems = []
        for part in filter(None, text.split("~~")):
            name, _, numbers = part.partition("~")
            knob = self.known.get(name)
            if knob is None:
                problems.append(translate("names {listed}, which there is not; ignored", listed=shorten(name)))
                continue
            found[name], problem = read_knob(knob, numbers, self.most)
            problems += [problem] if problem else []
        return self._tidy(found), "; ".join(problems[:3]) or None


def number_of(knob: Knob) -> Number:
    """Return the kind of field that holds one number of a knob."""
    return Number(knob.low, knob.high, knob.step, integer=False)


def written_knob(value: KnobValue) -> str:
    """Return the number of a knob, or those of its heads, as text.

    >>> written_knob((0.5, 2.0))
    '0.5_2.0'
    """
    return "_".join(map(repr, value if isinstance(value, tuple) else (value,)))


def read_knob(knob: Knob, text: str, most: int) -> tuple[KnobValue, str | None]:
    """Parse a text, move its value into the knob's range, and return both; raises ValueError for no number."""
    parts = [part for part in text.replace(",", "_").replace(" ", "_").split("_") if part]
    if not parts or len(parts) > (most if knob.heads else 1):
        raise ValueError(text)
    read = [number_of(knob).read(part) for part in parts]
    values = tuple(float(value or 0) for value, _ in read)
    return values if len(values) > 1 else values[0], next((said for _, said in read if said), None)


@dataclass(frozen=True)
class Changes:
    """Some fields of another record, by name, as they are written down: what is otherwise in a second setting.

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
            given = dict(value)
        except (TypeError, ValueError):
            raise ConfigError(translate("is {given}; give pairs of a name and a text", given=repr(value))) from None
        for name, text in given.items():
            if name not in names or not isinstance(text, str):
                raise ConfigError(
                    translate(
                        "changes {name} to {text}; give the name of a setting and a text",
                        name=repr(name),
                        text=repr(text),
                    )
                )
        return tuple((name, given[name]) for name in names if name in given)

    def write(self, value: tuple[tuple[str, str], ...]) -> str:
        return " ".join(name for name, _ in value)

    def read(self, text: str) -> tuple[tuple[tuple[str, str], ...], str | None]:
        raise ValueError(text)


NAME = re.compile(r"[a-z0-9_-]{1,24}(~[0-9a-f]{8})?")


@dataclass(frozen=True)
class Named:
    """The name of something that a host may have, with the first digits of its hash: `minilm~53aa5117`; empty is none.

    offered  what this host has; any other name is kept too, as a link may lead to a host that has it
    """

    offered: Callable[[], tuple[str, ...]]

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or (value and not NAME.fullmatch(value)):
            raise ConfigError(
                translate(
                    "is {given}; give a name of small letters, digits, _ and -, such as minilm",
                    given=shorten(value) if isinstance(value, str) else f"{value!r:.40}",
                )
            )
        return value

    def write(self, value: str) -> str:
        return value

    def read(self, text: str) -> tuple[str, str | None]:
        if text and not NAME.fullmatch(text):
            raise ValueError(text)
        return text, None


Kind = Text | Number | Switch | Option | Options | Widths | Listed | SerialisedTuple | Knobs | Changes | Named


def _unknown(names: list[str], table: Mapping[str, Choice | Entry]) -> str | None:
    """Return the sentence on names that the table does not have; None if it has them all."""
    unknown = [name for name in names if name not in table]
    listed = ", ".join(map(shorten, unknown[:3]))
    if len(unknown) > 3:
        return translate(
            "names {listed} and {n:,} more, which there is not; ignored", listed=listed, n=len(unknown) - 3
        )
    return translate("names {listed}, which there is not; ignored", listed=listed) if unknown else None


def shorten(text: str, longest: int = 40) -> str:
    """`text` in quotes for a message, cut so that a hostile address cannot fill the page."""
    return repr(text if len(text) <= longest else text[: longest - 1] + "…")


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
    """Return a field that holds a number in low..high, or None where `none` says in words what that means.

    `always` keeps it on the page though some rows list it among what they use and none of those is chosen.
    """
    return _setting(default, Number(low, high, step, integer, none, stops, offered), label, help, group, always)


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


def serialised(most: int, tidy: Any, written: Any, parsed: Any, *, label: str, help: str = "") -> Any:
    """Return a field that holds a tuple of things and has no widget: see `SerialisedTuple`."""
    return _setting((), SerialisedTuple(most, tidy, written, parsed), label, help, "")


def named(offered: Callable[[], tuple[str, ...]], *, label: str, help: str = "", group: str = "") -> Any:
    """Return a field that holds the name of something that a host may have, or nothing: see `Named`."""
    return _setting("", Named(offered), label, help, group)


def knobs(of: str, rows: Mapping[str, Choice], *, most: int, label: str, help: str = "", group: str = "") -> Any:
    """Return a field that holds the knobs of the rows of a table: see `Knobs`."""
    return _setting((), Knobs(of, rows, most), label, help, group)


def changes(of: type, *, prefix: str, label: str, help: str = "") -> Any:
    """Return a field that holds what is otherwise in a second record of the class `of`: see `Changes`."""
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

    Raises ConfigError that names the field, what was given, what is allowed and what to do.
    """
    for item in settings(record):
        try:
            value = item.metadata["kind"].check(getattr(record, item.name))
        except ConfigError as error:
            raise ConfigError(f"{item.name} {error}") from None
        object.__setattr__(record, item.name, value)
    _, problems = snap_to_valid(type(record), {item.name: getattr(record, item.name) for item in settings(record)})
    if problems:
        raise ConfigError(problems[0])


def snap_to_valid(record_type: type, values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """`values`, each number that does not fit the others moved to the nearest below that does, and what was said.

    >>> snap_to_valid(object, {})
    ({}, [])
    """
    fitting, problems = dict(values), []
    for item in settings(record_type) if is_dataclass(record_type) else ():
        kind = item.metadata["kind"]
        value = values[item.name]
        if isinstance(kind, Number) and kind.offered and value is not None:
            offered = kind.offered(values)
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


def relevant_fields(record: object) -> tuple[str, ...]:
    """Return the names of the fields that matter under the present choices, in order.

    A field that some table's row lists in `uses` matters only while such a row is chosen; every other field always
    does. What does not matter keeps its value: it is merely not drawn.
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
