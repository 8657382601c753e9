"""A score or a normaliser as a row: its line, from which every reading follows, or the readings themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from attnviz.settings.language import translated_fields
from attnviz.settings.rows import Knob


@translated_fields("title", "sentence", "brief", "zero")
@dataclass(frozen=True)
class CellLine:
    """One line of the arithmetic of a cell: a step of the definition of a row.

    name     of the line, for good
    formula  as it is typed: `below = (s - m) / T` from the lines before and the variables of the row's own line; the
             last has no name in front. Normalisers may name the scores s and the temperature T; x is s over T
    title    a few words, and `sentence` says it plainly
    symbol   what it is called in LaTeX, where that is not the formula itself; `@` is the position of a key
    brief    the same in a few symbols, beside the maps; names in braces are the numbers that go in, {made} the result
    zero     the sentence where it divides by 0
    """

    name: str
    formula: str
    title: str
    sentence: str
    symbol: str = ""
    brief: str = ""
    zero: str = ""


@dataclass(frozen=True)
class Written:
    """The readings of a row that no line defines: one that sorts, or tells rounding errors from true differences.

    cell      writes the arithmetic of one cell, given `arithmetic.written_lines.WrittenLines`
    words     of its lines, by their names; their formulas are empty
    workbook  returns the formula of the weights in one, given `exports.workbook.normaliser_formulas.MaskedScores`
    browser   the same in JavaScript, as an expression of x, place and head: see exports/interactive/normalisers.js
    live      the same for a whole row, as code that fills w from the n open scores x: see live/help.js
    weights   the weights in a script, as code of the masked scores {x} and the words of a library; `before` the lines
              before them, `function` the definition of what they call
    turn      whether that code works along the last axis alone, so that columns have to be turned first
    """

    cell: Callable[[Any], None]
    words: tuple[CellLine, ...]
    workbook: Callable[[Any], Any]
    browser: str
    live: str
    weights: str
    before: tuple[str, ...] = ()
    function: str = ""
    turn: bool = False

    @property
    def asks_size(self) -> bool:
        """Return whether the lines of a script ask for the size of the terms that scores are sums of."""
        return any("{size}" in line for line in (*self.before, self.weights))


@dataclass(frozen=True)
class LineRow:
    """A row that is its line: every reading follows from it.

    kind  the table that it belongs to: "score" or "normaliser"
    fast  a quicker function than the line's own, with the same numbers; knobs come as keywords
    back  how slopes go back through `fast`, where that is quicker too

    lines        the arithmetic of a cell as it is said to a reader; where there are none it follows from the line
    latex        the formula where another form than the line's own is what one reads in papers
    unscaled     of a score, the line without the scale 1/√d_k where that is a step of its own
    by_hand      of a score, whether heads can be set by hand to do what is asked of them under it
    pairwise     of a score, seconds that `fast` takes for each pair of tokens and entry of the vectors, where it is no
                 matrix product
    sums_to_one  of a normaliser, where trying the line would not tell
    comments     of a normaliser, what a script says behind lines of the formula, by their names
    written      of a normaliser, what its readings say where no line says it all
    masked_as_0  of a normaliser, what becomes of forbidden keys whose score is 0 instead of -inf

    The other fields are those of `Choice`.
    """

    kind: str
    name: str
    label: str
    line: str
    note: str
    source: str
    plain: str = ""
    knobs: tuple[Knob, ...] = ()
    fast: Callable[..., Any] | None = None
    back: Callable[..., Any] | None = None
    lines: tuple[CellLine, ...] = ()
    uses: tuple[str, ...] = ()
    latex: str = ""
    unscaled: str = ""
    by_hand: bool = False
    pairwise: float = 0.0
    sums_to_one: bool | None = None
    comments: Mapping[str, str] = field(default_factory=dict, hash=False)
    written: Written | None = None
    masked_as_0: str = ""
