"""The rows of each table in a script: a line or a few of NumPy, written for a reader.

The lines name the variables as the papers do and the settings as `Config` does. A test holds every table of the engine
against its table here.
"""

from __future__ import annotations

from functools import cache

from attnviz.codegen.script import Script
from attnviz.engine.tables.masks import MASKS
from attnviz.formula.reader import parse

VARIABLES = {
    "token_embeddings": "E",
    "positions": "P",
    "embedded": "X",
    "token_embeddings_kv": "E_kv",
    "positions_kv": "P_kv",
    "embedded_kv": "X_kv",
    "normed": "X_normed",
    "w_q": "W_Q",
    "b_q": "b_Q",
    "w_k": "W_K",
    "b_k": "b_K",
    "w_v": "W_V",
    "b_v": "b_V",
    "projected_queries": "Q_unturned",
    "projected_keys": "K_unturned",
    "queries": "Q",
    "keys": "K",
    "values": "V",
    "score_w": "W",
    "score_w_q": "W_q",
    "score_w_k": "W_k",
    "score_v": "v",
    "score_b": "b",
    "score_matrix_u": "U",
    "score_matrix_a": "A_score",
    "score_vector_u": "u",
    "score_vector_w": "w",
    "score_vector_c": "c",
    "score_g": "g",
    "score_alpha": "alpha",
    "score_beta": "beta",
    "score_gamma": "gamma",
    "score_lam": "lam",
    "score_tau": "tau",
    "scores": "S",
    "scaled": "S_scaled",
    "capped": "S_capped",
    "bias": "B",
    "allowed": "M",
    "masked": "S_masked",
    "weights": "A",
    "heads": "Z",
    "concat": "C",
    "w_o": "W_O",
    "b_o": "b_O",
    "output": "Y",
    "added": "Y_added",
    "added_normed": "Y_normed",
    "ff_normed": "Y_normed",
    "w_1": "W_1",
    "b_1": "b_1",
    "w_3": "W_3",
    "b_3": "b_3",
    "ff_gate": "F_gate",
    "ff_up": "F_up",
    "ff_hidden": "F",
    "w_2": "W_2",
    "b_2": "b_2",
    "ff_output": "G",
    "ff_added": "G_added",
    "ff_added_normed": "G_normed",
}
"""The variable of each step in a script."""

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

NORMS = {"pre": "layer_norm", "post": "layer_norm", "rms": "rms_norm"}
"""The norms, among the words of a library."""

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
    "glorot": "math.sqrt(6 / ({width} + 1)) * (2 * uniform({address}, {shape}) - 1)",
    "normal": "normal({address}, {shape})",
    "uniform": "uniform({address}, {shape})",
    "binary": "binary({address}, {shape})",
    "linear": "(2 * uniform({address}, {shape}) - 1) / math.sqrt({width})",
    "identity": "{np}.ones({shape})",
    "orthogonal": "orthogonal(normal({address}, {column}))[..., 0]",
    "by_hand": "math.sqrt(6 / ({width} + 1)) * (2 * uniform({address}, {shape}) - 1)",
    "learned": "math.sqrt(6 / ({width} + 1)) * (2 * uniform({address}, {shape}) - 1)",
}
"""The code that fills the vector v of the additive score, one a head."""

STARTS = {
    "glorot": "{np}.zeros({shape})",
    "normal": "normal({address}, {shape}{at})",
    "uniform": "uniform({address}, {shape}{at})",
    "binary": "binary({address}, {shape}{at})",
    "linear": "(2 * uniform({address}, {shape}{at}) - 1) / math.sqrt({d_in})",
    "identity": "{np}.zeros({shape})",
    "orthogonal": "{np}.zeros({shape})",
    "by_hand": "{np}.zeros({shape})",
    "learned": "{np}.zeros({shape})",
}
"""The code that fills a bias."""
