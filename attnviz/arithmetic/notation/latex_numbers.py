r"""Numbers written as LaTeX, rounded for display only.

What is written keeps to the commands that KaTeX knows and holds nothing but numbers and symbols of our own: no token
ever enters it. A formula is a *chain*: a symbol and what it equals, member by member, a line each. Packages that write
LaTeX from Python write the formula; here it is the numbers of one cell that are put in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array

MIN_DIGITS, MAX_DIGITS = 2, 17
"""Significant digits that may be asked for; 17 bring every float64 back unchanged."""

MAX_ENTRIES = 8
"""Entries of a vector, terms of a sum or lines of a table that are written out; the rest is dots."""

WIDTH = 56
"""Characters, about, after which a sum or a vector goes on in the next line."""

DOTS = r"\cdots"
SUMMED = r"\underbrace{{\cdots}}_{{{total}}}"
"""Terms that are left out of a sum, and what they add up to."""

ZERO = 1e-12
"""A number this much smaller than those it was made of, or stands beside, is zero but for rounding."""

LARGE = 1e3
"""No number is larger for this: beside one of 1e200, which a person has written, 0.5 is still no rounding."""

VERTICAL_DOTS = r"&\;\;\vdots"


Value = float | Array
"""A number; an array without axes is one too."""


def shown_entries(n: int, keep: int | None = None) -> list[int | None]:
    """Return the indices of the entries written out: all of n if they are few, else the first, `keep` and the last.

    None stands for dots.

    >>> shown_entries(3)
    [0, 1, 2]
    >>> shown_entries(20, keep=9)
    [0, 1, 2, 3, 4, None, 9, None, 19]
    """
    if n <= MAX_ENTRIES:
        return list(range(n))
    hidden = keep is not None and MAX_ENTRIES - 2 <= keep < n - 1
    listed = [
        *range(MAX_ENTRIES - 3 if hidden else MAX_ENTRIES - 2),
        *([keep] if hidden and keep is not None else []),
        n - 1,
    ]
    positions: list[int | None] = []
    for k in listed:
        if positions and k != (positions[-1] or 0) + 1:
            positions.append(None)
        positions.append(k)
    return positions


@dataclass(frozen=True)
class NumberFormat:
    r"""A writer of numbers with so many significant digits.

    Raises ValueError for digits outside 2 to 17.

    >>> NumberFormat(3).number(-1234.56), NumberFormat(3).number(0.5), NumberFormat(3).number(1.5e-7)
    ('-1235', '0.5', '1.5 \\times 10^{-7}')
    """

    digits: int

    def __post_init__(self) -> None:
        if not MIN_DIGITS <= self.digits <= MAX_DIGITS:
            raise ValueError(f"digits is {self.digits}; choose {MIN_DIGITS} to {MAX_DIGITS}")

    def number(self, x: Value) -> str:
        """Return one number; zeros at its end are left away, and the digits before the point are never rounded off."""
        if np.isnan(x):
            return r"\mathrm{NaN}"
        if np.isinf(x):
            return r"\infty" if x > 0 else r"-\infty"
        mantissa, exponent = f"{x:.{self.digits - 1}e}".split("e")
        power = int(exponent)
        if x == 0 or not -4 <= power < max(self.digits, 6):
            return "0" if x == 0 else rf"{_short(mantissa)} \times 10^{{{power}}}"
        return _short(f"{x:.{max(self.digits - 1 - power, 0)}f}")

    def settled(self, x: Value, size: float) -> Array:
        """Return the numbers, with 0 for those that are zero but for rounding beside numbers of this size.

        At 17 digits, where every float64 is told from every other, they stay as they are.

        >>> NumberFormat(4).settled(np.array([1e-15, -0.5]), 2.0)
        array([ 0. , -0.5])
        """
        numbers = np.asarray(x, dtype=float)
        if self.digits == MAX_DIGITS:
            return numbers
        with np.errstate(invalid="ignore"):
            return np.where(np.abs(numbers) <= ZERO * min(size, LARGE), 0.0, numbers)

    def factor(self, x: Value) -> str:
        """Return one number as it stands after an operator: a negative one in brackets."""
        text = self.number(x)
        return f"({text})" if text.startswith("-") else text

    def base(self, x: Value) -> str:
        """Return one number as it stands under an exponent."""
        text = self.number(x)
        return f"({text})" if text.startswith("-") or "times" in text else text

    def product(self, *factors: Value) -> str:
        r"""Return numbers joined by a multiplication dot.

        >>> NumberFormat(3).product(-2.0, -0.5)
        '-2 \\cdot (-0.5)'
        """
        return r" \cdot ".join([self.number(factors[0]), *map(self.factor, factors[1:])])

    def difference(self, left: Value, right: Value) -> str:
        """Return one number minus another."""
        return f"{self.number(left)} - {self.factor(right)}"

    def vector(self, xs: Sequence[float] | Array, keep: int | None = None) -> list[str]:
        """Return a row of numbers in brackets, in as many lines as it takes."""
        return row(_written(len(xs), keep, lambda k: self.number(xs[k])), keep)

    def total(self, xs: Sequence[float] | Array, keep: int | None = None) -> list[str]:
        """Return numbers added up, in as many lines as it takes; under dots stands what they add up to."""
        return self.sum(_written(len(xs), keep, lambda k: self.number(xs[k])), xs, keep)

    def sum(
        self, terms: Sequence[str], worth: Sequence[float] | Array, keep: int | None = None, plus: Value = 0.0
    ) -> list[str]:
        r"""Add up written terms and a number; `worth` is each term's value, for those that are left out.

        >>> NumberFormat(4).sum([f"{n}^2" for n in range(1, 12)], [n * n for n in range(1, 12)])
        ['1^2 + 2^2 + 3^2 + 4^2 + 5^2 + 6^2 + \\underbrace{\\cdots}_{294} + 11^2']
        """
        listed, last = [], -1
        for k in (k for k in shown_entries(len(terms), keep) if k is not None):
            if k > last + 1:
                listed.append(SUMMED.format(total=self.number(np.sum(worth[last + 1 : k]))))
            listed.append(terms[k])
            last = k
        return _sum(listed if plus == 0 else [*listed, self.number(plus)])

    def products(self, left: Array, right: Array, keep: int | None = None, plus: Value = 0.0) -> list[str]:
        """Add up the products of two rows of numbers, and a number, in as many lines as it takes."""
        terms = _written(len(left), keep, lambda k: self.product(left[k], right[k]))
        return self.sum(terms, left * right, keep, plus)


def _written(n: int, keep: int | None, write: Callable[[int], str]) -> list[str]:
    """Return the texts of n entries, of which only those that are shown are written; the others are empty."""
    texts = [""] * n
    for k in shown_entries(n, keep):
        if k is not None:
            texts[k] = write(k)
    return texts


def row(entries: Sequence[str], keep: int | None = None) -> list[str]:
    """Return entries in brackets with commas between them."""
    listed = [DOTS if k is None else entries[k] for k in shown_entries(len(entries), keep)]
    return _wrapped(["(" + "".join(listed[:1]), *listed[1:]], between=r",\; ", end=")")


def added(terms: Sequence[str], keep: int | None = None) -> list[str]:
    """Return terms with plus or minus between them.

    >>> added(["2", "-3", "4"])
    ['2 - 3 + 4']
    """
    return _sum([DOTS if k is None else terms[k] for k in shown_entries(len(terms), keep)])


def _sum(terms: Sequence[str]) -> list[str]:
    return _wrapped([*terms[:1], *map(_joint, terms[1:])]) if terms else ["0"]


def _joint(term: str) -> str:
    return f" - {term[1:]}" if term.startswith("-") else f" + {term}"


def _wrapped(pieces: Sequence[str], between: str = "", end: str = "") -> list[str]:
    """Return the pieces joined into lines of about WIDTH visible characters."""
    lines = [""]
    for position, piece in enumerate(pieces):
        if lines[-1] and _visible(lines[-1] + piece) > WIDTH:
            lines.append("")
        lines[-1] += piece + (between if position < len(pieces) - 1 else end)
    return lines


def _visible(text: str) -> int:
    return len(re.sub(r"\\[a-zA-Z]+|[{} ]|\\;", "", text))


def _short(decimal: str) -> str:
    return decimal.rstrip("0").rstrip(".") if "." in decimal else decimal


Member = str | list[str]


def chain(symbol: str, members: Sequence[Member]) -> list[str]:
    """Return the lines that say: the symbol equals this, which equals that."""
    lines = []
    for position, member in enumerate(members):
        first, *others = [member] if isinstance(member, str) else member
        lines.append(f"{'' if position else symbol} &= {first}")
        lines += [rf"&\quad {other.strip()}" for other in others]
    return lines


def aligned(lines: Sequence[str]) -> str:
    """Return the lines under each other, their equals signs in one column."""
    return "\\begin{aligned}\n" + " \\\\\n".join(line.strip() for line in lines) + "\n\\end{aligned}"
