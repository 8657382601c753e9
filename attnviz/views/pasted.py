"""Numbers and tokens out of text: JSON, comma-separated rows, and what is pasted from a spreadsheet.

Nothing is guessed that could be read in two ways. A fault is said with its place, counted from 1.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnviz.core.fields import ConfigError, shorten
from attnviz.core.language import Words, say
from attnviz.views import arrays
from attnviz.views.address import clean

Array = np.ndarray

MOST_TOKENS = arrays.LONGEST_AXIS
LONGEST_TOKEN = 200
MOST_NUMBERS = 1_000_000  # in a text: so many are read well within a second

FAULTS = Words(
    {
        "empty": "there is nothing in it; give rows of numbers",
        "semicolon": "row {row} has a semicolon; write commas or tabs between numbers, and a point before decimals",
        "decimal": "{cell} in row {row}, column {column} has a comma; write a point before decimals, tabs between "
        "numbers",
        "cell": "{cell} in row {row}, column {column} is no number; give {allowed}",
        "quotes": "row {row} has a quotation mark that is not closed; close it, or take it out",
        "blank": "row {row}, column {column} is empty; give {allowed}",
        "ragged": "row {row} has {n:,} numbers and the rows above have {first:,}; give as many in each",
        "many": "there are {n:,} numbers; up to {most:,} are read out of a text, so bring them as .npy or .npz",
        "wide": "the table has {n:,} {what}; at most {most:,} are read",
        "json": "the JSON cannot be read at line {line}, column {column}; correct it there",
        "deep": "the JSON is nested too deep or holds a number that is too long; give lists of numbers",
        "value": "{cell} at {place} is no number; give {allowed}",
        "lists": "the JSON has {found} at {place}; give lists of equal length",
        "object": "the JSON holds neither lists of numbers nor names for them; give [[0.5, 0.5], ...] or {example}",
        "tokens": "the tokens are no list of texts; give for example {example}",
        "long": "there are {n:,} tokens; at most {most:,} are read",
    }
)
ALLOWED = Words(
    {
        "finite": "a finite number, such as 0.25",
        "or_minus_infinity": "a finite number, or -inf where a query may not look",
    }
)
EXAMPLES = {"object": '{"weights": [[0.5, 0.5], ...], "tokens": ["a", "b"]}', "tokens": '["the", "cat"]'}

TOKENS = {"tokens": ("query", "key"), "query_tokens": ("query",), "key_tokens": ("key",)}
"""Names under which a file may hold tokens, and whose they are."""


@dataclass(frozen=True)
class Brought:
    """What a file holds: arrays by their names, the only one of a nameless kind as "", and tokens if there are any."""

    arrays: Mapping[str, Array]
    query_tokens: tuple[str, ...] | None = None
    key_tokens: tuple[str, ...] | None = None
    texts: Mapping[str, str] = field(default_factory=dict)


def of_text(text: str) -> Brought:
    """What is in a text: JSON if it begins so, rows of numbers otherwise.

    Raises ConfigError in one sentence, with the place of the fault.
    """
    return _of_json(text) if text.lstrip()[:1] in ("{", "[") else _of_table(text)


def matrix(text: str, *, minus_infinity: bool = False) -> Array:
    """Rows of numbers as a matrix: a line a row, with tabs, commas or spaces between the numbers, one kind throughout.

    Raises ConfigError with row and column of the first thing that is no finite number; `minus_infinity` lets -inf by.

    >>> matrix("1, 2.5\\n-3, 4e-1")
    array([[ 1. ,  2.5],
           [-3. ,  0.4]])
    """
    return _numbers(_cells(text), "or_minus_infinity" if minus_infinity else "finite")


def tokens(text: str) -> tuple[str, ...] | None:
    """Tokens out of a line: separated by spaces, or a JSON list of texts; None if there are none.

    >>> tokens("the cat"), tokens('["New York", "!"]'), tokens(" ")
    (('the', 'cat'), ('New York', '!'), None)
    """
    if not text.lstrip().startswith("["):
        return tidy(text.split()) if text.split() else None
    return tidy(_loaded(text))


def tidy(given: Any) -> tuple[str, ...]:
    """A list of tokens as it can be shown; raises ConfigError if it is none."""
    if not isinstance(given, list) or not all(isinstance(token, str) for token in given):
        raise _fault("tokens", example=EXAMPLES["tokens"])
    if len(given) > MOST_TOKENS:
        raise _fault("long", n=len(given), most=MOST_TOKENS)
    return tuple(clean(token)[:LONGEST_TOKEN] for token in given)


def sorted_out(found: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> Brought:
    """Numbers, tokens and texts apart."""
    numbers = {name: array for name, array in found.items() if array.dtype.kind != "U"}
    texts = {name: str(array) for name, array in found.items() if array.dtype.kind == "U" and not array.ndim}
    lists = {name: array.tolist() for name, array in found.items() if array.dtype.kind == "U" and array.ndim == 1}
    whose: dict[str, tuple[str, ...]] = {}
    for name, given in (lists | dict(extra or {})).items():
        for axis in TOKENS.get(name, ()):
            whose[axis] = tidy(given)
    return Brought(numbers, whose.get("query"), whose.get("key"), texts)


def _of_json(text: str) -> Brought:
    """Lists of numbers, or an object that names them."""
    held = _loaded(text)
    if isinstance(held, list):
        return Brought({"": listed(held)})
    if not isinstance(held, dict) or not any(isinstance(value, list) for value in held.values()):
        raise _fault("object", example=EXAMPLES["object"])
    named = {name: value for name, value in held.items() if isinstance(value, list)}
    numbers = {clean(name): listed(value) for name, value in named.items() if name not in TOKENS}
    return sorted_out(numbers, {name: value for name, value in named.items() if name in TOKENS})


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _fault("json", line=error.lineno, column=error.colno) from None
    except (RecursionError, ValueError):
        raise _fault("deep") from None


MINUS_INFINITY = {"-inf": -math.inf}
"""A number that JSON has no form for, as a text."""


def listed(held: list[Any], odd: Mapping[str, float] = MINUS_INFINITY) -> Array:
    """Nested lists of numbers as an array; `odd` are texts that stand for numbers which JSON has no form for.

    Raises ConfigError with the place of what is no number, and of a list that is shorter or longer than others.
    """
    shape: list[int] = []
    level: Any = held
    while isinstance(level, list) and level and len(shape) <= arrays.MOST_AXES:
        shape.append(len(level))
        level = level[0]
    if not shape:
        raise _fault("empty")
    if len(shape) > arrays.MOST_AXES:
        raise _fault("deep")
    if max(shape, default=0) > arrays.LONGEST_AXIS:
        raise _fault("wide", n=max(shape), what=say("numbers in a list"), most=arrays.LONGEST_AXIS)
    _check_count(math.prod(shape))
    flat: list[float] = []
    _collect(held, tuple(shape), (), flat, odd)
    return np.array(flat).reshape(shape)


def _collect(
    held: Any, shape: tuple[int, ...], at: tuple[int, ...], flat: list[float], odd: Mapping[str, float]
) -> None:
    """The numbers of a list in order; every list at one depth has to be as long as the first."""
    if not isinstance(held, list) or len(held) != shape[0]:
        found = say("no list")
        if isinstance(held, list):
            found = say("{n:,} entries, not {first:,},", n=len(held), first=shape[0])
        raise _fault("lists", found=found, place=_place(at))
    for i, each in enumerate(held):
        if len(shape) > 1:
            _collect(each, shape[1:], (*at, i), flat, odd)
        else:
            flat.append(_value(each, (*at, i), odd))


def _value(given: Any, at: tuple[int, ...], odd: Mapping[str, float]) -> float:
    """A number out of JSON."""
    if isinstance(given, (bool, int, float)):
        try:
            value = float(given)
        except OverflowError:
            value = math.inf
        if math.isfinite(value) or value == -math.inf:
            return value
    if isinstance(given, str) and given in odd:
        return odd[given]
    raise _fault("value", cell=shorten(clean(str(given))), place=_place(at), allowed=ALLOWED["or_minus_infinity"])


def _place(at: Sequence[int]) -> str:
    """A place in nested lists, counted from 1."""
    return say("place {place}", place=", ".join(str(i + 1) for i in at)) if at else say("the top")


def _of_table(text: str) -> Brought:
    """Rows of numbers, in which the first row and the first column may be labels."""
    cells = _cells(text)
    corner = not cells[0][0]
    has_queries = len(cells[0]) > 1 and _are_labels([row[0] for row in cells[1:]], corner)
    has_keys = len(cells) > 1 and _are_labels(cells[0][has_queries:], corner)
    has_queries = has_queries and (has_keys or _is_label(cells[0][0]))
    body = cells[has_keys:]
    numbers = _numbers([row[has_queries:] for row in body], "or_minus_infinity", (1 + has_keys, 1 + has_queries))
    keys = _unlabelled(cells[0][has_queries:]) if has_keys else None
    queries = _unlabelled([row[0] for row in body]) if has_queries else None
    return Brought({"": numbers}, queries, keys)


def _are_labels(cells: list[str], corner: bool) -> bool:
    """Whether cells are labels, not numbers: all of them, or one where an empty corner says so."""
    return bool(cells) and (any if corner else all)(map(_is_label, cells))


def _is_label(cell: str) -> bool:
    """Whether a cell is meant as a word: it holds something, and nothing that looks like a number."""
    return bool(cell) and not _LIKE_A_NUMBER.fullmatch(cell.lower())


_LIKE_A_NUMBER = re.compile(r"[+−-]?(\d[\d.,;_]*(e[+−-]?\d+)?|\.\d+|nan|inf(inity)?|∞)")


def _unlabelled(labels: list[str]) -> tuple[str, ...]:
    """Labels as tokens, without the places that a table of ours puts before them."""
    if all(label.startswith(f"{number} ") for number, label in enumerate(labels, 1)):
        return tidy([label.partition(" ")[2] for label in labels])
    return tidy(labels)


def _cells(text: str) -> list[list[str]]:
    """The cells of a table: between tabs, or else commas, or else spaces; by the first row that holds anything."""
    lines = [line for line in text.lstrip("\ufeff").splitlines() if line.strip()]
    if not lines:
        raise _fault("empty")
    if len(lines) > arrays.LONGEST_AXIS:
        raise _fault("wide", n=len(lines), what=say("rows"), most=arrays.LONGEST_AXIS)
    separator = next((each for each in "\t," if each in lines[0]), None)
    if separator is None:
        return [line.split() for line in lines]
    rows: list[list[str]] = []
    try:
        for row in csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True):
            rows.append([cell.strip() for cell in row])
    except csv.Error:
        raise _fault("quotes", row=len(rows) + 1) from None
    return rows


_NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_MINUS_INFINITY = ("-inf", "-infinity", "-∞")


def _number(cell: str) -> float | None:
    """The number that a cell holds, with a minus of either kind; None if it holds none."""
    plain = cell.replace("−", "-")
    if _NUMERAL.fullmatch(plain):
        return float(plain)
    return -math.inf if plain.lower() in _MINUS_INFINITY else None


def _numbers(cells: list[list[str]], allowed: str, start: tuple[int, int] = (1, 1)) -> Array:
    """Cells as a matrix; `start` is the place of the first in the text, counted from 1."""
    first = len(cells[0])
    if first > arrays.LONGEST_AXIS:
        raise _fault("wide", n=first, what=say("columns"), most=arrays.LONGEST_AXIS)
    _check_count(first * len(cells))
    rows = []
    for i, row in enumerate(cells, start[0]):
        rows.append([_checked(cell, allowed, i, j) for j, cell in enumerate(row, start[1])])
        if len(row) != first:
            raise _fault("ragged", row=i, n=len(row), first=first)
    return np.array(rows)


def _check_count(n: int) -> None:
    """Raises ConfigError for more numbers than are read out of a text."""
    if n > MOST_NUMBERS:
        raise _fault("many", n=n, most=MOST_NUMBERS)


def _checked(cell: str, allowed: str, row: int, column: int) -> float:
    """The number of a cell; raises ConfigError that says what stands there instead."""
    value = _number(cell)
    if value is not None and (
        math.isfinite(value) or (value < 0 and allowed == "or_minus_infinity" and "e" not in cell.lower())
    ):
        return value
    fault = "cell"
    if not cell:
        fault = "blank"
    elif ";" in cell:
        fault = "semicolon"
    elif _DECIMAL_COMMA.fullmatch(cell):
        fault = "decimal"
    raise _fault(fault, row=row, column=column, cell=shorten(clean(cell)), allowed=ALLOWED[allowed])


def _fault(which: str, **facts: object) -> ConfigError:
    return ConfigError(FAULTS[which].format(**facts))
