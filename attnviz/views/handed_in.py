"""What students handed in, out of a table or pasted lines: names and codes, whatever program wrote them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from attnviz.core.fields import ConfigError
from attnviz.core.language import Words
from attnviz.views import reading_files
from attnviz.views.address import clean
from attnviz.views.tables import FORMULA_STARTS

Pair = tuple[str, str]

MOST = 500
LARGEST = 500_000
LONGEST_NAME = 120
LONGEST_CODE = 2_000
HEADS = {"name": ("name", "student", "number", "id"), "code": ("code", "result", "result code")}
"""What the columns may be called; without such a first row they are the first two."""

FAULTS = Words(
    {
        "large": "there are {n:,} bytes; at most {most:,} are read, so bring a part of them",
        "form": "the file is {what}; bring a table of names and codes as .csv",
        "quotes": "the table cannot be read near row {row}: {why}; save it again as .csv",
        "many": "there are {n:,} rows; at most {most:,} are marked at once, so bring a part of them",
        "columns": "row {row} has no code beside the name; write a name, a comma or a tab, and a code",
    }
)


def of_file(data: bytes) -> list[Pair]:
    """Names and codes out of a file; raises ConfigError in one sentence for any that holds no such table."""
    if len(data) > LARGEST:
        raise ConfigError(FAULTS["large"].format(n=len(data), most=LARGEST))
    form = reading_files.form(data)
    if form != "csv":
        raise ConfigError(FAULTS["form"].format(what=reading_files.CALLED[form]))
    return of_text(reading_files.decoded(data))


def of_text(text: str) -> list[Pair]:
    """Names and codes out of lines: a name, a tab, comma, semicolon or space, and a code.

    Raises ConfigError in one sentence, with the row of the fault.

    >>> of_text("name,code\\nAda,3467-99D")
    [('Ada', '3467-99D')]
    """
    if len(text) > LARGEST:
        raise ConfigError(FAULTS["large"].format(n=len(text), most=LARGEST))
    rows = [row for row in _rows(text) if any(cell.strip() for cell in row)]
    if len(rows) > MOST + 1:
        raise ConfigError(FAULTS["many"].format(n=len(rows), most=MOST))
    head = [cell.strip().casefold() for cell in rows[0]] if rows else []
    columns = [next((head.index(name) for name in names if name in head), None) for names in HEADS.values()]
    named = None not in columns and columns[0] != columns[1]
    name_at, code_at = columns if named else (0, 1)
    return list(_pairs(rows[named:], name_at or 0, code_at or 0, 1 + named))


def _pairs(rows: Sequence[Sequence[str]], name_at: int, code_at: int, first: int) -> Iterator[Pair]:
    for number, row in enumerate(rows, first):
        if len(row) <= max(name_at, code_at):
            raise ConfigError(FAULTS["columns"].format(row=number))
        yield _name(row[name_at]), clean(row[code_at]).strip()[:LONGEST_CODE]


def _name(cell: str) -> str:
    """The name, without the apostrophe that keeps a spreadsheet from taking it for a formula."""
    name = clean(cell).strip()
    guarded = name.startswith("'") and name[1:].startswith(FORMULA_STARTS)
    return name[1 if guarded else 0 :][:LONGEST_NAME]


def _rows(text: str) -> list[list[str]]:
    between = next((sign for sign in "\t;," if sign in text), None)
    if between is None:
        return [line.rsplit(None, 1) for line in text.splitlines()]
    rows: list[list[str]] = []
    try:
        rows.extend(csv.reader(text.splitlines(keepends=True), delimiter=between, strict=True))
    except csv.Error as error:
        raise ConfigError(FAULTS["quotes"].format(row=len(rows) + 1, why=error)) from None
    return rows
