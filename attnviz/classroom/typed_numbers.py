r"""Numbers as people give them: 1/2, 50 %, 0,5 and what softmax leaves on paper, such as e/(e+3).

A typed number is a line of sums, products, quotients and powers of numbers, e, π and square roots. It is read sign by
sign, never run, and every part of it is bounded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

MAX_CHARACTERS = 60
MAX_LEVELS = 12
MAX_SIZE = 1e15
STEEPEST = 100.0

_PART = re.compile(r"\s*(?:(\d+(?:[.,]\d*)?(?:[eE][+-]?\d+)?|[.,]\d+(?:[eE][+-]?\d+)?)|(sqrt|exp|pi|[e√π()+\-*/^%]))")
_SAME = str.maketrans({"−": "-", "–": "-", "·": "*", "×": "*", "∙": "*", "÷": "/", ":": "/", "⁄": "/", "²": "^2"})
CONSTANTS = {"e": math.e, "pi": math.pi, "π": math.pi}
FUNCTIONS = {"sqrt": math.sqrt, "√": math.sqrt, "exp": math.exp}


def read_number(text: str) -> float | None:
    """Return the number that was typed, None if it is not a number or is out of bounds.

    >>> [read_number(text) for text in ("0,25", " −0.1 ", "1/4", "50 %", "1e-3", "a half", "1/0")]
    [0.25, -0.1, 0.25, 0.5, 0.001, None, None]
    >>> round(read_number("e/(e+3)"), 4), round(read_number("2√2"), 3), read_number("2^-1")
    (0.4754, 2.828, 0.5)
    """
    try:
        parts = list(_parts(text))
        value = _Reader(parts).whole()
    except (ValueError, ArithmeticError, IndexError):
        return None
    return value if math.isfinite(value) and abs(value) <= MAX_SIZE else None


def _parts(text: str) -> Iterator[str]:
    """Yield the numbers, names and signs of a text; raises ValueError for anything else."""
    if len(text) > MAX_CHARACTERS:
        raise ValueError(len(text))
    text, at = text.translate(_SAME).strip(), 0
    while at < len(text):
        match = _PART.match(text, at)
        if match is None:
            raise ValueError(text[at])
        yield match[1] or match[2]
        at = match.end()


class _Reader:
    """One pass over the parts: sums of products of powers."""

    def __init__(self, parts: list[str]) -> None:
        self.parts, self.at, self.deep = parts, 0, 0

    def whole(self) -> float:
        value = self.total()
        if self.at < len(self.parts):
            raise ValueError(self.parts[self.at])
        return value

    def next_is(self, *signs: str) -> bool:
        return self.at < len(self.parts) and self.parts[self.at] in signs

    def advance(self) -> str:
        self.at += 1
        return self.parts[self.at - 1]

    def total(self) -> float:
        self.deep += 1
        if self.deep > MAX_LEVELS:
            raise ValueError(self.deep)
        value = self.product()
        while self.next_is("+", "-"):
            sign = 1 if self.advance() == "+" else -1
            value += sign * self.product()
        self.deep -= 1
        return value

    def product(self) -> float:
        """Return factors; a name, a root or a bracket after a number is one too: 2e, 3(e+1)."""
        value = self.signed()
        while self.next_is("*", "/", "(", *CONSTANTS, *FUNCTIONS):
            if self.next_is("/"):
                self.advance()
                value /= self.signed()
            else:
                if self.next_is("*"):
                    self.advance()
                value *= self.signed()
        return value

    def signed(self) -> float:
        negative = False
        while self.next_is("+", "-"):
            negative ^= self.advance() == "-"
        value = self.power()
        return -value if negative else value

    def power(self) -> float:
        value = self.atom()
        while self.next_is("%"):
            self.advance()
            value /= 100
        if not self.next_is("^"):
            return value
        self.advance()
        self.deep += 1
        if self.deep > MAX_LEVELS:
            raise ValueError(self.deep)
        exponent = self.signed()
        self.deep -= 1
        raised = value**exponent if abs(exponent) <= STEEPEST else math.nan
        if isinstance(raised, complex):
            raise ValueError(exponent)
        return float(raised)

    def atom(self) -> float:
        part = self.advance()
        if part == "(":
            value = self.total()
            if not self.next_is(")"):
                raise ValueError(part)
            self.advance()
            return value
        if part in CONSTANTS:
            return CONSTANTS[part]
        if part in FUNCTIONS:
            return FUNCTIONS[part](self.atom())
        return float(part.replace(",", "."))
