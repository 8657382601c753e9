"""The steps of a layer in the order of the data: their names, symbols and shapes as text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from functools import lru_cache

from attnviz.engine.records.step_specs import STEPS
from attnviz.engine.records.trace import Step, Trace, result_of
from attnviz.formula import names
from attnviz.settings.language import Words, sign, translate
from attnviz.text.captions import COUNTS

STAGES = (
    ("token_embeddings", "positions", "token_types", "token_embeddings_kv", "positions_kv"),
    ("embedded_sum",),
    ("g_e", "c_e"),
    ("embedded", "embedded_kv"),
    ("g_1", "c_1"),
    ("normed",),
    ("shift",),
    ("shifted",),
    ("w_q", "b_q", "w_k", "b_k", "w_v", "b_v"),
    ("projected_queries", "projected_keys"),
    ("g_q", "g_k", "g_q_heads", "g_k_heads"),
    ("normed_queries", "normed_keys"),
    ("queries", "keys", "values"),
    tuple(names.STEPS.values()),
    ("scores",),
    ("scaled",),
    ("capped",),
    ("sinks",),
    ("bias", "allowed"),
    ("masked",),
    ("weights",),
    ("heads",),
    ("concat", "w_o", "b_o"),
    ("output",),
    ("g_1_out",),
    ("output_normed",),
    ("added",),
    ("added_normed",),
    ("g_2", "c_2"),
    ("ff_normed",),
    ("w_router", "b_router"),
    ("router_scores",),
    ("expert_shares",),
    ("w_1", "b_1"),
    ("w_3", "b_3"),
    ("ff_gate", "ff_up"),
    ("ff_hidden",),
    ("w_2", "b_2", "b_experts"),
    ("ff_output",),
    ("g_2_out",),
    ("ff_output_normed",),
    ("ff_added",),
    ("ff_added_normed",),
    ("g_f", "c_f"),
    ("final_normed",),
)
"""Every step, in the order of the data; those of one row stand side by side and do not wait for each other."""

ORDER = tuple(name for stage in STAGES for name in stage)

PARAMETERS = tuple(name for name in ORDER if not {"query", "key"} & set(STEPS[name].axes))
"""The axes that belong to no token."""

INGREDIENTS = (*STAGES[0], "bias", "allowed", *(name for name in PARAMETERS if name != "w_o"))
"""The steps that go into those of the path without being one of them."""

LABELS = Words(
    dict.fromkeys(PARAMETERS, "")
    | {
        "token_embeddings": "tokens",
        "positions": "positions",
        "token_types": "sentences",
        "embedded_sum": "sum",
        "token_embeddings_kv": "tokens",
        "positions_kv": "positions",
        "embedded": "input",
        "embedded_kv": "second input",
        "normed": "normed",
        "shift": "",
        "shifted": "shifted",
        "projected_queries": "unrotated",
        "projected_keys": "unrotated",
        "normed_queries": "normed",
        "normed_keys": "normed",
        "queries": "queries",
        "keys": "keys",
        "values": "values",
        "scores": "scores",
        "scaled": "scaled",
        "capped": "capped",
        "bias": "bias",
        "allowed": "mask",
        "masked": "masked",
        "weights": "weights",
        "heads": "heads",
        "concat": "concat",
        "output": "output",
        "output_normed": "normed",
        "added": "residual",
        "added_normed": "normed",
        "ff_normed": "normed",
        "router_scores": "router",
        "expert_shares": "experts",
        "ff_gate": "gates",
        "ff_up": "gated",
        "ff_hidden": "hidden units",
        "ff_output": "feed-forward",
        "ff_output_normed": "normed",
        "ff_added": "residual",
        "ff_added_normed": "normed",
        "final_normed": "normed",
    }
)
"""The name of each step in a word; a parameter has its symbol alone."""

FORMER = "what layer {layer} passes on"

COUNTED = ("query", "key", "token", "head", "kv_head")
"""The axes whose size is a number of things; of the others it is a width."""

WIDTHS = {"model": "d_model", "joined": "Σ d_v", "out": "d_out"}


def steps(trace: Trace, layer: int) -> dict[str, Step]:
    """Return the steps by name, in the order of the data.

    What a layer reads is always "embedded", also if a layer made it.
    """
    cross = trace.config.is_cross_attention
    by_name = {name: each for name, each in trace.around.items() if cross or not name.endswith("_kv")}
    if layer and "embedded" in trace.around:  # else the layers were given, and none reads what another passes on
        meaning = translate(FORMER, layer=layer)
        former = result_of(trace.layers[layer - 1])
        embedded = replace(former, name="embedded", axes=("query", "model"), symbol="X", formula="X", meaning=meaning)
        by_name = {"embedded": embedded} | ({"embedded_kv": by_name["embedded_kv"]} if cross else {})
    by_name |= trace.layers[layer]
    return {name: by_name[name] for name in ORDER if name in by_name}


LETTERS = (
    (r"\\(?:mathrm|text)\{([^}]*)\}", r"\1"),
    (r"\\hat (\w)", "\\1\u0302"),
    (r"\\bar (\w)", "\\1\u0304"),
    (r"\\tilde (\w)", "\\1\u0303"),
    (r"\\top\b", "ᵀ"),
    (r"\\infty\b", "∞"),
    (r"\\dots\b", "…"),
    (r"\\odot\b", "⊙"),
    (r"\\tanh\b", "tanh"),
    (r"\\le\b", "≤"),
    (r"\\in\b", "∈"),
    (r"\\[,;] ?", " "),
    (r"\\([{}])", r"\1"),
    (r"\^(?=ᵀ)", ""),
    (r"\^h", "ʰ"),
    (r"''", "″"),
    (r"'", "′"),
    (r"-", "−"),
    (r" +", " "),
)
"""LaTeX on the left, what stands for it in plain text on the right."""


@lru_cache(maxsize=1024)
def plain(latex: str) -> str:
    r"""Return a symbol or a short formula without LaTeX; letters below the line keep their underscore.

    >>> [plain(symbol) for symbol in (r"\hat S", "S''", "W_Q", "b_1", r"\mathrm{LN}(X + Y)", r"Q_h K_h^\top")]
    ['Ŝ', 'S″', 'W_Q', 'b₁', 'LN(X + Y)', 'Q_h K_hᵀ']
    """
    for pattern, letters in LETTERS:
        latex = re.sub(pattern, letters, latex)
    return unicodedata.normalize("NFC", re.sub(r"_(\d)", lambda digit: "₀₁₂₃₄₅₆₇₈₉"[int(digit[1])], latex))


def short_shape(step: Step) -> str:
    """Write a shape as 4 × 6 × 6, or 4 × 6 × 2–5 where heads differ in width."""
    return " × ".join(_size(step, axis, n, "–") for axis, n in zip(step.axes, step.shape))


def shape_in_words(step: Step, shared: bool = False) -> str:
    """Write a shape as (4 heads, 6 queries, 6 keys); `shared` if several heads share one key/value head."""
    return f"({sign(', ').join(_axis(step, axis, n, shared) for axis, n in zip(step.axes, step.shape))})"


def _axis(step: Step, axis: str, n: int, shared: bool) -> str:
    if axis not in COUNTED:
        return f"{WIDTHS.get(axis, axis)} {_size(step, axis, n, '/')}"
    if axis == "kv_head" and not shared:
        axis = "head"
    if step.axes[0] == axis and axis in ("query", "key") and step.axes[-1] not in COUNTED:
        axis = "token"
    return COUNTS[axis].format(n=n)


def _size(step: Step, axis: str, n: int, between: str) -> str:
    """Return the size of an axis.

    Where heads differ, every width between strokes while they are few, else the range.
    """
    each = step.true_widths.get(axis)
    if each is None:
        return str(n)
    if between == "/" and len(each) <= 6:
        return "/".join(map(str, each))
    return f"{min(each)}–{max(each)}"
