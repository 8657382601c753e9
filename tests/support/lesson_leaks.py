"""The hidden numbers of a question, and a search for them in whatever a browser is sent."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Iterable, Iterator

import numpy as np

from attnviz import run
from attnviz.classroom import open_questions, slides
from attnviz.classroom.question_kinds import resolve
from attnviz.lessons.lesson import Lesson, Slide
from attnviz.text import step_names

ENCODED = re.compile(rb"[A-Za-z0-9+/]{8,}={0,2}")


def telling(value: float) -> bool:
    """Whether a number is known by its value: three digits and more, which no other number has by chance.

    Whole numbers of three digits stand in the page's styles and scripts.
    """
    return (
        not (float(value).is_integer() and abs(value) < 1000)
        and len(re.sub(r"e.*|[-.]", "", f"{value:.4g}").lstrip("0")) >= 3
    )


def hidden(lesson: Lesson, slide: Slide) -> set[float]:
    """The numbers that must not be sent while the question of a slide is open: those asked for, or a row of weights."""
    question = slide.question
    if question is None or open_questions.is_whole(question):
        return set()
    own, trace = run(lesson.config), run(lesson.on(slide))
    found = resolve(question, trace, own)
    values = {found.value} if found.form == "number" else set()
    if found.covered is not None and found.hides:
        values |= set(step_names.steps(trace, slide.layer)[found.hides].array[found.covered].tolist())
    before = open_questions.run_of(question, own, trace)
    given = [step.array for name, step in before.layers[slide.layer].items() if name in found.inputs]
    inputs = np.concatenate([np.ravel(array).astype(float) for array in given] or [np.zeros(0)])
    return {float(x) for x in values if np.isfinite(x) and telling(x) and not np.isclose(inputs, x, rtol=1e-9).any()}


def spellings(value: float) -> Iterator[bytes]:
    """The ways in which a number may be sent: in words, in English and German, and as bytes."""
    for text in {slides.format_number(value), f"{value:.4g}", repr(value)}:
        yield from (each.encode() for each in (text, text.replace(".", ","), text.replace("-", "−")))
    yield from (struct.pack("<f", value), struct.pack("<d", value))


def found_in(messages: Iterable[bytes], values: Iterable[float]) -> list[float]:
    """Return the numbers that stand in what was sent, as text, as bytes, or as bytes in base 64."""
    sent = b"\n".join(part for message in messages for part in (message, *_decoded(message)))
    return [value for value in values if any(_stands(spelt, sent) for spelt in spellings(value))]


def _stands(spelt: bytes, sent: bytes) -> bool:
    if not re.fullmatch(rb"[\d.,e+-]+", spelt):
        return spelt in sent
    return re.search(rb"(?<![\d.])" + re.escape(spelt) + rb"(?![\d])", sent) is not None


def _decoded(message: bytes) -> Iterator[bytes]:
    for each in ENCODED.findall(message):
        try:
            yield base64.b64decode(each + b"=" * (-len(each) % 4))
        except binascii.Error:
            continue
