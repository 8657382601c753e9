"""The wrong shapes of a step that are offered beside the right one, and what is said of each."""

from __future__ import annotations

from collections.abc import Iterator

from attnviz.classroom.context.question_context import QuestionContext
from attnviz.engine.records.trace import Step
from attnviz.settings.language import Words
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.format.sentence_parts import within_sentence

SHAPES = Words(
    {
        "swapped": "That has the last two axes swapped: rows come before columns.",
        "step": "That is the shape of the {step}.",
        "no_heads": "That is one head alone: there is an axis for the heads in front.",
        "as_one_head": "That is as wide as one head: the heads are side by side here.",
        "less": "That leaves the first axis away: this step has {n} axes.",
        "one_more": "The last axis is longer by one there: count its columns again.",
        "twice": "The last axis has twice its length there: count its columns again.",
    }
)
OTHER_STEPS = ("heads", "scores", "concat", "embedded")
"""The steps whose shapes are offered beside the right one."""
Shape = tuple[int, ...]


def wrong(runs: QuestionContext, step: Step) -> dict[Shape, str]:
    """Return three wrong shapes of a step, or as many as there are, each with what is said of it; smallest first.

    In a run of several heads the shape without them comes after these, if it is not among them: codes of answers count
    the others as they did before it was asked.
    """
    found = dict[Shape, str]()
    for shape, said in _shapes(runs, step):
        if shape and shape != step.shape:
            found.setdefault(shape, said)
    usual = dict(sorted(list(found.items())[:3]))
    return usual | {shape: said for shape, said in _without_heads(runs, step) if shape not in (*usual, step.shape)}


def _without_heads(runs: QuestionContext, step: Step) -> Iterator[tuple[Shape, str]]:
    """Yield the shape for one head where there are several."""
    shape, n_heads = step.shape, runs.trace.config.n_heads
    if len(shape) == 3 and shape[0] > 1:
        yield shape[1:], SHAPES["no_heads"]
    if step.name == "concat" and n_heads > 1:
        yield (shape[0], runs.trace.config.value_widths()[0]), SHAPES["as_one_head"]


def _shapes(runs: QuestionContext, step: Step) -> Iterator[tuple[Shape, str]]:
    shape = step.shape
    yield (*shape[:-2], *shape[:-3:-1]), SHAPES["swapped"]
    for other in (runs.steps[name] for name in OTHER_STEPS if name in runs.steps):
        name = f"{within_sentence(NAMES[other.name])} {step_names.plain(other.symbol)}"
        yield other.shape, SHAPES["step"].format(step=name)
    yield shape[1:], SHAPES["no_heads"] if len(shape) == 3 else SHAPES["less"].format(n=len(shape))
    yield (*shape[:-1], shape[-1] + 1), SHAPES["one_more"]
    yield (*shape[:-1], 2 * shape[-1]), SHAPES["twice"]
