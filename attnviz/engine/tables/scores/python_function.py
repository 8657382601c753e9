"""A score that is a function of Python's which no line can say: computed pair by pair, and nothing but its numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from attnviz.arrays import Array, Keys, Queries, Scores
from attnviz.engine.tables.scores.row import Score
from attnviz.formula.faults import FormulaError, fault
from attnviz.formula.graph import KINDS
from attnviz.formula.python_tracing import arguments_of
from attnviz.settings.language import Words

NAME = "function"
"""The name of every such row, which is in no table."""

KNOWN = tuple(KINDS["score"].variables)
WORDS = Words(
    {
        "alone": "{name} can only be computed on arrays, one pair after the other: {why}. attend and multi_head take "
        "it, and of_scores(attend(..., score=...).scores) is drawn and written to files; a Config, links, scripts and "
        "workbooks need a line",
        "note": "Your own function, computed on arrays only.",
        "config": "the score {name} is a function that no formula can say, so that no setting can hold it; use "
        "attend(q, k, v, score=...) and of_scores, or type it as a formula",
    }
)


def of_function(name: str, function: Callable[..., Any], why: FormulaError) -> Score:
    """Return the row of a function that could not be written as a line, with a warning that says what follows.

    function  of `q` and `k`, the vectors of one query and one key, and of any other variable that a line may name
    why       what is said of it as a line

    Raises FormulaError, as it came, for a function that names anything else or gives no number.
    """
    takes = arguments_of(function)
    if set(takes) - set(KNOWN):
        raise why
    _check_outcome(function, takes, why)
    warnings.warn(WORDS["alone"].format(name=name, why=why.sentence), stacklevel=3)
    return Score(
        NAME,
        name,
        _pairwise(function, takes),
        rf"s_{{ij}} = \text{{{_letters(name)}}}(q_i, k_j)",
        WORDS["note"],
        "-",
        plain=f"{name}(q, k)",
        any_widths=True,
        takes=takes,
    )


def _letters(name: str) -> str:
    return "".join(c for c in name if c.isalnum() or c == " ")


def _check_outcome(function: Callable[..., Any], takes: tuple[str, ...], why: FormulaError) -> None:
    """Raise a FormulaError if two vectors of four numbers give no number; a function may want another width."""
    q, k = np.array([0.5, -1.0, 0.25, 2.0]), np.array([1.5, 0.5, -0.75, 1.0])
    try:
        with np.errstate(all="ignore"):
            outcome = function(**_arguments(takes, q, k, (0, 1, 0), (1, 2, 1)))
    except (ValueError, IndexError):
        return
    except Exception as error:  # whatever a function of the caller's own can raise
        raise fault("not_traced", why=f"{type(error).__name__}: {error}") from error
    if not _is_number(outcome):
        raise why


def _is_number(outcome: Any) -> bool:
    array = np.asarray(outcome)
    return array.ndim == 0 and array.dtype.kind in "fiub"


def _arguments(
    takes: tuple[str, ...], q: Array, k: Array, position: tuple[int, int, int], sizes: tuple[int, int, int]
) -> dict[str, Any]:
    """Return what the function takes, by name, of query i and key j in head h, which counts from 1 as in a line."""
    (i, j, h), (n_query, n_key, n_heads) = position, sizes
    known: dict[str, Any] = {"q": q, "k": k, "d_q": len(q), "d_k": len(k), "i": i, "j": j, "h": h + 1, "n": n_key}
    known |= {"n_query": n_query, "n_key": n_key, "n_heads": n_heads}
    return {name: known[name] for name in takes}


def _pairwise(function: Callable[..., Any], takes: tuple[str, ...]) -> Callable[..., Scores]:
    def scores(Q: Queries, K: Keys) -> Scores:
        shape = (*Q.shape[:-1], K.shape[-2])
        K = np.broadcast_to(K, (*Q.shape[:-2], *K.shape[-2:]))
        sizes = shape[-2], shape[-1], shape[-3] if len(shape) > 2 else 1
        table = np.empty(shape)
        for at in np.ndindex(shape):
            *before, i, j = at
            where = tuple(before)
            position = i, j, before[-1] if before else 0
            table[at] = function(**_arguments(takes, Q[where][i], K[where][j], position, sizes))
        return table

    return scores
