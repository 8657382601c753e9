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
        "unshared": "That is one for every head: here the heads of a group share theirs.",
        "keys_wide": "That is as wide as queries and keys are: here it is d_v, the width of values.",
        "values_wide": "That is as wide as values are: here it is d_k, the width of queries and keys.",
        "less": "That leaves the first axis away: this step has {n} axes.",
        "one_more": "The last axis is longer by one there: count its columns again.",
        "doubled": "The last axis has twice its length there: count its columns again.",
    }
)
OTHER_STEPS = ("heads", "scores", "concat", "embedded")
"""The steps whose shapes are offered beside the right one."""
MOST_MORE = 2
Shape = tuple[int, ...]


def wrong(runs: QuestionContext, step: Step) -> dict[Shape, str]:
    """Return three wrong shapes of a step, or as many as there are, each with what is said of it; smallest first.

    Up to two more come after these: the shape without heads where there are several, and what follows from shared keys
    or from the other width. Codes of answers count the others as they did before these were asked.
    """
    found = dict[Shape, str]()
    for shape, said in _shapes(runs, step):
        if shape and shape != step.shape:
            found.setdefault(shape, said)
    usual = dict(sorted(list(found.items())[:3]))
    more = dict[Shape, str]()
    for shape, said in _of_heads(runs, step):
        if shape not in (*usual, step.shape):
            more.setdefault(shape, said)
    return usual | dict(list(more.items())[:MOST_MORE])


def _of_heads(runs: QuestionContext, step: Step) -> Iterator[tuple[Shape, str]]:
    """Yield the shape for one head where there are several, for heads that share nothing, and with the other width."""
    shape, config = step.shape, runs.trace.config
    if len(shape) == 3 and shape[0] > 1:
        yield shape[1:], SHAPES["no_heads"]
    if step.name == "concat" and config.n_heads > 1:
        yield (shape[0], config.value_widths()[0]), SHAPES["as_one_head"]
    if step.axes[0] == "kv_head" and config.group_size > 1:
        yield (config.n_heads, *shape[1:]), SHAPES["unshared"]
    if step.name in ("values", "heads"):
        yield (*shape[:-1], max(config.key_widths())), SHAPES["keys_wide"]
    if step.name in ("queries", "keys"):
        yield (*shape[:-1], max(config.value_widths())), SHAPES["values_wide"]


def _shapes(runs: QuestionContext, step: Step) -> Iterator[tuple[Shape, str]]:
    shape = step.shape
    yield (*shape[:-2], *shape[:-3:-1]), SHAPES["swapped"]
    for other in (runs.steps[name] for name in OTHER_STEPS if name in runs.steps):
        name = f"{within_sentence(NAMES[other.name])} {step_names.plain(other.symbol)}"
        yield other.shape, SHAPES["step"].format(step=name)
    yield shape[1:], SHAPES["no_heads"] if len(shape) == 3 else SHAPES["less"].format(n=len(shape))
    yield (*shape[:-1], shape[-1] + 1), SHAPES["one_more"]
    yield (*shape[:-1], 2 * shape[-1]), SHAPES["doubled"]
