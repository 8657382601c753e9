"""The way from the sentence to the output: every step of a layer in order, in words, numbers and a small picture."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.external.traces import first_steps, forbidden
from attnviz.engine.records.config import Config
from attnviz.engine.records.step_specs import STEPS
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.records.typed_rows import normaliser_of, score_of
from attnviz.pictures.stage_record import Stage
from attnviz.pictures.thumbnails import thumbnail
from attnviz.text.format.html_math import worded
from attnviz.text.step_names import INGREDIENTS, LABELS, PARAMETERS, STAGES, plain, shape_in_words, short_shape, steps


@dataclass(frozen=True)
class FlowStep:
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
    thumbnail: Array
    colours: tuple[str, ...]


def entries(trace: Trace, layer: int) -> tuple[FlowStep, ...]:
    """Return every step that a layer recorded, from what it reads to what it hands on, in the order of the data.

    >>> from attnviz import Config, run
    >>> [(entry.text, entry.words) for entry in entries(run(Config()), 0) if entry.name in ("embedded", "weights")]
    [('X', '(7 tokens, d_model 16)'), ('A', '(4 heads, 7 queries, 7 keys)')]
    """
    by_name = steps(trace, layer)
    return tuple(_entry(trace.config, by_name, each) for each in by_name.values())


def _entry(config: Config, by_name: dict[str, Step], step: Step) -> FlowStep:
    formula = _formula(by_name, step)
    masked = hidden(by_name, step)
    shades = _as_stage(step, masked).scale
    return FlowStep(
        name=step.name,
        label=LABELS[step.name],
        symbol=step.symbol,
        text=plain(step.symbol),
        shape=short_shape(step),
        words=shape_in_words(step, config.group_size > 1),
        formula=formula,
        plain_formula=plain(formula)
        if step.name in first_steps(by_name)
        else _plain_formula(config, step.name, formula),
        meaning=step.meaning,
        kind=step.kind,
        stage=next(number for number, names in enumerate(STAGES) if step.name in names),
        on_path=step.name not in INGREDIENTS,
        changes=_changes(by_name, step),
        thumbnail=thumbnail(step, shades.low, shades.high, masked),
        colours=shades.colours,
    )


def _formula(by_name: dict[str, Step], step: Step) -> str:
    """Return the formula of a step without the biases that this run does not have."""
    return worded(re.sub(r" \+ (b_\w)(\^h)?", lambda b: b[0] if b[1].lower() in by_name else "", step.formula))


def _plain_formula(config: Config, name: str, formula: str) -> str:
    if name == "scores":
        return score_of(config).plain
    if name == "weights":
        over = "" if config.temperature == 1.0 else f" / {config.temperature:g}"
        return f"{normaliser_of(config).plain}({plain(STEPS['masked'].symbol)}{over})"
    text = plain(formula)
    return "" if set(text) & set("\\{}^") or name in PARAMETERS else text


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


def _changes(by_name: dict[str, Step], step: Step) -> bool:
    """Return whether there is something to see that the steps beside it do not show."""
    if step.name in ("positions", "positions_kv", "bias"):
        return bool(step.array.any())
    if step.name == "allowed":
        return not step.array.all()
    if step.name == "concat" and by_name["heads"].shape[0] == 1:
        return False
    other = by_name.get(BEFORE.get(step.name, ""))
    return other is None or not np.array_equal(step.array, other.array, equal_nan=True)


def hidden(by_name: dict[str, Step], step: Step) -> Array | None:
    """Return True where a query may not attend to a key, for the steps that know it."""
    if step.name == "allowed":
        return ~step.array
    if step.name == "weights":
        return forbidden(by_name)
    return np.isneginf(step.array) if step.name in ("masked", "bias") else None


def _as_stage(step: Step, hidden: Array | None) -> Stage:
    array = step.array if step.axes[0].endswith("head") else step.array[None]
    if array.ndim == 2:
        array = array[:, None]
    return Stage(step.name, "", array, step.kind, rows=(), masked=hidden, widths=step.widths)
