"""What the lessons ask a model in the package is kept from its training, by the rule of the corpus."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attnviz.lessons.catalogue import LESSONS
from attnviz.models import boxed
from tests.support.cases import for_each
from tools.corpus import documents
from tools.corpus.drawing import held, pair
from tools.corpus.lists import FORMS
from tools.corpus.words import LISTED, PLURALS

SINGULAR = {many: one for one, many in PLURALS.items()}


def asked() -> Iterator[tuple[str, str]]:
    """Yield each sentence that a lesson gives a model in the package, with the lesson's name."""
    for name, lesson in LESSONS.items():
        for slide in lesson.slides:
            here = {**lesson.setting, **slide.change}
            moves = slide.control.moves if slide.control else ()
            for change in [{}, *(choice.change for move in moves for choice in move.choices)]:
                setting = {**here, **change}
                if str(setting.get("model", "")).partition("~")[0] in boxed.NAMES:
                    yield name, setting["sentence"]


def key_of(sentence: str) -> tuple[str, ...]:
    """Return the combination by which the corpus keeps a sentence from training, or does not."""
    words = sentence.split()
    if found := re.match(r"the (\w+) (?:near|to|under|behind|on) the (\w+)$", sentence):
        return pair("agreement", *(SINGULAR.get(noun, noun) for noun in found.groups()))
    if found := re.match(r"when (\w+) and (\w+) went to the \w+ ,", sentence):
        return pair("indirect object", *found.groups())
    for form, text in FORMS.items():
        if found := re.fullmatch(re.escape(text).replace(r"\{\}", r"(\w+)"), sentence):
            return ("successor", form, found[1])
    assert {*words} <= {*LISTED}, f"{sentence} is of no kind of the corpus that this test knows"
    at = words.index(words[-1])
    at = at if at + 1 < len(words) else 0  # a list that is not said again asks for nothing yet
    return ("list", *words[at : at + 2])


@for_each(("name", "sentence"), sorted({*asked()}))
def test_what_a_lesson_asks_is_kept_from_training(name: str, sentence: str) -> None:
    assert held(*key_of(sentence)), f"the lesson {name} asks {sentence!r}, which may stand in the training documents"


def test_the_rule_is_that_of_the_corpus() -> None:
    assert len({*asked()}) >= 15
    for skill in ("agreement", "indirect object", "induction", "successor"):
        known = 0
        for question in documents.questions(skill, 60, 5):
            try:
                key = key_of(" ".join(question.before))
            except AssertionError:  # a form that no lesson has
                continue
            known += 1
            assert key == question.key or skill == "induction"
            assert held(*question.key)
        assert known >= 5, skill
    for sentence in ("when mary and john went to the garden ,", "the books near the table", "after friday comes"):
        assert not held(*key_of(sentence))
