"""Lessons that somebody brings: those of the library open, and what cannot be shown is refused in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import pytest

from attnviz import ConfigError
from attnviz.lessons.catalogue import LESSONS, written
from attnviz.lessons.inert_markdown import inert
from attnviz.lessons.read_lesson import MAX_LESSON_CHARACTERS, read_lesson
from attnviz.ui.panels.lesson.from_file import read
from tests.support.cases import for_each

FILE = written("why_minus_infinity")


@pytest.mark.slow
@for_each("name", LESSONS)
def test_every_lesson_of_the_library_is_a_file_that_can_be_opened(name: str) -> None:
    lesson = read(b"\xef\xbb\xbf" + written(name).replace("\n", "\r\n").encode())
    assert lesson.name.startswith("file_")
    assert (lesson.title, lesson.slides) == (LESSONS[name].title, LESSONS[name].slides)


@for_each(
    "old, new, says",
    [
        ("A causal mask:", "![](x.png)", "links and pictures are not drawn"),
        ("A causal mask:", "https://example.org", "links and pictures are not drawn"),
        (
            "A causal mask:",
            "[[scores.9.9.9.9]]",
            "slide 1 of the lesson in this file: the text names [[scores.9.9.9.9]]",
        ),
        (
            '"masked", "weights"]',
            '"unmasked"]',
            "slide 1 of the lesson in this file: there is no step 'unmasked'; did you mean “masked”?",
        ),
        (
            '"masked", "weights"]',
            '"nothing like it"]',
            "slide 1 of the lesson in this file: steps names ['nothing like it']; choose from",
        ),
        ("d_k = 2", "heads = 2", "sets 'heads', which is no setting; did you mean “n_heads”?"),
        ("d_k = 2", "temperature = 4,0", "Here, write the number with a decimal point, such as 0.5"),
        ("minutes = 12", "minutes = “12”", 'Here, replace “ and ” by "'),
        ("minutes = 12", 'minutes = "\\sqrt"', "Here, put the text between ''' and '''"),
        ('kind = "weight"', 'kind = "wait"', "slide 1 of the lesson in this file: there is no question called 'wait'"),
        ("query = 1, key = 1", "query = 99, key = 1", "slide 1 of the lesson in this file"),
        (
            'kind = "weight"',
            'kind = "weight"\nask = "{who}?"',
            "there is no 'who' here; a question may name head, query",
        ),
        ("query = 1, key = 1", 'query = "x", key = 1', "slide 1 of the lesson in this file"),
        ('"leaked", ', '"spilled", ', "there is no measure 'spilled'; choose from spread"),
        (
            "query = 1, key = 1}\n\n[slides.control]",
            "query = 1, key = 1, tolerance = 1e-4}\n\n[slides.control]",
            "the right answer is printed as 0.48, which a tolerance of 0.0001 refuses",
        ),
        (
            "; -1 1",
            "",
            "slide 1 of the lesson in this file: own_numbers has 3 rows of 2 numbers; the sentence needs 4 of 2",
        ),
        ("minutes = 12", "minutes = " + "9" * 5000, "is not written in TOML"),
        ("minutes = 12", "minutes = 1979-05-27", "minutes of the lesson in this file is"),
        ('"experiments"', '"nowhere"', "further leads to no page"),
        ('{page = "experiments", ', "{eval = 1, ", "further leads to no page"),
        ("d_k = 2", "d_k = 999", "the setting of the lesson in this file: d_k is 999"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(old: str, new: str, says: str) -> None:
    assert old in FILE
    with pytest.raises(ConfigError) as caught:
        read(FILE.replace(old, new, 1).encode())
    assert says in str(caught.value)


def _texts(part: Any) -> Iterator[str]:
    """Yield every text of a record, whatever holds it."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping):
        yield from (text for each in part.values() for text in _texts(each))
    elif isinstance(part, (list, tuple)):
        yield from (text for each in part for text in _texts(each))


def test_no_text_of_a_lesson_leads_elsewhere() -> None:
    live = "[here][r], www.x.test, boss@x.test, :red[here] "
    begins = r"\b(?:title|about|source|goal|known|text|notes|ask|why|label) = (?:\"{3}|'{3}|\")"
    for name in LESSONS:
        file, n = re.subn(begins, lambda begin: begin[0] + live, written(name))
        texts = [*_texts(asdict(read_lesson(name, file, is_tried=False)))]
        assert sum(text.startswith(inert(live)) for text in texts) == n > 5
        assert not [text for text in texts if text != inert(text)]


LARGE = f"""
title = "-"
about = "-"
source = "-"
minutes = 1
goal = "-"
known = "-"
[setting]
sentence = "{"w " * 128}"
max_tokens = 128
n_heads = 16
n_layers = 6
[[slides]]
text = "-"
fault = "joined"
"""


def test_a_setting_that_is_too_large_is_refused_before_it_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(config: object, name: str) -> None:
        raise AssertionError

    monkeypatch.setattr("attnviz.lessons.lesson.with_fault", never)
    with pytest.raises(ConfigError, match="slide 1 of the lesson in this file"):
        read(LARGE.encode())


def test_many_settings_that_are_too_large_together_are_refused_before_they_are_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Forty of the largest settings that one slide may have take many seconds."""

    def never(*given: object) -> None:
        raise AssertionError

    one = LARGE.replace("max_tokens = 128\nn_heads = 16\nn_layers = 6", "n_heads = 8\nd_model = 512").replace(
        'fault = "joined"\n', ""
    )
    slide = one[one.index("[[slides]]") :].replace('text = "-"', 'text = "-"\nsteps = ["weights"]')
    first = one[: one.index("[[slides]]")]
    slides = [slide + f"change = {{seed = {n}}}\n" for n in range(40)]
    assert len(read((first + slides[0]).encode()).slides) == 1
    monkeypatch.setattr("attnviz.classroom.writing.check_lesson.run", never)
    with pytest.raises(ConfigError, match="of the lesson in this file: up to here the settings together would keep"):
        read((first + "".join(slides)).encode())


@for_each("content", [b"", b"\x00\x01", b"\xff\xfe[", b"x" * (MAX_LESSON_CHARACTERS + 1), b"a = [" * 20_000])
def test_a_file_that_is_no_lesson_is_refused(content: bytes) -> None:
    with pytest.raises(ConfigError):
        read(content)
