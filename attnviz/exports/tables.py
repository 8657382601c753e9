"""Every number as a table: tidy, as the matrix of one head, as statistics, as a ledger; and each of these as CSV.

Heads, queries, keys and columns are counted from 1. Numbers are exact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from attnviz.analysis import statistics
from attnviz.analysis.statistics import STATISTICS
from attnviz.arrays import Array
from attnviz.engine.external.traces import forbidden
from attnviz.engine.records.trace import Step, Trace
from attnviz.exports.frames import axis_names
from attnviz.settings.counting import ordinal, ordinals
from attnviz.settings.language import Words
from attnviz.text.cost_ledger import Ledger

FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠﹢﹣﹦﹫−")
"""The characters by which a spreadsheet takes a text for a formula, in all widths that Unicode has of them."""

_AFTER_SPLIT = re.compile(rf"([;\t|][ ]*)(?=[{re.escape(''.join(FORMULA_STARTS))}])")
"""Separators of cells in other lists than ours: a German spreadsheet splits at semicolons."""

WORDS = Words({"largest_at": "Largest weight at", "open_keys": "Keys it may attend to", "total": "total"})

COLUMNS = Words(
    {
        "head": "head",
        "query": "query",
        "key": "key",
        "token": "token",
        "input": "input",
        "symbol": "symbol",
        "step": "step",
        "shape": "shape",
        "axes": "axes",
        "axis": "axis",
        "meaning": "meaning",
        "parameters": "parameters",
        "multiply-adds": "multiply-adds",
    }
)
"""The headings of columns for people; a tidy table is for programs and has the same names everywhere."""


def labels(tokens: Sequence[str]) -> list[str]:
    """Return the tokens with their positions, so that one that comes twice is two.

    >>> labels(["the", "cat", "the"])
    ['1 the', '2 cat', '3 the']
    """
    return [f"{number} {token}" for number, token in enumerate(tokens, 1)]


def tidy(step: Step, query_tokens: Sequence[str], key_tokens: Sequence[str]) -> pd.DataFrame:
    """Return a row for every number: a column for each axis, for tokens their position and their text, then "value".

    Heads that differ in width have only the columns that are theirs.

    >>> from attnviz import Config, run
    >>> trace = run(Config(sentence="a b", n_heads=1, mask="causal"))
    >>> tidy(trace["weights"], trace.query_tokens, trace.key_tokens).head(2)
       head  query query_token  key key_token  value
    0     1      1           a    1         a    1.0
    1     1      1           a    2         b    0.0
    """
    tokens = {"query": query_tokens, "key": key_tokens}
    positions, values = _positions(step)
    columns: dict[str, Any] = {}
    for axis, position in zip(axis_names(step), positions):
        columns[axis] = ordinal(position)
        if axis in tokens:
            columns[f"{axis}_token"] = np.array(tokens[axis], dtype=object)[position]
    return pd.DataFrame(columns | {"value": values})


def _positions(step: Step) -> tuple[Array, Array]:
    """Return the indices of each number, (axes, numbers) counted from 0, and the numbers."""
    if not step.axes[0].endswith("head"):
        return np.indices(step.shape).reshape(len(step.shape), -1), step.array.reshape(-1)
    parts = [step.head(h) for h in range(len(step.array))]
    inside = [np.indices(part.shape).reshape(part.ndim, -1) for part in parts]
    heads = np.repeat(np.arange(len(parts)), [part.size for part in parts])
    return np.vstack([heads, np.hstack(inside)]), np.concatenate([part.reshape(-1) for part in parts])


def matrix(step: Step, query_tokens: Sequence[str], key_tokens: Sequence[str], head: int = 0) -> pd.DataFrame:
    """Return one head of a step as rows and columns, without padding; `head` counts from 0, other steps have but one.

    Raises  IndexError if there is no such head.

    >>> from attnviz import Config, run
    >>> trace = run(Config(sentence="a a", n_heads=1, mask="causal"))
    >>> matrix(trace["allowed"], trace.query_tokens, trace.key_tokens)
    key     1 a    2 a
    query
    1 a    True  False
    2 a    True   True
    """
    has_heads = step.axes[0].endswith("head")
    part = np.atleast_2d(step.head(head))
    axes = step.axes[1:] if has_heads else step.axes
    named = {"query": labels(query_tokens), "key": labels(key_tokens)}
    rows, columns = (_axis_index(axis, n, named) for axis, n in zip(("", *axes)[-2:], part.shape))
    return pd.DataFrame(part.copy(), index=rows, columns=columns)


def _axis_index(axis: str, n: int, named: dict[str, list[str]]) -> pd.Index:
    return pd.Index(
        named[axis] if axis in named else [str(number) for number in ordinals(n)],
        name=COLUMNS.get(axis, axis) or None,
    )


def row_statistics(trace: Trace, layer: int) -> pd.DataFrame:
    """Return the statistics of each row of each head: a row for every query, a column for every statistic.

    NaN where a statistic is not defined: a query that attends to nothing, the previous token of the first, and all that
    needs queries and keys to be the same sentence where they are not. The first column is called "head" in every
    language.
    """
    A, measures = _statistics(trace, layer)
    at = statistics.largest_at(A)
    names = np.array([*labels(trace.key_tokens), ""], dtype=object)
    head, query = np.indices(A.shape[:2]).reshape(2, -1)
    columns: dict[str, Any] = {
        "head": ordinal(head),
        COLUMNS["query"]: np.array(labels(trace.query_tokens), dtype=object)[query],
    }
    for name, values in measures.items():
        columns[STATISTICS[name].label] = values.reshape(-1)
        if name == "largest":
            columns[WORDS["largest_at"]] = names[at].reshape(-1)
    if "masked" in trace.layers[layer]:
        columns[WORDS["open_keys"]] = statistics.open_keys(~forbidden(trace.layers[layer]), A.shape).reshape(-1)
    return pd.DataFrame(columns)


def head_statistics(trace: Trace, layer: int) -> pd.DataFrame:
    """Return the statistics of each head: the mean over the rows for which one is defined, and the largest weight."""
    A, measures = _statistics(trace, layer)
    columns: dict[str, Any] = {COLUMNS["head"]: ordinals(len(A))}
    queries, keys = labels(trace.query_tokens), labels(trace.key_tokens)
    for name, values in measures.items():
        if name != "largest":
            columns[STATISTICS[name].label] = statistics.mean_over_rows(values)
            continue
        columns[STATISTICS[name].label] = values.max(axis=-1)
        positions = [divmod(int(head.argmax()), head.shape[-1]) for head in A]
        columns[WORDS["largest_at"]] = [
            f"{queries[i]} → {keys[j]}" if head[i, j] else "" for head, (i, j) in zip(A, positions)
        ]
    return pd.DataFrame(columns)


def _statistics(trace: Trace, layer: int) -> tuple[Array, dict[str, Array]]:
    A = trace.layers[layer]["weights"].array
    return A, statistics.of_rows(A, is_self=not trace.config.is_cross_attention)


def column_sums(trace: Trace, layer: int) -> pd.DataFrame:
    """Return the sum of the weights on each key: a row for every head, a column for every key."""
    A = trace.layers[layer]["weights"].array
    heads = pd.Index(ordinals(len(A)), name=COLUMNS["head"])
    return pd.DataFrame(
        statistics.column_sums(A), index=heads, columns=pd.Index(labels(trace.key_tokens), name=COLUMNS["key"])
    )


def rollout(trace: Trace, layer: int) -> pd.DataFrame | None:
    """Return the share of each input token in each token after a layer.

    It is None in cross-attention, which has none.

    The identity takes part where the run has residual connections, for which it stands.
    """
    if trace.config.is_cross_attention:
        return None
    weights = [each["weights"].array for each in trace.layers[: ordinal(layer)]]
    names = labels(trace.query_tokens)
    return pd.DataFrame(
        statistics.rollout(weights, residual=trace.config.residual)[-1],
        index=pd.Index(names, name=COLUMNS["token"]),
        columns=pd.Index(names, name=COLUMNS["input"]),
    )


def of_ledger(ledger: Ledger) -> pd.DataFrame:
    """Return the shape ledger, a row a step and the sums below."""
    rows = [
        {
            "symbol": row.text,
            "step": row.name,
            "shape": row.shape,
            "axes": row.words,
            "meaning": row.meaning,
            "parameters": row.n_parameters,
            "multiply-adds": row.n_multiply_adds,
        }
        for row in ledger.rows
    ]
    total = dict.fromkeys(rows[0], "") | {"symbol": WORDS["total"]}
    sums = {"parameters": ledger.n_parameters, "multiply-adds": ledger.n_multiply_adds}
    return pd.DataFrame([*rows, total | sums]).rename(columns=dict(COLUMNS))


def axes(ledger: Ledger) -> pd.DataFrame:
    """Return the meaning of each axis in a ledger, in the order in which they appear."""
    meanings = {axis: meaning for row in ledger.rows for axis, _, meaning in row.axes}
    return pd.DataFrame(
        {COLUMNS["axis"]: [COLUMNS.get(axis, axis) for axis in meanings], COLUMNS["meaning"]: list(meanings.values())}
    )


def csv(frame: pd.DataFrame) -> str:
    """Return a table as comma-separated text that a spreadsheet takes for numbers and words, never for formulas.

    A cell, a label or a name of text that begins as a formula would gets an apostrophe in front; numbers are written
    with as many digits as bring them back exactly. The labels of a matrix are its first column.

    Lines end in CR LF (RFC 4180): only so a lone CR inside a cell is quoted.

    >>> csv(pd.DataFrame({"token": ["=1+1"], "value": [-0.1]})).splitlines()
    ['token,value', "'=1+1,-0.1"]
    """
    safe = frame.apply(lambda column: column if pd.api.types.is_numeric_dtype(column) else column.map(_safe))
    safe.columns = [_safe(name) for name in frame.columns]
    if isinstance(frame.index, pd.RangeIndex):
        return safe.to_csv(index=False, na_rep="NaN", lineterminator="\r\n")
    safe.index = pd.Index([_safe(name) for name in frame.index], name=frame.index.name or "")
    return safe.to_csv(na_rep="NaN", lineterminator="\r\n")


def guarded(cell: str) -> str:
    """Return a cell of text as a spreadsheet takes it for text, never for a formula.

    >>> guarded("=1+1"), guarded("Ada")
    ("'=1+1", 'Ada')
    """
    return str(_safe(cell))


def _safe(cell: Any) -> Any:
    """Return the cell with an apostrophe before what begins a formula, there or after a sign at which a spreadsheet
    splits.
    """
    if not isinstance(cell, str):
        return cell
    cell = _AFTER_SPLIT.sub(r"\1'", cell)
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell
