"""One line of arithmetic, in numbers of the run and in words, and the derivation that collects such lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnviz.arithmetic.notation.latex_numbers import VERTICAL_DOTS, Member, NumberFormat, aligned, chain, shown_entries
from attnviz.arithmetic.notation.line_words import EDITED, EDITED_TO, EDITED_VECTOR, LINES, SETTLED
from attnviz.arrays import Array
from attnviz.settings.counting import ordinal
from attnviz.settings.language import translate

Bars = tuple[tuple[str, float], ...]

CLOSE = 1e-11
"""The largest difference between two orders of summation, relative to the size of the terms.

What differs by more was edited by hand.
"""


@dataclass(frozen=True, eq=False)
class ArithmeticLine:
    """One line of arithmetic.

    name      stable: "score", "exponentials" ...
    title     a few words, and `sentence` says it plainly; neither holds a token, nor any LaTeX
    operands  what goes in, float64: numbers of the run, or results of lines before
    computed  what the formula makes of the operands
    result    the value that the run continues with: `computed` up to the order of summation, unless it was edited
    latex     the formula with the numbers, for KaTeX
    step      the step of the Trace that holds the result; "" where the run keeps none
    edited    whether a person has changed the number: the result is then not what the formula gives
    active    whether the line changes anything here; a scale of 1 or no bias does not
    bars      (label, value) for each entry, for a bar chart
    source    where in a trained model's files the parameters of the line lie; "" for what was made here
    brief     the line in a few symbols, where it has them; names in braces are operands, {made} is the result
    sign      "×" or "−" where its entries are those of two vectors, multiplied or subtracted
    """

    name: str
    title: str
    sentence: str
    operands: Mapping[str, Array]
    computed: Array
    result: Array
    latex: str
    step: str = ""
    edited: bool = False
    active: bool = True
    bars: Bars = ()
    source: str = ""
    brief: str = ""
    sign: str = ""


@dataclass(frozen=True)
class Wording:
    """The wording of a line: its title, its sentence, and both in a few symbols beside the maps."""

    title: str
    sentence: str
    brief: str = ""
    sign: str = ""


@dataclass(frozen=True)
class Equation:
    """An equation in LaTeX: a symbol, and the members that it equals, one after the other.

    above  lines that come first;  `keep` the entry that is never left out
    """

    symbol: str
    members: Sequence[Member] = ()
    above: Sequence[str] = ()
    keep: int | None = None


@dataclass(frozen=True)
class Display:
    """The display of a line, apart from its words and numbers.

    active  whether the line changes anything here; a scale of 1 or no bias does not
    bars    the label of the bar of an entry, from its number; None for no bar chart
    source  where in a trained model's files the parameters of the line lie; "" for what was made here
    """

    active: bool = True
    bars: Callable[[int], str] | None = None
    source: str = ""


PLAIN = Display()


class Result:
    """The numbers of a line.

    computed  the value that the formula gives for the operands
    value     the value that the run recorded in its `step`; `computed` where no step records it
    size      the size of the summed terms, by which rounding is told from an edit
    beside    the scale of the result: numbers that are rounding error relative to it are printed as 0
    """

    def __init__(
        self,
        computed: ArrayLike,
        operands: Mapping[str, ArrayLike] | None = None,
        recorded: ArrayLike | None = None,
        step: str = "",
        size: ArrayLike | None = None,
        beside: float = 0.0,
    ) -> None:
        self.computed, self.operands, self.step, self.beside = _number(computed), operands or {}, step, beside
        self.value = self.computed if recorded is None else _number(recorded)
        self.size = None if size is None else np.asarray(size, dtype=float)


@dataclass(frozen=True, eq=False)
class MatVec:
    """A vector through a matrix, x W + b.

    keep    the term of each entry that is never left out
    beside  the size of the numbers that stand beside those of the result, by default the largest of it
    exact   whether the smallest entry of x is no rounding
    """

    x: Array
    W: Array
    b: Array | None = None
    keep: int | None = None
    beside: float | None = None
    exact: bool = False


@dataclass
class Derivation:
    """A list of lines; `add_line` and `add_matvec` add one and return its result, which the next line can use.

    facts  the numbers that the words of all lines may name: i, j (counted from 1), h, line ...
    sizes  the largest number of each step of the layer; what is 1e12 times smaller counts as rounding error
    """

    fmt: NumberFormat
    facts: dict[str, object]
    sizes: Mapping[str, float] = field(default_factory=dict)
    lines: list[ArithmeticLine] = field(default_factory=list)
    _settled: bool = False

    @property
    def ij(self) -> str:
        """The subscript of this cell, counted from 1."""
        return f"{self.facts['i']},{self.facts['j']}"

    def as_printed(self, x: ArrayLike, size: float) -> Array:
        """Return the numbers as they are printed: 0 for what is rounding error at the scale `size`.

        Where a number becomes 0 so, the next line that is added says it.
        """
        printed = self.fmt.settled(np.asarray(x, dtype=float), size)
        self._settled |= bool(np.any((printed == 0) & (np.asarray(x) != 0)))
        return printed

    def rename_last(self, name: str) -> None:
        """Give the line that was added last another name."""
        self.lines[-1] = replace(self.lines[-1], name=name)

    def is_shown(self) -> bool:
        """Return whether the line that was added last changes anything here."""
        return self.lines[-1].active or self.lines[-1].edited

    def add_line(
        self,
        name: str,
        equation: Equation,
        result: Result,
        *,
        words: str | Wording = "",
        display: Display = PLAIN,
        **facts: object,
    ) -> Array:
        """Add a line: the symbol equals the members, one after the other, and then the result. Return the result.

        words   the wording, or the name of one in LINES where that is not `name`
        facts   values that the wording names, beyond those of the derivation
        """
        computed, value = result.computed, result.value
        edited = _differs(value, computed, np.abs(computed) if result.size is None else result.size)
        wording = words if isinstance(words, Wording) else Wording(*LINES[words or name])
        title, sentence = (text.format_map(self.facts | facts) for text in (wording.title, wording.sentence))
        latex = self._latex(equation, result, edited=edited)
        self.lines.append(
            ArithmeticLine(
                name=name,
                title=title,
                sentence=sentence + self._remarks(result, edited=edited),
                operands={key: _number(number) for key, number in result.operands.items()},
                computed=computed,
                result=value,
                latex=latex,
                step=result.step,
                edited=edited,
                active=display.active,
                bars=_bars(display, value),
                source=display.source,
                brief=wording.brief,
                sign=wording.sign,
            )
        )
        return value

    def add_matvec(
        self,
        name: str,
        symbols: tuple[str, str, str],
        matvec: MatVec,
        *,
        recorded: ArrayLike | None = None,
        step: str = "",
        **more: Any,
    ) -> Array:
        """Add the line of a vector through a matrix, entry by entry, and return the result.

        symbols         the symbol of the vector, that of an entry of it before its number, and the formula
        recorded, step  as in Result;  `more` as in `add_line`
        """
        x, W, b, keep = matvec.x, matvec.W, matvec.b, matvec.keep
        plus = np.zeros(W.shape[1]) if b is None else b
        computed = x @ W + plus
        beside = largest(computed) if matvec.beside is None else matvec.beside
        x_seen, W_seen = self.as_printed(x, 0.0 if matvec.exact else largest(x)), self.as_printed(W, largest(W))
        seen = self.as_printed(computed, beside)
        above: list[str] = []
        for d in shown_entries(len(computed)):
            if d is None:
                above.append(VERTICAL_DOTS)
                continue
            *lines, last = self.fmt.products(x_seen, W_seen[:, d], keep, plus[d])
            above += chain(f"{symbols[1]}{ordinal(d)}}}", [[*lines, f"{last} = {self.fmt.number(seen[d])}"]])
        operands = {"x": x, "W": W} if b is None else {"x": x, "W": W, "b": b}
        size = np.abs(x) @ np.abs(W) + np.abs(plus)
        result = Result(computed, operands, recorded, step, size, beside)
        return self.add_line(name, Equation(symbols[0], [symbols[2]], above), result, **more)

    def format(self, x: float) -> str:
        """Return a number as it stands in a sentence."""
        return f"{x:.{self.fmt.digits}g}"

    def _latex(self, equation: Equation, result: Result, *, edited: bool) -> str:
        printed = self._value(self.as_printed(result.computed, result.beside), equation.keep)
        lines = [*equation.above, *chain(equation.symbol, [*equation.members, printed])]
        return aligned(lines + self._edited_to(result.value, equation.keep) if edited else lines)

    def _remarks(self, result: Result, *, edited: bool) -> str:
        """Return what the sentence of a line adds about rounding to 0 and about an edit, after a space each."""
        remarks = [translate(SETTLED)] if self._settled else []
        remarks += [self._edited(result.computed, result.value)] if edited else []
        self._settled = False
        return "".join(f" {remark}" for remark in remarks)

    def _value(self, x: Array, keep: int | None) -> Member:
        return self.fmt.vector(x, keep) if x.ndim else self.fmt.number(float(x))

    def _edited_to(self, x: Array, keep: int | None) -> list[str]:
        value = self._value(x, keep)
        first, *others = [value] if isinstance(value, str) else value
        return [rf"&\quad \text{{{translate(EDITED_TO)}}}\; {first}", *(rf"&\quad {other}" for other in others)]

    def _edited(self, computed: Array, result: Array) -> str:
        if computed.ndim:
            return translate(EDITED_VECTOR)
        return translate(EDITED, computed=self.format(float(computed)), result=self.format(float(result)))


def _bars(display: Display, value: Array) -> Bars:
    return tuple((display.bars(ordinal(d)), float(x)) for d, x in enumerate(value)) if display.bars else ()


def dimension(d: int) -> str:
    """Return the label of the bar of entry d: \"dim 3\", as a bare number would read as the position of a token."""
    return translate("dim {n}", n=d)


def largest(x: Array) -> float:
    """Return the size of the largest finite number, 0 if there is none."""
    return float(np.max(np.abs(x), initial=0.0, where=np.isfinite(x)))


def _number(x: ArrayLike) -> Array:
    array = np.array(x, dtype=float)
    array.flags.writeable = False
    return array


def _differs(result: Array, computed: Array, size: Array) -> bool:
    """Return whether a number was edited: it differs from the formula by more than the order of summation explains."""
    same = (result == computed) | (np.isnan(result) & np.isnan(computed))
    with np.errstate(all="ignore"):
        near = np.abs(result - computed) <= CLOSE * size + np.finfo(float).tiny
    return not bool(np.all(same | (near & np.isfinite(computed))))
