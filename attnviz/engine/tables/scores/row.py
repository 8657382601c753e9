"""A row of the table of scores, made from a line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from attnviz.codegen.latex import latex
from attnviz.engine.rows.line_row import CellLine, LineRow
from attnviz.formula.evaluation.functions import score_function, score_slopes
from attnviz.formula.facts.patterns import is_dot
from attnviz.formula.graph import Formula
from attnviz.formula.names import STEPS
from attnviz.formula.reader import parse
from attnviz.settings.rows import Choice


@dataclass(frozen=True)
class Score(Choice):
    """A score, `fn(Q, K, **parameters)`, and what the engine must know to call it.

    parameters  for each parameter of `fn` the axes that it has in one head
    biases      which of the parameters are biases: only there where biases are on, or in a line that was typed
    any_widths  whether queries and keys may differ in width
    typed       the formula that was typed, where it is one: then every reading comes from it
    lines       the arithmetic of a cell as it is said to a reader
    unscaled    the line without the scale, where the scale is a step of its own
    by_hand     whether heads can be set by hand under it
    pairwise    seconds that `fn` takes for each pair of tokens and entry of the vectors, where it is no matrix product
    takes       the variables that `fn` looks at where it is a function that no line can say
    """

    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    biases: tuple[str, ...] = ()
    any_widths: bool = False
    typed: Formula | None = None
    lines: tuple[CellLine, ...] = ()
    unscaled: str = ""
    by_hand: bool = False
    pairwise: float = 0.0
    takes: tuple[str, ...] = ()

    @property
    def is_dot(self) -> bool:
        """Return whether the scores are Q K^T, times the scale."""
        return is_dot(self.definition)

    @property
    def is_over_root(self) -> bool:
        """Return whether the score has a scale that follows from the width."""
        return bool(self.unscaled)

    def scale(self, d_k: int) -> float:
        """Return the factor that belongs to the score, from the width of a key."""
        return 1.0 / math.sqrt(d_k) if self.is_over_root else 1.0

    @property
    def looks_at_keys(self) -> bool:
        """Return whether a score depends on the entries of its key, and not only on its position."""
        return "k" in self.definition.variables()

    @property
    def definition(self) -> Formula:
        """The value of `fn` as a formula; the scale comes after it."""
        return self.typed or parse(self.unscaled or self.line)

    @property
    def by_position(self) -> bool:
        """True if a column of the scores belongs to a position, whatever key stands there."""
        return any("key" in axes for axes in self.parameters.values()) or self._names("j")

    @property
    def by_query_position(self) -> bool:
        """True if a row of the scores belongs to a position, whatever query stands there."""
        return self._names("i")

    def _names(self, variable: str) -> bool:
        return variable in self.takes or (self.typed is not None and variable in self.typed.variables())


BIAS = "b"
"""The parameter of a line that is a bias."""


def of_formula(row: Score, formula: Formula, widths: Sequence[int] = ()) -> Score:
    """Return the row with all that follows from its formula.

    widths  the true width of each head, where heads of different width ride padded with zeros
    """
    has_bias = BIAS in formula.parameters and formula.parameters[BIAS].role == "vector"
    return row.changed(
        fn=row.fast or score_function(formula, widths),
        back=score_slopes(formula, widths),
        formula=latex(formula),
        parameters={name: formula.axes_of(name) for name in formula.parameters},
        biases=(BIAS,) if has_bias else (),
        any_widths=formula.any_widths,
        typed=formula,
    )


def of_line(line: LineRow) -> Score:
    """Return the row of a score that is its line."""
    formula = parse(line.line, "score", {knob.name: knob.default for knob in line.knobs})
    row = Score(
        line.name,
        line.label,
        line.fast or score_function(formula),
        line.latex or latex(formula),
        line.note,
        line.source,
        plain=line.plain,
        line=line.line,
        knobs=line.knobs,
        fast=line.fast,
        lines=line.lines,
        uses=line.uses,
        unscaled=line.unscaled,
        by_hand=line.by_hand,
        pairwise=line.pairwise,
    )
    if line.back is None:
        return of_formula(row, formula)
    return row.changed(
        back=line.back,
        parameters={name: formula.axes_of(name) for name in STEPS if name in formula.parameters},
        biases=tuple({BIAS} & set(formula.parameters)),
        any_widths=formula.any_widths,
    )
