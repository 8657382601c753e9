"""One mask in the forms that programs take it in, and the replacement values for masked scores.

Here a mask is `allowed`, True = MAY attend. Libraries disagree on what True means; each form says what it means there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Step
from attnviz.engine.tables import masks
from attnviz.engine.tables.tokenisers import PAD
from attnviz.settings.rows import Choice, table

Normalise = Callable[[Array], Array]


def combined(
    config: Config, names: Sequence[str], n_query: int, key_tokens: Sequence[str], *, every: bool = True
) -> Array:
    """Combine masks: allowed where `every` one of them allows a cell, or else where any does.

    Shape (queries, keys), or (heads, queries, keys) where a typed mask looks at the head.
    Without a name nothing is forbidden. The masks' own settings are those of the config.
    """
    pad = np.array([token == PAD for token in key_tokens], dtype=bool)
    keys = tuple(key_tokens)
    words = (keys if n_query == len(keys) else (), keys)
    settings = {name: masks.settings_of(config, name, words) for name in names}
    if every or not names:
        return masks.allowed(tuple(names), n_query, pad, settings)
    each = [masks.allowed((name,), n_query, pad, settings) for name in names]
    return np.any(np.broadcast_arrays(*each), axis=0)


def true_attends(allowed: Array) -> Array:
    """Return the mask with True for "may attend", (queries, keys)."""
    return allowed.copy()


def true_is_masked(allowed: Array) -> Array:
    """Return the mask with True for "may NOT attend", (queries, keys).

    >>> true_is_masked(np.array([[True, False]]))
    array([[False,  True]])
    """
    return ~allowed


def key_padding(allowed: Array) -> Array | None:
    """Return True for each key that is ignored, (keys,); None if the mask is not the same for every query and head.

    >>> key_padding(np.array([[True, False], [True, False]]))
    array([False,  True])
    >>> key_padding(np.array([[True, False], [True, True]])) is None
    True
    """
    rows = allowed.reshape(-1, allowed.shape[-1])
    return ~rows[0] if (rows == rows[0]).all() else None


def additive(allowed: Array) -> Array:
    """Return 0 where a query may attend and -inf where not, (queries, keys): to be added to the scores.

    >>> additive(np.array([[True, False]]))
    array([[  0., -inf]])
    """
    return np.where(allowed, 0.0, -np.inf)


FORMS = table(
    Choice(
        "allowed",
        "allowed, here",
        true_attends,
        r"\text{True} = \text{may}",
        "True = may attend.",
        "attnviz.attend(q, k, v, allowed=allowed)",
    ),
    Choice(
        "sdpa",
        "attn_mask, scaled_dot_product_attention",
        true_attends,
        r"\text{True} = \text{may}",
        "True = may attend.",
        "PyTorch 2.13 documentation, torch.nn.functional.scaled_dot_product_attention, attn_mask",
    ),
    Choice(
        "multi_head",
        "attn_mask, nn.MultiheadAttention",
        true_is_masked,
        r"\text{True} = \text{may not}",
        "True = may NOT attend: the opposite.",
        "PyTorch 2.13 documentation, torch.nn.MultiheadAttention, attn_mask",
    ),
    Choice(
        "key_padding",
        "key_padding_mask, nn.MultiheadAttention",
        key_padding,
        r"\text{True} = \text{ignored}",
        "True = the key is ignored, by every query.",
        "PyTorch 2.13 documentation, torch.nn.MultiheadAttention, key_padding_mask",
    ),
    Choice(
        "additive",
        "added to the scores",
        additive,
        r"S + M, \quad M_{ij} \in \{0, -\infty\}",
        "0 = may attend, −∞ = may not.",
        "PyTorch 2.13 documentation, scaled_dot_product_attention, attn_mask of floats",
    ),
)
"""The same mask as programs take it: `fn(allowed)`."""


def unmasked(layer: Mapping[str, Step]) -> Array:
    """Return the scores of a layer as they are just before the mask: (heads, queries, keys).

    Allowed cells are those that the normaliser read, also where a person has changed them.
    """
    before = layer["capped"].array + (layer["bias"].array if "bias" in layer else 0.0)
    masked = layer["masked"].array
    return np.where(np.isneginf(masked), before, masked)


def minus_infinity(X: Array, allowed: Array, normalise: Normalise, large: float) -> Array:
    """Return the weights with -inf for forbidden scores, as in a run; a row with nothing allowed is all zeros."""
    return normalise(np.where(allowed, X, -np.inf))


def large_number(X: Array, allowed: Array, normalise: Normalise, large: float) -> Array:
    """Return the weights with a large negative number for forbidden scores."""
    return normalise(np.where(allowed, X, large))


def zero_score(X: Array, allowed: Array, normalise: Normalise, large: float) -> Array:
    """Return the weights with 0 for forbidden scores, which is to multiply the scores by the mask."""
    return normalise(np.where(allowed, X, 0.0))


def zero_after(X: Array, allowed: Array, normalise: Normalise, large: float) -> Array:
    """Let every score take part; forbidden weights are set to 0 afterwards."""
    return np.where(allowed, normalise(X), 0.0)


def renormalised(X: Array, allowed: Array, normalise: Normalise, large: float) -> Array:
    """Do as `zero_after`, then divide each row over its sum; a row without a sum is 0 / 0, which is NaN.

    >>> share = lambda X: X / X.sum(axis=-1, keepdims=True)
    >>> renormalised(np.array([[3.0, 1.0, 4.0]]), np.array([[True, True, False]]), share, 0.0)
    array([[0.75, 0.25, 0.  ]])
    """
    A = zero_after(X, allowed, normalise, large)
    with np.errstate(invalid="ignore", divide="ignore"):
        return A / A.sum(axis=-1, keepdims=True)


FILLS = table(
    Choice(
        "minus_infinity",
        "−∞",
        minus_infinity,
        r"s_{ij} = -\infty",
        "Exactly out of the sum: the method used everywhere here.",
        "Vaswani et al. 2017, arXiv:1706.03762, section 3.2.3",
    ),
    Choice(
        "large_number",
        "a large negative number",
        large_number,
        r"s_{ij} = -10^9",
        "As good as −∞ while an allowed key is far above it; with none allowed, all are equal.",
        "Keras, layers/activations/softmax.py: -1e9, and -3e4 in float16",
    ),
    Choice(
        "zero_score",
        "0 as a score",
        zero_score,
        r"s_{ij} = 0",
        "Scores times the mask. A 0 is a score like any other, so forbidden keys take part.",
        "-",
    ),
    Choice(
        "zero_after",
        "0 afterwards",
        zero_after,
        r"a_{ij} = 0",
        "Weights times the mask: nothing leaks, but what forbidden keys had received is missing from the row.",
        "-",
    ),
    Choice(
        "renormalised",
        "renormalised",
        renormalised,
        r"a_{ij} = 0,\; a_i / \textstyle\sum_j a_{ij}",
        "Weights times the mask, each row divided by its sum.",
        "-",
    ),
)
"""The ways to treat a forbidden score: `fn(X, allowed, normalise, large)`, the weights over the keys."""


def leaked(A: Array, allowed: Array) -> Array:
    """Return the sum of the weights on forbidden cells of each row; (..., queries).

    >>> leaked(np.array([[0.5, 0.25, 0.25]]), np.array([[True, False, False]]))
    array([0.5])
    """
    return np.where(allowed, 0.0, A).sum(axis=-1)
