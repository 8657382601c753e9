"""The corpus of the models in the package: the same everywhere, and without what they are asked."""

from __future__ import annotations

from itertools import pairwise

from tools.corpus import documents
from tools.corpus.drawing import Draw, held
from tools.corpus.strict import new_frames
from tools.corpus.words import NAMES, NUMBER, PLACES, SPARE, THINGS, VOCABULARY

QUESTIONS, DOCUMENTS = 200, 8_000


def test_nothing_that_is_asked_is_trained_on() -> None:
    """No training document begins with a question, and none has a combination that is kept from training.

    Brackets are kept from training as whole texts only: what one begins with may begin another, and the card says so.
    """
    asked = [each for name in documents.SKILLS for each in documents.questions(name, QUESTIONS, 23)]
    asked = [question for question in asked if question.key[0] != "brackets"]
    begun = {(*question.before, question.answer) for question in asked}
    assert all(held(*question.key) for question in asked)
    draw = Draw(1)
    for _ in range(DOCUMENTS):
        question = documents.document(draw)
        words = tuple(question.words)
        assert not any(words[:n] in begun for n in range(len(words) + 1)), words
        assert not held(*question.key)


def test_the_rule_holds_for_what_is_read_in_the_documents_themselves() -> None:
    draw = Draw(2)
    for _ in range(500):
        pair = {word for word in documents.drawn(draw, "indirect object").words if word in NAMES}
        assert not held("indirect object", *sorted(pair))
        words = [word for word in documents.drawn(draw, "induction").before if word != ","]
        words = list(dict.fromkeys(words))
        assert not any(held("list", *two) for two in pairwise(words))
        said = " ".join(documents.drawn(draw, "recall").words[:-1]).split(" . ")
        facts = [sentence.split() for sentence in said if " has the " in sentence and "?" not in sentence]
        assert not any(held("recall", *sorted((fact[0], fact[-1]))) for fact in facts if fact[0] in NAMES)


def test_answers_are_those_that_can_be_reckoned() -> None:
    for question in documents.questions("brackets", 100, 5):
        opened: list[str] = []
        for sign in question.before:
            opened = [*opened, sign] if sign in "([{" else opened[:-1]
        assert question.answer == {"(": ")", "[": "]", "{": "}"}[opened[-1]]
    for question in documents.questions("indirect object", 100, 5):
        first, *others, giver = [word for word in question.before if word in NAMES]
        assert {question.answer} == {first, *others} - {giver}
    for question in documents.questions("induction", 100, 5):
        assert question.answer == question.before[question.before.index(question.before[-1]) + 1]


def test_every_word_is_trained_and_none_is_cut_off() -> None:
    rows = documents.rows(3_000, seed=3)
    assert {*range(len(VOCABULARY))} - {*rows.ravel().tolist()} == {NUMBER["[UNK]"]}
    assert 300 <= len(VOCABULARY) - len(SPARE) <= 600
    for name in documents.SKILLS:
        assert max(len(question.before) for question in documents.questions(name, 100, 4)) < documents.LONGEST


def test_sentences_of_another_form_have_none_of_the_forms_of_the_corpus() -> None:
    def form(words: list[str]) -> tuple[str, ...]:
        kinds = {**dict.fromkeys(NAMES, "NAME"), **dict.fromkeys(PLACES, "PLACE"), **dict.fromkeys(THINGS, "THING")}
        return tuple(kinds.get(word, word) for word in words)

    draw = Draw(4)
    known = {form(documents.document(draw).before)[:8] for _ in range(3_000)}
    asked = new_frames(200, 11)
    assert len({form(each.before)[:8] for each in asked} & known) == 0
    assert all(word in NUMBER for each in asked for word in each.words)
    assert all(held(*each.key) for each in asked)
