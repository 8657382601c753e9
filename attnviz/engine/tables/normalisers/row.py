"""A row of the table of normalisers, made from a line or, where no line can say it, written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from attnviz.codegen.latex import latex
from attnviz.engine.rows.line_row import CellLine, LineRow, Written
from attnviz.formula.evaluation.functions import (
    leaves_a_rest,
    normaliser_function,
    normaliser_slopes,
    slopes_as_softmax,
    sums_to_one,
)
from attnviz.formula.facts.degree import cancels
from attnviz.formula.facts.patterns import is_cell_by_cell, is_softmax
from attnviz.formula.graph import Formula
from attnviz.formula.reader import parse
from attnviz.settings.language import translated_fields
from attnviz.settings.rows import Choice, KnobValue


@translated_fields("masked_as_0")
@dataclass(frozen=True)
class Normaliser(Choice):
    """A normaliser, `fn(X, T)` along the last axis; `sums_to_one` if rows that have something allowed add to one.

    typed     the formula that was typed, where it is one
    lines     the arithmetic of a cell as it is said to a reader
    comments  what a script says behind lines of the formula, by their names
    written   what the readings say where no line says it all

    chosen_knobs  the numbers that it was made with, where these are not its defaults, as a setting has them

    masked_as_0  what becomes of forbidden keys whose score is 0 instead of -inf
    """

    sums_to_one: bool = True
    typed: Formula | None = None
    lines: tuple[CellLine, ...] = ()
    comments: Mapping[str, str] = field(default_factory=dict)
    written: Written | None = None
    masked_as_0: str = ""
    chosen_knobs: tuple[tuple[str, KnobValue], ...] = ()

    @property
    def definition(self) -> Formula | None:
        """The line from which every reading follows; None where no line can say what the row does."""
        return self.typed or (parse(self.line, "normaliser") if self.line else None)

    @property
    def line_formula(self) -> Formula:
        """The line of a row that is nothing else; raises ValueError where the row is written by hand."""
        return _with_line(self.definition)

    @property
    def letter(self) -> str:
        """The LaTeX name of the scores over the temperature."""
        return "z" if "z_{" in self.formula else "x"

    @property
    def is_softmax(self) -> bool:
        return self.definition is not None and is_softmax(self.definition)

    @property
    def slopes_as_softmax(self) -> bool:
        """Return whether a weight passes its slope back as that of a softmax does."""
        return self.definition is not None and slopes_as_softmax(self.definition)

    @property
    def is_indifferent(self) -> bool:
        """Return whether the weights are the same at every temperature."""
        return self.definition is not None and cancels(self.definition)

    @property
    def judges_alone(self) -> bool:
        """Return whether the weight of a key follows from its own score, whatever the others are."""
        return self.definition is not None and is_cell_by_cell(self.definition)

    @property
    def leaves_a_rest(self) -> bool:
        """Return whether the weights of a row are shares of 1 that never add up to it."""
        return self.definition is not None and leaves_a_rest(self.definition)


def of_formula(row: Normaliser, formula: Formula, knobs: Mapping[str, KnobValue] | None = None) -> Normaliser:
    """Return the row with all that follows from its formula, whose knobs have these values."""
    return row.changed(
        fn=partial(row.fast, **(knobs or {})) if row.fast else normaliser_function(formula),
        back=normaliser_slopes(formula),
        formula=latex(formula),
        sums_to_one=sums_to_one(formula),
        typed=formula,
    )


def of_line(line: LineRow) -> Normaliser:
    """Return the row of a normaliser that is its line, or that is written by hand where it has none."""
    values = {knob.name: knob.default for knob in line.knobs}
    formula = parse(line.line, "normaliser", values) if line.line else None
    sums_to_1 = line.sums_to_one
    row = Normaliser(
        line.name,
        line.label,
        line.fast or normaliser_function(_with_line(formula)),
        line.latex or latex(_with_line(formula)),
        line.note,
        line.source,
        plain=line.plain,
        line=line.line,
        knobs=line.knobs,
        fast=line.fast,
        lines=line.lines,
        back=line.back,
        sums_to_one=sums_to_one(_with_line(formula)) if sums_to_1 is None else sums_to_1,
        comments=line.comments,
        written=line.written,
        masked_as_0=line.masked_as_0,
    )
    return of_formula(row, _with_line(formula), values) if line.back is None else row


def _with_line(formula: Formula | None) -> Formula:
    if formula is None:
        raise ValueError("a row without a line is written by hand: give it fast=, back=, latex= and sums_to_one=")
    return formula
