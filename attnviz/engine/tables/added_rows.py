"""Rows of a host's own: each is one `LineRow`, and is in its table from then on as any other."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from attnviz.engine.rows.line_row import LineRow
from attnviz.engine.tables import normalisers, scores
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.engine.tables.scores import SCORES
from attnviz.formula.reader import parse
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words
from attnviz.settings.rows import Choice
from attnviz.settings.tuple_kinds import number_of

FAULTS = Words(
    {
        "row": "add_rows takes rows made by LineRow, not {given}",
        "kind": "a row belongs to {given}; choose one of: {kinds}",
        "name": "a row is named {given}; give a name of small letters, digits and underscores that no row has yet",
        "line": "the line of {name}: {error}",
        "knob": "the knob {knob} of {name}: {error}",
        "lines": "the lines that say {name}: {error}",
        "added": "the row {name} is in no table yet; call add_rows(row) before",
        "unused": "the line of {name} does not name its knob {knob}; use it there or leave it out",
        "file": "{path} cannot be run: {error}",
        "none": "{path} holds no rows; give it at least one LineRow, as in ROW = LineRow(...)",
    }
)

OTHER = Words(
    {
        "score": "the row {name} is a normaliser; choose it with normaliser=",
        "normaliser": "the row {name} is a score; choose it with score=",
    }
)
"""What is said of a row in the place of one of the other kind."""

TABLES: dict[str, tuple[dict[Any, Any], Callable[[LineRow], Choice]]] = {
    "score": (SCORES, scores.of_line),
    "normaliser": (NORMALISERS, normalisers.of_line),
}


def added_name(kind: str, row: LineRow) -> str:
    """Return the name of a row that was added. Raises ConfigError for one of another kind, and one that was not."""
    if row.kind != kind:
        raise ConfigError(OTHER[kind].format(name=shorten(row.name)))
    table, _ = TABLES[kind]
    if row.name not in table or table[row.name].line != row.line:
        raise ConfigError(FAULTS["added"].format(name=shorten(row.name)))
    return row.name


def add_rows(*rows: LineRow) -> None:
    """Add rows to their tables: they are chosen, drawn, linked to and exported as any other from then on.

    Raises ConfigError for a table that takes no lines, a name that is none or is taken, a knob whose default it cannot
    have or that the line does not name, and a line that cannot be read; then no row is added.
    """
    added: dict[tuple[str, str], Choice] = {}
    for row in rows:
        if not isinstance(row, LineRow):
            raise ConfigError(FAULTS["row"].format(given=f"{row!r:.60}"))
        if row.kind not in TABLES:
            raise ConfigError(FAULTS["kind"].format(given=shorten(str(row.kind)), kinds=", ".join(TABLES)))
        table, of_line = TABLES[row.kind]
        is_name = row.name.isascii() and row.name.isidentifier() and row.name == row.name.lower()
        if not is_name or row.name in table or (row.kind, row.name) in added:
            raise ConfigError(FAULTS["name"].format(given=shorten(row.name)))
        _check_knobs(row)
        try:
            added[row.kind, row.name] = of_line(row)
        except ConfigError as error:
            raise ConfigError(FAULTS["line"].format(name=shorten(row.name), error=error)) from None
        try:
            check_lines(row)
        except ConfigError as error:
            raise ConfigError(FAULTS["lines"].format(name=shorten(row.name), error=error)) from None
    for (kind, name), choice in added.items():
        TABLES[kind][0][name] = choice


def check_lines(row: LineRow) -> None:
    """Raise a FormulaError where the lines that say the arithmetic of a cell cannot be read one after the other."""
    if row.lines:
        kind = "normaliser_lines" if row.kind == "normaliser" else row.kind
        values = {knob.name: knob.default for knob in row.knobs}
        parse("; ".join(line.formula for line in row.lines), kind, values)


def _check_knobs(row: LineRow) -> None:
    for knob in row.knobs:
        names = {"name": shorten(row.name), "knob": shorten(knob.name)}
        if not re.search(rf"\b{re.escape(knob.name)}\b", row.line):
            raise ConfigError(FAULTS["unused"].format(**names))
        try:
            number_of(knob).check(knob.default)
        except ConfigError as error:
            raise ConfigError(FAULTS["knob"].format(**names, error=error)) from None


LOADED: list[str] = []
"""The files that were run, for a process that is to have the same rows."""


def load_rows(path: str) -> list[LineRow]:
    """Run a Python file of the host's, and add every `LineRow` that it defines, alone or in lists.

    The file is run as any program of its owner is: nothing that a visitor sends ever gets here.

    Raises ConfigError if it cannot be run, or holds no rows, or rows that cannot be added.
    """
    try:
        space = runpy.run_path(str(Path(path)))
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise ConfigError(FAULTS["file"].format(path=shorten(path, 120), error=why)) from None
    rows = list(dict.fromkeys(row for value in space.values() for row in _rows_in(value)))
    if not rows:
        raise ConfigError(FAULTS["none"].format(path=shorten(path, 120)))
    add_rows(*rows)
    LOADED.append(path)
    return rows


def _rows_in(value: object) -> Iterator[LineRow]:
    if isinstance(value, LineRow):
        yield value
    elif isinstance(value, (list, tuple)):
        yield from (row for row in value if isinstance(row, LineRow))
