"""Questions about a run: every answer against one that is computed another way, for many seeds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import Config, Trace, attend, run
from attnviz.analysis.variance_and_sharing import unit_vectors
from attnviz.classroom import run_questions, slides
from attnviz.classroom.context.question_context import SAME
from attnviz.classroom.open_questions import steps_before
from attnviz.classroom.predicates import PREDICATES
from attnviz.classroom.question_kinds import ASK, QUESTIONS, resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.classroom.typed_numbers import read_number
from attnviz.engine.records.step_specs import STEPS
from attnviz.lessons import predicates
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Question, Slide
from attnviz.text.format.sentence_parts import plain, rounded_number
from tests.support.cases import for_each

CROSS = Config(sentence="a b c", second_sentence="x y z u v", n_heads=4, n_kv_heads=2, d_model=6, d_k=3, d_v=2)
CAUSAL = Config(sentence="a b c d e", n_heads=2, d_model=6, d_k=(3, 2), d_v=(2, 4), mask="causal", position="none")
SEEDS = range(60)
FEW_AND_ALL = pytest.mark.parametrize("seeds", [SEEDS[:12], pytest.param(SEEDS, marks=pytest.mark.slow)], ids=len)


def again(trace: Trace, h: int) -> Any:
    """The attention of one head from the run's input and its matrices alone; weights (nq, nk)."""
    config, g = trace.config, h // trace.config.group_size
    d = config.key_widths()[g]
    q = trace["embedded"].array @ trace["w_q"].array[h, :, :d]
    k = trace["embedded_kv"].array @ trace["w_k"].array[g, :, :d]
    v = trace["embedded_kv"].array @ trace["w_v"].array[g, :, : config.value_widths()[g]]
    return attend(q, k, v, causal="causal" in config.mask)


def ask(kind: str, trace: Trace, **at: Any) -> ResolvedQuestion:
    return resolve(Question(kind, "", at), trace)


@FEW_AND_ALL
@pytest.mark.parametrize(("config", "odd"), [(CROSS, 0), (CAUSAL, 1)], ids=["cross", "causal"])
def test_answers_equal_those_of_another_way(config: Config, odd: int, seeds: range) -> None:
    for seed in seeds[odd::2]:
        trace = run(replace(config, seed=seed))
        draw = np.random.default_rng(seed)
        h, i = int(draw.integers(config.n_heads)), int(draw.integers(len(trace.query_tokens)))
        j = int(draw.integers(len(trace.key_tokens) if config is CROSS else i + 1))
        one = again(trace, h)
        position = {"head": h + 1, "query": i + 1}
        assert ask("highest_key", trace, **position).right == {int(np.argmax(one.weights[i]))}
        assert ask("weight", trace, **position, key=j + 1).value == pytest.approx(one.weights[i, j], abs=1e-12)
        assert ask("number", trace, step="scores", **position, key=j + 1).value == pytest.approx(one.scores[i, j])
        assert ask("number", trace, step="heads", **position, column=2).value == pytest.approx(one.output[i, 1])
        assert ask("sum", trace, **position).value == pytest.approx(1)
        column = ask("sum", trace, head=h + 1, key=j + 1)
        assert column.value == pytest.approx(sum(row[j] for row in one.weights), abs=1e-12)


@FEW_AND_ALL
def test_changed_rows_and_predicates_for_any_seed(seeds: range) -> None:
    for seed in seeds:
        trace = run(replace(CAUSAL, seed=seed))
        position = seed % 5
        words = ["a", "b", "c", "d", "e"]
        words[position] = "other"
        found = ask("rows_changed", trace, change={"sentence": " ".join(words)})
        assert found.right == set(range(position, 5)) - ({0} if position == 0 else set())  # row 1 has one key: weight 1
        assert ask("rows_changed", trace, change={"seed": seed}).right == set()
        head = ask("rows_changed", trace, step="heads", head=2, change={"sentence": " ".join(words)})
        assert head.right == set(range(position, 5))
        S = again(trace, 1).scores
        assert ask("true_or_false", trace, says="symmetric", head=2).right == {0 if np.allclose(S, S.T) else 1}
        assert ask("true_or_false", trace, says="looks_ahead").right == {1}
        assert ask("true_or_false", trace, says="rows_sum_to_one").right == {0}
        assert ask("true_or_false", trace, says="columns_sum_to_one").right == {1}


def test_predicates_that_hold_and_that_do_not() -> None:
    tied, plain_run = run(replace(CAUSAL, tied=True, mask="none")), run(replace(CAUSAL, mask="none"))
    assert ask("true_or_false", tied, says="symmetric").right == {0}
    assert ask("true_or_false", plain_run, says="looks_ahead").right == {0}
    over = run(replace(CAUSAL, normalise_over="queries", mask="none"))
    assert ask("true_or_false", over, says="columns_sum_to_one").right == {0}
    assert ask("true_or_false", over, says="rows_sum_to_one").right == {1}
    same = {"step": "scores", "change": {"temperature": 2.0}}
    assert ask("true_or_false", tied, says="same", **same).right == {0}
    assert ask("true_or_false", tied, says="same", step="weights", change={"temperature": 2.0}).right == {1}
    oblong = ask("true_or_false", run(CROSS), says="symmetric")
    assert oblong.right == {1}
    assert "3 rows and 5 columns" in plain(oblong.solution[1])


def test_shapes_and_sizes() -> None:
    trace = run(CROSS)
    for step in ("scores", "weights", "heads", "queries", "keys", "w_q", "concat", "output", "embedded"):
        found = ask("shape", trace, step=step)
        texts = [plain(option) for option in found.options]
        (right,) = found.right
        assert texts[right] == " × ".join(map(str, trace[step].array.shape))
        assert len(set(texts)) == len(texts)
        assert 4 <= len(texts) <= 6
        assert ask("size", trace, step=step).value == np.prod(trace[step].array.shape)


def test_without_a_change_the_slide_is_compared_with_its_lesson() -> None:
    own, trace = run(CAUSAL), run(replace(CAUSAL, mask="none"))
    found = resolve(Question("rows_changed"), trace, own)
    assert found.right == {0, 1, 2, 3}
    assert "“e”" not in plain(found.solution[0])
    assert plain(resolve(Question("rows_changed"), own, own).solution[0]).startswith("No row changes")
    assert plain(ask("rows_changed", own, change={"seed": 3, "mask": "none"}).solution[0]).startswith("Every row")


def test_the_numbers_of_the_feedback() -> None:
    trace = run(CROSS)
    A = trace["weights"].array[3, 1]
    found = ask("highest_key", trace, head=4, query=2)
    assert f"{A.max():.4g}" in plain(found.solution[0])
    assert ", ".join(f"{weight:.4g}" for weight in A) in plain(found.solution[1])
    assert found.lines[-1].name == "weight"
    assert found.lines[-1].result == A.max()
    weight = ask("weight", trace, head=4, query=2, key=5)
    assert weight.lines[-1].result == A[4]
    assert f"{A[4]:.4g}" in plain(weight.solution[0])
    assert [line.name for line in ask("number", trace, step="scores", query=1, key=1).lines] == ["products", "score"]
    assert ask("number", trace, step="heads", query=1, column=1).lines[-1].name == "output"
    assert [line.name for line in ask("number", trace, step="keys", key=2, column=3, head=3).lines] == ["key"]
    assert ask("sum", trace, key=2).lines[0].result == pytest.approx(trace["weights"].array[0, :, 1].sum())
    assert ask("number", trace, step="embedded", query=1, column=6).lines == ()


def test_keys_and_values_are_counted_by_the_heads_that_share_them() -> None:
    trace = run(CROSS)
    found = ask("number", trace, step="values", head=4, key=5, column=2)
    assert found.value == trace["values"].array[1, 4, 1]


def test_what_is_right_and_what_is_refused() -> None:
    number = ResolvedQuestion("number", value=0.25, tolerance=0.01)
    assert number.is_right(0.26)
    assert number.is_right(0.24)
    assert not number.is_right(0.2601)
    assert (number.feedback(0.2), number.feedback(0.3)) == (
        "Not quite.",
        "Not quite.",
    )
    assert not number.is_right((0,))
    one = ResolvedQuestion("one", right=frozenset({1, 2}))
    assert one.is_right((1,))
    assert one.is_right((2,))
    assert not one.is_right((0,))
    assert not one.is_right((1, 2))
    some = ResolvedQuestion("some", right=frozenset({1, 2}))
    assert some.is_right((2, 1))
    assert not some.is_right((1,))
    assert not some.is_right(())
    assert (some.feedback((1,)), some.feedback((1, 2))) == ("Not quite.", "Right.")
    assert ResolvedQuestion("some").is_right(())


def test_equal_weights_are_all_right() -> None:
    found = ask("highest_key", run(replace(CROSS, scale=0.0)), query=1)
    assert found.right == {0, 1, 2, 3, 4}


@for_each("text, number", [("1e-3", 0.001), ("−2", -2.0), ("nan", None), ("inf", None), ("", None)])
def test_a_typed_number(text: str, number: float | None) -> None:
    assert read_number(text) == number


@for_each(
    "question, words",
    [
        (Question("guess"), "no question called 'guess'; choose from highest_key"),
        (Question("weight", "", {"query": 1}), "needs 'key'"),
        (Question("weight", "", {"query": 4, "key": 1}), "query is 4; weights has 1 to 3 there"),
        (Question("weight", "", {"query": 0, "key": 1}), "query is 0"),
        (Question("highest_key", "", {"query": 1, "head": 5}), "head is 5; weights has 1 to 4"),
        (Question("highest_key", "", {"query": 1, "layer": 2}), "layer is 2; this run has 1 to 1"),
        (Question("number", "", {"step": "nothing"}), "no step 'nothing'"),
        (Question("rows_changed"), "needs `change`"),
        (Question("rows_changed", "", {"change": {"n_heads": 2}}), "different shapes"),
        (Question("true_or_false", "", {"says": "so"}), "nothing called 'so'"),
    ],
)
def test_a_question_without_an_answer_is_refused(question: Question, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        resolve(question, run(CROSS))


def test_a_row_that_is_empty_or_a_number_that_is_infinite_is_not_asked_for() -> None:
    trace = run(replace(CAUSAL, mask=("custom",), custom_cells="2: 1"))
    with pytest.raises(ValueError, match="no weight"):
        ask("highest_key", trace, query=1)
    with pytest.raises(ValueError, match="not finite"):
        ask("number", trace, step="masked", query=1, key=1)


def test_words_name_tokens_as_tokens() -> None:
    trace = run(Config(sentence="<b> {x} $y$", tokeniser="whitespace", n_heads=3))
    found = ask("weight", trace, query=1, key=2, head=3)
    assert ("token", "<b>") in found.words
    assert ("token", "{x}") in found.words
    assert plain(found.words) == "Head 3: what is the weight that “<b>” gives “{x}”?"
    for kind in QUESTIONS:
        assert kind in ASK or {f"{kind}_{field}" for field in run_questions.FIELDS} <= {*ASK}


EVERY = [
    pytest.param(name, position, id=f"{name}-{position + 1}")
    for name, lesson in LESSONS.items()
    for position, slide in enumerate(lesson.slides)
    if slide.question
]


@for_each("name, n", EVERY)
@pytest.mark.slow
def test_every_question_of_every_lesson_has_an_answer_that_its_slide_does_not_give_away(name: str, n: int) -> None:
    lesson = LESSONS[name]
    slide: Slide = lesson.slides[n]
    assert slide.question is not None
    found = resolve(slide.question, run(lesson.on(slide)), run(lesson.config))
    assert found.is_right(
        found.value if found.form == "number" else tuple(found.right)[: None if found.form == "some" else 1]
    )
    assert found.words
    assert found.solution
    order = list(STEPS)
    for step in (*slides.named_steps(slide.text), *steps_before(slide.steps, found.hides)):
        assert found.hides
        assert order.index(step) < order.index(found.hides)
    if found.form == "number" and abs(found.value - round(found.value)) > 1e-9:
        assert slides.format_number(found.value) not in slide.text + slide.question.ask


def looked_up(question: Question, trace: Trace, baseline: Trace) -> Any:
    """The answer as read off the run by hand; None for what the run is merely asked."""
    at, steps = question.at, trace.layers[question.at.get("layer", 1) - 1]
    step = steps.get(at.get("step", "weights")) or trace[at["step"]]
    head, query, key = (at.get(name, 1) - 1 for name in ("head", "query", "key"))
    by_head = step.array if step.axes[0].endswith("head") else step.array[None]
    match question.kind:
        case "highest_key":
            return sorted(range(len(trace.key_tokens)), key=lambda j: -step.array[head, query, j])[0]
        case "weight":
            return step.array[head, query, key]
        case "sum":
            return sum(by_head[head, query, :] if "query" in at else by_head[head, :, key])
        case "size":
            return len(step.array.ravel())
        case "shape":
            return " × ".join(str(n) for n in step.array.shape)
        case "rows_changed":
            other = run(replace(trace.config, **at["change"])) if "change" in at else baseline
            ours, others = (np.moveaxis(of[step.name].array, -2, 0) for of in (trace, other))
            more = [(0, 0)] * (others.ndim - 1) + [(0, ours.shape[-1] - others.shape[-1])]
            known = np.pad(others, more)  # a key that a shorter sentence lacks gets nothing
            return {i for i, one in enumerate(ours) if i >= len(known) or np.abs(one - known[i]).max() > 1e-9}
        case "spread" | "largest_weight":
            return measured(question, trace)
    return None


def measured(question: Question, trace: Trace) -> float:
    """The spread of the scores, or the mean largest weight, from queries and keys alone."""
    at, config = question.at, trace.config
    d_k = at.get("d_k", config.d_k)
    Q, K = unit_vectors(trace, 0, d_k) if "d_k" in at else (trace["queries"].array, trace["keys"].array)
    divisor = {"root": d_k**0.5, "width": d_k, "one": 1}[at["divisor"]] if "divisor" in at else 1
    if "d_k" not in at:
        divisor = d_k**0.5 if config.score == "scaled_dot" else 1 / (config.scale or 1)
    S = np.array([[[sum(q * k) / divisor for k in keys] for q in queries] for queries, keys in zip(Q, K)])
    E = np.exp(S)
    largest = (E / E.sum(axis=-1, keepdims=True)).max(axis=-1)
    return float(np.sqrt(((S - S.mean()) ** 2).mean()) if question.kind == "spread" else largest.mean())


@FEW_AND_ALL
def test_the_questions_of_the_lessons_with_other_numbers_for_any_seed(seeds: range) -> None:
    checked = 0
    for seed in seeds:
        lesson = LESSONS[EVERY[seed % len(EVERY)].values[0]]
        slide = lesson.slides[EVERY[seed % len(EVERY)].values[1]]
        assert slide.question is not None
        if slide.change.get("d_model", 0) > 64 and seed > len(EVERY):
            continue
        trace, own = run(lesson.on(slide, seed)), run(replace(lesson.config, seed=seed))
        found, expected = resolve(slide.question, trace, own), looked_up(slide.question, trace, own)
        checked += expected is not None
        if isinstance(expected, str):
            assert plain(found.options[min(found.right)]) == expected
        elif isinstance(expected, set) and "head" not in slide.question.at:
            assert found.right == expected
        elif isinstance(expected, int) and found.form == "one":
            assert expected in found.right
        elif found.form == "number" and expected is not None:
            assert found.value == pytest.approx(expected, abs=1e-12)
    assert checked > len(seeds) / 2


@for_each("says", PREDICATES)
def test_a_question_is_asked_of_every_predicate_in_words(says: str) -> None:
    asking = {slide.question.at.get("says") for lesson in LESSONS.values() for slide in lesson.slides if slide.question}
    assert PREDICATES[says][0] or says in asking


@for_each("says", predicates.PREDICATES)
def test_what_a_lesson_asks_of_a_run_is_answered_with_what_was_measured(says: str) -> None:
    for lesson in LESSONS.values():
        for slide in lesson.slides:
            if slide.question and slide.question.at.get("says") == says:
                trace = run(lesson.on(slide))
                solution = " ".join(map(plain, resolve(slide.question, trace, run(lesson.config)).solution))
                for number in predicates.PREDICATES[says].measure(trace).values():
                    assert rounded_number(number if number > SAME else 0.0) in solution
                return
    pytest.fail(f"no lesson asks {says}")
