"""Copying: whether a head that attends to a word makes that same word likelier, from its matrices alone."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.models.model import Model

BLOCK = 2048
"""Rows of the two tables of words that are made float64 at a time."""


def copying(trace: Trace) -> Array:
    r"""Return the copying score of each head of a decoder: (layers, heads), from -1 to 1; NaN for any other run.

    $\sum_i \lambda_i / \sum_i |\lambda_i|$, with $\lambda$ the eigenvalues of $W_E\,W_V W_O\,W_U$, which says by how
    much attending to each word changes the logit of each; the gains of the norms in between and their centring are part
    of the matrices. 1 where every word makes itself likelier, below 0 where it makes itself less likely.

    Source  Elhage et al. 2021, A mathematical framework for transformer circuits, "Summarizing OV/QK matrices".
    """
    model, layers = trace.model, [*trace.layers]
    if not isinstance(model, Model) or not model.writes_on:
        return np.full((len(layers), trace.config.n_heads), np.nan)
    d, last = model.shape.d_model, layers[-1]
    centring = np.eye(d) - 1 / d if model.facts.centred else np.eye(d)
    table = _product(model.words_table, model.token_table)  # W_U W_E, (d_model, d_model)
    if "g_f" in last:
        table = centring @ (last["g_f"].array[:, None] * table)
    found = np.empty((len(layers), trace.config.n_heads))
    for i, steps in enumerate(layers):
        read = table @ centring * steps["g_1"].array if "g_1" in steps else table
        W_V, W_O = steps["w_v"].array, steps["w_o"].array.reshape(len(found[i]), -1, d)
        W_O = W_O * steps["g_1_out"].array if "g_1_out" in steps else W_O
        for h in range(len(W_O)):
            values = np.linalg.eigvals(W_O[h] @ read @ W_V[h * len(W_V) // len(W_O)])
            found[i, h] = values.sum().real / np.abs(values).sum()
    return found


def _product(words: Array, tokens: Array) -> Array:
    """Return the sum over all words of the outer product of their rows in two tables: (d_model, d_model)."""
    whole = np.zeros((words.shape[1], tokens.shape[1]))
    for at in range(0, len(words), BLOCK):
        whole += np.asarray(words[at : at + BLOCK], float).T @ np.asarray(tokens[at : at + BLOCK], float)
    return whole
