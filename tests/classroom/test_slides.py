"""The content of a slide: the run's numbers in its text, and its pictures."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.classroom import slides
from attnviz.lessons.catalogue import LESSONS
from tests.support.cases import for_each

CONFIG = Config(sentence="a b c", second_sentence="x y z u v", n_heads=2, d_k=3, d_v=5)


def test_a_text_holds_the_numbers_that_it_names() -> None:
    trace = run(CONFIG)
    A, X = trace["weights"].array, trace["embedded"].array
    text = slides.fill_numbers("[[weights.1.2.3.5]] and [[embedded.2.7]], $x_{[1]}$", trace)
    assert text == f"{A[1, 2, 4]:.4g} and {X[1, 6]:.4g}, $x_{{[1]}}$".replace("-", "−")
    assert slides.named_steps("[[weights.1.2.3.5]] [[embedded.2.7]]") == ("weights", "embedded")


@for_each("reference", ["weights.1.2.3", "weights.1.3.1.1", "nothing.1.1", "weights.0.1.1.1", "weights.2.1.1.1"])
def test_a_number_that_is_not_there_is_refused(reference: str) -> None:
    with pytest.raises(ValueError, match="not a number of this run"):
        slides.fill_numbers(f"[[{reference}]]", run(CONFIG))


def test_the_pictures_are_the_steps_in_the_order_of_the_slide() -> None:
    trace = run(CONFIG)
    shown = slides.pictures(trace, 0, ("heads", "w_q", "allowed", "weights", "bias"))
    assert [picture.name for picture in shown] == ["heads", "w_q", "allowed", "weights"]
    np.testing.assert_array_equal(shown[1].array, trace["w_q"].array)
    assert slides.without_caption(shown[3]).alt == shown[3].title != shown[3].alt


def test_next_to_nothing_is_pale_on_a_slide_of_its_own() -> None:
    lesson = LESSONS["not_explanation"]
    first, faint = lesson.slides[0], lesson.slides[3]
    (row,) = slides.rows(faint, run(lesson.config), run(lesson.on(faint)))
    assert 0 < np.abs(row[-1].array).max() < 0.1 * row[-1].scale.high
    (row,) = slides.rows(first, run(lesson.config), run(lesson.on(first)))
    assert row[0].scale.high == np.abs(row[0].array).max()


def test_beside_each_other_stand_the_lesson_the_slide_and_the_difference() -> None:
    one, other = run(CONFIG), run(Config(sentence="a b d", second_sentence="x y z u v", n_heads=2, d_k=3, d_v=5))
    left, right, apart = slides.comparison_row(one, other, 0, "weights")
    np.testing.assert_allclose(apart.array, right.array - left.array)
    assert (left.phrase, right.phrase) == ("the setting of the lesson", "as changed on this slide")
    assert {each.formula for each in (left, right, apart)} == {"attention weights"}


@pytest.mark.slow
@for_each("lesson", LESSONS.values())
def test_every_slide_of_every_lesson_has_its_text_and_its_pictures(lesson: object) -> None:
    for slide in lesson.slides:  # type: ignore[attr-defined]
        trace = run(lesson.on(slide))  # type: ignore[attr-defined]
        assert "[[" not in slides.fill_numbers(slide.text, trace)
        assert [picture.name for picture in slides.pictures(trace, slide.layer, slide.steps)] == [
            name.replace(".", "-") for name in slide.steps
        ]
