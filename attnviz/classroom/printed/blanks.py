"""Blank cells of a printed matrix: some by the addressed noise of a seed, and those in question.

The same seed leaves the same cells blank, and in a longer sentence no other cell of those that were there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.external.traces import forbidden
from attnviz.engine.numerics.noise import Address, uniform
from attnviz.engine.records.trace import Step, Trace
from attnviz.lessons.lesson import Question
from attnviz.settings.counting import index_of, ordinal

SHARE = 0.25
"""Of the cells of a step that is to be worked out."""

CHAIN = ("scores", "scaled", "capped", "masked")
"""Steps that follow cell by cell: a blank of one is a blank of all, or the next would give it away."""

SHOWS_MASK = (*CHAIN, "allowed", "weights")
"""Steps whose pictures hatch what a mask forbids."""

MASKED = ("allowed", "masked", "weights")
"""Steps whose numbers show what a mask forbids."""

WORKED_OUT = (*CHAIN, "weights", "heads")
"""Steps that follow from what is printed before them; all others are printed whole."""


NEEDED: dict[str, tuple[tuple[str, ...], ...]] = {
    "embedded": (("token_embeddings",), ("positions",)),
    "queries": (("embedded",), ("w_q",)),
    "keys": (("embedded", "embedded_kv"), ("w_k",)),
    "values": (("embedded", "embedded_kv"), ("w_v",)),
    "scores": (("queries",), ("keys",)),
    "scaled": (("scores",),),
    "capped": (("scores", "scaled"),),
    "masked": (("scores", "scaled", "capped"),),
    "weights": (CHAIN,),
    "heads": (("weights",), ("values",)),
    "output": (("concat",), ("w_o",)),
}
"""The steps that have to be printed for a step to be worked out: of each group one."""


OF_WEIGHTS = ("weight", "highest_key", "order")
"""Questions that are answered as soon as the row of weights is seen."""


def can_be_worked_out(name: str, printed: Iterable[str]) -> bool:
    """Return whether what a step follows from is among the steps that are printed.

    >>> can_be_worked_out("heads", ["weights"]), can_be_worked_out("heads", ["weights", "values"])
    (False, True)
    """
    names = set(printed)
    return name in NEEDED and all(names & set(group) for group in NEEDED[name])


def chosen(trace: Trace, layer: int, step: Step, seed: int) -> Array:
    """Return True where a cell of a step, (heads, rows, columns), is left blank; one a head at least, none forbidden.

    layer  counted from 0
    """
    if step.name not in WORKED_OUT:
        return np.zeros(step.shape, dtype=bool)
    name = "blank/" + (CHAIN[0] if step.name in CHAIN else step.name)
    draws = np.stack([uniform(Address(seed, name, (layer, head)), step.shape[1:]) for head in range(step.shape[0])])
    if step.axes[-1] == "key":
        draws = np.where(np.broadcast_to(forbidden(trace.layers[layer]), step.shape), 2.0, draws)
    lowest = draws.min(axis=(1, 2), keepdims=True)
    return (draws < 1.0) & ((draws < SHARE) | (draws == lowest))


def questioned(trace: Trace, layer: int, step: Step, questions: Collection[Question]) -> Array:
    """Return True where a cell of a step is what a question asks for: the number, or the row of weights that says it.

    The weights of a row add to 1 and so say each other. What is to be read off the picture stays. Where the mask is to
    be drawn, nothing of what shows it is left.
    """
    if step.name in MASKED and any(question.kind == "mask" for question in questions):
        return np.ones(step.shape, dtype=bool)
    cells = np.zeros(step.shape, dtype=bool)
    for question in questions:
        if question.at.get("read"):
            continue
        of = "weights" if question.kind in OF_WEIGHTS else question.at.get("step")
        same = of == step.name or (of in CHAIN and step.name in CHAIN)
        is_cell = question.kind in (*OF_WEIGHTS, "number")
        if is_cell and same and index_of(question.at.get("layer", 1)) == layer:
            cells[_index(trace, step, question)] = True
    if step.name == "weights":
        cells &= ~np.broadcast_to(forbidden(trace.layers[layer]), step.shape)
    return cells


def to_be_read(trace: Trace, layer: int, step: Step, questions: Iterable[Question]) -> Array:
    """Return True where a cell of a step has to be printed, as a question asks to find a number among it."""
    cells = np.zeros(step.shape, dtype=bool)
    for question in questions:
        if question.kind == "cell" and step.name == "weights" and index_of(question.at.get("layer", 1)) == layer:
            cells[(index_of(question.at.get("head", 1)), *_axes_of_cell(question))] = True
    return cells


def _axes_of_cell(question: Question) -> tuple[int | slice, ...]:
    given = (question.at.get(axis) for axis in ("query", "key"))
    return tuple(slice(None) if number is None else index_of(number) for number in given)


def _index(trace: Trace, step: Step, question: Question) -> tuple[int | slice, ...]:
    """Return the indices that the question names, and every index along the other axes."""
    at, index = question.at, []
    for axis in step.axes:
        number = at.get(axis, at.get("column") if axis not in ("query", "key") else None)
        if step.name == "weights" and axis == "key":
            number = None
        if axis.endswith("head"):
            shared = trace.config.group_size if axis == "kv_head" else 1
            number = ordinal(index_of(at.get("head", 1)) // shared)
        index.append(slice(None) if number is None else index_of(number))
    return tuple(index)
