"""Questions about a run: what can be answered, what is right, and the arithmetic that shows it.

Every answer is computed from the run. Until it is shown, nothing of it leaves this file but the options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.analysis import rounding
from attnviz.arithmetic.cell import derive
from attnviz.arithmetic.notation.derivation import ArithmeticLine
from attnviz.arithmetic.notation.latex_numbers import NumberFormat, aligned, chain
from attnviz.classroom import (
    changed_rows,
    known_mistakes,
    next_word_questions,
    run_questions,
    score_variance,
)
from attnviz.classroom.context.question_context import SAME, QuestionContext, required
from attnviz.classroom.open_questions import covered, inputs_of, shape_inputs
from attnviz.classroom.predicates import PREDICATES, SHOWS
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.classroom.slides import format_number
from attnviz.classroom.wrong_choices import keys, shapes, verdicts
from attnviz.engine.records.trace import Trace
from attnviz.lessons.lesson import Question
from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.faults import cut, shorten
from attnviz.settings.language import Words, sign, translate
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.format.number_format import grouped
from attnviz.text.format.sentence_parts import (
    Sentence,
    braced,
    fill,
    fill_typed,
    name_token,
    rounded_number,
    within_sentence,
)

TOLERANCE = 0.005
"""Half of the last digit that pictures print: a number that is read off a picture is right."""

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
        "sum_title": "The sum",
        "sum_row": "The numbers of the row added up.",
        "sum_column": "The numbers of the column added up.",
    }
)
ASK = Words(
    {
        "highest_key": "Head {head}: which key does {query} attend to most?",
        "weight": "Head {head}: what is the weight that {query} gives {key}?",
        "number": "What is this number of “{step}”?",
        "sum": "Head {head}: what do the numbers of {line} add up to?",
        "size": "How many numbers are in “{step}”?",
        "shape": "What is the shape of “{step}”?",
        "rows_changed": "Which rows of “{step}” change?",
        "true_or_false": "{says}",
        "own_words": "Explain it in your own words.",
        "spread": "What is the standard deviation of the scores?",
        "largest_weight": "How large is the largest weight of a row, on average?",
        "next_word": "Which of these words does the model give the largest share as the next one?",
        "times_as_likely": "How many times as likely is the first word as the second?",
        "head_owed": "Without which head is most of the difference lost?",
        "order": "Head {head}: put the keys in order of the weight that {query} gives them, the largest first. Keys "
        "without weight stay out.",
        "cell": "Head {head}: which cell holds the weight that {query} gives {key}?",
        "cell_query": "Head {head}: which cell holds the largest weight that {query} gives any key?",
        "cell_key": "Head {head}: which cell holds the largest weight that {key} gets from any query?",
        "cell_any": "Head {head}: which cell holds the largest weight of all?",
        "mask": "Draw the mask “{mask}”.",
        "slider_temperature": "Set the temperature so that the weight {query} gives {key} is {weight}, within "
        "±{tolerance}.",
        "slider_scale": "Set the scale, which multiplies every score, so that the weight {query} gives {key} is "
        "{weight}, within ±{tolerance}.",
    }
)
LINE = Words({"query": "the row of {token}", "key": "the column of {token}"})
PROBLEMS = Words(
    {
        "kind": "there is no question called {given}; choose from {allowed}",
        "says": "there is nothing called {given} to say yes or no to; choose from {allowed}",
        "nothing": "the row has no weight, so no key has the largest",
        "infinite": "the number of {step} asked for is not finite, so nobody can type it",
    }
)

Find = Callable[[QuestionContext, Mapping[str, Any]], ResolvedQuestion]


def resolve(
    question: Question, trace: Trace, baseline: Trace | None = None, *, worked: bool = True
) -> ResolvedQuestion:
    """Return the question in this run; `baseline` is the run of the lesson's own setting, where the slide has another.

    worked  whether the arithmetic is written out; marking does without

    Raises ValueError for a question that this run has no answer to.
    """
    if question.kind not in QUESTIONS:
        raise ValueError(PROBLEMS["kind"].format(given=shorten(question.kind), allowed=", ".join(QUESTIONS)))
    at, runs = question.at, QuestionContext(trace, baseline, index_of(question.at.get("layer", 1)), worked)
    resolved = QUESTIONS[question.kind](runs, at)
    named = _named(runs, at)
    if question.kind in run_questions.QUESTIONS:
        named |= run_questions.named(trace, at, resolved)
    ask = question.ask or ASK[run_questions.name_of_ask(question)]
    words = fill_typed(question.ask, named) if question.is_typed else fill(ask, **named)
    unfilled = tuple(name for name in braced(question.ask) if question.is_typed and name not in named)
    names = tuple(name for name in named if name not in ("change", "prompt"))
    return replace(resolved, words=words, why=question.why, unfilled=unfilled, names=names)


def _named(runs: QuestionContext, at: Mapping[str, Any]) -> dict[str, str | Sentence]:
    """Return the values that the words of a question may name."""
    named: dict[str, str | Sentence] = {"head": "1", "layer": "1"}
    named |= {name: cut(str(value), 80) for name, value in at.items()}
    for axis, tokens in (("query", runs.trace.query_tokens), ("key", runs.trace.key_tokens)):
        if axis in at:
            named[axis] = name_token(tokens, index_of(at[axis]))
            named["line"] = fill(LINE[axis], token=named[axis])
    step = runs.steps.get(at.get("step", "weights"))
    if step is not None:
        named["step"] = f"{within_sentence(NAMES[step.name])} {step_names.plain(step.symbol)}"
    if at.get("says") in PREDICATES:
        named["says"] = fill(translate(PREDICATES[at["says"]][0]), **{"step": "", **named})
    return named


def _highest_key(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    step = runs.step("weights")
    head, query = runs.index(step, at, ("head", "query"))
    row = step.array[head, query]
    if not row.any():
        raise ValueError(PROBLEMS["nothing"])
    tokens, best = runs.trace.key_tokens, int(row.argmax())
    right = frozenset(np.flatnonzero(row >= row[best] - SAME).tolist())
    solution = fill(WORDS["highest"], key=name_token(tokens, best), weight=rounded_number(row[best]))
    weights = sign(", ").join(rounded_number(weight) for weight in row)
    return ResolvedQuestion(
        form="one",
        options=tuple(name_token(tokens, position) for position in range(len(tokens))),
        right=right,
        solution=(solution, fill(WORDS["all"], weights=weights)),
        lines=_arithmetic(runs, "weights", {**at, "key": ordinal(best)}),
        axis=step.axes[-1],
        hides="weights",
        how="read" if at.get("read") else "highest_key",
        inputs=inputs_of(runs, "weights"),
        covered=covered(runs, step, (head, query)),
        said_of=keys.said(runs, (head, query), right).get,
    )


def _number(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    step = runs.step(required("step", at))
    position = runs.index(step, at, step.axes)
    value = float(step.array[position])
    if not np.isfinite(value):
        raise ValueError(PROBLEMS["infinite"].format(step=step.name))
    return ResolvedQuestion(
        form="number",
        value=value,
        tolerance=at.get("tolerance", TOLERANCE),
        solution=(fill(WORDS["number"], value=format_number(runs.cleared(step)[position])),),
        lines=_arithmetic(runs, step.name, at),
        hides=step.name,
        inputs=inputs_of(runs, step.name),
        covered=covered(runs, step, position),
        mistakes=known_mistakes.of_number(runs, step, position),
        how=known_mistakes.how(runs, step.name),
    )


def _weight(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    return _number(runs, {**at, "step": "weights"})


def _sum(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    step = runs.step(at.get("step", "weights"))
    axis = "query" if "query" in at else "key"
    fixed = tuple(name for name in step.axes if name.endswith("head") or name == axis)
    position = dict(zip(fixed, runs.index(step, at, fixed)))
    index = tuple(position.get(name, slice(None)) for name in step.axes)
    numbers = step.array[index]
    total, fmt = float(numbers.sum()), NumberFormat(4)
    off = 0.0 if all(float(number).is_integer() for number in numbers) else TOLERANCE
    if not np.isfinite(total):
        raise ValueError(PROBLEMS["infinite"].format(step=step.name))
    latex = aligned(chain(r"\Sigma", [fmt.total(numbers), fmt.number(total)]))
    words = WORDS["sum_row" if axis == "query" else "sum_column"]
    line = ArithmeticLine(
        "sum", WORDS["sum_title"], words, {"numbers": numbers}, np.array(total), np.array(total), latex
    )
    return ResolvedQuestion(
        form="number",
        value=total,
        tolerance=at.get("tolerance", max(TOLERANCE, off * numbers.size)),
        solution=(fill(WORDS["number"], value=format_number(rounding.total(runs.trace, runs.layer, step, index))),),
        lines=(line,),
        hides=step.name,
        inputs=(step.name,),
        mistakes=known_mistakes.of_sum(numbers, known_mistakes.across(step, position), total),
        how="sum",
    )


def _size(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    step = runs.step(required("step", at))
    value = float(step.array.size)
    solution = fill(WORDS["size"], shape=" × ".join(map(str, step.shape)), value=grouped(step.array.size))
    return ResolvedQuestion(
        form="number",
        value=value,
        solution=(solution,),
        inputs=shape_inputs(runs, step.name),
        mistakes=known_mistakes.of_size(step, runs.own_step(step.name), runs.trace.config.group_size),
        how="size",
    )


def _shape(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    """Return the shape among others that this run has, or would have with two axes swapped; smallest first."""
    step = runs.step(required("step", at))
    wrong = shapes.wrong(runs, step)
    usual = sorted([step.shape, *list(wrong)[:3]])
    offered = [*usual, *list(wrong)[3:]]
    shared = runs.trace.config.group_size > 1
    solution = fill(WORDS["shape"], shape=_times(step.shape), words=step_names.shape_in_words(step, shared)[1:-1])
    return ResolvedQuestion(
        form="one",
        options=tuple(fill(_times(shape)) for shape in offered),
        right=frozenset({offered.index(step.shape)}),
        solution=(solution,),
        said_of={frozenset({offered.index(shape)}): said for shape, said in wrong.items()}.get,
        how="shape",
        inputs=shape_inputs(runs, step.name),
    )


def _true_or_false(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    if (says := required("says", at)) not in PREDICATES:
        raise ValueError(PROBLEMS["says"].format(given=shorten(says), allowed=", ".join(PREDICATES)))
    _, holds, hides = PREDICATES[says]
    inputs = tuple(name for name in SHOWS.get(says, ()) if name in runs.steps)
    is_true, evidence = holds(runs, at)
    options = tuple(fill(WORDS[word]) for word in ("yes", "no"))
    solution = fill(WORDS["holds" if is_true else "fails"])
    return ResolvedQuestion(
        form="one",
        options=options,
        right=frozenset({0 if is_true else 1}),
        solution=(solution, evidence),
        hides=hides,
        inputs=inputs,
        how=says,
        said_of=lambda _: verdicts.wrong(runs, at, is_true).said,
    )


def _own_words(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    """Return a question that a person judges."""
    return ResolvedQuestion(form="text")


QUESTIONS: dict[str, Find] = {
    "highest_key": _highest_key,
    "weight": _weight,
    "number": _number,
    "sum": _sum,
    "size": _size,
    "shape": _shape,
    "rows_changed": changed_rows.question,
    "true_or_false": _true_or_false,
    "own_words": _own_words,
    **{name: score_variance.question(name) for name in score_variance.MEASURES},
    **next_word_questions.QUESTIONS,
    **run_questions.QUESTIONS,
}
"""The kinds of questions, by name; each finds its answer in a run."""


def _arithmetic(runs: QuestionContext, step: str, at: Mapping[str, Any]) -> tuple[ArithmeticLine, ...]:
    """Return the lines of one cell that end in this step; none for a step that no cell passes."""
    head, query, key = (index_of(at.get(name, 1)) for name in ("head", "query", "key"))
    if not runs.worked or not {"scores", "weights"} <= set(runs.steps):
        return ()
    cell = derive(runs.trace, runs.layer, head, query, key)
    if step in ("queries", "keys", "values"):
        return tuple(line for line in cell.lines if line.step == step)
    for part in (cell.score, cell.weight, cell.output):
        ends = [position for position, line in enumerate(part) if line.step == step]
        if ends:
            return tuple(line for line in part[: ends[-1] + 1] if line.active or line.edited)
    return ()


def _times(shape: Sequence[int]) -> str:
    return " × ".join(map(str, shape))
