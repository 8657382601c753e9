"""Submissions out of a table or pasted lines: names and codes, whatever program wrote them.

A table may come from a spreadsheet or a learning platform, in any language of the page: its encoding, its separator
and what its columns are called are found out. No row stops the others: one without a name or a code is marked as
such. A first row of words that are no known headings is taken for headings where codes stand below it, and that is
said.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.classroom.marking import answer_codes, column_headings, student_names
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.settings.plain_text import clean
from attnviz.uploads import read_files

MAX_SUBMISSIONS = 500
MAX_FILE_BYTES = 500_000
MAX_CODE_CHARACTERS = 12_000
MAX_COLUMNS = 500
SEPARATORS = "\t;,"

NO_STUDENT = (
    *("points possible", "mögliche punkte", "erreichbare punkte", "student, test"),
    *("overall average", "gesamtdurchschnitt"),
)
"""The text in place of a name in a row that is no student's."""

FAULTS = Words(
    {
        "large": "there are {n:,} bytes; at most {most:,} are read, so use a part of them",
        "form": "the file is {what}; upload a table of names and codes as .csv",
        "many": "there are {n:,} rows; at most {most:,} are marked at once, so use a part of them",
        "wide": "there are {n:,} columns; at most {most:,} are read, so leave some out",
        "text": "this is not readable text; save the list as CSV, in UTF-8 if the program offers it",
    }
)


@dataclass(frozen=True)
class Entry:
    """One student's row: the names that it may have been made under, the first to be shown; the code; all cells.

    number  what tells students of one name apart, such as their number or address; empty where the table has none
    """

    names: tuple[str, ...]
    code: str
    cells: tuple[str, ...] = ()
    number: str = ""


@dataclass(frozen=True)
class Table:
    """A table of submissions.

    entries    a row for each submission, in the order in which they came
    head       the headings above their cells, if there are any
    separator  what stands between the cells
    doubt      a sentence about headings that are not known, empty if there is nothing to say
    """

    entries: tuple[Entry, ...]
    head: tuple[str, ...] = ()
    separator: str = ""
    doubt: str = ""


def from_file(data: bytes, has_head: bool | None = None) -> Table:
    """Return the names and codes of a file; raises ConfigError in one sentence for any that holds no such table.

    has_head  False if the first row is known to be a student's; None to find out
    """
    if len(data) > MAX_FILE_BYTES:
        raise ConfigError(FAULTS["large"].format(n=len(data), most=MAX_FILE_BYTES))
    form = read_files.form(data)
    if form != "csv":
        raise ConfigError(FAULTS["form"].format(what=read_files.CALLED[form]))
    try:
        text = read_files.decoded(data)
    except (UnicodeError, ConfigError):
        raise ConfigError(FAULTS["text"]) from None
    return from_text(text, has_head)


def from_text(text: str, has_head: bool | None = None) -> Table:
    """Return the names and codes of a table, or of lines with a tab, a semicolon, a comma or a space between them.

    Raises ConfigError in one sentence for more than can be marked.

    has_head  False if the first row is known to be a student's; None to find out

    >>> [(entry.names[0], entry.code) for entry in from_text("name,code\\nAda,3467-99D").entries]
    [('Ada', '3467-99D')]
    """
    if len(text) > MAX_FILE_BYTES:
        raise ConfigError(FAULTS["large"].format(n=len(text), most=MAX_FILE_BYTES))
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")  # old spreadsheets end lines in \r
    declared, text = _declared_separator(text)
    headed = None if has_head is False else _headed(text, declared)
    headed = headed or _plain(text, declared)
    _check_count(len(headed.entries))
    return headed


def _check_count(n: int) -> None:
    """Raise ConfigError for more rows than are marked at once."""
    if n > MAX_SUBMISSIONS:
        raise ConfigError(FAULTS["many"].format(n=n, most=MAX_SUBMISSIONS))


def _check_width(rows: Sequence[Sequence[str]]) -> None:
    """Raise ConfigError for more cells in a row than are gone through in search of names and codes."""
    n = max(map(len, rows), default=0)
    if n > MAX_COLUMNS:
        raise ConfigError(FAULTS["wide"].format(n=n, most=MAX_COLUMNS))


def _filled(text: str) -> list[str]:
    """Return the lines that hold more than separators."""
    return [line for line in text.splitlines() if line.strip(_BLANK)]


_BLANK = f' "{SEPARATORS}'


def joined(tables: Sequence[Table]) -> Table:
    """Return several tables as one; the headings are kept where there is only one of them."""
    if len(tables) == 1:
        return tables[0]
    return Table(tuple(entry for table in tables for entry in table.entries), (), tables[0].separator)


def _declared_separator(text: str) -> tuple[str, str]:
    """Return the sign after `sep=` in the first line, as spreadsheets write it, and the text without that line."""
    first, _, rest = text.partition("\n")
    match = re.fullmatch(r'"?sep=(.)"?;*,*\s*', first, re.IGNORECASE)
    return (match[1], rest) if match else ("", text)


def _rows(text: str, separator: str) -> list[list[str]]:
    """Return the rows that have something in them; a quotation mark that is never closed ends with its line."""
    for whole in (text, text.replace('"', "")):
        try:
            rows = list(csv.reader(io.StringIO(whole), delimiter=separator))
        except csv.Error:
            continue
        return [row for row in rows if any(cell.strip() for cell in row)]
    return []


def _headed(text: str, declared: str) -> Table | None:
    """Return a table whose first row says which column is which, or is of words above a column of codes; None if it
    does neither."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    parted = [(_cells(first, sign), sign) for sign in (declared or SEPARATORS)]
    _check_width([cells for cells, _ in parted])
    cells, separator = max(parted, key=lambda each: (len(column_headings.kinds(each[0])), len(each[0])))
    separator = separator if len(cells) > 1 else ""
    head, *rows = (_rows(text, separator) if separator else _split_lines(text, declared)) or [[]]
    _check_width([head, *rows])
    kinds = column_headings.kinds(head)
    if not separator and sum(map(len, kinds.values())) < len(head):
        return None  # two words of which one is no known heading are a name
    code_at = kinds["code"][0] if "code" in kinds else _code_column(rows)
    is_sure = bool(kinds) and code_at is not None
    is_likely = (
        bool(rows) and column_headings.are_worded(head) and (bool(kinds) or _is_above_codes(head, rows, code_at))
    )
    if len(head) < 2 or any(map(_is_code, head)) or not (is_sure or is_likely):
        return None
    _check_count(len(rows) - len(NO_STUDENT))  # those of no student are left out only once they are read
    entries = (_entry(row, kinds, code_at) for row in rows)
    kept = tuple(entry for entry in entries if not (entry.names and entry.names[0].casefold() in NO_STUDENT))
    head = [clean(cell).strip() for cell in head]
    return Table(kept, tuple(head), separator, column_headings.doubt(head, is_known=bool(kinds), code_at=code_at))


def _split_lines(text: str, declared: str) -> list[list[str]]:
    lines = _filled(text)
    _check_count(len(lines) - 1)  # the first may be a heading
    return [_parted(line, declared)[0] for line in lines]


def _is_above_codes(head: Sequence[str], rows: Sequence[Sequence[str]], code_at: int | None) -> bool:
    """Return whether something stands above a column in which at least half of the cells are codes."""
    if code_at is None or code_at >= len(head) or not head[code_at].strip():
        return False
    return 2 * sum(code_at < len(row) and _is_code(row[code_at]) for row in rows) >= len(rows)


def _code_column(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the column in which the most cells are codes, where no heading says which it is."""
    count: dict[int, int] = {}
    for row in rows:
        for at, cell in enumerate(row):
            if _is_code(cell):
                count[at] = count.get(at, 0) + 1
    return max(count, key=lambda at: count[at], default=None)


def _is_code(cell: str) -> bool:
    try:
        return len(answer_codes.without_checksum(cell[: MAX_CODE_CHARACTERS + 1])) > 0
    except ConfigError:
        return False


def _entry(row: Sequence[str], kinds: dict[str, list[int]], code_at: int | None) -> Entry:
    """Return a row by the kinds of its columns. Where none of them has a name, any other cell may be one, as the
    questions of a form are worded freely."""

    def cell(kind: str) -> list[str]:
        return [row[at] for at in kinds.get(kind, []) if at < len(row) and row[at].strip()]

    full, first, last = (cell(kind) for kind in ("full", "first", "last"))
    known = {code_at, *kinds.get("number", [])}
    others = [] if full or first or last else [each for at, each in enumerate(row) if at not in known]
    names = student_names.candidates(full, first, last, number=cell("number"), others=others)
    code = row[code_at] if code_at is not None and code_at < len(row) else ""
    number = " ".join(each.strip().casefold() for each in cell("number"))
    return Entry(names, _code(code), tuple(map(student_names.without_apostrophe, row)), number)


def _plain(text: str, declared: str) -> Table:
    """Return lines without headings, each parted by the first separator that it has."""
    entries, separators = [], []
    lines = _filled(text)
    _check_count(len(lines))
    for line in lines:
        cells, sign = _parted(line, declared)
        _check_width([cells])
        if not any(cells):
            continue
        code_at = next((at for at in range(len(cells) - 1, 0, -1) if _is_code(cells[at])), min(1, len(cells) - 1))
        code_at = code_at if len(cells) > 1 else 1
        whole = [cells[0], ", ".join(cells[:code_at]), " ".join(reversed(cells[:code_at]))]
        names = student_names.candidates(whole, others=cells[1:code_at])
        code = cells[code_at] if code_at < len(cells) else ""
        entries.append(Entry(names, _code(code), tuple(map(student_names.without_apostrophe, cells))))
        separators.append(sign)
    return Table(tuple(entries), (), max(set(separators), key=separators.count) if separators else "")


def _parted(line: str, declared: str) -> tuple[list[str], str]:
    """Return the cells of a line of its own and what parts them; the last word is a cell if nothing else does."""
    sign = declared or _separator(line)
    return [cell.strip() for cell in (_cells(line, sign) if sign else line.rsplit(None, 1))], sign


def _separator(line: str) -> str:
    """Return the separator of a line outside of quotation marks; a tab before a semicolon before a comma."""
    bare = re.sub(r'"[^"]*"', "", line)
    return next((sign for sign in SEPARATORS if sign in bare), "")


def _cells(line: str, separator: str) -> list[str]:
    rows = _rows(line, separator)
    return rows[0] if rows else []


def _code(cell: str) -> str:
    """Return a code as it stands in a cell, without what an editor of a learning platform puts around it."""
    bare = re.sub(r"<[^<>]*>", " ", clean(cell))
    return html.unescape(_LONG_REFERENCE.sub("", bare)).strip()[:MAX_CODE_CHARACTERS]


_LONG_REFERENCE = re.compile(r"&#[0-9]{9,};?")
"""A reference to no character; of thousands of digits Python makes no number."""
