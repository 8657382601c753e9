"""The kinds of fields that hold several values: rows of a table, widths of heads, knobs, edits.

Equal values are equal settings: each kind brings its tuple into canonical order, without redundant entries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.kinds import Number, Option
from attnviz.settings.language import translate
from attnviz.settings.rows import Choice, Entry, Knob, KnobValue


@dataclass(frozen=True)
class Options:
    """The names of any rows of a table, all of which apply; `empty` is the row that stands for none of them."""

    table: Mapping[str, Choice | Entry]
    empty: str

    def check(self, value: Any) -> tuple[str, ...]:
        names = (value,) if isinstance(value, str) else value
        if not isinstance(names, (tuple, list)):
            raise ConfigError(translate("is {given}; give a name or a tuple of names", given=shorten(value)))
        for name in names:
            Option(self.table).check(name)
        return self._canonical(names)

    def _canonical(self, names: tuple[str, ...] | list[str]) -> tuple[str, ...]:
        """Return the names in the table's order, each once, and `empty` only when it stands alone: so that equal
        masks are equal settings.
        """
        return tuple(name for name in self.table if name in names and name != self.empty) or (self.empty,)

    def write(self, value: tuple[str, ...]) -> str:
        return ".".join(value)

    def read(self, text: str) -> tuple[tuple[str, ...], str | None]:
        names = text.split(".")
        return self._canonical([name for name in names if name in self.table]), _unknown(names, self.table)


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
        numbers = [one.read(part) for part in parts if part]
        if not numbers:
            raise ValueError(text)
        problem = "; ".join([fault for _, fault in numbers if fault][:3]) or None
        if len(numbers) > self.most:
            problem = translate("listed {n:,} widths; the first {most} are kept", n=len(numbers), most=self.most)
        widths = tuple(int(width or 0) for width, _ in numbers[: self.most])
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
                translate(
                    "is {given}; give a name or a tuple of 1 to {most} names", given=shorten(value), most=self.most
                )
            )
        return self._canonical([Option(self.table).check(name) for name in names])

    def _canonical(self, names: list[str]) -> tuple[str, ...]:
        """Drop repetitions of the last one: equal lists are equal settings."""
        while len(names) > 1 and names[-1] == names[-2]:
            names = names[:-1]
        return tuple(names)

    def write(self, value: tuple[str, ...]) -> str:
        return ".".join(value)

    def read(self, text: str) -> tuple[tuple[str, ...], str | None]:
        typed = [name for name in text.replace(",", ".").replace(" ", ".").split(".") if name]
        names = [name for name in typed if name in self.table]
        if not names:
            raise ValueError(text)
        if len(names) > self.most:
            problem = translate("listed {n:,} names; the first {most} are kept", n=len(names), most=self.most)
            return self._canonical(names[: self.most]), problem
        return self._canonical(names), _unknown(typed, self.table)


@dataclass(frozen=True)
class SerialisedTuple:
    """A tuple without a widget of its own, such as numbers changed by hand.

    canonical  the things in their proper types and order; raises ConfigError for an improper one
    written    the things as one line
    parsed     the things in a line, and the unparsable parts of it
    """

    most: int
    canonical: Callable[[Any], tuple[Any, ...]]
    written: Callable[[Any], str]
    parsed: Callable[[str], tuple[tuple[Any, ...], list[str]]]

    def check(self, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (tuple, list)):
            raise ConfigError(translate("is {given}; give a tuple", given=shorten(value)))
        if len(value) > self.most:
            raise ConfigError(
                translate("lists {n:,} items; at most {most:,} fit, so remove some", n=len(value), most=self.most)
            )
        return self.canonical(value)

    def write(self, value: tuple[Any, ...]) -> str:
        return self.written(value)

    def read(self, text: str) -> tuple[tuple[Any, ...], str | None]:
        items, unread = self.parsed(text)
        if len(items) > self.most:
            return items[: self.most], translate(
                "listed more than {most:,}; the first {most:,} are kept", most=self.most
            )
        if not unread:
            return items, None
        return items, translate("holds what could not be read, {part}; that is left out", part=shorten(unread[0]))


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
        """The knobs of the table by `row.knob`."""
        return {f"{row.name}.{knob.name}": knob for row in self.rows.values() for knob in row.knobs}

    def check(self, value: Any) -> tuple[tuple[str, KnobValue], ...]:
        try:
            knobs, known = dict(value), self.known
        except (TypeError, ValueError):
            raise ConfigError(translate("is {given}; give a dict of names and numbers", given=shorten(value))) from None
        for name in knobs:
            if name not in known:
                names = ", ".join(known)
                raise ConfigError(translate("names {name}; choose one of: {names}", name=shorten(name), names=names))
        return self._canonical(
            {name: self._checked(name, knob, knobs[name]) for name, knob in known.items() if name in knobs}
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

    def _canonical(self, values: Mapping[str, KnobValue]) -> tuple[tuple[str, KnobValue], ...]:
        """Return them in the table's order, without defaults: equal numbers are equal settings."""
        pairs = []
        for name, knob in self.known.items():
            value = values.get(name, knob.default)
            if isinstance(value, tuple):
                while len(value) > 1 and value[-1] == value[-2]:
                    value = value[:-1]
                value = value[0] if len(value) == 1 else value
            if value != knob.default:
                pairs.append((name, value))
        return tuple(pairs)

    def write(self, value: tuple[tuple[str, KnobValue], ...]) -> str:
        return "~~".join(f"{name}~{written_knob(number)}" for name, number in value)

    def read(self, text: str) -> tuple[tuple[tuple[str, KnobValue], ...], str | None]:
        values: dict[str, KnobValue] = {}
        problems = []
        for part in filter(None, text.split("~~")):
            name, _, numbers = part.partition("~")
            knob = self.known.get(name)
            if knob is None:
                problems.append(translate("names {listed}, which does not exist; ignored", listed=shorten(name)))
                continue
            values[name], problem = read_knob(knob, numbers, self.most)
            problems += [problem] if problem else []
        return self._canonical(values), "; ".join(problems[:3]) or None


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
    return values if len(values) > 1 else values[0], next((fault for _, fault in read if fault), None)


def _unknown(names: list[str], table: Mapping[str, Choice | Entry]) -> str | None:
    """Return the sentence on names that the table does not have; None if it has them all."""
    unknown = [name for name in names if name not in table]
    listed = ", ".join(map(shorten, unknown[:3]))
    if len(unknown) > 3:
        return translate(
            "names {listed} and {n:,} more, which do not exist; ignored", listed=listed, n=len(unknown) - 3
        )
    return translate("names {listed}, which does not exist; ignored", listed=listed) if unknown else None
