"""Every step that a run can record and the axes that it has: the facts that stand before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.settings.language import Words


@dataclass(frozen=True)
class Spec:
    """The facts about a step that do not depend on a run. `kind` chooses the colours: signed, share or allowed.

    `meaning` is in English; the step says it.
    """

    symbol: str
    axes: tuple[str, ...]
    kind: str
    formula: str
    meaning: str


def _signed(symbol: str, axes: tuple[str, ...], meaning: str, formula: str = "") -> Spec:
    return Spec(symbol, axes, "signed", formula or symbol, meaning)


ROWS, OUT, MODEL = ("query", "model"), ("query", "out"), ("model",)

OF_MODELS = {
    "token_types": _signed("T", ROWS, "a vector for the sentence that a token is part of"),
    "embedded_sum": _signed("U", ROWS, "the sum before it is normalised", "U = E + P + T"),
    "g_e": _signed("g_E", MODEL, "the gain of the norm of the sum"),
    "c_e": _signed("c_E", MODEL, "added by the norm of the sum"),
    "g_1": _signed("g_1", MODEL, "the gain of attention's norm"),
    "c_1": _signed("c_1", MODEL, "added by attention's norm"),
    "g_q": _signed("g_Q", ("d_k",), "the gain of the norm of queries"),
    "g_k": _signed("g_K", ("d_k",), "the gain of the norm of keys"),
    "g_q_heads": _signed("g_Q", ("head", "d_k"), "the gain of the norm of all queries of a token"),
    "g_k_heads": _signed("g_K", ("kv_head", "d_k"), "the gain of the norm of all keys of a token"),
    "normed_queries": _signed(r"\hat Q", ("head", "query", "d_k"), "queries, normalised before they are rotated"),
    "normed_keys": _signed(r"\hat K", ("kv_head", "key", "d_k"), "keys, normalised before they are rotated"),
    "shift": _signed("J", ("key", "query"), "moves the rows of a text behind those of the one before it"),
    "shifted": _signed(r"\bar X", ("key", "model"), "what keys and values are made of, behind the first text"),
    "g_1_out": _signed("g_1'", ("out",), "the gain of the norm after attention"),
    "output_normed": _signed(r"\hat Y", OUT, "what attention passes on, normalised before it is added"),
    "g_2": _signed("g_2", MODEL, "the gain of the feed-forward block's norm"),
    "c_2": _signed("c_2", MODEL, "added by the feed-forward block's norm"),
    "w_router": _signed("W_R", ("out", "expert"), "says which expert suits a token"),
    "b_router": _signed("b_R", ("expert",), "added to the scores of the experts"),
    "router_scores": _signed("R", ("query", "expert"), "how well each expert suits a token"),
    "expert_shares": Spec(
        r"\hat R",
        ("query", "expert"),
        "share",
        r"\hat R = \mathrm{top}(\mathrm{softmax}(R))",
        "how much of each expert a token takes; e(d) is the expert of the hidden unit d",
    ),
    "b_experts": _signed("B_2", ("expert", "out"), "added to what leaves each expert"),
    "sinks": _signed(
        "s_0", ("head", "number"), "the score of a key without a value, which takes a share of the weights"
    ),
    "g_2_out": _signed("g_2'", ("out",), "the gain of the norm after the feed-forward block"),
    "ff_output_normed": _signed(r"\hat G", OUT, "what the block passes on, normalised before it is added"),
    "g_f": _signed("g_F", MODEL, "the gain of the last norm"),
    "c_f": _signed("c_F", MODEL, "added by the last norm"),
    "final_normed": _signed("H", OUT, "the last layer's result, normalised: what words are read off"),
}
"""The steps of trained models that a run of the page's own settings never has."""

AXES = Words(
    {
        "query": "the query tokens, first token first: one row each",
        "key": "the key tokens, which are attended to: one column each in a score matrix",
        "head": "the heads; each has queries of its own",
        "kv_head": "the key/value heads; several query heads may share one",
        "model": "d_model, the numbers that stand for a token",
        "d_k": "the width of queries and keys",
        "d_v": "the width of values",
        "d_a": "the hidden width of the score",
        "number": "one number for each head",
        "joined": "the columns of all heads side by side, the sum of their d_v",
        "out": "the columns of the output",
        "expert": "the experts of the feed-forward block; a token takes a few of them",
        "d_ff": "the width of the feed-forward block",
    }
)
"""The meaning of each axis of a step."""

STEPS = {
    "token_embeddings": Spec("E", ("query", "model"), "signed", r"E", "a vector for each token"),
    "positions": Spec("P", ("query", "model"), "signed", r"P", "a vector for each position"),
    "embedded": Spec("X", ("query", "model"), "signed", r"X = E + P", "what the layer reads"),
    "token_embeddings_kv": Spec("E'", ("key", "model"), "signed", r"E'", "a vector for each token attended to"),
    "positions_kv": Spec("P'", ("key", "model"), "signed", r"P'", "a vector for each position attended to"),
    "embedded_kv": Spec("X'", ("key", "model"), "signed", r"X' = E' + P'", "what keys and values are made of"),
    "normed": Spec(r"\hat X", ("query", "model"), "signed", r"\hat X = \mathrm{LN}(X)", "the rows of X, normalised"),
    "w_q": Spec("W_Q", ("head", "model", "d_k"), "signed", r"W_Q", "turns a token into a query"),
    "b_q": Spec("b_Q", ("head", "d_k"), "signed", r"b_Q", "added to every query"),
    "w_k": Spec("W_K", ("kv_head", "model", "d_k"), "signed", r"W_K", "turns a token into a key"),
    "b_k": Spec("b_K", ("kv_head", "d_k"), "signed", r"b_K", "added to every key"),
    "w_v": Spec("W_V", ("kv_head", "model", "d_v"), "signed", r"W_V", "turns a token into a value"),
    "b_v": Spec("b_V", ("kv_head", "d_v"), "signed", r"b_V", "added to every value"),
    "projected_queries": Spec(
        r"\tilde Q",
        ("head", "query", "d_k"),
        "signed",
        r"\tilde Q_h = X W_Q^h + b_Q^h",
        "queries before they are rotated",
    ),
    "projected_keys": Spec(
        r"\tilde K",
        ("kv_head", "key", "d_k"),
        "signed",
        r"\tilde K_h = X W_K^h + b_K^h",
        "keys before they are rotated",
    ),
    "queries": Spec("Q", ("head", "query", "d_k"), "signed", r"Q_h = X W_Q^h + b_Q^h", "what each token asks for"),
    "keys": Spec("K", ("kv_head", "key", "d_k"), "signed", r"K_h = X W_K^h + b_K^h", "what each token answers to"),
    "values": Spec("V", ("kv_head", "key", "d_v"), "signed", r"V_h = X W_V^h + b_V^h", "what each token passes on"),
    "score_w": Spec("W", ("head", "d_k", "d_k"), "signed", r"W", "says which entry of a query meets which of a key"),
    "score_w_q": Spec("W_q", ("head", "d_k", "d_a"), "signed", r"W_q", "turns a query into hidden units"),
    "score_w_k": Spec("W_k", ("head", "d_k", "d_a"), "signed", r"W_k", "turns a key into hidden units"),
    "score_v": Spec("v", ("head", "d_a"), "signed", r"v", "weighs the hidden units"),
    "score_b": Spec("b", ("head", "d_a"), "signed", r"b", "added to the hidden units"),
    "score_matrix_u": Spec("U", ("head", "d_k", "d_a"), "signed", r"U", "a matrix of the typed score"),
    "score_matrix_a": Spec("A", ("head", "d_k", "d_a"), "signed", r"A", "a matrix of the typed score"),
    "score_vector_u": Spec("u", ("head", "d_k"), "signed", r"u", "a vector of the typed score"),
    "score_vector_w": Spec("w", ("head", "d_k"), "signed", r"w", "a vector of the typed score"),
    "score_vector_c": Spec("c", ("head", "d_k"), "signed", r"c", "a vector of the typed score"),
    "score_g": Spec("g", ("head", "number"), "signed", r"g", "one number per head of the typed lines"),
    "score_alpha": Spec(r"\alpha", ("head", "number"), "signed", r"\alpha", "one number per head of the typed lines"),
    "score_beta": Spec(r"\beta", ("head", "number"), "signed", r"\beta", "one number per head of the typed lines"),
    "score_gamma": Spec(r"\gamma", ("head", "number"), "signed", r"\gamma", "one number per head of the typed lines"),
    "score_lam": Spec(r"\lambda", ("head", "number"), "signed", r"\lambda", "one number per head of the typed lines"),
    "score_tau": Spec(r"\tau", ("head", "number"), "signed", r"\tau", "one number per head of the typed lines"),
    "scores": Spec(
        "S", ("head", "query", "key"), "signed", r"S_h = Q_h K_h^\top", "how well each query matches each key"
    ),
    "scaled": Spec("S'", ("head", "query", "key"), "signed", r"S'_h = c_h\, S_h", "the scores times the scale"),
    "capped": Spec("S''", ("head", "query", "key"), "signed", r"S'' = c \tanh(S' / c)", "the scores, squeezed"),
    "bias": Spec("B", ("head", "query", "key"), "signed", r"B", "added to the scores"),
    "allowed": Spec("M", ("query", "key"), "allowed", r"M_{ij} \in \{0, 1\}", "who may attend to what"),
    "masked": Spec(
        r"\hat S",
        ("head", "query", "key"),
        "signed",
        r"\hat S = S'' + B,\; -\infty \text{ where forbidden}",
        "scores of what is allowed",
    ),
    "weights": Spec(
        "A",
        ("head", "query", "key"),
        "share",
        r"A_h = \mathrm{softmax}(\hat S_h)",
        "how much each token attends to every token",
    ),
    "heads": Spec("Z", ("head", "query", "d_v"), "signed", r"Z_h = A_h V_h", "the values, mixed by those weights"),
    "concat": Spec("C", ("query", "joined"), "signed", r"C = [Z_1 \dots Z_H]", "the heads side by side"),
    "w_o": Spec("W_O", ("joined", "out"), "signed", r"W_O", "mixes the heads"),
    "b_o": Spec("b_O", ("out",), "signed", r"b_O", "added to every output"),
    "output": Spec("Y", ("query", "out"), "signed", r"Y = C W_O + b_O", "what attention passes on"),
    "added": Spec("X + Y", ("query", "out"), "signed", r"X + Y", "the input and what attention adds to it"),
    "added_normed": Spec(
        r"\mathrm{LN}(X + Y)", ("query", "out"), "signed", r"\mathrm{LN}(X + Y)", "the same, normalised"
    ),
    "ff_normed": Spec(
        r"\hat Y", ("query", "out"), "signed", r"\hat Y = \mathrm{LN}(X + Y)", "what the feed-forward block reads"
    ),
    "w_1": Spec("W_1", ("out", "d_ff"), "signed", r"W_1", "into the feed-forward block"),
    "b_1": Spec("b_1", ("d_ff",), "signed", r"b_1", "added to the hidden units"),
    "w_3": Spec("W_3", ("out", "d_ff"), "signed", r"W_3", "into what the gates let through"),
    "b_3": Spec("b_3", ("d_ff",), "signed", r"b_3", "added to what the gates let through"),
    "ff_gate": Spec("F_1", ("query", "d_ff"), "signed", r"F_1 = f(Y W_1 + b_1)", "how far each gate is open"),
    "ff_up": Spec("F_3", ("query", "d_ff"), "signed", r"F_3 = Y W_3 + b_3", "what the gates let through"),
    "ff_hidden": Spec(
        "F", ("query", "d_ff"), "signed", r"F = f(Y W_1 + b_1)", "the hidden units of the feed-forward block"
    ),
    "w_2": Spec("W_2", ("d_ff", "out"), "signed", r"W_2", "out of the feed-forward block"),
    "b_2": Spec("b_2", ("out",), "signed", r"b_2", "added to what leaves the block"),
    "ff_output": Spec("G", ("query", "out"), "signed", r"G = F W_2 + b_2", "what the feed-forward block passes on"),
    "ff_added": Spec("Y + G", ("query", "out"), "signed", r"Y + G", "its input and what the block adds to it"),
    "ff_added_normed": Spec(
        r"\mathrm{LN}(Y + G)", ("query", "out"), "signed", r"\mathrm{LN}(Y + G)", "the same, normalised"
    ),
    **OF_MODELS,
}
"""Every step that a run can record; those of the page's own settings come first, in the order of the data."""
