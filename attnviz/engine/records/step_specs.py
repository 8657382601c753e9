"""Facts about each step before it is computed, and the steps that only trained models have."""

from __future__ import annotations

from dataclasses import dataclass


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
    "normed_queries": _signed(r"\hat Q", ("head", "query", "d_k"), "queries, normalised before they are rotated"),
    "normed_keys": _signed(r"\hat K", ("kv_head", "key", "d_k"), "keys, normalised before they are rotated"),
    "g_1_out": _signed("g_1'", ("out",), "the gain of the norm behind attention"),
    "output_normed": _signed(r"\hat Y", OUT, "what attention passes on, normalised before it is added"),
    "g_2": _signed("g_2", MODEL, "the gain of the feed-forward block's norm"),
    "c_2": _signed("c_2", MODEL, "added by the feed-forward block's norm"),
    "g_2_out": _signed("g_2'", ("out",), "the gain of the norm behind the feed-forward block"),
    "ff_output_normed": _signed(r"\hat G", OUT, "what the block passes on, normalised before it is added"),
    "g_f": _signed("g_F", MODEL, "the gain of the last norm"),
    "c_f": _signed("c_F", MODEL, "added by the last norm"),
    "final_normed": _signed("H", OUT, "the last layer's result, normalised: what words are read off"),
}
"""The steps of trained models that a run of the page's own settings never has."""
