"""A stage in words: what happens in it, and what its picture shows to those who cannot see it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.external.traces import are_shares
from attnviz.engine.records.trace import Step, Trace
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Plural, Words, as_sentence, translate
from attnviz.text.format.sentence_parts import TEXT, Sentence, fill, name_token, rounded_number

STAGES = Words(
    {
        "queries": "{queries}, each with a vector of its own in every head: what it asks for.",
        "keys": "{keys}, each with a vector of its own in every key/value head: what it answers to.",
        "values": "{keys}, each with a vector of its own in every key/value head: what it passes on.",
        "scores": "{queries} against {keys}: one number for each pair in each head.",
        "scaled": "Every score times the scale of its head.",
        "capped": "Every score squeezed into the range of the soft cap.",
        "bias": "A number for each pair of positions, added to its score.",
        "allowed": "Who may attend to what: a cell is open or closed for all heads alike, unless a typed mask looks at "
        "the head, h.",
        "masked": "The scores with their bias, and minus infinity wherever a query may not attend.",
        "weights": "{queries}, each distributing its weight over the keys that it may attend to.",
        "weights_alone": "{queries} and how much each attends to each key; a row need not add to 1.",
        "weights_wrong_way": "The wrong way: {keys}, each distributed over the queries, so that columns add to 1.",
        "heads": "{queries}, each with the values mixed by its weights: one vector in each head.",
        "concat": "The vectors of all heads, side by side.",
        "output": "{queries}, each with the one vector that attention passes on.",
    }
)
"""The caption of a stage, with its numbers; that of any other step is in the glossary of steps."""

NAMES = Words(
    {
        "token_embeddings": "Token embeddings",
        "positions": "Position vectors",
        "embedded": "Embeddings with positions",
        "token_embeddings_kv": "Token embeddings of the second sentence",
        "positions_kv": "Position vectors of the second sentence",
        "embedded_kv": "Embeddings with positions, of what is attended to",
        "normed": "Normalised input",
        "w_q": "Query matrices",
        "b_q": "Query biases",
        "w_k": "Key matrices",
        "b_k": "Key biases",
        "w_v": "Value matrices",
        "b_v": "Value biases",
        "projected_queries": "Queries before they are rotated",
        "projected_keys": "Keys before they are rotated",
        "queries": "Query vectors",
        "keys": "Key vectors",
        "values": "Value vectors",
        "score_w": "Score matrices",
        "score_w_q": "Score matrices of the queries",
        "score_w_k": "Score matrices of the keys",
        "score_v": "Score vectors",
        "score_b": "Score biases",
        "score_matrix_u": "Score matrices U",
        "score_matrix_a": "Score matrices A",
        "score_vector_u": "Score vectors u",
        "score_vector_w": "Score vectors w",
        "score_vector_c": "Score vectors c",
        "score_g": "Numbers g of the lines",
        "score_alpha": "Numbers alpha of the lines",
        "score_beta": "Numbers beta of the lines",
        "score_gamma": "Numbers gamma of the lines",
        "score_lam": "Numbers lambda of the lines",
        "score_tau": "Numbers tau of the lines",
        "scores": "Attention scores",
        "scaled": "Scaled scores",
        "capped": "Capped scores",
        "bias": "Biases of scores",
        "sinks": "Sinks",
        "allowed": "Mask",
        "masked": "Masked scores",
        "weights": "Attention weights",
        "heads": "Outputs",
        "concat": "Outputs side by side",
        "w_o": "Output matrix",
        "b_o": "Output bias",
        "output": "Output of attention",
        "added": "Input and output added",
        "added_normed": "Normalised after attention",
        "ff_normed": "Normalised input of the feed-forward block",
        "w_1": "First feed-forward matrix",
        "b_1": "First feed-forward bias",
        "w_3": "Third feed-forward matrix",
        "b_3": "Third feed-forward bias",
        "ff_gate": "Gates of the feed-forward block",
        "ff_up": "Gated hidden units",
        "ff_hidden": "Hidden units of the feed-forward block",
        "w_2": "Second feed-forward matrix",
        "b_2": "Second feed-forward bias",
        "ff_output": "Output of the feed-forward block",
        "ff_added": "The block's input and output added",
        "ff_added_normed": "Normalised after the feed-forward block",
        "token_types": "Vectors of the sentence",
        "embedded_sum": "Sum of a token's vectors",
        "g_e": "Gain of the norm of the sum",
        "c_e": "Bias of the norm of the sum",
        "g_1": "Gain of attention's norm",
        "c_1": "Bias of attention's norm",
        "g_q": "Gain of the norm of queries",
        "g_k": "Gain of the norm of keys",
        "g_q_heads": "Gain of the norm of all heads' queries",
        "g_k_heads": "Gain of the norm of all heads' keys",
        "normed_queries": "Normalised queries",
        "normed_keys": "Normalised keys",
        "shift": "Matrix that moves rows behind the first text",
        "shifted": "Rows behind those of the first text",
        "g_1_out": "Gain of the norm after attention",
        "output_normed": "Normalised output of attention",
        "g_2": "Gain of the feed-forward block's norm",
        "c_2": "Bias of the feed-forward block's norm",
        "w_router": "Matrix of the router",
        "b_router": "Bias of the router",
        "router_scores": "Scores of the experts",
        "expert_shares": "Shares of the experts",
        "b_experts": "Biases of the experts",
        "g_2_out": "Gain of the norm after the feed-forward block",
        "ff_output_normed": "Normalised output of the feed-forward block",
        "g_f": "Gain of the last norm",
        "c_f": "Bias of the last norm",
        "final_normed": "Normalised after the last layer",
    }
)
"""The name of each step at the head of a sentence."""

ALT = Words(
    {
        "whole": "{name}{heads}{sizes}{facts}.",
        "heads": " of {heads}",
        "pairs": " over {rows} and {columns}",
        "rows": ": {rows} of {columns}",
        "numbers": ": {columns}",
        "range": "; from {low} to {high}",
        "largest": "; largest {value}{head}{query}{key}",
        "head": " in head {h}",
        "kv_head": " in key/value head {h}",
        "query": ", query {token}",
        "key": ", key {token}",
        "closed": "; {n} of {all} cells are closed",
        "open": "; {n} of {all} cells are open",
        "none": "; no number in it is finite",
    }
)

COUNTS = Words(
    {
        "query": Plural("{n} query", "{n} queries"),
        "key": Plural("{n} key", "{n} keys"),
        "token": Plural("{n} token", "{n} tokens"),
        "head": Plural("{n} head", "{n} heads"),
        "kv_head": Plural("{n} key/value head", "{n} key/value heads"),
        "row": Plural("{n} row", "{n} rows"),
        "number": Plural("{n} number", "{n} numbers"),
    }
)
RAGGED = "up to {n} numbers, as heads differ"


def stage(trace: Trace, layer: int, name: str) -> str:
    """Return one sentence on what happens in a stage, with its numbers; it holds no token."""
    step, config, words = _step(trace, layer, name), trace.config, name
    if name == "weights" and config.normalise_over == "queries":
        words = "weights_wrong_way"
    elif name == "weights" and not are_shares(trace, layer):
        words = "weights_alone"
    if words not in STAGES:
        return as_sentence(step.meaning)
    n_query, n_key = len(trace.query_tokens), len(trace.key_tokens)
    return STAGES[words].format(queries=_count("query", n_query), keys=_count("key", n_key))


def alt(trace: Trace, layer: int, name: str) -> Sentence:
    """Return a picture of a stage in words: what it is, how large, from where to where, and where its largest number
    is.
    """
    step = _step(trace, layer, name)
    by_head = step.axes[0] in ("head", "kv_head")
    heads = ALT["heads"].format(heads=_count(step.axes[0], step.shape[0])) if by_head else ""
    return fill(ALT["whole"], name=NAMES[name], heads=heads, sizes=_sizes(step), facts=_facts(trace, step))


def _step(trace: Trace, layer: int, name: str) -> Step:
    return trace.layers[layer][name] if name in trace.layers[layer] else trace.around[name]


def _count(what: str, n: int) -> str:
    return (
        translate(RAGGED, n=n)
        if what == "ragged" and n > 1
        else COUNTS["number" if what == "ragged" else what].format(n=n)
    )


def _sizes(step: Step) -> str:
    axes = [axis for axis in step.axes if axis not in ("head", "kv_head")]
    if not axes:
        return ""
    rows = "token" if axes[-1] == "model" else axes[0] if axes[0] in COUNTS else "row"
    n_rows, n_columns = step.shape[-2:] if len(axes) == 2 else (0, step.shape[-1])
    if axes == ["query", "key"]:
        return ALT["pairs"].format(rows=_count("query", n_rows), columns=_count("key", n_columns))
    columns = _count("ragged", max(step.widths)) if step.widths else _count("number", n_columns)
    return ALT["rows" if n_rows else "numbers"].format(rows=_count(rows, n_rows), columns=columns)


def _facts(trace: Trace, step: Step) -> Sentence:
    """Describe the open and closed cells, the range, and the largest number."""
    array, shown = step.array, _shown(step)
    if step.kind == "allowed":
        return ((TEXT, ALT["open"].format(n=np.count_nonzero(array), all=array.size)),)
    if not shown.any():
        return ((TEXT, ALT["none"]),)
    low, high = rounded_number(array[shown].min()), rounded_number(array[shown].max())
    facts = ALT["range"].format(low=low, high=high) if step.kind == "signed" else ""
    closed = int(np.isneginf(array).sum())
    closed_cells = ALT["closed"].format(n=closed, all=array.size) if closed and step.axes[-1] == "key" else ""
    return ((TEXT, facts), *_largest(trace, step, shown), (TEXT, closed_cells))


def _shown(step: Step) -> Array:
    """Find the finite numbers of the step that are not padding."""
    shown = np.isfinite(step.array)
    for h in range(step.shape[0] if step.true_widths else 0):
        inside = np.zeros(step.shape[1:], dtype=bool)
        inside[tuple(slice(n) for n in step.head(h).shape)] = True
        shown[h] &= inside
    return shown


def _largest(trace: Trace, step: Step, shown: Array) -> Sentence:
    """Return the largest number and where it is; of equal ones the first."""
    position = np.unravel_index(int(np.argmax(np.where(shown, step.array, -np.inf))), step.shape)
    at = {axis: int(i) for axis, i in zip(step.axes, position)}
    tokens: dict[str, Sequence[str]] = {"query": trace.query_tokens, "key": trace.key_tokens}
    named = {
        axis: fill(ALT[axis], token=name_token(tokens[axis], at[axis])) if axis in at else ""
        for axis in ("query", "key")
    }
    first = step.axes[0]
    head = ALT[first].format(h=ordinal(int(position[0]))) if first in ("head", "kv_head") and step.shape[0] > 1 else ""
    return fill(ALT["largest"], value=rounded_number(step.array[position]), head=head, **named)
