"""Own words in a code, part of the points, tries, and a lesson as an assignment."""

from __future__ import annotations

import csv
import io
import zlib

import pytest

from attnviz import Config, ConfigError, run
from attnviz.classroom import question_codec
from attnviz.classroom.free_text import MAX_ANSWER_CHARACTERS, decode_text, encode_text
from attnviz.classroom.marking import (
    answer_codes,
    assignments,
    coded_answers,
    grading,
    lesson_assignment,
    results,
    submissions,
)
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Question
from tests.support.cases import for_each

CONFIG = Config(sentence="one two three four", n_heads=1, mask="causal")
TASK = Assignment(
    task_title="t",
    task_questions=(
        question_codec.item("weight", {"query": 1, "key": 1}),
        question_codec.item("own_words", {"prompt": "reason"}),
        question_codec.item("rows_changed", {"whole": "weights", "change": "no_mask"}),
    ),
)
DIGEST = assignments.digest(CONFIG, TASK)
SAID = "Weil −∞ nach softmax zu 0 wird; “exp(−∞) = 0”, =SUM(A1) 🙂"


def handed(name: str, words: str, rows: tuple[int, ...], tries: int = 1) -> str:
    asks = assignments.resolved_questions(TASK, run(assignments.of_student(CONFIG, TASK, name)))
    given = (1.0, words, rows)
    numbers = [coded_answers.encode(ask, held) for ask, held in zip(asks, given) if isinstance(ask, ResolvedQuestion)]
    return grading.answer_code(DIGEST, name, numbers, tries)


@for_each("text", [SAID, "x", "ü" * MAX_ANSWER_CHARACTERS, "漢" * MAX_ANSWER_CHARACTERS, "a\nb\tc", "\x00\u202e!"])
def test_a_text_comes_back_out_of_a_number(text: str) -> None:
    back = decode_text(encode_text(text))
    assert back
    assert encode_text(back) == encode_text(text)
    assert "\n" not in back
    assert len(back) <= MAX_ANSWER_CHARACTERS


@for_each("number", [1, 2, 0x0141 << 2000, 0x01FF, 0x0241])
def test_a_number_that_is_no_text_is_refused(number: int) -> None:
    with pytest.raises(ConfigError, match="is not text"):
        decode_text(number)


def test_own_words_come_to_the_teacher_without_a_mark_and_tries_are_said() -> None:
    code = handed("Ada", SAID, (0, 1, 2), tries=4)
    (found,) = grading.grade_all(CONFIG, TASK, [("Ada", code)])
    assert found.problem == ""
    assert found.answers[1] == SAID
    assert found.right == (True, None, True)
    assert (found.score, found.out_of, found.tries) == (2, 2, 4)
    assert found.points((1, 5, 1)) == 2
    assert found.most_points((1, 5, 1)) == 2
    table = submissions.from_text(f"name,code\nAda,{code}")
    text = results.csv_text(table, TASK, [found], (1, 5, 1))
    assert "Weil −∞ nach softmax" in text
    head, row = csv.reader(io.StringIO(text.lstrip("\ufeff")))
    assert dict(zip(head, row))["tries"] == "4"


def test_the_longest_answers_fit_into_a_code_that_can_be_read() -> None:
    task = Assignment(task_questions=(question_codec.item("own_words", {}),) * 4)
    digest = assignments.digest(CONFIG, task)
    code = grading.answer_code(digest, "Ada", [encode_text("ü" * MAX_ANSWER_CHARACTERS)] * 4)
    table = submissions.from_text(f"name,code\nAda,{code}")
    (found,) = grading.grade_all(CONFIG, task, [("Ada", table.entries[0].code)])
    assert found.answers == ("ü" * MAX_ANSWER_CHARACTERS,) * 4


def test_codes_of_the_version_before_are_read() -> None:
    signs = [0, *answer_codes.encode_fixed(DIGEST, 5), *answer_codes.encode_fixed(grading._name(DIGEST, "Ada"), 5)]
    asks = assignments.resolved_questions(TASK, run(assignments.of_student(CONFIG, TASK, "Ada")))
    assert isinstance(asks[0], ResolvedQuestion)
    numbers = [coded_answers.encode(asks[0], 1.0), 0, 0]
    old = answer_codes.with_checksum([*signs, *(sign for each in numbers for sign in answer_codes.encode_free(each))])
    (found,) = grading.grade_all(CONFIG, TASK, [("Ada", old)])
    assert (found.problem, found.right[0], found.tries) == ("", True, None)


@for_each(
    "rows, share", [((0, 1, 2), 1), ((0, 1), 2 / 3), ((0, 1, 3), 1 / 3), ((3,), 0), ((), 0), ((0, 1, 2, 3), 2 / 3)]
)
def test_part_of_the_points_is_for_rows_that_are_right_less_those_that_are_wrong(
    rows: tuple[int, ...], share: float
) -> None:
    (found,) = grading.grade_all(CONFIG, TASK, [("Ada", handed("Ada", "", rows))])
    assert found.share == pytest.approx((1, 0, share))
    assert results.all_or_nothing(found).points((1, 1, 6)) == 1 + 6 * (share == 1)
    assert found.points((1, 1, 6)) == pytest.approx(1 + 6 * share)


@for_each("name", LESSONS)
@pytest.mark.slow
def test_a_lesson_becomes_an_assignment_whose_questions_have_answers(name: str) -> None:
    made = lesson_assignment.of_lesson(LESSONS[name])
    if made is None:
        assert not list(lesson_assignment.settings(LESSONS[name]))
        return
    config, task = made
    found = assignments.resolved_questions(task, run(config))
    assert found
    assert all(isinstance(ask, ResolvedQuestion) for ask in found)
    assert assignments.given_away(task, found) == ()
    assert assignments.decode(assignments.encode(task)) == (task, [])


@pytest.mark.slow
def test_most_lessons_have_an_assignment() -> None:
    assert sum(lesson_assignment.of_lesson(each) is not None for each in LESSONS.values()) >= 18


def test_what_assignments_have_no_words_for_is_left_out() -> None:
    assert lesson_assignment.as_item(Question("spread")) is None
    assert lesson_assignment.as_item(Question("rows_changed", at={"change": {"sentence": "x"}})) is None
    assert lesson_assignment.as_item(Question("number", at={"step": "w_q", "row": 1, "column": 1})) is None
    assert lesson_assignment.as_item(Question("weight", at={"query": 2, "key": 1, "tolerance": 0.05})) is not None


SENTENCE = "Because the mask allows only the first key, the first word can only attend to itself, so its weight is one."
RECORDED = {
    "before": (
        "4333-3ATN-R4YK-F6VX-KNKM-THKW-HMMT-RWWR-HKMK-VJWP-RJRJ-PXJW-WVNT-JXPN-JRNH-NTTH-WKPJ-NMXH-PMRP-TXWH-"
        "VVKN-THHP-PJVM-MPRX-HXTW-JPPV-WXWW-VJMX-KRNR-NNWP-VWXN-TNNJ-MNTX-PNMJ-JRPP-KMXW-PVVM-XNWH-MHPW-VNTR-"
        "WJNH-RTPK-RMKW-RRJH-XRMM-KHTN-XKHX-RKRW-JVXW-JMWK-HTKM-HRXM-TKHH-HKVT-JWTJ-PWMP-RKMX-XXVT-RXVT-MWVP-"
        "HVRV-MNPM-HRXW-MNTJ-TPJV-R74V-Y"
    ),
    "packed": (
        "6333-3ATN-R4YN-T49M-P4FD-DCJV-EGMG-FW9A-WE66-3MFX-HFCE-6KMD-KT3P-WX9X-YMVM-AHMJ-NVHD-P66C-A66G-JJWR-"
        "FE3R-EYVH-NWTY-TMA4-N3WE-GV9D-EHF6-DE"
    ),
}
"""Codes of one answer, as they were written before texts were packed and since; both are read for ever."""


@pytest.mark.parametrize("name", RECORDED)
def test_a_code_that_was_handed_in_is_read_for_ever(name: str) -> None:
    digest, by, numbers, tries = grading.read_code(RECORDED[name])
    assert (digest, by, tries) == (5, grading._name(5, "Ada"), 1)
    assert (*numbers[:2], decode_text(numbers[2])) == (101, 2, SENTENCE)


def test_a_sentence_is_a_code_of_less_than_half_the_signs_that_it_had() -> None:
    code = grading.answer_code(5, "Ada", [101, 2, encode_text(SENTENCE)])
    assert len(code) < len(RECORDED["before"]) / 2
    assert grading.answer_code(5, "Ada", [101, 2])[0] == answer_codes.SIGNS[grading.VERSION]


@for_each("packed", [b"\x02", b"\x02\x01\xff", b"\x02" + zlib.compress(b"a" * 10**6)[2:-4], b"\x02abc"])
def test_what_unpacks_to_no_answer_is_refused(packed: bytes) -> None:
    with pytest.raises(ConfigError, match="is not text"):
        decode_text(int.from_bytes(packed, "big"))
