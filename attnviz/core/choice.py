"""One row of one table: a score function, a mask, an embedding ...

A table is a plain dict from a row's stable name to its `Choice`. The widget, its help, the address, the README and the
parametrised tests all loop over the table, so adding a choice is one function and one row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from attnviz.core.language import said


@said("label", "note", "plain")
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
    """

    name: str
    label: str
    fn: Callable[..., Any]
    formula: str
    note: str
    source: str
    uses: tuple[str, ...] = ()
    plain: str = ""

    def settings(self, config: object) -> dict[str, Any]:
        """The settings that this row's function takes, read off `config`."""
        return {name: getattr(config, name) for name in self.uses}


Row = TypeVar("Row", bound=Choice)


def table(*choices: Row) -> dict[str, Row]:
    """The rows by name, in the order given.

    Raises ValueError if two rows share a name or a name is not lower_snake_case.

    >>> row = Choice("none", "No mask", lambda: None, r"M = 0", "Every query sees every key.", "-")
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
    """The row called `name`; a ValueError that lists the names otherwise.

    >>> pick({}, "soft", "normaliser")
    Traceback (most recent call last):
    ...
    ValueError: there is no normaliser called 'soft'; choose one of:
    """
    try:
        return rows[name]
    except (KeyError, TypeError):
        raise ValueError(f"there is no {what} called {name!r}; choose one of: {', '.join(rows)}") from None
