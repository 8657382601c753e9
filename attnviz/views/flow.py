"""The way from the sentence to the output: every step of a layer in order, in words, numbers and a small picture."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace

import numpy as np

from attnviz.core.config import Config
from attnviz.core.given import first_steps, forbidden
from attnviz.core.language import Words, say
from attnviz.core.normalisers import NORMALISERS
from attnviz.core.scores import SCORES
from attnviz.core.trace import STEPS, Step, Trace
from attnviz.views.figures import Stage, scale
from attnviz.views.formulas import worded
from attnviz.views.thumbnails import thumbnail

STAGES = (
    ("token_embeddings", "positions", "token_embeddings_kv", "positions_kv"),
    ("embedded", "embedded_kv"),
    ("normed",),
    ("w_q", "b_q", "w_k", "b_k", "w_v", "b_v"),
    ("projected_queries", "projected_keys"),
    ("queries", "keys", "values"),
    ("score_w", "score_w_q", "score_w_k", "score_v", "score_b"),
    ("scores",),
    ("scaled",),
    ("capped",),
    ("bias", "allowed"),
    ("masked",),
    ("weights",),
    ("heads",),
    ("concat", "w_o", "b_o"),
    ("output",),
    ("added",),
    ("added_normed",),
    ("ff_normed",),
    ("w_1", "b_1"),
    ("ff_hidden",),
    ("w_2", "b_2"),
    ("ff_output",),
    ("ff_added",),
    ("ff_added_normed",),
)
"""Every step, in the order of the data; those of one row stand side by side and do not wait for each other."""

ORDER = tuple(name for stage in STAGES for name in stage)
PARAMETERS = tuple(name for name in ORDER if not {"query", "key"} & set(STEPS[name].axes))
"""What belongs to no token."""

INGREDIENTS = (*STAGES[0], "bias", "allowed", *(name for name in PARAMETERS if name != "w_o"))
"""What goes into the steps of the path without being one of them."""

LABELS = Words(
    dict.fromkeys(PARAMETERS, "")
    | {
        "token_embeddings": "tokens",
        "positions": "positions",
        "token_embeddings_kv": "tokens",
        "positions_kv": "positions",
        "embedded": "input",
        "embedded_kv": "second input",
        "normed": "normed",
        "projected_queries": "unturned",
        "projected_keys": "unturned",
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
        "added": "residual",
        "added_normed": "normed",
        "ff_normed": "normed",
        "ff_hidden": "hidden units",
        "ff_output": "feed-forward",
        "ff_added": "residual",
        "ff_added_normed": "normed",
    }
)
"""What a step is called in a word; a parameter has its symbol alone."""

FORMER = "what layer {layer} hands on"

COUNTED = Words(
    {
        "query": ("query", "queries"),
        "key": ("key", "keys"),
        "token": ("token", "tokens"),
        "head": ("head", "heads"),
        "kv_head": ("key/value head", "key/value heads"),
    }
)
WIDTHS = {"model": "d_model", "joined": "Σ d_v", "out": "d_out"}


@dataclass(frozen=True)
class Entry:
    """One step of the flow.

    name       of the step, as `step` takes it;  label  the same in a word, empty for a parameter
    symbol     LaTeX;  text  the same as plain text, in which an underscore lowers what follows
    formula    LaTeX;  plain_formula  as plain text, empty if it has no form in a line
    shape      short, 4 × 6 × 6;  words  the same in words, (4 heads, 6 queries, 6 keys)
    stage      entries of one stage stand side by side
    on_path    whether it is a step of the way itself, not something that goes into one
    changes    False if the numbers are those of the step before: then there is nothing to see
    thumbnail  (height, width) uint8, as `thumbnails` says;  colours  of its scale, at equal steps
    """

    name: str
    label: str
    symbol: str
    text: str
    shape: str
    words: str
    formula: str
    plain_formula: str
    meaning: str
    kind: str
    stage: int
    on_path: bool
    changes: bool
    thumbnail: np.ndarray
    colours: tuple[str, ...]


def entries(trace: Trace, layer: int) -> tuple[Entry, ...]:
    """Every step that a layer recorded, from what it reads to what it hands on, in the order of the data.

    >>> from attnviz import Config, run
    >>> [(entry.text, entry.words) for entry in entries(run(Config()), 0) if entry.name in ("embedded", "weights")]
    [('X', '(7 tokens, d_model 16)'), ('A', '(4 heads, 7 queries, 7 keys)')]
    """
    found = steps(trace, layer)
    return tuple(_entry(trace.config, found, each) for each in found.values())


def steps(trace: Trace, layer: int) -> dict[str, Step]:
    """The steps by name, in the order of the data; what a layer reads is always "embedded", also if a layer made it."""
    cross = trace.config.is_cross_attention
    found = {name: each for name, each in trace.around.items() if cross or not name.endswith("_kv")}
    if layer:
        meaning = say(FORMER, layer=layer)
        former = list(trace.layers[layer - 1].values())[-1]
        own = replace(former, name="embedded", axes=("query", "model"), symbol="X", formula="X", meaning=meaning)
        found = {"embedded": own} | ({"embedded_kv": found["embedded_kv"]} if cross else {})
    found |= trace.layers[layer]
    return {name: found[name] for name in ORDER if name in found}


def _entry(config: Config, found: dict[str, Step], step: Step) -> Entry:
    formula = _formula(found, step)
    hidden = _hidden(found, step)
    shades = scale(_as_stage(step, hidden))
    return Entry(
        name=step.name,
        label=LABELS[step.name],
        symbol=step.symbol,
        text=plain(step.symbol),
        shape=short_shape(step),
        words=shape_in_words(step, config.group_size > 1),
        formula=formula,
        plain_formula=plain(formula) if step.name in first_steps(found) else _plain_formula(config, step.name, formula),
        meaning=step.meaning,
        kind=step.kind,
        stage=next(number for number, names in enumerate(STAGES) if step.name in names),
        on_path=step.name not in INGREDIENTS,
        changes=_changes(found, step),
        thumbnail=thumbnail(step, shades.low, shades.high, hidden),
        colours=shades.colours,
    )


def _formula(found: dict[str, Step], step: Step) -> str:
    """The formula of a step without the biases that this run does not have."""
    return worded(re.sub(r" \+ (b_\w)(\^h)?", lambda b: b[0] if b[1].lower() in found else "", step.formula))


def _plain_formula(config: Config, name: str, formula: str) -> str:
    if name == "scores":
        return SCORES[config.score].plain
    if name == "weights":
        over = "" if config.temperature == 1.0 else f" / {config.temperature:g}"
        return f"{NORMALISERS[config.normaliser].plain}({plain(STEPS['masked'].symbol)}{over})"
    text = plain(formula)
    return "" if set(text) & set("\\{}^") or name in PARAMETERS else text


LETTERS = (
    (r"\\(?:mathrm|text)\{([^}]*)\}", r"\1"),
    (r"\\hat (\w)", "\\1\u0302"),
    (r"\\tilde (\w)", "\\1\u0303"),
    (r"\\top\b", "ᵀ"),
    (r"\\infty\b", "∞"),
    (r"\\dots\b", "…"),
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


def plain(latex: str) -> str:
    r"""A symbol or a short formula without LaTeX; letters below the line keep their underscore.

    >>> [plain(symbol) for symbol in (r"\hat S", "S''", "W_Q", "b_1", r"\mathrm{LN}(X + Y)", r"Q_h K_h^\top")]
    ['Ŝ', 'S″', 'W_Q', 'b₁', 'LN(X + Y)', 'Q_h K_hᵀ']
    """
    for pattern, letters in LETTERS:
        latex = re.sub(pattern, letters, latex)
    return unicodedata.normalize("NFC", re.sub(r"_(\d)", lambda digit: "₀₁₂₃₄₅₆₇₈₉"[int(digit[1])], latex))


def short_shape(step: Step) -> str:
    """4 × 6 × 6, or 4 × 6 × 2–5 where heads differ in width."""
    return " × ".join(_size(step, axis, n, "–") for axis, n in zip(step.axes, step.shape))


def shape_in_words(step: Step, shared: bool = False) -> str:
    """(4 heads, 6 queries, 6 keys); `shared` if several heads share one key/value head, which then is called so."""
    return f"({', '.join(_axis(step, axis, n, shared) for axis, n in zip(step.axes, step.shape))})"


def _axis(step: Step, axis: str, n: int, shared: bool) -> str:
    if axis not in COUNTED:
        return f"{WIDTHS.get(axis, axis)} {_size(step, axis, n, '/')}"
    if axis == "kv_head" and not shared:
        axis = "head"
    if step.axes[0] == axis and axis in ("query", "key") and step.axes[-1] not in COUNTED:
        axis = "token"
    return f"{n} {COUNTED[axis][n != 1]}"


def _size(step: Step, axis: str, n: int, between: str) -> str:
    """The size of an axis; where heads differ, every width between strokes while they are few, else the range."""
    each = step.true_widths.get(axis)
    if each is None:
        return str(n)
    if between == "/" and len(each) <= 6:
        return "/".join(map(str, each))
    return f"{min(each)}–{max(each)}"


BEFORE = {
    "scaled": "scores",
    "capped": "scaled",
    "masked": "capped",
    "token_embeddings": "embedded",
    "token_embeddings_kv": "embedded_kv",
    "projected_queries": "queries",
    "projected_keys": "keys",
    "concat": "output",
}
"""A step shows nothing new if its numbers are those of another: the one before or, if that matters more, after."""


def _changes(found: dict[str, Step], step: Step) -> bool:
    """Whether there is something to see that the steps beside it do not show."""
    if step.name in ("positions", "positions_kv", "bias"):
        return bool(step.array.any())
    if step.name == "allowed":
        return not step.array.all()
    if step.name == "concat" and found["heads"].shape[0] == 1:
        return False
    other = found.get(BEFORE.get(step.name, ""))
    return other is None or not np.array_equal(step.array, other.array, equal_nan=True)


def _hidden(found: dict[str, Step], step: Step) -> np.ndarray | None:
    """True where a query may not look at a key, for the steps that know it."""
    if step.name == "allowed":
        return ~step.array
    if step.name == "weights":
        return forbidden(found)
    return np.isneginf(step.array) if step.name in ("masked", "bias") else None


def _as_stage(step: Step, hidden: np.ndarray | None) -> Stage:
    array = step.array if step.axes[0].endswith("head") else step.array[None]
    if array.ndim == 2:
        array = array[:, None]
    return Stage(step.name, "", array, step.kind, rows=(), masked=hidden, widths=step.widths)
