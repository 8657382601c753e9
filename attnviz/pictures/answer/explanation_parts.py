"""The parts of an explanation: what is added up, a row of scores or of shares, and the cells of an output."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from attnviz.arithmetic.cell import Cell
from attnviz.arithmetic.notation.derivation import largest
from attnviz.arithmetic.short_derivation import Terms, fold, settled
from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.text.format.number_format import NEARLY_ZERO, localised, short
from attnviz.text.format.patch_words import has_patches, said
from attnviz.text.query_sentences import query_weights

PLACES = 3
"""Decimals of every number beside the maps; where all that stand together are small, digits of the largest."""

WHOLE, LARGE = 1000.0, 1e6  # from here on a number has no decimals, and from here on it has a power of ten
SMALL, TINY = 0.01, 1e-6  # numbers that are all smaller have more decimals, or powers of ten
MAX_ENTRIES = (6, 4)  # entries that a line shows beside the maps, and on a sheet from the foot of the window
WORDS = Words(
    {
        "more": "{n} more",
        "whole_row": "the whole row",
        "whole_column": "the whole column",
        "z": "z of {query}, all words added:",
    }
)


class Tokens:
    """The tokens of a cell as they can be seen, and whether its weights are shares of one."""

    def __init__(self, trace: Trace, cell: Cell) -> None:
        head = query_weights(trace, cell.layer, cell.head)
        self.shares = bool(head.shares[cell.query])
        self.keys, self.queries = list(head.keys), list(head.queries)
        self.query, self.key = head.queries[cell.query], head.keys[cell.key]
        self.over_keys = cell.over == "keys"
        self.patches = has_patches(trace)
        steps = trace.layers[cell.layer]
        self.end = largest(steps["heads"].array) if "heads" in steps else 0.0

    @property
    def line(self) -> list[str]:
        """The tokens along which is normalised."""
        return self.keys if self.over_keys else self.queries

    def said(self, table: Words[Any], name: str) -> str:
        """Return a sentence of a table, of patches where these are the tokens."""
        return said(table, name, patches=self.patches)

    def amount(self, weight: float) -> str:
        """Return a weight as text, in percent where the weights of the row are shares."""
        return percent(weight) if self.shares else number(weight)


def terms(
    sum_of_terms: Terms, axis: str, names: list[str] | None = None, write: Callable[[float], str] | None = None
) -> dict[str, Any]:
    """Return the terms of a sum, a row for each entry: its name, its two parts, their product, and the same written.

    axis  what the entries are: "d_k", "d_v" or "key";  write  what makes text of a number
    """
    values = settled(sum_of_terms.values)
    write = write or writer(values)
    left, right = (_written(part, len(values)) for part in (sum_of_terms.left, sum_of_terms.right))
    texts = [write(float(value)) for value in values]
    rows = [list(row) for row in zip(names or [""] * len(values), left, right, plain(values), texts, strict=True)]
    return {"axis": axis, "rows": rows, "folds": [_folded(values, most, write) for most in MAX_ENTRIES]}


def _written(part: Array | None, n: int) -> list[str]:
    if part is None:
        return [""] * n
    values = settled(part)
    return [*map(writer(values), map(float, values))]


def _folded(values: Array, most: int, write: Callable[[float], str]) -> dict[str, Any]:
    folded = fold(values, most)
    more = WORDS["more"].format(n=folded.hidden) if folded.hidden else ""
    return {"shown": list(folded.shown), "more": more, "value": plain([folded.rest])[0], "rest": write(folded.rest)}


def columns(scores: Array, at: int | None, words: Tokens, *, over_keys: bool) -> dict[str, Any]:
    """Return the scores that stand together, as bars side by side."""
    whole = WORDS["whole_row" if over_keys else "whole_column"]
    return shares(scores, at, words, over_keys=over_keys) | {"whole": whole}


def shares(weights: Array, at: int | None, words: Tokens, *, over_keys: bool) -> dict[str, Any]:
    """Return weights as parts of one bar."""
    names = words.keys if over_keys else words.queries
    return {"values": plain(weights), "at": at, "axis": "key" if over_keys else "query", "names": names}


def cells(output: Array, words: Tokens, at: int | None = None) -> dict[str, Any]:
    """Return the entries of an output as cells with their numbers, in the colours that they have in the map."""
    values = settled(output)
    drawn = {"values": plain(values), "texts": [*map(writer(values), map(float, values))], "at": at}
    return drawn | {"label": words.said(WORDS, "z").format(query=words.query), "end": words.end}


def plain(values: Sequence[float] | Array) -> list[float | None]:
    """Return numbers as they travel: six digits are more than any bar shows; None for what is not finite."""
    return [float(f"{x:.6g}") if np.isfinite(x) else None for x in np.asarray(values, dtype=float)]


def number(x: float, places: int = PLACES) -> str:
    """Return a number with so many decimals, in the language of the page; ~0 for what is not zero but would read so.

    >>> [number(x) for x in (2.0625, -0.5, 0.0, 0.0004, -0.00345, 12345.6, float("-inf"))]
    ['2.062', '−0.500', '0', '~0', '−0.003', '12346', '−∞']
    """
    if x == 0 or not np.isfinite(x):
        return short(x)
    if abs(x) >= LARGE:
        return localised(short(x, PLACES))
    text = f"{x:.{0 if abs(x) >= WHOLE else places}f}"
    return localised(text.replace("-", "−")) if float(text) else NEARLY_ZERO


def writer(values: Sequence[float] | Array) -> Callable[[float], str]:
    """Return what makes text of numbers that stand together, and of what they add up to: all with as many decimals.

    >>> [*map(writer([2.5, 0.25, 0.0001]), (2.5, 0.25, 0.0001))], [*map(writer([0.004, 0.0001]), (0.004, 0.0001))]
    (['2.500', '0.250', '~0'], ['0.00400', '0.00010'])
    """
    sizes = np.abs(np.asarray(values, dtype=float))
    most = float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))
    if most >= WHOLE:
        return partial(number, places=0)
    if 0 < most < TINY:
        return lambda x: localised(f"{x:.{PLACES - 1}e}".replace("e-0", "e-").replace("-", "−")) if x else "0"
    return partial(number, places=PLACES - 1 - math.floor(math.log10(most)) if 0 < most < SMALL else PLACES)


def factor(x: float) -> str:
    """Return a number as it stands after an operator: a negative one in brackets."""
    text = number(x)
    return f"({text})" if text.startswith("−") else text
