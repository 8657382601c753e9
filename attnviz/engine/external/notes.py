"""The notes on external numbers: weights that are no shares, and masked scores that are not written as -inf."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.external.arrays import where
from attnviz.settings.language import Words, translate

NOTES = Words(
    {
        "negative": "{where} is negative, {value:.6g}{more}; left as given.",
        "sum": "{where} adds to {value:.6g}, not to 1{more}; left as given.",
        "more": ", and {n} more {what} so",
        "transposed": "Every column adds to 1: if the rows are keys here, give the transpose.",
        "last": "The last token, “{token}”, is left out: it was written last, and the model did not read it.",
        "batch": "The first axis is read as {n} layers; if it is a batch, choose one of it with batch=0.",
        "masked": "Masked weights are taken as 0: {n} of them.",
        "closed": "{n} scores are {least:.6g} or less, as models write them where a query may not attend; they are "
        "taken as masked.",
    }
)


ONE = 1e-5
"""The tolerance of a row's sum around 1: weights that were computed in 32 bits are no nearer."""

HALF = (11, 8)
"""The number of binary digits in float16 and in bfloat16."""

CLOSED, OPEN = -9000.0, -1000.0
"""Scores at the first or below mean that a query may not attend, if any score is above the second.

Models write -10,000, or the least number of their type, and their own scores are far from it: such a weight is 0.
"""


def slack(A: Array) -> float:
    """Return the tolerance for the sum of a row of weights: larger where they were rounded to 16 bits.

    That shows in the numbers themselves, whatever type they came in: none has more binary digits than the type.
    """
    digits = {*HALF}
    for rows in A if A.ndim > 2 else [A]:  # a layer at a time, as copies of all would take several times their memory
        if digits:
            mantissas = np.frexp(rows)[0]
            scaled = {n: np.ldexp(mantissas, n) for n in digits}
            digits = {n for n, numbers in scaled.items() if np.array_equal(numbers, np.rint(numbers))}
    return ONE + 0.5 ** min(digits) if digits else ONE


def closed_cells(S: Array) -> tuple[Array, list[str]]:
    """Find the cells that the given scores forbid, and a note where that is not written as -inf."""
    closed = np.isneginf(S)
    far = ~closed & (CLOSED >= S)
    if not far.any() or S.max() <= OPEN:
        return closed, []
    return closed | far, [NOTES["closed"].format(n=int(far.sum()), least=S[far].max())]


def masked_entries(value: Any) -> list[str]:
    """Note how many weights are masked in NumPy's masked arrays, one or an array a layer."""
    arrays = value if isinstance(value, (tuple, list)) else [value]
    n = sum(int(np.ma.getmaskarray(each).sum()) for each in arrays if isinstance(each, np.ma.MaskedArray))
    return [NOTES["masked"].format(n=n)] if n else []


def layers_or_batch(value: Any, batch: int | None) -> list[str]:
    """Note that the first of four axes is the layers' here: a tensor that a model made has the batch there."""
    is_tensor = hasattr(value, "detach") and len(value.shape) == 4
    return [NOTES["batch"].format(n=value.shape[0])] if is_tensor and batch is None and value.shape[0] > 1 else []


def oddities(A: Array) -> list[str]:
    """Describe unusual weights: those below zero, and rows that do not add to one."""
    sums, near = A.sum(axis=-1), slack(A)
    off = ~(abs(sums - 1) <= near)
    notes = []
    for kind, found, values, what in (
        ("negative", A < 0, A, translate("weights are")),
        ("sum", off, sums, translate("rows do")),
    ):
        n = int(np.count_nonzero(found))
        if n:
            first = np.unravel_index(int(found.argmax()), found.shape)
            more = NOTES["more"].format(n=n - 1, what=what) if n > 1 else ""
            at = where(first, A.shape[: len(first)] if kind == "negative" else (*A.shape[:3], 1)[:4])
            notes.append(NOTES[kind].format(where=f"{at[0].upper()}{at[1:]}", value=values[first], more=more))
    if off.any() and (abs(A.sum(axis=-2) - 1) <= near).all():
        notes.append(NOTES["transposed"])
    return notes
