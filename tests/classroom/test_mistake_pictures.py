"""The picture of a mistake: its framed cell is the number that was answered, and what is asked for is not in it."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.classroom.context.hints import HINTS
from attnviz.classroom.context.question_context import QuestionContext
from attnviz.classroom.practice.deals import deal
from attnviz.classroom.practice.mistake_pictures import IN_WORDS, picture
from attnviz.classroom.practice.record import Asked
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.wrong_choices import keys
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Question
from attnviz.pictures.stage_record import Stage
from tests.support.cases import for_each

SEEN = {"scale", "mask", "columns", "no_softmax", "no_sum", "transposed", "columns_of_weights"}


def framed(stage: Stage) -> list[float]:
    return [float(stage.array[cell]) for cell in stage.edited]


def test_the_framed_number_of_a_known_mistake_is_the_one_that_was_answered() -> None:
    names = set()
    for kind in ("weight", "number"):
        for level in (1, 2, 3, 4):
            for number in range(6):
                dealt = deal(Asked(kind, level, number))
                question = dealt.slide.question
                assert question is not None
                for mistake in dealt.question.mistakes:
                    known = dealt.question.known(mistake.value)
                    stage = picture(question, dealt.question, dealt.trace, mistake.value)
                    if known is None or stage is None:
                        continue
                    if known.name not in LINE_OF:
                        assert framed(stage) == [pytest.approx(known.value, abs=1e-9)]
                        assert not dealt.question.is_right(framed(stage)[0])
                    assert min(stage.array.shape[1:]) == 1
                    names.add(known.name)
    assert names >= SEEN


LINE_OF = {"columns_of_weights", "unweighted", "crossed"}
"""Mistakes seen in a whole line, from which the number that was answered was worked out."""

OTHERS = [
    ("scores", {"head": 1, "query": 2, "key": 3}, {}),
    ("scaled", {"head": 1, "query": 2, "key": 3}, {}),
    ("heads", {"head": 3, "query": 2, "column": 2}, {"n_heads": 4, "n_kv_heads": 2, "d_v": 3}),
    ("added", {"query": 2, "column": 3}, {"residual": True}),
    ("normed", {"query": 2, "column": 3}, {"norm": "rms", "residual": True}),
    ("positions", {"query": 2, "column": 3}, {"position": "sinusoidal"}),
    ("positions", {"query": 2, "column": 4}, {"position": "sinusoidal"}),
]


def test_every_known_mistake_has_a_picture_or_is_said_in_words_alone() -> None:
    names = set()
    for step, at, changes in OTHERS:
        trace = run(Config(**{"sentence": "one two three four", "d_model": 6, "n_heads": 1, "mask": "none", **changes}))
        question = Question("number", at={"step": step, **at})
        resolved = resolve(question, trace)
        for mistake in resolved.mistakes:
            known = resolved.known(mistake.value)
            stage = picture(question, resolved, trace, mistake.value)
            if known is None:  # too near to the right number to be told from it
                continue
            assert (stage is None) == (known.name in IN_WORDS), known.name
            if stage is None:
                continue
            if known.name == "unweighted":
                assert known.value in (pytest.approx(stage.array.sum()), pytest.approx(stage.array.mean()))
            elif known.name not in LINE_OF:
                assert framed(stage) == [pytest.approx(known.value, abs=1e-9)]
            names.add(known.name)
    for axis in ("query", "key"):
        trace = run(Config(sentence="one two three four", n_heads=2, mask="causal"))
        question = Question("sum", at={axis: 3, "head": 2, "step": "scaled"})
        resolved = resolve(question, trace)
        crossed = next(each for each in resolved.mistakes if each.name == "crossed")
        stage = picture(question, resolved, trace, crossed.value)
        assert stage is not None
        assert float(stage.array.sum()) == pytest.approx(crossed.value)
        names.add("crossed")
    assert {*HINTS} == SEEN | {*WRITTEN} | names | {*IN_WORDS}


WRITTEN = {"left_out": 2, "divided_again": 3}
"""Mistakes in a row that was written into, with the slides of why_minus_infinity where they are made."""


@for_each("name", WRITTEN)
def test_a_row_that_was_written_into_is_seen_as_it_was_taken(name: str) -> None:
    """Answer 1 there is no score: it is what the first word gets if the others are out of the sum, or divided away."""
    lesson = LESSONS["why_minus_infinity"]
    slide = lesson.slides[WRITTEN[name] - 1]
    trace = run(lesson.on(slide))
    assert slide.question is not None
    resolved = resolve(slide.question, trace, run(lesson.config))
    assert resolved.feedback(1.0) == f"Not quite. {HINTS[name]}"
    stage = picture(slide.question, resolved, trace, 1.0)
    assert stage is not None
    assert framed(stage) == [1.0]
    np.testing.assert_allclose(stage.array[0, 0], [1, 0, 0, 0])


def test_a_wrong_key_is_seen_in_the_line_in_which_it_is_the_largest() -> None:
    names = set()
    for level in (2, 3, 4):
        for number in range(8):
            dealt = deal(Asked("highest_key", level, number))
            question = dealt.slide.question
            assert question is not None
            runs = QuestionContext(dealt.trace, None, 0)
            index = question.at["head"] - 1, question.at["query"] - 1
            for key in {*range(len(dealt.trace.key_tokens))} - dealt.question.right:
                stage = picture(question, dealt.question, dealt.trace, (key,))
                assert stage is not None
                name, _ = keys.rule(runs, index, key)
                (value,) = framed(stage)
                if name in ("column", "head", "row"):
                    assert value == stage.array.max()
                elif name == "forbidden":
                    assert value == -np.inf
                    assert stage.masked is not None
                    assert stage.masked[stage.edited[0]]
                names.add(name)
    assert names >= {"column", "head", "row", "forbidden"}


def test_a_right_answer_and_one_that_no_mistake_leads_to_have_none() -> None:
    trace = run(Config(sentence="a b c", n_heads=1))
    question = Question("weight", at={"query": 2, "key": 1})
    resolved = resolve(question, trace)
    for answer in (resolved.value, 77.0, None):
        assert picture(question, resolved, trace, answer) is None


def test_every_question_of_the_library_bears_a_wrong_answer() -> None:
    lesson = LESSONS["bits"]
    for slide in lesson.slides:
        if slide.question is not None:
            trace = run(lesson.on(slide))
            resolved = resolve(slide.question, trace, run(lesson.config))
            for answer in (*(each.value for each in resolved.mistakes), (0,), (1,)):
                picture(slide.question, resolved, trace, answer)
