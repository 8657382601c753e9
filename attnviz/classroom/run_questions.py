"""The kinds of practice as questions about any run: put in order, point at a cell, draw the mask, set a slider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.classroom import new_forms
from attnviz.classroom.context.question_context import SAME, QuestionContext, required
from attnviz.classroom.new_forms import Slider
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tables.masks import MASKS
from attnviz.lessons.lesson import Question
from attnviz.settings import url_codec
from attnviz.settings.faults import shorten
from attnviz.settings.language import Words, sign, translate

STOPS = {
    "temperature": (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0),
    "scale": (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0),
}
"""The stops of each setting that a slider can move; the run's own value and the one asked for are added."""

SHOWING = ("scores", "scaled", "capped", "allowed", "masked", "weights")
"""Steps whose pictures hatch what is forbidden, and so show the mask; in the order of the computation."""
MOST_ORDERED = 12
MOST_CELLS = 144
"""Of a mask that is drawn by hand, or of a picture in which a cell is found: twelve words by twelve."""
TOLERANCE = 0.02

FIELDS = Words({"temperature": "Temperature", "scale": "Scale"})
"""The settings that a slider can move, as lists name them."""
WORDS = Words({"setting": "{label}: {value}", "mask": "{label} ({numbers})"})
PROBLEMS = Words(
    {
        "order": "{n} keys are too many to be put in order; choose a row of at most {most}",
        "one_key": "the row attends to fewer than two keys, so there is nothing to put in order",
        "ties": "two keys of the row have the same weight, so their order is not determined",
        "cells": "{n} cells are too many here; choose at most {most}",
        "field": "field is {given}; choose from {allowed}",
        "runs": "a slider needs a setting of one layer whose weights are not learned, with at most {most} cells",
        "listed": "a mask of single cells cannot be asked for, since to name them is to draw it; choose another mask",
        "by_head": "each head has a mask of its own here, by the h of the typed line; ask for one that all heads share",
        "unmasked": "the mask of this setting forbids nothing, so there is nothing to draw; choose another mask",
        "still": "the weight is right where the slider stands already; choose another stop or another key",
        "forbidden": "the mask forbids this cell at every stop; choose another key",
    }
)


def order(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    """Return the question in which order the keys of a row stand by their weights."""
    step = runs.step("weights")
    head, query = runs.index(step, at, ("head", "query"))
    row = step.array[head, query]
    given = np.sort(row[row > 0])
    if len(row) > MOST_ORDERED:
        raise ValueError(PROBLEMS["order"].format(n=len(row), most=MOST_ORDERED))
    if len(given) < 2:
        raise ValueError(PROBLEMS["one_key"])
    if np.diff(given).min() <= SAME:
        raise ValueError(PROBLEMS["ties"])
    return replace(new_forms.order(runs.trace, head, query, runs.layer), hides="weights", inputs=("masked",))


def cell(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    """Return the question in which cell a weight stands: that of a query and a key, or the largest of one of them."""
    step = runs.step("weights")
    (head,) = runs.index(step, at, ("head",))
    A = step.array[head]
    _few(A)
    axes = tuple(name for name in ("query", "key") if name in at)
    index = dict(zip(axes, runs.index(step, at, axes)))
    asked = np.zeros(A.shape, dtype=bool)
    asked[index.get("query", slice(None)), index.get("key", slice(None))] = True
    row, column = map(int, np.unravel_index(np.where(asked, A, -1).argmax(), A.shape))
    right = frozenset(np.flatnonzero(asked & (A[row, column] - SAME <= A)).tolist())
    other = "cell_other" if len(axes) == 2 else f"cell_of_{axes[0] if axes else 'any'}"
    found = new_forms.cell(runs.trace, head, row, column, runs.layer, other)
    return replace(found, right=right, inputs=("weights",))


def mask(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    """Return the question which cells the mask of the run allows."""
    if runs.step("allowed").array.ndim > 2:
        raise ValueError(PROBLEMS["by_head"])
    _few(runs.step("allowed").array)
    if "custom" in runs.trace.config.mask:
        raise ValueError(PROBLEMS["listed"])
    if runs.step("allowed").array.all():
        raise ValueError(PROBLEMS["unmasked"])
    return replace(new_forms.mask(runs.trace, runs.layer), hides=SHOWING[0])


def name_of_ask(question: Question) -> str:
    """Return the wording of a question by name: of a cell and of a slider it follows from what it names."""
    if question.kind == "slider":
        return f"slider_{question.at.get('field')}"
    named = [axis for axis in ("query", "key") if axis in question.at]
    if question.kind != "cell" or len(named) == 2:
        return question.kind
    return f"cell_{named[0] if named else 'any'}"


def named(trace: Trace, at: Mapping[str, Any], resolved: ResolvedQuestion) -> dict[str, str]:
    """Return what the words of these questions may name beside what all may."""
    numbers = {"weight": f"{resolved.value:.2f}", "tolerance": f"{resolved.tolerance:g}"}
    of_slider = {"field": FIELDS[at["field"]], **numbers} if "field" in at else {}
    return {"mask": mask_in_words(trace.config), **of_slider}


def mask_in_words(config: Config) -> str:
    """Return the masks of a setting by name, with the numbers that they need.

    >>> mask_in_words(Config(mask=("causal", "window"), reach=1))
    'Causal; Sliding window (Reach: 1)'
    """
    labels = url_codec.labels(Config)
    each = []
    for name in config.mask:
        numbers = MASKS[name].settings(config)
        in_words = sign(", ").join(
            WORDS["setting"].format(label=labels[key], value=value) for key, value in numbers.items()
        )
        label = translate(MASKS[name].label)
        each.append(WORDS["mask"].format(label=label, numbers=in_words) if numbers else label)
    return sign("; ").join(each)


def _few(cells: Array) -> None:
    if cells.size > MOST_CELLS:
        raise ValueError(PROBLEMS["cells"].format(n=cells.size, most=MOST_CELLS))


def slider_of(trace: Trace, at: Mapping[str, Any]) -> Slider:
    """Return the slider of a question in a run: it stands first at the run's own value."""
    field = required("field", at)
    if field not in STOPS:
        raise ValueError(PROBLEMS["field"].format(given=shorten(field), allowed=", ".join(STOPS)))
    config = trace.config
    learned = bool(config.model) or INITIALISERS[config.initialiser].learned
    if learned or len(trace.layers) > 1 or trace["weights"].array[0].size > MOST_CELLS:
        raise ValueError(PROBLEMS["runs"].format(most=MOST_CELLS))
    own = config.temperature if field == "temperature" else _scale(trace)
    stops = sorted({*STOPS[field], own, float(required("to", at))})
    return Slider(field, tuple(stops), stops.index(own))


def _scale(trace: Trace) -> float:
    """Return what the scores of a run are multiplied by."""
    if isinstance(trace.config.scale, int | float):
        return float(trace.config.scale)
    scores, scaled = trace["scores"].array, trace["scaled"].array
    largest = np.abs(np.where(np.isfinite(scores), scores, 0)).argmax()
    return float(f"{scaled.flat[largest] / scores.flat[largest]:.12g}") if scores.flat[largest] else 1.0


def weight_at(trace: Trace, at: Mapping[str, Any], stop: int) -> float:
    """Return the weight that a slider moves, at one of its stops."""
    moved = run(slider_of(trace, at).moved(trace.config, stop))
    context = QuestionContext(moved, None, 0)
    return float(moved["weights"].array[context.index(moved["weights"], at, ("head", "query", "key"))])


def slider(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    """Return the question at which stop of a slider a weight is what it is at the stop `to`."""
    moving = slider_of(runs.trace, at)
    index = runs.index(runs.step("weights"), at, ("head", "query", "key"))
    traces = [run(moving.moved(runs.trace.config, stop)) for stop in range(len(moving.stops))]
    weights = [round(float(each["weights"].array[index]), 2) for each in traces]
    if not any(each["weights"].array[index] for each in traces):
        raise ValueError(PROBLEMS["forbidden"])
    wanted = weights[moving.stops.index(float(at["to"]))]
    asked = new_forms.slider(moving, weights, wanted, at.get("tolerance", TOLERANCE))
    if moving.start in asked.right:
        raise ValueError(PROBLEMS["still"])
    return replace(asked, value=wanted, tolerance=at.get("tolerance", TOLERANCE))


QUESTIONS = {"order": order, "cell": cell, "mask": mask, "slider": slider}
"""The kinds by name, which is that of their form too."""
