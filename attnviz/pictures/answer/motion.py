"""The animation of a cell: the lines of its full arithmetic, in their order, as frames to move between.

Every number of a frame is one that a line of `attnviz.arithmetic.cell` or a step of the run holds.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np

from attnviz.arithmetic.cell import Cell
from attnviz.arithmetic.notation.derivation import ArithmeticLine, largest
from attnviz.arithmetic.short_derivation import CHANGES, Mixture, mixture, settled
from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.pictures.answer.explanation_parts import Tokens, number, plain, writer
from attnviz.settings.language import Words
from attnviz.text.format.number_format import localised

Frame = dict[str, Any]

ASIDE = ("query_length", "key_length", "transformed_query", "hidden_query", "hidden_key")
"""Lines that are seen as a part of the one that uses them."""

FEW = 12  # numbers that have room beside each other
LEVELS = ("largest", "threshold")
"""Lines that are one number beside those of a whole row."""

WORDS = Words(
    {
        "rows": "Queries and keys",
        "rows_said": "Each word has a row of numbers that asks, in Q, and one that answers, in K.",
        "meet": "Two rows meet",
        "meet_said": "The query of {query} slides over the key of {key}.",
        "row": "Among the others",
        "row_said": "The score takes its place beside those with all other words.",
        "shares": "One whole",
        "shares_said": "Side by side the shares fill one bar: {key} gets {amount} of it.",
        "mix": "The values, each as tall as its share",
        "mix_said": "{key} passes on its value in V, and so does every other word: much, little or nothing.",
        "pressed": "Pressed together, they are the output of {query}.",
    }
)


def motion(trace: Trace, cell: Cell) -> dict[str, Any] | None:
    """Return the frames of a cell and what is drawn in them; None where the arithmetic has but one of them.

    >>> from attnviz import Config, run
    >>> from attnviz.arithmetic.cell import derive
    >>> trace = run(Config(sentence="the cat sat"))
    >>> [frame["kind"] for frame in motion(trace, derive(trace, 0, 0, 2, 1))["frames"]]
    ['rows', 'meet', 'entries', 'sum', 'sum', 'row', 'row', 'row', 'row', 'shares', 'mix', 'output']
    """
    words, mixed = Tokens(trace, cell), mixture(trace, cell)
    frames = [*_meeting(cell, words), *_score(cell), *_row(trace, cell, words), *_output(cell, words, mixed)]
    if len(frames) < 2:
        return None
    steps, group = trace.layers[cell.layer], cell.head // trace.config.group_size
    maps: dict[str, Any] = {}
    if "queries" in steps:
        maps["q"] = _map(steps["queries"].array[cell.head][:, : cell.d_k], cell.query)
        maps["k"] = _map(steps["keys"].array[group][:, : cell.d_k], cell.key)
    if mixed is not None:
        maps["v"] = _map(mixed.values, cell.key)
    return {
        "frames": frames,
        "maps": maps,
        "names": words.line,
        "at": cell.key if words.over_keys else cell.query,
        "query": words.query,
        "key": words.key,
    }


def _frame(kind: str, title: str, sentence: str, **drawn: Any) -> Frame:
    return {"kind": kind, "title": title, "sentence": sentence, **drawn}


def _map(array: Array, at: int) -> dict[str, Any]:
    """Return a matrix as a small picture: a byte for each cell, 128 for zero, 1 and 255 for the largest size in it."""
    end = largest(array) or 1.0
    cells = 128 + np.rint(127 * np.clip(np.nan_to_num(array) / end, -1, 1))
    shape = {"rows": array.shape[0], "columns": array.shape[1]}
    return shape | {"cells": base64.b64encode(cells.astype(np.uint8).tobytes()).decode(), "end": end, "at": at}


def _vector(values: Array, at: int | None = None) -> dict[str, Any]:
    """Return numbers, and those as text that there is room for: all of a few, else the one that is explained."""
    values = settled(values)
    write = writer(values)
    written = (write(float(x)) if len(values) <= FEW or d == at else "" for d, x in enumerate(values))
    return {"values": plain(values), "texts": list(written)}


# --- from q and k to the score ---------------------------------------------------------------------------------------


def _meeting(cell: Cell, words: Tokens) -> Iterator[Frame]:
    """Yield both matrices, and the two rows that leave them."""
    q = next((line for line in _vectors(cell) if "query" in line.name and line.result.ndim), None)
    if q is None:
        return
    k = next(line for line in _vectors(cell) if "key" in line.name and line.result.ndim)
    yield _frame("rows", WORDS["rows"], words.said(WORDS, "rows_said"))
    sentence = WORDS["meet_said"].format(query=words.query, key=words.key)
    yield _frame("meet", WORDS["meet"], sentence, parts=[_vector(q.result), _vector(k.result)], named=[True, True])


def _vectors(cell: Cell) -> list[ArithmeticLine]:
    """Return the lines that end in the query and in the key, last ones first: rotated by RoPE, or as given."""
    names = ("turned_query", "query", "turned_key", "key", "given_query", "given_key")
    by_name = {line.name: line for line in cell.vectors + cell.score}
    return [by_name[name] for name in names if name in by_name]


def _score(cell: Cell) -> Iterator[Frame]:
    """Yield a frame for each vector on the way to the score, and for each number that is made of it."""
    before, skipped = None, {id(line) for line in _vectors(cell)}
    for line in cell.score:
        if id(line) in skipped or line.name in ASIDE:
            continue
        if line.result.ndim == 1:
            parts = [x for x in line.operands.values() if x.ndim == 1][:2]
            named = [_is_made(cell, part, of) for part, of in zip(parts, ("query", "key"), strict=False)]
            drawn = _vector(line.result) | {"parts": [_vector(part) for part in parts], "named": named}
            yield _frame("entries", line.title, localised(line.sentence), **drawn)
        elif (line.active or line.edited) and line.result.ndim == 0:
            value = float(line.result)
            passes = line.name == "mask" and not line.edited and np.isfinite(value)
            if not passes and (value != before or line.name in CHANGES):
                is_result = any(x.ndim == 0 and float(x) == before for x in line.operands.values())
                was = number(before) if is_result and before is not None else ""
                yield _frame(
                    "sum", line.title, localised(line.sentence), value=plain([value])[0], text=number(value), was=was
                )
            before = value


def _is_made(cell: Cell, vector: Array, of: str) -> bool:
    """Return whether a vector is the query, the key, or what a matrix makes of it."""
    lines = (line for line in cell.vectors + cell.score if of in line.name)
    return any(np.array_equal(line.result, vector) for line in lines)


# --- from the score to the weight ------------------------------------------------------------------------------------


def _row(trace: Trace, cell: Cell, words: Tokens) -> Iterator[Frame]:
    """Yield the scores that are normalised together, what becomes of them line by line, and the weights."""
    steps = trace.layers[cell.layer]
    frames: list[Frame] = []
    at = cell.key if words.over_keys else cell.query
    if "masked" in steps:
        masked = steps["masked"].array[cell.head]
        scores = masked[cell.query] if words.over_keys else masked[:, cell.key]
        frames.append(_frame("row", WORDS["row"], words.said(WORDS, "row_said"), **_vector(scores, at)))
    for line in cell.weight:
        if line.result.ndim == 1 and len(line.result) == len(words.line):
            frames.append(_frame("row", line.title, localised(line.sentence), **_vector(line.result, at)))
        elif line.name in LEVELS and frames:
            frames[-1]["level"] = plain([float(line.result)])[0]
            frames[-1]["note"] = f"{line.title}: {number(float(line.result))}"
        elif line.name == "sum" and frames:
            frames[-1]["note"] = f"{line.title}: {number(float(line.result))}"
        elif line.name == "weight":
            weights = steps["weights"].array[cell.head]
            weights = weights[cell.query] if words.over_keys else weights[:, cell.key]
            frames.append(_frame("row", line.title, localised(line.sentence), **_vector(weights, at)))
            if words.shares and words.over_keys:
                amount = words.amount(float(weights[cell.key]))
                sentence = WORDS["shares_said"].format(key=words.key, amount=amount)
                frames.append(_frame("shares", WORDS["shares"], sentence, values=plain(weights), amount=amount))
    yield from frames


# --- from the weights to the output ----------------------------------------------------------------------------------


def _output(cell: Cell, words: Tokens, mixed: Mixture | None) -> Iterator[Frame]:
    if mixed is None:
        return
    sentence = words.said(WORDS, "mix_said").format(key=words.key)
    amounts = [words.amount(float(weight)) for weight in mixed.weights]
    weights = {
        "values": plain(mixed.weights),
        "texts": amounts,
        "names": words.keys,
        "entries": _vector(mixed.values[cell.key]),
    }
    yield _frame("mix", WORDS["mix"], sentence, **weights)
    line = cell["output"]
    pressed = WORDS["pressed"].format(query=words.query)
    yield _frame("output", line.title, pressed, **_vector(mixed.output), end=words.end)
