"""The five worked examples: what their texts say in numbers is recomputed here."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import run
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Lesson
from tests.engine.test_seeds import TestTheCatSatOnTheMat as Cat
from tests.engine.test_seeds import TestThreeTokensWithTiedQueriesAndKeys as Three
from tests.engine.test_seeds import TestTranslatingLeChatMangeDuPoisson as Chat
from tests.support.cases import for_each

EXAMPLES = [LESSONS[name] for name in ("bits", "store", "translation", "causal", "tied")]
BITS, STORE, TRANSLATION, CAUSAL, TIED = EXAMPLES
ROUNDING = {"rtol": 0, "atol": 2e-8}


def text(lesson: Lesson) -> str:
    return "\n".join(
        f"{slide.text}\n{slide.question.ask} {slide.question.why}" if slide.question else slide.text
        for slide in lesson.slides
    )


def minus(x: float) -> str:
    return f"{x:g}".replace("-", "−")


def test_there_are_five_with_a_source_and_a_question_each() -> None:
    for lesson in EXAMPLES:
        assert lesson.source
        assert lesson.title
        assert lesson.about.endswith("?")
        assert any(slide.question for slide in lesson.slides)


@for_each("lesson", EXAMPLES)
def test_every_slide_runs_without_a_warning(lesson: Lesson) -> None:
    for slide in lesson.slides:
        assert run(lesson.on(slide)).notes == ()


def test_bits() -> None:
    trace = run(BITS.config)
    X, W = trace["embedded"].array, trace["w_q"].array[0]
    assert (X.shape, W.shape, set(np.unique(X)), set(np.unique(W))) == ((5, 7), (7, 3), {0, 1}, {0, 1})
    assert trace["queries"].array[0, 0, 1] == ((X[0] == 1) & (W[:, 1] == 1)).sum()
    assert trace["weights"].array.sum() == pytest.approx(5)
    ragged = run(BITS.on(BITS.slides[5]))
    assert ragged["concat"].shape == (5, 3 + 2 + 4)
    assert ragged["w_q"].true_widths["d_k"] == (3, 2, 4)


def test_store() -> None:
    trace = run(STORE.config)
    assert trace["scores"].shape == (1, 4, 7)
    assert (STORE.config.d_model, STORE.config.d_k, STORE.config.d_v) == (6, 3, 2)
    assert f"{np.sqrt(6 / (6 + 3)):.4f}" == "0.8165"
    assert "0.8165" in text(STORE)
    assert np.abs(trace["w_q"].array).max() <= np.sqrt(6 / 9)


def test_translation_shows_the_printed_numbers_beside_the_right_ones() -> None:
    trace, texts = run(TRANSLATION.config), text(TRANSLATION)
    np.testing.assert_allclose(trace["scores"].array[0].T, Chat.TRUE_S, rtol=0, atol=1e-15)
    np.testing.assert_allclose(trace["weights"].array[0].T, Chat.TRUE_ALPHA, **Chat.SIX_DIGITS)
    np.testing.assert_allclose(trace["heads"].array[0], Chat.TRUE_C, **Chat.SIX_DIGITS)
    assert "| printed | " + " | ".join(minus(row[0]) for row in Chat.PRINTED_S) + " |" in texts
    assert "| printed | " + " | ".join(minus(row[0]) for row in Chat.PRINTED_ALPHA) + " |" in texts
    assert f"({', '.join(map(minus, Chat.PRINTED_C[0]))})" in texts
    assert f"The printed ones add to {np.round(sum(row[0] for row in Chat.PRINTED_ALPHA), 9):g}" in texts
    q, k = trace["queries"].array[0, 0], trace["keys"].array[0, 0]
    products = [minus(round(float(product), 9)) for product in q * k]
    assert f"{products[0]}, {products[1]} and {products[2]}" in texts
    assert (np.abs(np.array(Chat.PRINTED_S) - Chat.TRUE_S) > 0.01).all()
    additive = run(TRANSLATION.on(TRANSLATION.slides[6]))
    np.testing.assert_allclose(additive["scores"].array[0], Chat.TRUE_ADDITIVE, **Chat.SIX_DIGITS)
    assert (additive["scores"].array[0].argmax(axis=1) == 2).all()


def test_causal_has_the_printed_queries_keys_values_weights_and_outputs() -> None:
    trace = run(CAUSAL.config)
    for name, printed in (("queries", Cat.Q), ("keys", Cat.K), ("values", Cat.V)):
        np.testing.assert_array_equal(trace[name].array[0], printed)
    np.testing.assert_allclose(trace["weights"].array[0], Cat.WEIGHTS, **ROUNDING)
    np.testing.assert_allclose(trace["heads"].array[0], Cat.OUTPUT, **ROUNDING)
    assert f"{Cat.WEIGHTS[2][1]:.4f}" == "0.8818"
    assert "0.8818" in text(CAUSAL)
    eight = run(CAUSAL.on(CAUSAL.slides[6]))
    assert (eight["w_q"].array.size, eight["w_q"].shape) == (512 * 512, (8, 512, 64))
    assert eight["output"].shape == (6, 512)
    assert (eight.edits, 3 * 512) == ((), 1536)


def test_the_scale_flattens_the_causal_weights() -> None:
    one, scaled = (run(CAUSAL.on(slide))["weights"].array for slide in (CAUSAL.slides[0], CAUSAL.slides[4]))
    assert scaled[0, 1:].max(axis=1).mean() < one[0, 1:].max(axis=1).mean()
    np.testing.assert_allclose(scaled[0, 2, 1] / scaled[0, 2, 0], np.sqrt(one[0, 2, 1] / one[0, 2, 0]))


def test_tied_has_the_printed_vectors_and_the_right_scores() -> None:
    trace, texts = run(TIED.config), text(TIED)
    for name, printed in (("queries", Three.QUERIES), ("keys", Three.QUERIES), ("values", Three.VALUES)):
        np.testing.assert_allclose(trace[name].array[0], printed, **ROUNDING)
    np.testing.assert_allclose(trace["scores"].array[0], Three.TRUE_SCORES, **ROUNDING)
    np.testing.assert_allclose(trace["weights"].array[0], Three.TRUE_WEIGHTS, **ROUNDING)
    np.testing.assert_allclose(trace["heads"].array[0], Three.TRUE_CONTEXT, **ROUNDING)
    for row in Three.PRINTED_SCORES:
        assert "| " + " | ".join(f"{x:.4g}" for x in row) + " |" in texts
    assert ", ".join(f"{x:.4g}" for x in Three.PRINTED_WEIGHTS[0]) in texts
    assert f"{Three.PRINTED_CONTEXT[0][0]:.4g}" == "1.352"
    assert max(row[0] for row in Three.VALUES) < Three.PRINTED_CONTEXT[0][0]


def test_why_the_printed_scores_of_tied_cannot_be_right() -> None:
    squares = np.square(Three.QUERIES[0])
    assert f"{squares[:5].sum():.4g}" == "5.169"
    assert squares[:5].sum() > Three.PRINTED_SCORES[0][0]
    assert "5.169" in text(TIED)
    assert np.argmax(np.linalg.norm(Three.QUERIES, axis=1)) == 1
    assert (np.argmax(Three.TRUE_SCORES, axis=1) == 1).all()
    assert np.argmax(Three.PRINTED_WEIGHTS[0]) == 0
    np.testing.assert_array_equal(Three.PRINTED_SCORES, np.transpose(Three.PRINTED_SCORES))


def test_a_printed_example_is_shown_before_it_is_checked() -> None:
    """On the first slide stands what was printed for the first word, all of it, and the lesson says what is right."""
    for lesson, scores, weights in (
        (TRANSLATION, [row[0] for row in Chat.PRINTED_S], [row[0] for row in Chat.PRINTED_ALPHA]),
        (TIED, [round(x, 3) for x in Three.PRINTED_SCORES[0]], [round(x, 4) for x in Three.PRINTED_WEIGHTS[0]]),
    ):
        first = lesson.slides[0].text
        for name, numbers in (("score", scores), ("weight", weights)):
            assert f"| {name} | " + " | ".join(map(minus, numbers)) + " |" in first, (lesson.name, name)
    assert f"{Three.PRINTED_CONTEXT[0][0]:.4g}" in TIED.slides[0].text


def test_no_lesson_corrects_a_text_that_its_reader_has_not_seen() -> None:
    """Two lessons check what they show as printed. What nobody sees is not spoken of."""
    for lesson in LESSONS.values():
        said = f"{lesson.about} {lesson.goal} {lesson.known} {text(lesson)}"
        for words in ("he example", "notebook that", "the notebook only", "printed columns", "of the twenty"):
            assert words not in said, (lesson.name, words)
        assert "printed" not in said or lesson in (TRANSLATION, TIED), lesson.name
