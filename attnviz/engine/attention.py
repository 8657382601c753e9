r"""Attention, as the papers write it.

    attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V                                    (Vaswani et al. 2017, eq. 1)
    multi_head(X)      = [head_1 ... head_H] W_O,  head_h = attention(X W_Q^h, X W_K^h, X W_V^h)   (section 3.2.2)

with any score in place of the product, any mask, and every intermediate kept. Rows are queries, columns are keys; a
vector is a row, so that a projection is `X @ W`. Everything is float64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnviz.arrays import Allowed, Array, Keys, Queries, Scores, Values, Weights
from attnviz.engine import checks
from attnviz.engine.numerics import buffer_pool, products
from attnviz.engine.rows.line_row import LineRow
from attnviz.engine.tables.added_rows import added_name
from attnviz.engine.tables.normalised_axes import NORMALISED_AXES
from attnviz.engine.tables.normalisers import NORMALISERS, Normaliser
from attnviz.engine.tables.normalisers.hardmax import hardmax, size_of_terms
from attnviz.engine.tables.row_names import NormaliserName, ScoreName
from attnviz.engine.tables.scores import SCORES, Score, swap
from attnviz.settings.rows import pick

Record = Callable[[str, Array], Array]
Parameters = Mapping[str, ArrayLike]


def pipeline(
    Q: Queries,
    K: Keys,
    V: Values,
    *,
    score: Score,
    params: Mapping[str, Array],
    scale: float | Array,
    softcap: float | None,
    bias: Array | None,
    allowed: Allowed | None,
    normaliser: Normaliser,
    temperature: float,
    record: Record,
    over: str = "keys",
) -> Array:
    """Compute each head's output from queries, keys and values; `record` is called with every step and hands it back.

    Equal queries get equal rows and equal keys equal columns, to the last bit.
    """
    with np.errstate(all="ignore"):
        same_query = None if score.by_query_position else products.first_equals(Q)
        same_key = None if score.by_position else products.first_equals(K)
        S = products.spread(score.fn(Q, K, **params), same_query)
        products.spread(swap(S), same_key)
        S = record("scores", S)
        S = record("scaled", S if _is_one(scale) else np.multiply(S, scale, out=buffer_pool.empty(S.shape)))
        S = record("capped", softcap * np.tanh(S / softcap) if softcap else S)
        S = record("masked", _forbid(S if bias is None else S + bias, allowed))
        normalise = partial(hardmax, size=size_of_terms(Q, K, scale)) if normaliser.fn is hardmax else normaliser.fn
        A = record("weights", _only(allowed, NORMALISED_AXES[over].fn(normalise, S, temperature)))
        Z = _mix(A, V, allowed)
        return record("heads", Z if same_query is None else products.spread(Z, products.first_equals(A, same_query)))


def _is_one(scale: float | Array) -> bool:
    return np.ndim(scale) == 0 and scale == 1.0


def _forbid(S: Scores, allowed: Allowed | None) -> Scores:
    """Set scores to -inf where a query may not attend."""
    return S if allowed is None else np.where(allowed, S, -np.inf)


def _only(allowed: Allowed | None, A: Weights) -> Weights:
    """Return the weights, exactly 0 in forbidden cells, also in a row that an infinite score has made NaN."""
    if allowed is None or not np.isnan(A.sum()):
        return A
    return np.where(allowed, A, 0.0)


def _mix(A: Weights, V: Values, allowed: Allowed | None) -> Array:
    """Return a V, in which a forbidden value does not take part: 0 times infinity would be NaN."""
    if allowed is None or np.isfinite(V).all():
        return buffer_pool.product(A, V)
    infinite = ~np.isfinite(V)
    Z = buffer_pool.product(A, np.where(infinite, 0.0, V))
    for j in np.flatnonzero(infinite.any(axis=-1).reshape(-1, V.shape[-2]).any(axis=0)):
        share = A[..., j, None] * V[..., None, j, :]
        may = np.broadcast_to(allowed, A.shape)[..., j, None]
        Z = Z + np.where(may & infinite[..., None, j, :], share, 0.0)
    return Z


@dataclass(frozen=True)
class Attention:
    """Every step of one attention, read-only. Score-side arrays are (..., H, n_query, n_key), or (n_query, n_key)."""

    scores: Array
    scaled: Array
    capped: Array
    masked: Array
    weights: Array
    output: Array


def attend(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    score: ScoreName | Score | LineRow = "scaled_dot",
    params: Parameters | None = None,
    allowed: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    causal: bool = False,
    scale: ArrayLike | None = None,
    softcap: float | None = None,
    normaliser: NormaliserName | Normaliser | LineRow = "softmax",
    temperature: float = 1.0,
) -> Attention:
    r"""Compute attention and keep every step.

    $A = \mathrm{normaliser}\big((\mathrm{cap}(c\,S) + B) / T\big)$ over the keys, $-\infty$ where forbidden

    q            (..., Hq, n_query, d_k), or (n_query, d_k)
    k, v         (..., Hkv, n_key, d_k), (..., Hkv, n_key, d_v), or without heads; Hq % Hkv == 0, and head h uses
                 key/value head h // (Hq / Hkv); batch axes that q has may be missing
    score        a row of SCORES, by name or as it was added, or one that `attnviz.score` made; `params` are its own
                 matrices, with or without an axis of Hq heads in front
    allowed      boolean, True = MAY attend; broadcasts to the scores
    bias         added to the scores, -inf forbids; broadcasts to the scores
    causal       allows key j for query i only if j <= i, counted from the first of each
    scale        factor on the scores, a number or one for each head (Hq,); None is the score's own
    softcap      c tanh(s / c) before the bias; None or 0 is off
    normaliser   a row of NORMALISERS likewise, or one of `attnviz.normaliser`; `temperature` > 0 divides the scores

    A row with nothing allowed has weights 0 and output 0. A forbidden key takes no part, whatever its value holds.

    Raises  ValueError if shapes, names or values do not fit; the message names the argument and what would fit.
    Source  Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1.

    >>> attend([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[10.0], [20.0]], score="dot").weights.round(4)
    array([[0.7311, 0.2689]])
    """
    row = score if isinstance(score, Score) else pick(SCORES, _name("score", score), "score")
    way = (
        normaliser
        if isinstance(normaliser, Normaliser)
        else pick(NORMALISERS, _name("normaliser", normaliser), "normaliser")
    )
    Q, K, V = checks.aligned(checks.real("q", q), checks.real("k", k), checks.real("v", v), row)
    shape = (*Q.shape[:-1], K.shape[-2])
    B = None if bias is None else checks.fitting("bias", checks.real("bias", bias), shape)
    steps: dict[str, Array] = {}
    pipeline(
        Q,
        K,
        V,
        score=row,
        params=checks.parameters(row, params or {}, Q, K),
        scale=checks.scale(scale, row, Q),
        softcap=checks.number("softcap", softcap or 0.0, least=0.0),
        bias=B,
        allowed=checks.allowed(allowed, B, causal, shape),
        normaliser=way,
        temperature=checks.number("temperature", temperature, above=0.0),
        record=lambda name, array: steps.setdefault(name, _read_only(array)),
    )
    return Attention(
        **{name: steps[name] for name in ("scores", "scaled", "capped", "masked", "weights")}, output=steps["heads"]
    )


@dataclass(frozen=True)
class MultiHead:
    """Every step of multi-head attention, read-only."""

    queries: Array
    keys: Array
    values: Array
    scores: Array
    scaled: Array
    capped: Array
    masked: Array
    weights: Array
    heads: Array
    concat: Array
    output: Array


def _name(kind: str, given: str | LineRow) -> str:
    """Return the name of a row that is given by it, or as it was added."""
    return added_name(kind, given) if isinstance(given, LineRow) else given


def multi_head(
    x_q: ArrayLike,
    x_kv: ArrayLike | None = None,
    *,
    w_q: ArrayLike,
    w_k: ArrayLike,
    w_v: ArrayLike,
    w_o: ArrayLike | None = None,
    b_q: ArrayLike | None = None,
    b_k: ArrayLike | None = None,
    b_v: ArrayLike | None = None,
    b_o: ArrayLike | None = None,
    **attention: Any,
) -> MultiHead:
    r"""Compute multi-head attention and keep every step.

    $Z_h = \mathrm{attend}(X W_Q^h, X' W_K^h, X' W_V^h), \quad Y = [Z_1 \dots Z_H]\, W_O$

    x_q, x_kv  (..., n_query, d_model), (..., n_key, d_model_kv); without x_kv, self-attention
    w_q        (H, d_model, d_k);  w_k (Hkv, d_model_kv, d_k);  w_v (Hkv, d_model_kv, d_v);  w_o (H * d_v, d_out)
    b_q        (H, d_k);  b_k (Hkv, d_k);  b_v (Hkv, d_v);  b_o (d_out,)
    attention  the keywords of `attend`

    Without w_o the output is the concatenation.

    Raises  ValueError if shapes do not fit; the message names the argument and what would fit.
    Source  Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2; grouped keys: Ainslie et al. 2023, arXiv:2305.13245.
    """
    X = checks.real("x_q", x_q)
    X_kv = X if x_kv is None else checks.real("x_kv", x_kv)
    if w_o is None and b_o is not None:
        raise ValueError("b_o is given without w_o; give both, or neither")
    Q = _read_only(_projected("q", X, w_q, b_q))
    K = _read_only(_projected("k", X_kv, w_k, b_k))
    V = _read_only(_projected("v", X_kv, w_v, b_v))
    a = attend(Q, K, V, **attention)
    C = _read_only(joined(a.output))
    Y = C if w_o is None else _read_only(_projected("o", C, w_o, b_o))
    return MultiHead(Q, K, V, a.scores, a.scaled, a.capped, a.masked, a.weights, a.output, C, Y)


def joined(Z: Array) -> Array:
    """Return the heads side by side: (..., H, n, d_v) becomes (..., n, H * d_v)."""
    rows = np.swapaxes(Z, -2, -3)
    C = buffer_pool.empty((*rows.shape[:-2], rows.shape[-2] * rows.shape[-1]))
    np.copyto(C.reshape(rows.shape), rows)
    return C


def _projected(which: str, X: Array, w: ArrayLike, b: ArrayLike | None) -> Array:
    """Compute x @ W + b, a head at a time inside one stacked product: another head leaves the bits of these alone."""
    axes = 2 if which == "o" else 3
    W = checks.real(f"w_{which}", w)
    if W.ndim != axes or X.ndim < 2 or W.shape[-2] != X.shape[-1]:
        raise ValueError(f"w_{which} has shape {W.shape}; x has {X.shape}, so give {axes} axes with {X.shape[-1]} rows")
    Y = products.product(X[..., None, :, :] if axes == 3 else X, W)
    if b is None:
        return Y
    bias = checks.real(f"b_{which}", b)
    wanted = (W.shape[0], W.shape[-1]) if axes == 3 else (W.shape[-1],)
    if bias.shape != wanted:
        raise ValueError(f"b_{which} has shape {bias.shape}; with w_{which} of shape {W.shape} it must be {wanted}")
    Y += bias[:, None, :] if axes == 3 else bias
    return Y


def _read_only(array: Array) -> Array:
    """Return a read-only view: steps that change nothing share memory, and a write to one would change the other."""
    view = array.view()
    view.flags.writeable = False
    return view
