"""Tables of numbers as text: rows between tabs, semicolons, commas or spaces, with headings or without.

Semicolons come from spreadsheets that write decimals with a comma. Nothing is guessed that could be read in two ways.
A fault is said with its position, counted from 1; `pandas.read_csv` guesses, and names no position.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.records.step_specs import AXES
from attnviz.settings.counting import index_of, ordinal, ordinals
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words, translate
from attnviz.settings.plain_text import clean
from attnviz.uploads import npy

Cells = list[list[str]]

MOST_NUMBERS = 1_000_000  # in a text: so many are read well within a second

FAULTS = Words(
    {
        "empty": "there is nothing in it; give rows of numbers",
        "semicolon": "row {row} has a semicolon, and the first row has none; write the same separator between all "
        "numbers",
        "decimal": "{cell} in row {row}, column {column} may hold a thousands separator or a decimal comma; write a "
        "decimal point",
        "mixed": "{cell} in row {row}, column {column} has a point, and other numbers have a comma; write all decimals "
        "alike",
        "cell": "{cell} in row {row}, column {column} is not a number; give {allowed}",
        "quotes": "row {row} has a quotation mark that is not closed; close it, or remove it",
        "blank": "row {row}, column {column} is empty; give {allowed}",
        "ragged": "numbers in row {row}: {n:,}, in the rows above: {first:,}; give as many in each",
        "many": "there are {n:,} numbers; up to {most:,} are read from text, so save them as .npy or .npz",
        "position": "{cell} in row {row}, column {column} is not a position; give a whole number from 1 to {most:,}",
        "twice": "row {row} repeats a cell of a row above it; give each cell once",
        "holes": "there are {n:,} numbers for {all:,} cells; give each cell once",
        "heads": "the table has {n:,} heads and none of them is head {head}; give the rows of one head",
        "axes": "the table has the axes {axes}; give rows and columns",
        "wide": "the table has {n:,} {what}; at most {most:,} are read",
        "json": "the JSON cannot be read at line {line}, column {column}; correct it there",
        "deep": "the JSON is nested too deep or holds a number that is too long; give lists of numbers",
        "value": "{cell} at {place} is not a number; give {allowed}",
        "lists": "the JSON has {found} at {place}; give lists of equal length",
        "object": "the JSON holds neither lists of numbers nor names for them; give [[0.5, 0.5], ...] or {example}",
        "tokens": "the tokens are not a list of strings; give for example {example}",
        "long": "there are {n:,} tokens; at most {most:,} are read",
    }
)
ALLOWED = Words(
    {
        "finite": "a finite number, such as 0.25",
        "or_minus_infinity": "a finite number, or -inf where a query may not attend",
    }
)


@dataclass(frozen=True)
class Table:
    """The numbers of a table, and the labels of its rows and columns if there are any."""

    numbers: Array
    queries: list[str] | None = None
    keys: list[str] | None = None


def read(text: str, allowed: str, *, head: int | None = None, one: bool = False) -> Table:
    """Read a table: a matrix, or one of ours with a row for every number.

    allowed  a key of ALLOWED: which numbers may stand in it
    one      of a table of ours only one head is wanted: the only one, or else `head`, counted from 0
    """
    cells = _cells(text)
    axes = _axes(cells[0])
    if axes is not None:
        return _canonical(cells, axes, allowed, head, one)
    if len(cells) > npy.MAX_AXIS_LENGTH:
        raise fault("wide", n=len(cells), what=translate("rows"), most=npy.MAX_AXIS_LENGTH)
    has_keys, has_queries, are_counted = _headings(cells)
    body = cells[has_keys:]
    numbers = _numbers([row[has_queries:] for row in body], allowed, (1 + has_keys, 1 + has_queries))
    keys = cells[0][has_queries:] if has_keys else None
    queries = [row[0] for row in body] if has_queries else None
    return Table(
        numbers, *(None if each is None or (are_counted and _counts(each)) else each for each in (queries, keys))
    )


def _cells(text: str) -> Cells:
    """Return the cells of a table: between tabs, semicolons, commas or spaces, by the first row that holds anything."""
    lines = [line for line in text.lstrip("\ufeff").splitlines() if line.strip()]
    declared = _SEPARATOR.fullmatch(lines[0].strip(' "')) if lines else None
    lines = lines[1:] if declared else lines
    if not lines:
        raise fault("empty")
    if len(lines) > MOST_NUMBERS:
        raise fault("wide", n=len(lines), what=translate("rows"), most=MOST_NUMBERS)
    separator = declared[1] if declared else next((each for each in "\t;," if each in lines[0]), " ")
    if separator == " ":
        return [line.split() for line in lines]
    n_columns = 1 + max(line.count(separator) for line in lines)
    if n_columns > npy.MAX_AXIS_LENGTH + 1:  # one of which may be labels
        raise fault("wide", n=n_columns, what=translate("columns"), most=npy.MAX_AXIS_LENGTH)
    rows: Cells = []
    try:
        for row in csv.reader(lines, delimiter=separator, skipinitialspace=separator != "\t", strict=True):
            rows.append([cell.strip() for cell in row])
    except csv.Error:
        raise fault("quotes", row=len(rows) + 1) from None
    return rows if separator == "," else _with_points(rows, separator)


_SEPARATOR = re.compile("sep=(.)", re.IGNORECASE)  # what spreadsheets read and write as a first line


def _with_points(rows: Cells, separator: str) -> Cells:
    """Return the cells, decimal commas written as points; as they are where a comma may divide thousands.

    Where semicolons stand between numbers, a comma is never anything but decimal.
    """
    commas = [(i, j) for i, j, cell in _each(rows) if _DECIMAL_COMMA.fullmatch(cell)]
    if not commas or (separator == "\t" and all(_THOUSANDS.fullmatch(rows[i][j]) for i, j in commas)):
        return rows
    for i, j, cell in _each(rows):
        if "." in cell and _NUMERAL.fullmatch(cell.replace("−", "-")):
            raise fault("mixed", row=ordinal(i), column=ordinal(j), cell=shorten(clean(cell)))
    for i, j in commas:
        rows[i][j] = rows[i][j].replace(",", ".")
    return rows


def _each(rows: Cells) -> Iterator[tuple[int, int, str]]:
    return ((i, j, cell) for i, row in enumerate(rows) for j, cell in enumerate(row))


def _headings(cells: Cells) -> tuple[bool, bool, bool]:
    """Return whether the first row is a heading, whether the first column is, and whether these may merely count."""
    corner = cells[0][0]
    row, column = cells[0][1:], [each[0] for each in cells[1:]]
    is_bare = not corner or corner.lower() in AXES
    if is_bare and row and column and all(_counts(each) or _are_labels(each, any_of=True) for each in (row, column)):
        return True, True, True
    has_queries = len(cells[0]) > 1 and _are_labels(column, any_of=not corner)
    has_keys = len(cells) > 1 and _are_labels(cells[0][has_queries:], any_of=not corner)
    return has_keys, has_queries and (has_keys or _is_label(corner)), False


def _counts(cells: Sequence[str]) -> bool:
    """Return whether cells are 1, 2, 3 and so on."""
    return [*cells] == [str(number) for number in ordinals(len(cells))]


def _are_labels(cells: Sequence[str], *, any_of: bool) -> bool:
    """Return whether cells are labels, not numbers: all of them, or `any_of` them where an empty corner says so."""
    return bool(cells) and (any if any_of else all)(map(_is_label, cells))


def _is_label(cell: str) -> bool:
    """Return whether a cell is meant as a word: it holds something, and nothing that looks like a number."""
    return bool(cell) and not _LIKE_A_NUMBER.fullmatch(cell.lower())


_LIKE_A_NUMBER = re.compile(r"[+−-]?(\d[\d.,;_]*(e[+−-]?\d+)?%?|\.\d+|nan|inf(inity)?|∞)")


def _axes(header: Sequence[str]) -> list[str] | None:
    """Return the axes that the heading of a table of ours names, one number a row; None for any other table."""
    *names, last = header
    axes = [name for name in names if not name.endswith("_token")]
    tokens = [name.removesuffix("_token") for name in names if name.endswith("_token")]
    known = {name.removesuffix("_2") for name in axes} <= AXES.keys() and set(tokens) <= {*axes}
    return axes if last == "value" and axes and known and len(set(names)) == len(names) else None


def _canonical(cells: Cells, axes: list[str], allowed: str, head: int | None, one: bool) -> Table:
    """Return the numbers of a table of ours by their positions, and the words along the queries and keys."""
    header, *rows = cells
    columns = [header.index(axis) for axis in axes]
    positions: dict[tuple[int, ...], float] = {}
    words: dict[str, dict[int, str]] = {"query": {}, "key": {}}
    for i, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise fault("ragged", row=i, n=len(row), first=len(header))
        position = tuple(_position(row[j], i, j) for j in columns)
        if position in positions:
            raise fault("twice", row=i)
        positions[position] = _checked(row[-1], allowed, i, len(row))
        for axis, at in zip(axes, position):
            if f"{axis}_token" in header:
                words[axis][at] = row[header.index(f"{axis}_token")]
    if one and axes[0].endswith("head"):
        positions = _of_head(positions, head)
    numbers = _whole(positions)
    if one and numbers.ndim > 2:
        raise fault("axes", axes=", ".join(axes))
    labels = ([words[axis][at] for at in sorted(words[axis])] or None for axis in ("query", "key"))
    return Table(np.atleast_2d(numbers), *labels)


def _position(cell: str, row: int, column: int) -> int:
    if not (cell.isascii() and cell.isdecimal() and 0 < int(cell[:6]) <= npy.MAX_AXIS_LENGTH):
        most = npy.MAX_AXIS_LENGTH
        raise fault("position", cell=shorten(clean(cell)), row=row, column=ordinal(column), most=most)
    return index_of(int(cell))


def _of_head(positions: dict[tuple[int, ...], float], head: int | None) -> dict[tuple[int, ...], float]:
    """Return the numbers of one head: of the only one, or of the one that is wanted."""
    heads = {position[0] for position in positions}
    wanted = next(iter(heads)) if len(heads) == 1 else head or 0
    if wanted not in heads:
        raise fault("heads", n=len(heads), head=ordinal(wanted))
    return {position[1:]: value for position, value in positions.items() if position[0] == wanted}


def _whole(positions: dict[tuple[int, ...], float]) -> Array:
    """Return numbers by their positions as an array; raises ConfigError unless each position of it has one."""
    shape = tuple(1 + max(numbers) for numbers in zip(*positions))
    if not shape:
        raise fault("empty")
    if math.prod(shape) != len(positions):
        raise fault("holes", n=len(positions), all=math.prod(shape))
    array = np.empty(shape)
    for position, value in positions.items():
        array[position] = value
    return array


_NUMERAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+−-]?\d*,\d+([eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+−-]?[1-9]\d{0,2},\d{3}", re.ASCII)
_MINUS_INFINITY = ("-inf", "-infinity", "-∞")


def _number(cell: str) -> float | None:
    """Return the number that a cell holds, with a minus of either kind; None if it holds none."""
    plain = cell.replace("−", "-")
    if _NUMERAL.fullmatch(plain):
        return float(plain)
    return -math.inf if plain.lower() in _MINUS_INFINITY else None


def _numbers(cells: list[list[str]], allowed: str, start: tuple[int, int] = (1, 1)) -> Array:
    """Return cells as a matrix; `start` is the position of the first in the text, counted from 1."""
    first = len(cells[0])
    if first > npy.MAX_AXIS_LENGTH:
        raise fault("wide", n=first, what=translate("columns"), most=npy.MAX_AXIS_LENGTH)
    check_count(first * len(cells))
    rows = []
    for i, row in enumerate(cells, start[0]):
        rows.append([_checked(cell, allowed, i, j) for j, cell in enumerate(row, start[1])])
        if len(row) != first:
            raise fault("ragged", row=i, n=len(row), first=first)
    return np.array(rows)


def check_count(n: int) -> None:
    """Raise ConfigError for more numbers than are read out of a text."""
    if n > MOST_NUMBERS:
        raise fault("many", n=n, most=MOST_NUMBERS)


def _checked(cell: str, allowed: str, row: int, column: int) -> float:
    """Return the number of a cell; raises ConfigError that says what stands there instead."""
    value = _number(cell)
    if value is not None and (
        math.isfinite(value) or (value < 0 and allowed == "or_minus_infinity" and "e" not in cell.lower())
    ):
        return value
    which = "cell"
    if not cell:
        which = "blank"
    elif ";" in cell:
        which = "semicolon"
    elif _DECIMAL_COMMA.fullmatch(cell):
        which = "decimal"
    raise fault(which, row=row, column=column, cell=shorten(clean(cell)), allowed=ALLOWED[allowed])


def fault(which: str, **facts: object) -> ConfigError:
    """Return a fault in one sentence, to be raised."""
    return ConfigError(FAULTS[which].format(**facts))
