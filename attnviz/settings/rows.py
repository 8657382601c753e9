"""The row of a table, such as a score function or a mask, and the entry of a menu, such as a page.

A table is a plain dict from a row's stable name to its `Choice` or `Entry`. The widget, its help, the address,
the README and the parametrised tests all loop over the table, so adding a choice is one function and one row.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from attnviz.settings.language import translated_fields

Row = TypeVar("Row", bound="Choice | Entry")


@translated_fields("label")
@dataclass(frozen=True)
class Knob:
    """A number in the line of a row that a visitor may set.

    name   the name in the line and in links, never changed
    heads  whether each head may have a number of its own
    """

    name: str
    label: str
    default: float
    low: float
    high: float
    step: float = 0.05
    heads: bool = False


KnobValue = float | tuple[float, ...]
"""The number of a knob, or one for each head; the last one repeats."""


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
    sheet     returns the formula of the weights in a workbook, given `exports.workbook.normaliser_formulas.Lines`
    browser   the same in JavaScript, as an expression of x, place and head: see exports/interactive/normalisers.js
    weights   the weights in a script, as code of the masked scores {x} and the words of a library; `before` the lines
              before them, `function` the definition of what they call
    turn      whether that code works along the last axis alone, so that columns have to be turned first
    """

    cell: Callable[[Any], None]
    words: tuple[CellLine, ...]
    sheet: Callable[[Any], Any]
    browser: str
    weights: str
    before: tuple[str, ...] = ()
    function: str = ""
    turn: bool = False


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


@translated_fields("label", "note", "plain")
@dataclass(frozen=True)
class Choice:
    """A named function with everything a reader wants to know about it.

    name     stands in links, files and tests: lower_snake_case, never changed
    label    for people; free to change
    fn       the function, pure; every row of one table has the same signature
    formula  LaTeX
    plain    the formula in one line of plain text, where a table's rows need one
    note     one plain sentence: what it does and when one wants it
    source   where the definition was read
    uses     names of the settings that `fn` takes by keyword; they are drawn only while a row that uses them is chosen
    line     the definition as a formula that can be typed, where one line can say it
    knobs    the numbers in the line that a person may set
    fast     the function that is quicker than the line's own, for a row that is nothing but its line
    back     how slopes go back through `fn`, in the tables where a run computes with it
    script   of a mask or a bias, what a script says where it is not the line itself: the lines before, and last the
             code; {np} is the library
    script_before  of a mask or a bias, returns the lines of a script that come before these and depend on the setting,
             given `exports.script.inputs.Given`
    """

    name: str
    label: str
    fn: Callable[..., Any]
    formula: str
    note: str
    source: str
    uses: tuple[str, ...] = ()
    plain: str = ""
    line: str = ""
    back: Callable[..., Any] | None = None
    knobs: tuple[Knob, ...] = ()
    fast: Callable[..., Any] | None = None
    script: tuple[str, ...] = ()
    script_before: Callable[[Any], list[str]] | None = None

    def changed(self: Row, **fields: Any) -> Row:
        """Return a copy with other values in some fields; its texts stay English, to be read in any language."""
        made = copy.copy(self)
        for name, value in fields.items():
            object.__setattr__(made, name, value)
        return made

    def knob_values(self, values: Mapping[str, KnobValue]) -> dict[str, KnobValue]:
        """Return the value of each knob by its name; `values` names those that are set as `row.knob`."""
        return {knob.name: values.get(f"{self.name}.{knob.name}", knob.default) for knob in self.knobs}

    def settings(self, config: object) -> dict[str, Any]:
        """Return the settings that this row's function takes, read off `config`."""
        return {name: getattr(config, name) for name in self.uses}


@translated_fields("label", "note")
@dataclass(frozen=True)
class Entry:
    """An entry of a menu, such as a page or a panel, that has no function.

    name   stands in links and tests: lower_snake_case, never changed
    label  for people; free to change
    note   one plain sentence about it, or nothing
    """

    uses: ClassVar[tuple[str, ...]] = ()

    name: str
    label: str
    note: str = ""


def table(*choices: Row) -> dict[Any, Row]:
    """Return the rows by name, in the order given.

    Its keys are of type Any, so that what a loop over a table yields fits the settings that take its names alone.

    Raises ValueError if two rows share a name or a name is not lower_snake_case.

    >>> row = Choice("none", "No mask", lambda: None, r"M = 0", "Every query attends to every key.", "-")
    >>> list(table(row))
    ['none']
    """
    rows: dict[str, Row] = {}
    for choice in choices:
        if not choice.name.isidentifier() or choice.name != choice.name.lower():
            raise ValueError(f"{choice.name!r} is not a lower_snake_case name")
        if choice.name in rows:
            raise ValueError(f"two rows are named {choice.name!r}")
        rows[choice.name] = choice
    return rows


def pick(rows: Mapping[str, Row], name: str, what: str) -> Row:
    """Return the row called `name`; a ValueError that lists the names otherwise.

    >>> pick({}, "soft", "normaliser")
    Traceback (most recent call last):
    ...
    ValueError: there is no normaliser called 'soft'; choose one of:
    """
    try:
        return rows[name]
    except (KeyError, TypeError):
        raise ValueError(f"there is no {what} called {name!r}; choose one of: {', '.join(rows)}") from None
