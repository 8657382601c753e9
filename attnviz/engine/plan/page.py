"""The page: one layer of attention, each step said once.

The two functions are called with symbols in the place of arrays. What they say becomes a plan: named steps over named
axes, from which every reading follows: arrays, slopes, scripts, formulas, sizes. Nothing else decides what is computed.

What is said becomes what a reader sees: a workbook has a block of cells for each step, on a sheet for each head as far
as a step has heads; a script has a line. What `score` and `normalise` are is the row that the setting chooses.

A condition is an `if`; a bias that is off is None, and to add None adds nothing. Rows are queries, columns are keys, a
vector is a row. Each step is named as a run records it, in the order in which it is recorded.

Axes: n queries, m keys, H heads in groups that share Hkv heads of keys and values; d is d_model.
"""

from __future__ import annotations

from attnviz.engine.plan.tracing import Page
from attnviz.engine.plan.values import (
    Value,
    activation,
    as_keys,
    from_sink,
    mix,
    norm,
    normalise,
    only_where,
    rope,
    score,
    side_by_side,
    tanh,
)


def attention(page: Page, Q: Value, K: Value, V: Value) -> Value:
    """Say attention from queries to what each head returns: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1.

    A sink is the score of a key without a value. Scores that count from it leave it at 0, so that a normaliser with a
    sink of 0 gives every key the weight that it has beside it.

    Q (H, n, d_k), K (Hkv, m, d_k), V (Hkv, m, d_v) -> Z (H, n, d_v)
    """
    step, allowed, sinks = page.step, page.given("allowed"), page.weight("sinks")  # (n, m), (H, 1)
    bias = page.given("bias") if sinks is None else step("bias", from_sink(sinks, Q, K))  # (H, n, m)
    S = step("scores", score(Q, K, *page.score_weights(Q, K)))  # (H, n, m), as are all up to A
    S = step("scaled", S * page.scale())
    S = step("capped", page.setting("softcap") * tanh(S / page.setting("softcap")) if page.has.softcap else S)
    bias = bias or page.learned_bias(Q, K)  # (H, n, m)
    S = step("masked", only_where(allowed, S + bias))
    learned = page.learned(page.has.normaliser_weights, Q, K)  # each (H, 1)
    A = step("weights", normalise(S, Q, K, *learned))
    return step("heads", mix(A, V, allowed, Q))


def layer(page: Page, X: Value, X_kv: Value | None) -> Value:
    """Say one layer: multi-head attention (the same paper, section 3.2.2), and what may stand around it (5.4, 3.3).

    X (n, d), X_kv (m, d) or None where the tokens attend to themselves -> the layer's result, (n, d)
    """
    step, weight, has = page.step, page.weight, page.has
    read = step("normed", norm(X)) if has.norm_before else X
    read_kv = as_keys(read) if X_kv is None else X_kv

    W_Q, b_Q = weight("w_q", read), weight("b_q", read)  # (H, d, d_k), (H, d_k)
    W_K, b_K = weight("w_k", read_kv, tied=W_Q), weight("b_k", read_kv, tied=b_Q)  # (Hkv, d, d_k), (Hkv, d_k)
    W_V, b_V = weight("w_v", read_kv), weight("b_v", read_kv)  # (Hkv, d, d_v), (Hkv, d_v)
    Q, K, V = read @ W_Q + b_Q, read_kv @ W_K + b_K, read_kv @ W_V + b_V
    Q = step("queries", rope(step("projected_queries", Q)) if has.rope else Q)  # (H, n, d_k)
    K = step("keys", rope(step("projected_keys", K)) if has.rope else K)  # (Hkv, m, d_k)
    V = step("values", V)  # (Hkv, m, d_v)

    Z = attention(page, Q, K, V)
    C = step("concat", side_by_side(Z))  # (n, the sum of the heads' d_v)
    Y = step("output", C @ weight("w_o", C) + weight("b_o", C) if has.output else C)  # (n, d)
    Y = step("added", X + Y) if has.residual else Y
    Y = step("added_normed", norm(Y)) if has.norm_after else Y
    if not has.feed_forward:
        return Y

    read = step("ff_normed", norm(Y)) if has.norm_before else Y
    F = activation(read @ weight("w_1", read) + weight("b_1", read))  # (n, d_ff)
    if has.gate:
        F = step("ff_gate", F) * step("ff_up", read @ weight("w_3", read) + weight("b_3", read))
    F = step("ff_hidden", F)
    G = step("ff_output", F @ weight("w_2", F) + weight("b_2", F))  # (n, d)
    G = step("ff_added", Y + G) if has.residual else G
    return step("ff_added_normed", norm(G)) if has.norm_after else G
