"""The weights of all heads of all layers, and what each head does on this sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.analysis import special_tokens
from attnviz.analysis.head_kinds import HeadKind, head_kinds
from attnviz.arrays import Array
from attnviz.engine.external.traces import forbidden
from attnviz.engine.records.trace import Step, Trace


def open_weights(steps: Mapping[str, Step]) -> Array:
    """Return the weights of all heads of a layer, (heads, queries, keys), NaN where masked."""
    A = steps["weights"].array
    return np.where(np.broadcast_to(forbidden(steps), A.shape), np.nan, A)


def all_weights(trace: Trace) -> Array:
    """Return the weights of all heads of all layers, (layers times heads, queries, keys), NaN where masked."""
    return np.concatenate([open_weights(steps) for steps in trace.layers])


def all_kinds(trace: Trace, weights: Array) -> list[HeadKind]:
    """Return the kind of each head by the rows of words: those of special tokens mean nothing.

    weights  of any heads of the run, (heads, queries, keys), masked ones 0 or NaN
    """
    return kinds_of(() if trace.config.is_cross_attention else trace.query_tokens, weights)


def kinds_of(tokens: Sequence[str], weights: Array) -> list[HeadKind]:
    """Return the kinds of heads by their weights over these tokens; without tokens, over those of another text."""
    weights_or_0 = np.nan_to_num(weights)
    if not tokens:
        return head_kinds(weights_or_0, is_self=False)
    if special_tokens.has_both(tokens):
        others = np.setdiff1d(np.arange(len(tokens)), list(special_tokens.words(tokens)))
        weights_or_0[:, others] = 0.0
    return head_kinds(weights_or_0, tokens=tokens)
