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

from attnviz.arrays import Allowed, Array, Keys, Queries, Values
from attnviz.engine import checks
from attnviz.engine.numerics import products
from attnviz.engine.plan.chosen import Chosen
from attnviz.engine.plan.layer_arrays import LayerArrays
from attnviz.engine.plan.operations import joined
from attnviz.engine.plan.plans import attention_plan
from attnviz.engine.plan.tracing import Has
from attnviz.engine.rows.line_row import LineRow
from attnviz.engine.tables.added_rows import added_name
from attnviz.engine.tables.normalisers import NORMALISERS, Normaliser
from attnviz.engine.tables.row_names import NormaliserName, ScoreName
from attnviz.engine.tables.scores import SCORES, Score
from attnviz.settings.rows import pick

Record = Callable[[str, Array], Array]
Parameters = Mapping[str, ArrayLike]


def steps_of_attention(
    Q: Queries,
    K: Keys,
    V: Values,
    *,
    chosen: Chosen,
    bias: Array | None,
    allowed: Allowed | None,
    record: Record,
) -> Array:
    """Compute each head's output from queries, keys and values; `record` is called with every step and hands it back.

    Equal queries get equal rows and equal keys equal columns, to the last bit.
    """
    has = Has(softcap=bool(chosen.softcap), bias=bias is not None, allowed=allowed is not None)
    known = {"queries": Q, "keys": K, "values": V}
    known |= {name: array for name, array in (("allowed", allowed), ("bias", bias)) if array is not None}
    arrays = LayerArrays(chosen, known)
    with np.errstate(all="ignore"):
        for name, value in attention_plan(has).items():
            if value.op == "step":
                arrays.known[name] = record(name, arrays.of(value.args[0]))
    return arrays.known["heads"]


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
                 matrices and the normaliser's learned numbers, with or without an axis of Hq heads in front
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
    learned = way.typed.parameters if way.typed else ()
    own = checks.parameters(row, params or {}, Q, K, learned)
    numbers = {name: array for name, array in own.items() if name in learned}
    chosen = Chosen(
        score=row,
        normaliser=way.changed(fn=partial(way.fn, **numbers)) if numbers else way,
        scale=checks.scale(scale, row, Q),
        softcap=checks.number("softcap", softcap or 0.0, least=0.0),
        temperature=checks.number("temperature", temperature, above=0.0),
        params={name: array for name, array in own.items() if name in row.parameters},
    )
    steps_of_attention(
        Q,
        K,
        V,
        chosen=chosen,
        bias=B,
        allowed=checks.allowed(allowed, B, causal, shape),
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
    same = products.first_equals(X)
    same_kv = same if X_kv is X else products.first_equals(X_kv)
    Q = _read_only(_projected("q", X, w_q, b_q, same))
    K = _read_only(_projected("k", X_kv, w_k, b_k, same_kv))
    V = _read_only(_projected("v", X_kv, w_v, b_v, same_kv))
    a = attend(Q, K, V, **attention)
    C = _read_only(joined(a.output))
    Y = C if w_o is None else _read_only(_projected("o", C, w_o, b_o, products.first_equals(C)))
    return MultiHead(Q, K, V, a.scores, a.scaled, a.capped, a.masked, a.weights, a.output, C, Y)


def _projected(which: str, X: Array, w: ArrayLike, b: ArrayLike | None, first: Array | None) -> Array:
    """Compute x @ W + b, a head at a time inside one stacked product: another head leaves the bits of these alone.

    first  which rows of X are equal, as `products.first_equals` says
    """
    axes = 2 if which == "o" else 3
    W = checks.real(f"w_{which}", w)
    if W.ndim != axes or X.ndim < 2 or W.shape[-2] != X.shape[-1]:
        raise ValueError(f"w_{which} has shape {W.shape}; x has {X.shape}, so give {axes} axes with {X.shape[-1]} rows")
    if axes == 3:
        X, first = X[..., None, :, :], None if first is None else first[..., None, :]
    Y = products.product(X, W, first)
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
