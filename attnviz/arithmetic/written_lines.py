"""The arithmetic of normalisers that sort, or tell rounding from what is apart: their rows say how, with these lines.

A row's function `Written.cell` gets a `WrittenLines` and writes one line after the other; the last is the weight.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnviz.arithmetic import row_lines, typed_lines
from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.normalised_slice import NormalisedSlice
from attnviz.arithmetic.notation.derivation import Derivation, Display, Equation, Result, Wording, largest
from attnviz.arithmetic.notation.latex_numbers import Member, NumberFormat, chain, row
from attnviz.arrays import Array
from attnviz.engine.records.typed_rows import normaliser_of
from attnviz.engine.rows.line_row import CellLine
from attnviz.engine.tables.normalisers import Normaliser

Operands = Mapping[str, float | Array]


class WrittenLines:
    """A writer of the lines of one cell under a normaliser, in the words of its row.

    x, at  the scores that are normalised together, and the cell's position among them
    size   how large the numbers are whose sums the scores are
    """

    def __init__(self, derivation: Derivation, line: NormalisedSlice, its: Normaliser) -> None:
        words: tuple[CellLine, ...] = its.written.words if its.written else ()
        self._to, self._line, self._words = derivation, line, {each.name: each for each in words}
        self.x, self.at, self.size = line.x, line.at, line.size

    @property
    def fmt(self) -> NumberFormat:
        return self._to.fmt

    def _wording(self, name: str) -> Wording:
        line = self._words[name]
        return Wording(line.title, line.sentence, line.brief)

    def add(
        self,
        name: str,
        symbol: str,
        members: list[Member],
        number: float | Array,
        operands: Operands,
        size: float = 0.0,
    ) -> Array:
        """Add a line: the symbol equals the members, which come to what is made of the operands; return that.

        size  of the terms of a sum, which tells rounding from an edit
        """
        result = Result(number, operands, size=size or None)
        return self._to.add_line(name, Equation(symbol, members), result, words=self._wording(name))

    def largest(self) -> Array:
        """Add the largest score of the line."""
        line, beside = self._line, self._to.sizes["masked"]
        name = f"({line.name})" if " + " in line.name else line.name
        above = chain(line.name, [self.fmt.vector(self._to.as_printed(line.x, beside), line.at)])
        return self._to.add_line(
            "largest",
            Equation("m", [rf"\max_l {name}"], above=above),
            Result(np.max(line.x), {"x": line.x}, beside=beside),
            words=self._wording("largest"),
        )

    def below(self, over: float) -> tuple[Array, Array, Array]:
        """Add how far each score lies below the largest, over the temperature and a number.

        Return that, the same in falling order, and which of those are allowed.
        """
        line, fmt, beside = self._line, self.fmt, self._to.sizes["masked"]
        m, divisor = self.largest(), line.T * over
        m_seen = self._to.as_printed(m, beside)
        entries = [fmt.difference(x, m_seen) for x in self._to.as_printed(line.x, beside)]
        if divisor != 1.0:
            entries = [f"({entry}) / {fmt.number(divisor)}" for entry in entries]
        u = self._to.add_line(
            "exponents",
            Equation("u_l", [row(entries, line.at)], keep=line.at),
            Result((line.x - m) / divisor, {"x": line.x, "m": m, "divisor": divisor}, beside=beside / divisor),
            words=self._wording("exponents"),
            display=Display(bars=line.label),
        )
        falling = -np.sort(-u)
        return u, falling, ~np.isneginf(falling)

    def support(self, falling: Array, inside: Array) -> tuple[Array, Array]:
        """Add how many scores get a weight, and what those add up to; return both."""
        seen = self._to.as_printed(falling, largest(falling))
        above = chain(r"u_{(1)}, u_{(2)}, \dots", [self.fmt.vector(seen)])
        k = self._to.add_line(
            "support",
            Equation("k", [], above=above),
            Result(inside.sum(), {"falling": falling}),
            words=self._wording("support"),
        )
        terms = falling[: int(k)]
        symbol, members = r"\textstyle\sum_{l \le k} u_{(l)}", [self.fmt.total(terms)]
        return k, self.add("sum_of_support", symbol, [*members], np.cumsum(terms)[-1], {"terms": terms})

    def weight(self, members: list[Member], result: float | Array, operands: Operands, words: str = "weight") -> None:
        """Add the weight, in the words of the row that are called so."""
        _weight(self._to, self._line, members, result, operands, self._wording(words))


def of_weight(derivation: Derivation, position: CellPosition, line: NormalisedSlice) -> None:
    """Write the lines from the scores of the whole row or column to the weight, as its normaliser says them."""
    its = normaliser_of(position.config)
    if position.emptied or (its.typed and not position.may):
        words = "emptied" if position.emptied else "typed_forbidden"
        _weight(derivation, line, [], 0.0, {"x": line.x}, words)
    elif np.isnan(line.x).any() or np.isposinf(line.x).any():  # there is no arithmetic: what goes in and what comes out
        result = np.nan if line.recorded is None else line.recorded
        _weight(derivation, line, [], result, {"x": line.x, "T": line.T}, "weight_of_formula")
    elif its.lines:
        row_lines.weight(derivation, position, its, line)
    elif its.written:
        its.written.cell(WrittenLines(derivation, line, its))
    elif its.definition:
        typed_lines.weight(derivation, position, its.definition, line)


def _weight(
    derivation: Derivation,
    line: NormalisedSlice,
    members: list[Member],
    result: float | Array,
    operands: Operands,
    words: str | Wording,
) -> None:
    at_one = {"size": 1.0, "beside": 1.0} if "threshold" in operands else {}  # what stands beside it is a share of 1
    derivation.add_line(
        "weight",
        Equation(f"a_{{{derivation.ij}}}", [*members]),
        Result(result, operands, recorded=line.recorded, step=line.step, **at_one),
        words=words,
    )
