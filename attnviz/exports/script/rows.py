"""The rows of each table in a script: a line or a few of NumPy, written for a reader.

The lines name the variables as the papers do and the settings as `Config` does. A test holds every table of the engine
against its table here.
"""

from __future__ import annotations

from functools import cache

from attnviz.codegen.script import Script
from attnviz.engine.records.step_specs import STEPS
from attnviz.engine.tables.masks import MASKS
from attnviz.formula.reader import parse

VARIABLES = {
    name: spec.symbol if spec.symbol.isidentifier() else name.removeprefix("score_") for name, spec in STEPS.items()
} | {
    "token_types": "E_types",
    "embedded_sum": "E_sum",
    "normed_queries": "Q_normed",
    "normed_keys": "K_normed",
    "output_normed": "Y_out_normed",
    "sinks": "sinks",
    "b_experts": "B_2",
    "router_scores": "R",
    "expert_shares": "R_shares",
    "ff_output_normed": "G_out_normed",
    "final_normed": "H_normed",
    "token_embeddings_kv": "E_kv",
    "positions_kv": "P_kv",
    "embedded_kv": "X_kv",
    "normed": "X_normed",
    "shifted": "X_shifted",
    "projected_queries": "Q_unturned",
    "projected_keys": "K_unturned",
    "score_matrix_a": "A_score",
    "scaled": "S_scaled",
    "capped": "S_capped",
    "masked": "S_masked",
    "added": "Y_added",
    "added_normed": "Y_normed",
    "ff_normed": "Y_normed",
    "ff_gate": "F_gate",
    "ff_up": "F_up",
    "ff_added": "G_added",
    "ff_added_normed": "G_normed",
}
"""The variable of each step in a script: its symbol, its name where that is none, or what a reader says for it."""

EMBEDDINGS = {
    "normal": '{np}.stack([normal(f"token/{{token}}", (d_model,)) for token in {tokens}])',
    "uniform": '{np}.stack([uniform(f"token/{{token}}", (d_model,)) for token in {tokens}])',
    "binary": '{np}.stack([binary(f"token/{{token}}", (d_model,)) for token in {tokens}])',
    "one_hot": "{np}.eye(len(vocabulary), d_model)[[vocabulary.index(token) for token in {tokens}]]",
    "spelling": "{np}.stack([spelled(token) for token in {tokens}])",
    "meaning": "{numbers}",
    "own": "{numbers}",
}

POSITIONS = {
    "none": "",
    "sinusoidal": "sinusoidal(len({tokens}))",
    "random": 'normal("position", (len({tokens}), d_model))',
    "rope": "",
}
"""The term that is added to E; empty where the row adds nothing."""


@cache
def mask(name: str) -> str:
    """Return where a mask allows a cell, in the row i and the column j and its settings by name.

    >>> mask("prefix")
    '((j <= i) | (j < prefix_length))'
    """
    row = MASKS[name]
    if row.script:
        return row.script[-1]
    formula = parse(row.line, "mask", {setting: setting for setting in row.uses})
    code = Script(formula).lines("M")[-1].removeprefix("M = ")
    return code if formula.root.op == "and" else f"({code})"


FEED_FORWARDS = {
    "none": "",
    "relu": "relu",
    "gelu": "gelu",
    "gelu_tanh": "gelu_tanh",
    "swiglu": "silu",
    "geglu": "gelu",
}
"""The activation of the hidden units, among the words of a library; where they are gated, that of the gates."""

FEED_FORWARDS_OF_MODELS = FEED_FORWARDS | {"clamped_swiglu": "clamped_silu"}

NORMS = {"pre": "layer_norm", "post": "layer_norm", "rms": "rms_norm"}
"""The norms, among the words of a library."""

_GLOROT = ("glorot", "by_hand", "learned")
"""What is drawn alike; the numbers that are made by hand or learned are set afterwards."""

INITIALISERS = {
    "glorot": "glorot({address}, {shape}{at})",
    "normal": "normal({address}, {shape}{at})",
    "uniform": "uniform({address}, {shape}{at})",
    "binary": "binary({address}, {shape}{at})",
    "linear": "linear({address}, {shape}{at})",
    "identity": "{np}.eye({rows}, {columns})",
    "orthogonal": "orthogonal(normal({address}, {shape}{at}))",
    "by_hand": "glorot({address}, {shape}{at})",
    "learned": "glorot({address}, {shape}{at})",
}
"""The code that fills a matrix, or a stack of them."""

VECTORS = {
    **dict.fromkeys(_GLOROT, "math.sqrt(6 / ({columns} + 1)) * (2 * uniform({address}, {shape}{at}) - 1)"),
    "normal": "normal({address}, {shape}{at})",
    "uniform": "uniform({address}, {shape}{at})",
    "binary": "binary({address}, {shape}{at})",
    "linear": "(2 * uniform({address}, {shape}{at}) - 1) / math.sqrt({columns})",
    "identity": "{np}.ones({shape})",
    "orthogonal": "orthogonal(normal({address}, {column}{at}))[..., 0]",
}
"""The code that fills a vector of the score, one a head."""

STARTS = {
    **dict.fromkeys((*_GLOROT, "identity", "orthogonal"), "{np}.zeros({shape})"),
    "normal": "normal({address}, {shape}{at})",
    "uniform": "uniform({address}, {shape}{at})",
    "binary": "binary({address}, {shape}{at})",
    "linear": "(2 * uniform({address}, {shape}{at}) - 1) / math.sqrt({d_in})",
}
"""The code that fills a bias."""
