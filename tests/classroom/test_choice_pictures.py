"""The picture of a wrong choice shows what was chosen: found here again from the run."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.classroom import open_questions
from attnviz.classroom.next_word import readings
from attnviz.classroom.practice.deals import deal
from attnviz.classroom.practice.dealt import Dealt
from attnviz.classroom.practice.kinds import LEVELS
from attnviz.classroom.practice.mistake_pictures import picture
from attnviz.classroom.practice.record import Asked
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.wrong_choices.shapes import OTHER_STEPS
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Question
from attnviz.pictures.stage_record import Stage
from attnviz.text.format.sentence_parts import plain


def dealt(kind: str) -> list[Dealt]:
    return [deal(Asked(kind, level, number)) for level in range(1, LEVELS + 1) for number in range(5)]


def seen(each: Dealt, chosen: Any) -> Stage | None:
    assert each.slide.question is not None
    return picture(each.slide.question, each.question, each.trace, chosen)


def test_a_cell_is_asked_for_in_the_map_of_its_head_and_a_wrong_one_is_seen_in_its_row() -> None:
    heads = set()
    for each in dealt("cell"):
        head = int(plain(each.question.words).split("Head ")[1].split(":")[0]) - 1
        asked = each.slide.question
        assert asked is not None
        (shown,) = open_questions.pictures(each.slide, asked, each.question, each.trace, each.trace)
        A = each.trace["weights"].array[head]
        np.testing.assert_array_equal(shown.array[0], A)
        for wrong in {*range(A.size)} - each.question.right:
            stage = seen(each, (wrong,))
            assert stage is not None
            row, column = divmod(wrong, A.shape[1])
            np.testing.assert_array_equal(stage.array, [[A[row]]])
            assert stage.edited == ((0, 0, column),)
            assert stage.rows == [each.trace.query_tokens[row]]
        heads.add(head)
    assert heads == {0, 1}


def test_a_wrong_order_is_seen_as_scores_that_rise() -> None:
    for each in dealt("order"):
        chosen = each.question.in_order[::-1]
        stage = seen(each, chosen)
        assert stage is not None
        assert each.slide.question is not None
        at = each.slide.question.at
        S = each.trace["masked"].array[at["head"] - 1, at["query"] - 1]
        np.testing.assert_array_equal(stage.array[0, 0], S[list(chosen)])
        ((_, _, column),) = stage.edited
        assert stage.array[0, 0, column] > stage.array[0, 0, column - 1]


def test_a_wrong_mask_is_seen_in_the_weights_that_it_leads_to() -> None:
    for each in dealt("mask"):
        n = len(each.trace.key_tokens)
        for chosen in ((0,), tuple(range(n * n)), tuple({*range(n * n)} - each.question.right)):
            if each.question.is_right(chosen):
                continue
            stage = seen(each, chosen)
            assert stage is not None
            open_cells = np.isin(np.arange(n * n), chosen).reshape(n, n)
            assert (stage.array[0][~open_cells] == 0).all()
            np.testing.assert_allclose(stage.array[0].sum(axis=1), open_cells.any(axis=1))
            assert stage.masked is not None
            np.testing.assert_array_equal(stage.masked[0], ~open_cells)


def test_a_row_that_stays_is_seen_before_and_after() -> None:
    n = 0
    for each in dealt("rows_changed"):
        stays = {*range(len(each.question.options))} - each.question.right
        stage = seen(each, tuple(range(len(each.question.options))))
        assert (stage is not None) == bool(stays) or stage is None
        if stage is not None:
            np.testing.assert_array_equal(stage.array[0, 0], stage.array[0, 1])
            assert [*stage.rows] == ["before", "after"]
            n += 1
    assert n > 5


def test_a_wrong_shape_is_seen_in_what_has_it() -> None:
    kinds = set()
    trace = run(Config(sentence="a b c d e", n_heads=3, d_k=2, d_v=4, d_model=7))
    for step in ("queries", "scores", "heads", "concat", "w_q"):
        question = Question("shape", at={"step": step})
        resolved = resolve(question, trace)
        for wrong in {*range(len(resolved.options))} - resolved.right:
            shape = tuple(map(int, plain(resolved.options[wrong]).split(" × ")))
            stage = picture(question, resolved, trace, (wrong,))
            if stage is None:
                assert shape[:-1] == trace[step].shape[:-1] or step == "concat"  # a width alone is wrong
                continue
            assert stage.array.shape[-len(shape) :] == shape
            is_step = any(trace[name].shape == shape for name in OTHER_STEPS)
            kinds.add("step" if is_step else "head" if shape == trace[step].shape[1:] else "swapped")
    assert kinds == {"step", "head", "swapped"}


def test_a_wrong_next_word_is_seen_by_its_own_share_after_each_layer() -> None:
    lesson = LESSONS["indirect_object"]
    slide = next(each for each in lesson.slides if each.question and each.question.kind == "next_word")
    assert slide.question is not None
    trace = run(lesson.on(slide))
    resolved, (right,) = resolve(slide.question, trace), resolve(slide.question, trace).right
    for wrong in {*range(len(resolved.options))} - {right}:
        stage = picture(slide.question, resolved, trace, (wrong,))
        assert stage is not None
        assert [*stage.rows] == [plain(resolved.options[wrong]).strip("“”")]
        assert "mary" not in f"{stage.rows}{stage.columns}{stage.title}{stage.phrase}{stage.alt}"
        shares = [readings.share(trace, word) for word in slide.question.at["words"]]
        assert stage.array[0, 0, -1] == pytest.approx(shares[wrong])
        ((_, row, column),) = stage.edited
        told = re.match(r"After layer (\d)", resolved.mistake((wrong,)))
        assert (row, column) == (0, int(told[1]) if told else len(trace.layers))


@pytest.mark.slow
def test_every_wrong_choice_of_the_library_is_borne_and_most_are_seen() -> None:
    """What no picture shows: rows that were left out, some shapes, and statements on a step that has no cell."""
    unseen, n = set[str](), 0
    for lesson in LESSONS.values():
        own = run(lesson.config)
        for slide in lesson.slides:
            if slide.question is None:
                continue
            trace = run(lesson.on(slide))
            resolved = resolve(slide.question, trace, own)
            if resolved.form == "one":
                given = [(wrong,) for wrong in {*range(len(resolved.options))} - resolved.right]
            elif resolved.form == "some":
                given = [tuple({*range(len(resolved.options))} - resolved.right)]
            else:
                continue
            for chosen in given:
                n += 1
                stage = picture(slide.question, resolved, trace, chosen, own)
                if stage is None:
                    unseen.add(slide.question.kind)
                    continue
                assert stage.array.ndim == 3
                assert len(stage.rows) == stage.array.shape[1]
                assert all(r < stage.array.shape[1] and c < stage.array.shape[2] for _, r, c in stage.edited)
                if slide.question.kind == "rows_changed":
                    np.testing.assert_allclose(stage.array[0, 0], stage.array[0, 1], atol=1e-9)
    assert n > 200
    assert unseen <= {"rows_changed", "shape", "true_or_false"}
