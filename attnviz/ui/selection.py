"""What is looked at, which changes no number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from attnviz.core import fields
from attnviz.core.choice import Choice, table
from attnviz.core.config import MOST_HEADS
from attnviz.core.fields import number, option, text
from attnviz.core.trace import Trace


def _place(name: str, label: str, note: str) -> Choice:
    return Choice(name, label, lambda: None, "-", note, "-")


PAGE_NAMES = table(
    _place("explore", "Explore", "All heads side by side, and every number behind them."),
    _place("experiments", "Experiments", "One question at a time, answered with the present setting."),
    _place("class", "Class", "One step at a time in large type, for a room."),
)
PANEL_NAMES = table(
    _place("cell", "This cell", "One cell, all the way down to its products."),
    _place("word", "This word", "What one word reads from, in every head."),
    _place("flow", "Every step", "From the sentence to the output, and the shape of everything."),
    _place("statistics", "Statistics", "Sums, effective number of keys, distances, shares."),
    _place("redeal", "Deal again", "The mean over ten seeds: what is left of a random pattern."),
    _place("table", "Table", "The numbers of any step, to read and to save."),
)
EXPERIMENT_NAMES = table(
    _place("mask_values", "What hides a score", "Minus infinity, a large number, zero: what leaks through."),
    _place("axis", "Which axis sums to one", "Softmax over the keys, or the wrong way, over the queries."),
    _place("scale", "Why divide by √d_k", "The spread of the scores and the largest weight, as d_k grows."),
    _place("sharing", "Sharing keys and values", "Every head its own, groups, or one for all."),
    _place("shuffle", "Does order matter", "The same words in another order, with positions and without."),
)


@dataclass(frozen=True)
class Selection:
    """The place that a visitor looks at; places are counted from 1, and the whole travels in the link."""

    page: str = option(PAGE_NAMES, "explore", label="Page")
    panel: str = option(PANEL_NAMES, "cell", label="Below the pictures")
    experiment: str = option(EXPERIMENT_NAMES, "mask_values", label="Experiment")
    step: str = text("weights", label="Step", longest=40)
    layer: int = number(1, 1, 6, label="Layer")
    head: int | None = number(None, 1, MOST_HEADS, none="none", label="Head")
    query: int | None = number(None, 1, 128, none="none", label="Query")
    key: int | None = number(None, 1, 128, none="none", label="Key")
    digits: int = number(4, 2, 17, label="Digits", help="How many are shown; the arithmetic is done with all of them.")

    def __post_init__(self) -> None:
        fields.check(self)


def within(selection: Selection, trace: Trace) -> Selection:
    """The selection, without what this run does not have."""
    limits = {"head": trace.config.n_heads, "query": len(trace.query_tokens), "key": len(trace.key_tokens)}
    gone: dict[str, Any] = {name: None for name, limit in limits.items() if (getattr(selection, name) or 0) > limit}
    return replace(selection, layer=min(selection.layer, len(trace.layers)), **gone)
