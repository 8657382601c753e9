"""The lesson on score functions, step by step with a pencil."""

from __future__ import annotations

import math

import numpy as np

from attnviz import run
from attnviz.lessons.catalogue import LESSONS

LESSON = LESSONS["what_makes_a_score"]
WORDS = ((2, 1), (1, 2), (-1, 1))


def dot(q: tuple[float, ...], k: tuple[float, ...]) -> float:
    return sum(a * b for a, b in zip(q, k))


STEPS = (
    dot,
    lambda q, k: dot(q, k) / math.sqrt(2),
    lambda q, k: dot(q[::-1], k),
    lambda q, k: math.tanh(dot(q[::-1], k)),
    lambda q, k: -sum(abs(a - b) for a, b in zip(q, k)),
)


def test_every_slide_shows_the_scores_of_its_formula() -> None:
    assert len(LESSON.slides) == len(STEPS)
    for slide, score in zip(LESSON.slides, STEPS):
        wanted = [[score(q, k) for k in WORDS] for q in WORDS]
        np.testing.assert_allclose(run(LESSON.on(slide))["scores"].array[0], wanted, atol=1e-12)


def test_what_is_said_of_the_weights_is_so() -> None:
    first, second, third, fourth, last = (run(LESSON.on(slide))["weights"].array[0] for slide in LESSON.slides)
    assert first[0].argmax() == second[0].argmax() == 0
    assert np.ptp(second[0]) < np.ptp(first[0])
    assert third[0].argmax() == 1
    assert np.ptp(fourth[0]) < 0.1
    assert (last.argmax(axis=1) == [0, 1, 2]).all()
