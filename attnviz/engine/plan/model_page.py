"""The page of trained models: what their layers read, and one layer of any family, in the words of the first page.

Attention itself is that page's. What a family lacks is None and falls out: to add None adds nothing, to multiply by it
changes nothing. The steps stand in the order in which a run through a model records them.
"""

from __future__ import annotations

from attnviz.engine.plan.page import attention
from attnviz.engine.plan.tracing import Page
from attnviz.engine.plan.values import (
    Value,
    activation,
    as_keys,
    clipped,
    each_unit,
    norm,
    norm_of_heads,
    rope,
    route,
    side_by_side,
)


def embedding(page: Page, E: Value) -> Value:
    """Say what the first layer reads: the vectors of the tokens, with what the model adds to them, and a norm of that.

    A decoder's keys may be of another text, which is given.

    E (n, d) -> X, (n, d)
    """
    step, weight = page.step, page.weight
    U = E + page.given("positions") + page.given("token_types")
    if "g_e" in page.has.weights:
        U = norm(step("embedded_sum", U)) * weight("g_e") + weight("c_e")
    X = step("embedded", U)
    return X if page.has.cross else step("embedded_kv", X)


def trained_layer(page: Page, X: Value, X_kv: Value | None = None) -> Value:
    """Say one layer of a model, from GPT-2 to GPT-OSS: Vaswani et al. 2017, and what has changed since.

    Norms before the block, behind it (OLMo 2), both (Gemma 2) or after the sum (BERT); norms of queries and keys, head
    by head (Qwen 3) or of all heads at once (OLMo 2); a block that reads what attention read (GPT-NeoX); gates (Llama);
    experts, of which a token takes a few (Mixtral), with biases and clipped (GPT-OSS); no block at all (the model
    *small* in the package). Sinks of heads (GPT-OSS) are attention's own.

    A layer of a decoder beside an encoder is two: the decoder attends to its own text, then to the encoder's. The
    columns of both are those of the two texts, the encoder's first; J, (m, n), moves rows behind these.

    X (n, d), X_kv (m, d) where a decoder attends to an encoder's result -> the layer's result, (n, d)
    """
    step, weight, has = page.step, page.weight, page.has
    read = step("normed", norm(X) * weight("g_1") + weight("c_1")) if has.norm_before else X
    J = weight("shift")  # (m, n)
    read_kv = X_kv or (as_keys(read) if J is None else step("shifted", J @ read))
    Q = _turned(page, "queries", read @ weight("w_q", read) + weight("b_q"), "g_q")  # (H, n, d_k)
    K = _turned(page, "keys", read_kv @ weight("w_k", read_kv) + weight("b_k"), "g_k")  # (Hkv, m, d_k)
    V = step("values", read_kv @ weight("w_v", read_kv) + weight("b_v"))  # (Hkv, m, d_v)

    C = step("concat", side_by_side(attention(page, Q, K, V)))  # (n, H d_v)
    Y = step("output", C @ weight("w_o") + weight("b_o"))  # (n, d)
    Y = step("output_normed", norm(Y) * weight("g_1_out") + weight("c_1_out")) if has.norm_behind else Y
    Y = step("added", X + Y)
    Y = step("added_normed", norm(Y) * weight("g_1") + weight("c_1")) if has.norm_after else Y

    G = _feed_forward(page, X if has.parallel else Y, Y) if has.feed_forward else Y
    return step("final_normed", norm(G) * weight("g_f") + weight("c_f")) if "g_f" in has.weights else G


def _feed_forward(page: Page, read: Value, Y: Value) -> Value:
    """Say the feed-forward block, and its output added to Y: (n, d)."""
    step, weight, has = page.step, page.weight, page.has
    read = step("ff_normed", norm(read) * weight("g_2") + weight("c_2")) if has.norm_before else read
    share = taken = None
    if "w_router" in has.weights:
        taken = step("expert_shares", route(step("router_scores", read @ weight("w_router") + weight("b_router"))))
        share = each_unit(taken)  # (n, d_ff)
    F = activation(read @ weight("w_1") + weight("b_1"))  # (n, d_ff)
    if has.gate:
        F, up = step("ff_gate", F), read @ weight("w_3") + weight("b_3")
        F = F * step("ff_up", clipped(up) if has.clipped else up)
    G = step("ff_hidden", F * share) @ weight("w_2") + weight("b_2")
    B = weight("b_experts")
    G = step("ff_output", G if B is None or taken is None else G + taken @ B)  # (n, d)
    G = step("ff_output_normed", norm(G) * weight("g_2_out") + weight("c_2_out")) if has.norm_behind else G
    G = step("ff_added", Y + G)
    return step("ff_added_normed", norm(G) * weight("g_2") + weight("c_2")) if has.norm_after else G


def _turned(page: Page, name: str, Y: Value, gain: str) -> Value:
    """Say queries or keys, normalised and rotated by their positions where the model does so."""
    if page.has.rope:
        Y = page.step(f"projected_{name}", Y)
        of_all = f"{gain}_heads"
        if gain in page.has.weights:
            Y = page.step(f"normed_{name}", norm(Y) * page.weight(gain))
        elif of_all in page.has.weights:
            Y = page.step(f"normed_{name}", norm_of_heads(Y) * page.weight(of_all))
        Y = rope(Y) if page.has.rotated_by == 1.0 else rope(Y) * page.has.rotated_by
    return page.step(name, Y)
