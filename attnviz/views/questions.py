"""Questions about a run: what can be answered, what is right, and the arithmetic that shows it.

Every answer is computed from the run. Until it is shown, nothing of it leaves this file but the options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.core.language import Words, say
from attnviz.core.lesson import Question
from attnviz.core.trace import STEPS, Trace
from attnviz.views import flow
from attnviz.views.asked import SAME, Asked, Runs, need
from attnviz.views.captions import NAMES
from attnviz.views.cell import follow
from attnviz.views.latex import Pen, aligned, chain
from attnviz.views.line import Line
from attnviz.views.predicates import PREDICATES
from attnviz.views.sentences import Sentence, filled, inside, joined, naming, rounded
from attnviz.views.slides import shown

TOLERANCE = 0.005

WORDS = Words(
    {
        "yes": "Yes",
        "no": "No",
        "holds": "Yes.",
        "fails": "No.",
        "highest": "{key}, with the weight {weight}.",
        "all": "The weights of the row, key by key: {weights}.",
        "number": "It is {value}.",
        "size": "{shape} makes {value} numbers.",
        "shape": "{shape}: {words}.",
        "no_row": "No row changes: every number is the same.",
        "one_row": "Only {row} changes, by up to {change}; the others stay as they are.",
        "every_row": "Every row changes; {row} by the most, up to {change}.",
        "rows": "Changed: {rows}; {row} by the most, up to {change}. The others stay as they are.",
        "sum_title": "The sum",
        "sum_row": "The numbers of the row added up.",
        "sum_column": "The numbers of the column added up.",
    }
)
ASK = Words(
    {
        "highest_key": "Head {head}: which key does {query} take the most from?",
        "weight": "Head {head}: what is the weight that {query} gives {key}?",
        "number": "What is this number of “{step}”?",
        "sum": "Head {head}: what do the numbers of {line} add to?",
        "size": "How many numbers are in “{step}”?",
        "shape": "What is the shape of “{step}”?",
        "rows_changed": "Which rows of “{step}” change?",
        "true_or_false": "{says}",
    }
)
LINE = Words({"query": "the row of {token}", "key": "the column of {token}"})
PROBLEMS = Words(
    {
        "kind": "there is no question called {given!r}; choose from {allowed}",
        "says": "there is nothing called {given!r} to say yes or no to; choose from {allowed}",
        "nothing": "the row has no weight, so no key has the largest",
        "infinite": "the number of {step} asked for is not finite, so nobody can type it",
    }
)

Find = Callable[[Runs, Mapping[str, Any]], Asked]


def asked(question: Question, trace: Trace, own: Trace | None = None) -> Asked:
    """The question in this run; `own` is the run of the lesson's own setting, where the slide has another.

    Raises ValueError for a question that this run has no answer to.
    """
    if question.kind not in QUESTIONS:
        raise ValueError(PROBLEMS["kind"].format(given=question.kind, allowed=", ".join(QUESTIONS)))
    at, runs = question.at, Runs(trace, own, question.at.get("layer", 1) - 1)
    found = QUESTIONS[question.kind](runs, at)
    words = filled(question.ask or ASK[question.kind], **_named(runs, at))
    return replace(found, words=words, why=question.why)


def earlier(steps: Sequence[str], hides: str) -> tuple[str, ...]:
    """The steps that come before the one that gives an answer away."""
    order = list(STEPS)
    return tuple(name for name in steps if hides and order.index(name) < order.index(hides))


def _named(runs: Runs, at: Mapping[str, Any]) -> dict[str, str | Sentence]:
    """What the words of a question may name."""
    named: dict[str, str | Sentence] = {"head": "1", "layer": "1"}
    named |= {name: str(value) for name, value in at.items()}
    for axis, tokens in (("query", runs.trace.query_tokens), ("key", runs.trace.key_tokens)):
        if axis in at:
            named[axis] = naming(tokens, at[axis] - 1)
            named["line"] = filled(LINE[axis], token=named[axis])
    step = runs.steps.get(at.get("step", "weights"))
    if step is not None:
        named["step"] = f"{inside(NAMES[step.name])} {flow.plain(step.symbol)}"
    if at.get("says") in PREDICATES:
        named["says"] = filled(say(PREDICATES[at["says"]][0]), **{"step": "", **named})
    return named


def _highest_key(runs: Runs, at: Mapping[str, Any]) -> Asked:
    step = runs.step("weights")
    row = step.array[runs.place(step, at, ("head", "query"))]
    if not row.any():
        raise ValueError(PROBLEMS["nothing"])
    tokens, best = runs.trace.key_tokens, int(row.argmax())
    said = filled(WORDS["highest"], key=naming(tokens, best), weight=rounded(row[best]))
    weights = ", ".join(rounded(weight) for weight in row)
    return Asked(
        form="one",
        options=tuple(naming(tokens, place) for place in range(len(tokens))),
        right=frozenset(np.flatnonzero(row >= row[best] - SAME).tolist()),
        solution=(said, filled(WORDS["all"], weights=weights)),
        lines=_arithmetic(runs, "weights", {**at, "key": best + 1}),
        hides="weights",
    )


def _number(runs: Runs, at: Mapping[str, Any]) -> Asked:
    step = runs.step(need("step", at))
    value = float(step.array[runs.place(step, at, step.axes)])
    if not np.isfinite(value):
        raise ValueError(PROBLEMS["infinite"].format(step=step.name))
    return Asked(
        form="number",
        value=value,
        tolerance=at.get("tolerance", TOLERANCE),
        solution=(filled(WORDS["number"], value=shown(value)),),
        lines=_arithmetic(runs, step.name, at),
        hides=step.name,
    )


def _weight(runs: Runs, at: Mapping[str, Any]) -> Asked:
    return _number(runs, {**at, "step": "weights"})


def _sum(runs: Runs, at: Mapping[str, Any]) -> Asked:
    step = runs.step(at.get("step", "weights"))
    axis = "query" if "query" in at else "key"
    fixed = tuple(name for name in step.axes if name.endswith("head") or name == axis)
    place = dict(zip(fixed, runs.place(step, at, fixed)))
    numbers = step.array[tuple(place.get(name, slice(None)) for name in step.axes)]
    total, pen = float(numbers.sum()), Pen(4)
    if not np.isfinite(total):
        raise ValueError(PROBLEMS["infinite"].format(step=step.name))
    latex = aligned(chain(r"\Sigma", [pen.total(numbers), pen.number(total)]))
    words = WORDS["sum_row" if axis == "query" else "sum_column"]
    line = Line("sum", WORDS["sum_title"], words, {"numbers": numbers}, np.array(total), np.array(total), latex)
    return Asked(
        form="number",
        value=total,
        tolerance=at.get("tolerance", TOLERANCE),
        solution=(filled(WORDS["number"], value=shown(total)),),
        lines=(line,),
        hides=step.name,
    )


def _size(runs: Runs, at: Mapping[str, Any]) -> Asked:
    step = runs.step(need("step", at))
    value = float(step.array.size)
    said = filled(WORDS["size"], shape=" × ".join(map(str, step.shape)), value=f"{step.array.size:,}")
    return Asked(form="number", value=value, solution=(said,))


def _shape(runs: Runs, at: Mapping[str, Any]) -> Asked:
    """The shape among others that this run has, or would have with two axes swapped; smallest first."""
    step = runs.step(need("step", at))
    others = [(*step.shape[:-2], *step.shape[:-3:-1])]
    others += [runs.steps[name].shape for name in ("heads", "scores", "concat", "embedded") if name in runs.steps]
    others += [step.shape[1:], (*step.shape[:-1], step.shape[-1] + 1), (*step.shape[:-1], 2 * step.shape[-1])]
    wrong = [shape for shape in dict.fromkeys(others) if shape != step.shape and shape][:3]
    shapes = sorted([step.shape, *wrong])
    shared = runs.trace.config.group_size > 1
    said = filled(WORDS["shape"], shape=_times(step.shape), words=flow.shape_in_words(step, shared))
    return Asked(
        form="one",
        options=tuple(filled(_times(shape)) for shape in shapes),
        right=frozenset({shapes.index(step.shape)}),
        solution=(said,),
    )


def _rows_changed(runs: Runs, at: Mapping[str, Any]) -> Asked:
    step = runs.step(at.get("step", "weights"))
    apart = runs.compared(step.name, at)
    if "head" in at and step.axes[0].endswith("head"):
        apart = apart[runs.place(step, at, step.axes[:1])]
    most = apart.reshape(-1, *step.shape[-2:]).max(axis=(0, 2))
    tokens = runs.trace.key_tokens if step.axes[-2] == "key" else runs.trace.query_tokens
    rows = tuple(naming(tokens, place) for place in range(len(tokens)))
    right = np.flatnonzero(most > SAME).tolist()
    return Asked(form="some", options=rows, right=frozenset(right), solution=(_rows(rows, right, most),))


def _rows(rows: Sequence[Sentence], right: Sequence[int], most: np.ndarray) -> Sentence:
    """Which rows change, and by how much."""
    if not right:
        return filled(WORDS["no_row"])
    named = joined([rows[place] for place in right])
    words = "every_row" if len(right) == len(rows) else "one_row" if len(right) == 1 else "rows"
    return filled(WORDS[words], rows=named, row=rows[int(most.argmax())], change=rounded(float(most.max())))


def _true_or_false(runs: Runs, at: Mapping[str, Any]) -> Asked:
    says = need("says", at)
    if says not in PREDICATES:
        raise ValueError(PROBLEMS["says"].format(given=says, allowed=", ".join(PREDICATES)))
    _, holds, hides = PREDICATES[says]
    is_true, evidence = holds(runs, at)
    options = tuple(filled(WORDS[word]) for word in ("yes", "no"))
    said = filled(WORDS["holds" if is_true else "fails"])
    return Asked("one", options, frozenset({0 if is_true else 1}), solution=(said, evidence), hides=hides)


QUESTIONS: dict[str, Find] = {
    "highest_key": _highest_key,
    "weight": _weight,
    "number": _number,
    "sum": _sum,
    "size": _size,
    "shape": _shape,
    "rows_changed": _rows_changed,
    "true_or_false": _true_or_false,
}
"""The kinds of questions, by name; each finds its answer in a run."""


def _arithmetic(runs: Runs, step: str, at: Mapping[str, Any]) -> tuple[Line, ...]:
    """The lines of one cell that end in this step; none for a step that no cell passes."""
    head, query, key = (at.get(name, 1) - 1 for name in ("head", "query", "key"))
    if not {"scores", "weights"} <= set(runs.steps):
        return ()
    cell = follow(runs.trace, runs.layer, head, query, key)
    if step in ("queries", "keys", "values"):
        return tuple(line for line in cell.lines if line.step == step)
    for part in (cell.score, cell.weight, cell.output):
        ends = [place for place, line in enumerate(part) if line.step == step]
        if ends:
            return tuple(line for line in part[: ends[-1] + 1] if line.active or line.edited)
    return ()


def _times(shape: Sequence[int]) -> str:
    return " × ".join(map(str, shape))
