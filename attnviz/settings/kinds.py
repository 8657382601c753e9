"""The kinds of fields that hold one value: a text, a number, a switch, a row of a table, a name.

A kind knows three things and nothing about attention: which values are allowed (`check`), how a value is written in an
address (`write`), and how it is read back from one (`read`). A widget is drawn from the same kind.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import translate
from attnviz.settings.rows import Choice, Entry


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
            raise ConfigError(translate("is {given}, which is not text; give a string", given=shorten(value)))
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
            words = translate("{low:,g} to {high:,g} in steps of {step:g}", **ends, step=self.step)
        else:
            words = translate("{low:,g} to {high:,g}", **ends)
        return translate("{range}, or {none}", range=words, none=self.none) if self.none else words

    def check(self, value: Any) -> int | float | None:
        if value is None and self.none:
            return None
        number = self._number(value)
        if isinstance(value, str) and (read := self._quoted(value)) is not None:
            raise ConfigError(
                translate("is {given}, a text; give the number {number}", given=shorten(value), number=read)
            )
        if number is None or not self.low <= number <= self.high or number != self._on_grid(number):
            raise ConfigError(translate("is {given}; choose {range}", given=shorten(value), range=self.range))
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

    @property
    def values(self) -> Sequence[int]:
        """Return every value that an integer may have."""
        return range(int(self.low), int(self.high) + 1)

    def write(self, value: int | float | None) -> str:
        return "auto" if value is None else repr(value)

    def read(self, text: str) -> tuple[int | float | None, str | None]:
        """Return the number in `text`, moved into the range; raises ValueError if there is none."""
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
class Ordinal(Number):
    """A position: counted from 0 in the record, and from 1, as `low` and `high` are, in an address and a widget."""

    def check(self, value: Any) -> int | float | None:
        number = self._number(value)
        if number is None:  # an empty value, or a text as people write it
            return super().check(value)
        if number not in self.values:
            inside = translate("{low:,g} to {high:,g}", low=0, high=self.values[-1])
            raise ConfigError(translate("is {given}; choose {range}", given=shorten(value), range=inside))
        return number

    @property
    def values(self) -> Sequence[int]:
        return range(int(self.high))

    def write(self, value: int | float | None) -> str:
        return super().write(None if value is None else ordinal(int(value)))

    def read(self, text: str) -> tuple[int | float | None, str | None]:
        number, problem = super().read(text)
        return None if number is None else index_of(int(number)), problem


@dataclass(frozen=True)
class Switch:
    """A field that is True or False."""

    def check(self, value: Any) -> bool:
        if value is not True and value is not False:
            raise ConfigError(translate("is {given}; choose True or False", given=shorten(value)))
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
                translate("is {given}; choose one of: {names}", given=shorten(value), names=", ".join(self.table))
            )
        return value

    def write(self, value: str) -> str:
        return value

    def read(self, text: str) -> tuple[str, str | None]:
        if text not in self.table:
            raise ValueError(text)
        return text, None


NAME = re.compile(r"[a-z0-9_-]{1,24}(~[0-9a-f]{8})?")


@dataclass(frozen=True)
class Named:
    """The name of something that a host may have, with the first digits of its hash: `minilm~53aa5117`; empty is none.

    offered  what this host has; any other name is kept too, as a link may lead to a host that has it
    present  returns a name with the present hash, where the one that is written has been replaced by it
    """

    offered: Callable[[], tuple[str, ...]]
    present: Callable[[str], str]

    def check(self, value: Any) -> str:
        if not isinstance(value, str) or (value and not NAME.fullmatch(value)):
            raise ConfigError(
                translate(
                    "is {given}; give a name of lower-case letters, digits, _ and -, such as minilm",
                    given=shorten(value),
                )
            )
        return value

    def write(self, value: str) -> str:
        return value

    def read(self, text: str) -> tuple[str, str | None]:
        if text and not NAME.fullmatch(text):
            raise ValueError(text)
        return text, None

    def now(self, text: str) -> tuple[str, str | None]:
        """Return the name with the present hash, and what to say where that is another; files keep what they name."""
        if (present := self.present(text)) == text:
            return self.read(text)
        return present, translate(
            "{given} has been trained further; the numbers are those of {here}", given=text, here=present
        )
