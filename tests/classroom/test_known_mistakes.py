"""A wrong number is told from the step that went wrong, computed here in another way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.classroom.predicates import PREDICATES
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import HINTS, HOW, Mistake, ResolvedQuestion
from attnviz.classroom.wrong_choices import KEYS, ROWS, SHAPES
from attnviz.engine.records.trace import Trace
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Question
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.format.sentence_parts import plain, within_sentence
from tests.support.cases import for_each

CONFIG = Config(sentence="one two three four five", n_heads=2, d_k=3, d_v=2, d_model=6, mask="causal", seed=2)
TRACE = run(CONFIG)
Q, K, V = (TRACE[name].array[1] for name in ("queries", "keys", "values"))
S = np.array([[sum(a * b for a, b in zip(q, k)) for k in K] for q in Q])
E = np.exp(S / np.sqrt(3)) * np.tri(5)
A = E / E.sum(axis=1, keepdims=True)


def question(kind: str, **at: Any) -> ResolvedQuestion:
    return resolve(Question(kind, "", {"head": 2, **at}), TRACE)


def hint(resolved: ResolvedQuestion, answer: float | tuple[int, ...]) -> str:
    message = resolved.feedback(answer)
    assert message.startswith("Not quite. ")
    return message.removeprefix("Not quite. ")


WEIGHT = question("weight", query=4, key=2)
UNSCALED = np.exp(S) * np.tri(5)
WRONG_WEIGHTS = {
    "scale": (UNSCALED / UNSCALED.sum(axis=1, keepdims=True))[3, 1],
    "columns": (E / E.sum(axis=0))[3, 1],
    "mask": (np.exp(S / np.sqrt(3)) / np.exp(S / np.sqrt(3)).sum(axis=1, keepdims=True))[3, 1],
    "no_softmax": S[3, 1] / np.sqrt(3),
    "no_sum": np.exp(S[3, 1] / np.sqrt(3)),
}


@for_each("name", WRONG_WEIGHTS)
def test_a_wrong_weight_says_which_step_went_wrong(name: str) -> None:
    assert WEIGHT.value == pytest.approx(A[3, 1])
    assert hint(WEIGHT, float(WRONG_WEIGHTS[name])) == HINTS[name]


def test_row_for_column_and_a_sign_are_told() -> None:
    score = question("number", step="scores", query=4, key=2)
    assert hint(score, S[1, 3]) == HINTS["transposed"]
    assert hint(score, -S[3, 1]) == HINTS["sign"]
    assert hint(score, S[3, 1] / np.sqrt(3)) == HINTS["scaled_already"]
    scaled = question("number", step="scaled", query=4, key=2)
    assert hint(scaled, S[3, 1]) == HINTS["scale"]
    assert hint(scaled, S[3, 1] / 3) == HINTS["by_width"]


def test_outputs_sums_and_sizes_have_their_own() -> None:
    output = question("number", step="heads", query=3, column=1)
    assert hint(output, V[:, 0].mean()) == HINTS["unweighted"]
    assert hint(output, A[:, 2] @ V[:, 0]) == HINTS["columns_of_weights"]
    column = question("sum", key=2)
    assert hint(column, 1.0) == HINTS["crossed"]
    assert hint(column, A[:, 1].mean()) == HINTS["mean"]
    size = question("size", step="scores")
    assert hint(size, 25.0) == HINTS["one_head"]
    assert hint(size, 10.0) == HINTS["sides"]


def test_any_other_wrong_number_is_told_how_to_begin_and_not_where_it_lies() -> None:
    for given in (17.3, -17.3):
        assert hint(WEIGHT, given) == HOW["weights"]
    assert ResolvedQuestion("number", value=1.0).feedback(2.0) == "Not quite."


def test_a_mistake_that_leads_to_the_right_number_is_none() -> None:
    found = ResolvedQuestion(
        "number", value=0.5, tolerance=0.05, mistakes=(Mistake("scale", 0.54), Mistake("sign", 0.7))
    )
    assert found.feedback(0.54) == "Right."
    assert found.feedback(0.56) == "Not quite."
    assert hint(found, 0.7) == HINTS["sign"]


@pytest.mark.slow
def test_for_any_seed_no_mistake_is_what_is_right() -> None:
    for seed in range(40):
        trace = run(Config(sentence="a b c d", second_sentence="x y z", n_heads=2, n_kv_heads=1, seed=seed))
        for step, axis in (("weights", "key"), ("scores", "key"), ("heads", "column"), ("queries", "column")):
            found = resolve(Question("number", "", {"step": step, "query": 2, axis: 3}), trace)
            assert found.feedback(found.value) == "Right."
            for each in found.mistakes:
                assert each.name in HINTS
                assert found.is_right(each.value) == (found.feedback(each.value) == "Right.")


def test_wrong_rows_are_told_without_the_right_ones() -> None:
    changed = question("rows_changed", change={"mask": "none"})
    assert changed.right == {0, 1, 2, 3}
    given = {(): "none", (0, 1): "missing", (0, 1, 4): "both", (0, 1, 2, 3, 4): "all"}
    assert {chosen: hint(changed, chosen) for chosen in given} == {chosen: ROWS[name] for chosen, name in given.items()}
    later = question("rows_changed", change={"mask": ("causal", "window")})
    assert hint(later, tuple({*range(5)} - {*later.right})[:1]) == ROWS["both"]
    assert hint(later, (*later.right, min({*range(5)} - {*later.right}))) == ROWS["too_many"]


def test_a_wrong_yes_or_no_is_told_where_to_look() -> None:
    assert set(PREDICATES) <= set(HOW)
    for says in ("symmetric", "rows_sum_to_one", "looks_ahead"):
        found = question("true_or_false", says=says)
        (wrong,) = {0, 1} - found.right
        assert hint(found, (wrong,)) == HOW[says]
        assert found.feedback(tuple(found.right)) == "Right."


def test_a_mask_that_was_left_out_is_told_from_a_softmax_down_the_column() -> None:
    padding = LESSONS["padding"]
    found = resolve(padding.slides[1].question, run(padding.on(padding.slides[1])), run(padding.config))
    assert found.feedback(0.2) == f"Not quite. {HINTS['mask']}"


@pytest.mark.slow
def test_every_wrong_option_of_every_choice_is_told_the_rule_that_leads_to_it() -> None:
    """What is said of an option is true of it, by loops over the numbers; no lesson says one thing of all."""
    told = set[str]()
    for lesson in LESSONS.values():
        for slide in lesson.slides:
            if slide.question and slide.question.kind in ("highest_key", "shape"):
                told |= _told(slide.question, run(lesson.on(slide)))
    for seed in range(90):
        mask, bias = (("none", "causal", "no_self")[seed % 3], ("none", "alibi", "linear")[seed % 5 % 3])
        n_heads, d_model, width = ((3, 6, 3), (1, 5, 5))[seed % 2]
        widths = {"n_heads": n_heads, "d_model": d_model, "d_k": width, "d_v": width}
        config = Config(sentence="a b c d e", mask=mask, bias=bias, seed=seed, **widths)
        trace = run(config)
        for step in ("scores", "queries", "concat", "w_q", "heads"):
            told |= _told(Question("shape", "", {"step": step}), trace)
        told |= _told(Question("highest_key", "", {"head": 1 + seed % config.n_heads, "query": 2 + seed % 4}), trace)
    assert told == {*SHAPES, *KEYS}  # each rule is met


def _told(asked: Question, trace: Trace) -> set[str]:
    """Return the names of the rules that the wrong options are told, each found to hold."""
    found = resolve(asked, trace)
    holds = _key_rules if asked.kind == "highest_key" else _shape_rules
    told = set()
    for option in {*range(len(found.options))} - found.right:
        rules = holds(asked, trace, found, option)
        said = hint(found, (option,))
        assert said in rules.values(), (said, rules)
        told.add(next(name for name, words in rules.items() if words == said).split()[0])
    return told


def _shape_rules(asked: Question, trace: Trace, found: ResolvedQuestion, option: int) -> dict[str, str]:
    steps = trace.layers[0]
    wrong = tuple(int(n) for n in plain(found.options[option]).split(" × "))
    right = steps[asked.at["step"]].shape
    rules = {
        "swapped": wrong[::-1][:2] == right[-2:] and wrong[:-2] == right[:-2],
        "no_heads": len(right) == 3 and wrong == right[1:],
        "less": len(right) == 2 and wrong == right[1:],
        "one_more": wrong == (*right[:-1], right[-1] + 1),
        "doubled": wrong == (*right[:-1], right[-1] * 2),
    }
    said = {name: SHAPES[name].format(n=len(right)) for name, holds in rules.items() if holds}
    around = {**steps, "embedded": trace["embedded"]}
    for name in ("heads", "scores", "concat", "embedded"):
        if around[name].shape == wrong:
            words = f"{within_sentence(NAMES[name])} {step_names.plain(around[name].symbol)}"
            said[f"step {name}"] = SHAPES["step"].format(step=words)
    return said


def _key_rules(asked: Question, trace: Trace, found: ResolvedQuestion, option: int) -> dict[str, str]:
    head, query = asked.at.get("head", 1) - 1, asked.at["query"] - 1
    layer = trace.layers[asked.at.get("layer", 1) - 1]
    A, masked, capped = (layer[name].array for name in ("weights", "masked", "capped"))
    n_heads, n, m = A.shape
    allowed = [j for j in range(m) if masked[head, query, j] > -np.inf]
    rules = {"forbidden": KEYS["forbidden"]} if option not in allowed else {}
    if query < m and option < n and all(A[head, option, query] > A[head, i, query] for i in range(n) if i != option):
        rules["column"] = KEYS["column"]
    for h in range(n_heads):
        if h != head and all(A[h, query, option] > A[h, query, j] for j in range(m) if j != option):
            rules[f"head {h}"] = KEYS["head"].format(head=h + 1)
    for i in range(n):
        if i != query and all(A[head, i, option] > A[head, i, j] for j in range(m) if j != option):
            rules[f"row {i}"] = KEYS["row"].format(row=i + 1)
    if option in allowed and all(capped[head, query, option] > capped[head, query, j] for j in allowed if j != option):
        rules["unbiased"] = KEYS["unbiased"]
    if option in allowed and all(A[head, query, option] < A[head, query, j] for j in allowed if j != option):
        rules["smallest"] = KEYS["smallest"]
    if option in allowed and any(A[head, query, option] < A[head, query, j] for j in allowed):
        rules["smaller"] = KEYS["smaller"]
    return rules


@for_each("name", LESSONS)
@pytest.mark.slow
def test_every_wrong_answer_gets_a_hint(name: str) -> None:
    lesson = LESSONS[name]
    own = run(lesson.config)
    for slide in (slide for slide in lesson.slides if slide.question):
        found = resolve(slide.question, run(lesson.on(slide)), own)
        options = frozenset(range(len(found.options)))
        given = found.value + 99 if found.form == "number" else options - found.right if found.right else options
        assert len(found.feedback(given)) > len("Not quite. "), slide.text
