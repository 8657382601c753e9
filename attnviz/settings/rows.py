"""The row of a table, such as a score function or a mask, and the entry of a menu, such as a page.

A table is a plain dict from a row's stable name to its `Choice` or `Entry`. The widget, its help, the address,
the README and the parametrised tests all loop over the table, so adding a choice is one function and one row.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from attnviz.settings.faults import shorten
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

    def changed(self: Row, **fields: Any) -> Row:
        """Return a copy with other values in some fields; its texts stay English, to be read in any language."""
        row = copy.copy(self)
        for name, value in fields.items():
            object.__setattr__(row, name, value)
        return row

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
        raise ValueError(f"there is no {what} called {shorten(name)}; choose one of: {', '.join(rows)}") from None
