"""Numbers and tokens out of text: JSON, comma-separated rows, and what is pasted from a spreadsheet.

Nothing is guessed that could be read in two ways. A fault is said with its position, counted from 1.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import shorten
from attnviz.settings.language import translate
from attnviz.settings.plain_text import clean
from attnviz.uploads import npy
from attnviz.uploads import parse_tables as tables

MOST_TOKENS = npy.MAX_AXIS_LENGTH
LONGEST_TOKEN = 200
EXAMPLES = {"object": '{"weights": [[0.5, 0.5], ...], "tokens": ["a", "b"]}', "tokens": '["the", "cat"]'}

TOKENS = {"tokens": ("query", "key"), "query_tokens": ("query",), "key_tokens": ("key",)}
"""Names under which a file may hold tokens, and whose they are."""


@dataclass(frozen=True)
class Upload:
    """The contents of a file: arrays by name, the only one of a nameless kind as "", and tokens if there are any."""

    arrays: Mapping[str, Array]
    query_tokens: tuple[str, ...] | None = None
    key_tokens: tuple[str, ...] | None = None
    texts: Mapping[str, str] = field(default_factory=dict)


def from_text(text: str) -> Upload:
    """Read a text: as JSON if it begins so, as rows of numbers otherwise.

    Raises ConfigError in one sentence, with the position of the fault.
    """
    return _of_json(text) if text.lstrip()[:1] in ("{", "[") else _of_table(text)


def matrix(text: str, *, minus_infinity: bool = False, head: int | None = None) -> Array:
    """Return rows of numbers as a matrix: a line a row, with tabs, semicolons, commas or spaces between, one kind
    throughout.

    A heading row and column may stand around it. Of a table of ours, with a row for every number, the numbers of one
    head are taken; `head` counts from 0.

    Raises ConfigError with row and column of the first thing that is no finite number; `minus_infinity` lets -inf by.

    >>> matrix("1, 2.5\\n-3, 4e-1")
    array([[ 1. ,  2.5],
           [-3. ,  0.4]])
    >>> matrix("sep=;\\n;a;b\\nx;1;2,5")
    array([[1. , 2.5]])
    """
    return tables.read(text, "or_minus_infinity" if minus_infinity else "finite", head=head, one=True).numbers


def tokens(text: str) -> tuple[str, ...] | None:
    """Return tokens out of a line: separated by spaces, or a JSON list of texts; None if there are none.

    >>> tokens("the cat"), tokens('["New York", "!"]'), tokens(" ")
    (('the', 'cat'), ('New York', '!'), None)
    """
    if not text.lstrip().startswith("["):
        return clean_tokens(text.split()) if text.split() else None
    return clean_tokens(_loaded(text))


def clean_tokens(value: Any) -> tuple[str, ...]:
    """Return a list of tokens as it can be shown; raises ConfigError if it is not a list."""
    if not isinstance(value, list) or not all(isinstance(token, str) for token in value):
        raise tables.fault("tokens", example=EXAMPLES["tokens"])
    if len(value) > MOST_TOKENS:
        raise tables.fault("long", n=len(value), most=MOST_TOKENS)
    return tuple(clean(token)[:LONGEST_TOKEN] for token in value)


def sort_parts(parts: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> Upload:
    """Return numbers, tokens and texts apart."""
    numbers = {name: array for name, array in parts.items() if array.dtype.kind != "U"}
    texts = {name: str(array) for name, array in parts.items() if array.dtype.kind == "U" and not array.ndim}
    lists = {name: array.tolist() for name, array in parts.items() if array.dtype.kind == "U" and array.ndim == 1}
    whose: dict[str, tuple[str, ...]] = {}
    for name, value in (lists | dict(extra or {})).items():
        for axis in TOKENS.get(name, ()):
            whose[axis] = clean_tokens(value)
    return Upload(numbers, whose.get("query"), whose.get("key"), texts)


def _of_json(text: str) -> Upload:
    """Read lists of numbers, or an object that names them."""
    content = _loaded(text)
    if isinstance(content, list):
        return Upload({"": listed(content)})
    if not isinstance(content, dict) or not any(isinstance(value, list) for value in content.values()):
        raise tables.fault("object", example=EXAMPLES["object"])
    named = {name: value for name, value in content.items() if isinstance(value, list)}
    numbers = {clean(name): listed(value) for name, value in named.items() if name not in TOKENS}
    return sort_parts(numbers, {name: value for name, value in named.items() if name in TOKENS})


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise tables.fault("json", line=error.lineno, column=error.colno) from None
    except (RecursionError, ValueError):
        raise tables.fault("deep") from None


MINUS_INFINITY = {"-inf": -math.inf}
"""A number that JSON has no form for, as a text."""


def listed(items: list[Any], odd: Mapping[str, float] = MINUS_INFINITY) -> Array:
    """Return nested lists of numbers as an array; `odd` are texts that stand for numbers which JSON has no form for.

    Raises ConfigError with the position of what is no number, and of a list that is shorter or longer than others.
    """
    shape: list[int] = []
    level: Any = items
    while isinstance(level, list) and level and len(shape) <= npy.MOST_AXES:
        shape.append(len(level))
        level = level[0]
    if not shape:
        raise tables.fault("empty")
    if len(shape) > npy.MOST_AXES:
        raise tables.fault("deep")
    if max(shape, default=0) > npy.MAX_AXIS_LENGTH:
        raise tables.fault("wide", n=max(shape), what=translate("numbers in a list"), most=npy.MAX_AXIS_LENGTH)
    tables.check_count(math.prod(shape))
    flat: list[float] = []
    _collect(items, tuple(shape), (), flat, odd)
    return np.array(flat).reshape(shape)


def _collect(
    value: Any, shape: tuple[int, ...], at: tuple[int, ...], flat: list[float], odd: Mapping[str, float]
) -> None:
    """Collect the numbers of a list in order; every list at one depth has to be as long as the first."""
    if not isinstance(value, list) or len(value) != shape[0]:
        quoted = translate("no list")
        if isinstance(value, list):
            quoted = translate("{n:,} entries, not {first:,},", n=len(value), first=shape[0])
        raise tables.fault("lists", found=quoted, place=_path(at))
    for i, each in enumerate(value):
        if len(shape) > 1:
            _collect(each, shape[1:], (*at, i), flat, odd)
        else:
            flat.append(_value(each, (*at, i), odd))


def _value(value: Any, at: tuple[int, ...], odd: Mapping[str, float]) -> float:
    """Return a number out of JSON."""
    if isinstance(value, (bool, int, float)):
        try:
            value = float(value)
        except OverflowError:
            value = math.inf
        if math.isfinite(value) or value == -math.inf:
            return value
    if isinstance(value, str) and value in odd:
        return odd[value]
    raise tables.fault(
        "value", cell=shorten(clean(str(value))), place=_path(at), allowed=tables.ALLOWED["or_minus_infinity"]
    )


def _path(at: Sequence[int]) -> str:
    """Return a position in nested lists, counted from 1."""
    return translate("position {place}", place=", ".join(str(ordinal(i)) for i in at)) if at else translate("the top")


def _of_table(text: str) -> Upload:
    """Return rows of numbers, in which the first row and the first column may be labels.

    A table of ours with a number a row is read as well.
    """
    table = tables.read(text, "or_minus_infinity")
    queries, keys = (
        None if labels is None else clean_tokens(_unlabelled(labels)) for labels in (table.queries, table.keys)
    )
    return Upload({"": table.numbers}, queries, keys)


def _unlabelled(labels: list[str]) -> list[str]:
    """Return labels as tokens, without the positions that a table of ours puts before them."""
    if all(label.startswith(f"{number} ") for number, label in enumerate(labels, 1)):
        return [label.partition(" ")[2] for label in labels]
    return labels
