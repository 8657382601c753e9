"""What is looked at, which changes no number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from attnviz.core import fields
from attnviz.core.choice import Choice, table
from attnviz.core.config import MOST_HEADS, Config
from attnviz.core.fields import changes, number, option, switch, text
from attnviz.core.language import LANGUAGES
from attnviz.core.lessons import LESSONS
from attnviz.core.orders import ORDERS
from attnviz.core.trace import Trace
from attnviz.core.trials import VECTORS
from attnviz.views.assignments import LONGEST


def _place(name: str, label: str, note: str) -> Choice:
    return Choice(name, label, lambda: None, "-", note, "-")


PAGE_NAMES = table(
    _place("explore", "Explore", "All heads side by side, and every number behind them."),
    _place("compare", "Compare", "The setting, and the same with one thing changed."),
    _place("experiments", "Experiments", "One question at a time, answered with the present setting."),
    _place("lessons", "Lessons", "Worked examples and questions, slide by slide."),
    _place("assign", "Assignments", "A task as a link, and the codes that come back."),
    _place("data", "Your data", "Attention that you bring: weights, scores, or queries, keys and values."),
    _place("take", "Take away", "Pictures, data, code and links of the present setting."),
    _place("class", "Class", "One step at a time in large type, for a room."),
)
PANEL_NAMES = table(
    _place("cell", "This cell", "One cell, all the way down to its products."),
    _place("word", "This word", "What one word reads from, in every head."),
    _place("flow", "Every step", "From the sentence to the output, and the shape of everything."),
    _place("statistics", "Statistics", "Sums, effective number of keys, distances, shares."),
    _place("redeal", "Deal again", "The mean over ten seeds: what is left of a random pattern."),
    _place("table", "Table", "The numbers of any step, to read and to save."),
    _place("what_if", "What if", "Change any number, and see what follows from it."),
    _place("mask", "Mask", "Who may look where: paint it, and take it away as code."),
)
EXPERIMENT_NAMES = table(
    _place("mask_values", "What hides a score", "Minus infinity, a large number, zero: what leaks through."),
    _place("axis", "Which axis sums to one", "Softmax over the keys, or the wrong way, over the queries."),
    _place("scale", "Why divide by √d_k", "The spread of the scores and the largest weight, as d_k grows."),
    _place("sharing", "Sharing keys and values", "Every head its own, groups, or one for all."),
    _place("shuffle", "Does order matter", "The same words in another order, with positions and without."),
)
DESK_NAMES = table(
    _place("compose", "Compose", "Choose what is locked and hidden, and the questions."),
    _place("mark", "Check results", "Codes that were handed in, marked offline."),
    _place("student", "Student", "The assignment alone, as its link opens it."),
)
LANGUAGE_NAMES = table(
    _place("auto", "As the browser", "The language that the browser asks for, where the page speaks it."),
    *(_place(code, name, "") for code, name in LANGUAGES.items()),
)
LESSON_NAMES = table(*(_place(lesson.name, lesson.title, lesson.about) for lesson in LESSONS.values()))


@dataclass(frozen=True)
class Selection:
    """The place that a visitor looks at; places are counted from 1, and the whole travels in the link."""

    page: str = option(PAGE_NAMES, "explore", label="Page")
    panel: str = option(PANEL_NAMES, "cell", label="Below the pictures")
    experiment: str = option(EXPERIMENT_NAMES, "mask_values", label="Experiment")
    changes: tuple[tuple[str, str], ...] = changes(
        Config, prefix="b_", label="B differs from A in", help="Everything else is as in A."
    )
    step: str = text("weights", label="Step", longest=40)
    layer: int = number(1, 1, 128, label="Layer")
    head: int | None = number(None, 1, 128, none="none", label="Head")
    query: int | None = number(None, 1, 128, none="none", label="Query")
    key: int | None = number(None, 1, 128, none="none", label="Key")
    large: float = number(
        -1e9,
        -1e9,
        -1.0,
        integer=False,
        stops=(-1e9, -1e4, -100.0, -10.0, -1.0),
        label="The large number",
        help="What stands for −∞ in the second picture. float16 ends at −65,504: −1e9 does not fit.",
    )
    empty_row: bool = switch(False, label="Empty a row", help="The first query may look at nothing.")
    trial_vectors: str = option(VECTORS, "unit", label="Queries and keys")
    trial_kv: int | None = number(None, 1, MOST_HEADS, none="the middle", label="Key/value heads, in between")
    trial_order: str = option(ORDERS, "reverse", label="Order")
    swap_one: int = number(1, 1, 128, label="One place that is swapped")
    swap_other: int | None = number(None, 1, 128, none="the last", label="The other place")
    trial_d_k: int = number(16, 1, 64, label="d_k of the experiment", help="The setting keeps its own.")
    lesson: str = option(LESSON_NAMES, next(iter(LESSON_NAMES)), label="Lesson")
    slide: int = number(1, 1, 40, label="Slide")
    desk: str = option(DESK_NAMES, "compose", label="Assignments")
    assigned: str = text("", label="Assignment", longest=LONGEST)
    presenter: bool = switch(False, label="Large type", help="One slide for a room; arrow keys and Space go on.")
    lang: str = option(LANGUAGE_NAMES, "auto", label="Language")
    digits: int = number(4, 2, 17, label="Digits", help="How many are shown; the arithmetic is done with all of them.")

    def __post_init__(self) -> None:
        fields.check(self)


def within(selection: Selection, trace: Trace) -> Selection:
    """The selection, without what this run does not have."""
    limits = {"head": trace.config.n_heads, "query": len(trace.query_tokens), "key": len(trace.key_tokens)}
    gone: dict[str, Any] = {name: None for name, limit in limits.items() if (getattr(selection, name) or 0) > limit}
    return replace(selection, layer=min(selection.layer, len(trace.layers)), **gone)
