"""Answers as a code, and codes marked: every right answer is computed again from the student's own seed.

A code holds the assignment, who answered, and the answers; it needs no server and no account, and a teacher marks a
whole class without a network. What it cannot prevent has to be said plainly: the setting is public, so a student may
compute the answers with any program; a lock can be edited out of a link, though codes made there are of another
assignment and are refused; and since no server holds a secret, whoever reads this file can make a code that is valid.
It is for homework and for a room, not for an examination.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from attnviz.classroom.marking import answer_codes, assignments, coded_answers, student_names
from attnviz.classroom.marking.answer_codes import BASE
from attnviz.classroom.marking.assignments import DIGEST_SIGNS, Assignment
from attnviz.classroom.marking.grade_scale import Scale, grade, rounded
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.config import Config
from attnviz.engine.run import run
from attnviz.settings.counting import index_of, ordinals
from attnviz.settings.faults import ConfigError, cut
from attnviz.settings.language import Words
from attnviz.text.format.sentence_parts import plain

VERSION, WIDE = 1, 2
"""The versions of codes; a code with own words is of the second, which writes large numbers in fewer signs."""
BEFORE = 0
"""The version of codes that do not say how often their answers were checked."""

NAME_SIGNS = 5
MOST_HEADING = 80
"""Characters of a question over its column."""
WORDS = Words(
    {
        "name": "name",
        "which": "which of this name",
        "named": "{name} ({which})",
        "valid": "valid",
        "yes": "yes",
        "score": "score",
        "of": "of",
        "points": "points",
        "of_points": "of points",
        "percent": "percent",
        "grade": "grade",
        "note": "note",
        "tries": "tries",
        "answer": "question {n}",
        "is_right": "question {n} right",
        "given_points": "question {n}, points given",
        "headed": "{n}. {words}",
        "right": "yes",
        "wrong": "no",
        "question": "question",
        "given": "answer",
        "code": "code",
        "assignment": "assignment",
    }
)
FAULTS = Words(
    {
        "version": "the code is of a version that is not known here; it may be newer than this page",
        "assignment": "the code is of another assignment, or of a link that was edited",
        "name": "the code was made under another name or number",
        "lost": "letters of this name were lost in the list, where “?” stands for them; save the list as CSV in UTF-8",
        "count": "the code holds {given} answers and the assignment has {n} questions",
        "name_missing": "there is no name or number beside the code",
    }
)


@dataclass(frozen=True)
class GradedSubmission:
    """A code as marked: `problem` is empty for a valid one; for each question what was said, and whether it is right.

    right  None where this student's numbers have no answer to the question; it does not count
    share  of the points of each question; all or nothing unless part of them is given
    mistakes  what is said of the known mistake that leads to each answer; empty where it is right, or none does
    tries  how often the answers were checked before, None where the code does not say
    note   what a teacher has to know of a valid one
    which  what tells it from others of the same name; empty where there is none
    asked  the questions, in words
    given  the points that the teacher gave for each answer in the student's own words, which nobody else marks; None
           where none are given, so that the question does not count
    """

    name: str
    code: str
    problem: str = ""
    answers: tuple[str | float, ...] = ()
    right: tuple[bool | None, ...] = ()
    share: tuple[float, ...] = ()
    mistakes: tuple[str, ...] = ()
    tries: int | None = None
    note: str = ""
    which: str = ""
    asked: tuple[str, ...] = ()
    given: tuple[float | None, ...] = ()

    @property
    def named(self) -> str:
        """Return the name, with what tells it from others of the same."""
        return WORDS["named"].format(name=self.name, which=self.which) if self.which else self.name

    def points(self, each: Sequence[float]) -> float:
        """Return the points of what is right, where `each` question has its own, and those that were given."""
        return sum(point * share for point, share in zip(each, self.share)) + sum(filter(None, self.given))

    def most_points(self, each: Sequence[float]) -> float:
        """Return the points of all questions that this student's numbers have an answer to, or that were marked."""
        given = self.given or (None,) * len(each)
        counts = (right is not None or got is not None for right, got in zip(self.right, given))
        return sum(point for point, is_counted in zip(each, counts) if is_counted)

    def percent(self, each: Sequence[float]) -> float:
        """Return the points as a share of all that count, in percent; 0 where none does."""
        most = self.most_points(each)
        return 100 * self.points(each) / most if most else 0.0

    @property
    def score(self) -> int:
        return self.right.count(True)

    @property
    def out_of(self) -> int:
        return len(self.right) - self.right.count(None)


def answer_code(digest: int, name: str, numbers: Sequence[int], tries: int = 1) -> str:
    """Return the code that a student hands in: version, assignment, name, answers, tries, check signs."""
    whole = (*numbers, tries)
    ways = {
        version: [sign for each in whole for sign in write(each)]
        for version, write in ((VERSION, answer_codes.encode_free), (WIDE, answer_codes.encode_wide))
    }
    version = min(ways, key=lambda each: len(ways[each]))
    by = answer_codes.encode_fixed(_name(digest, name), NAME_SIGNS)
    return answer_codes.with_checksum([version, *answer_codes.encode_fixed(digest, DIGEST_SIGNS), *by, *ways[version]])


def _name(digest: int, name: str) -> int:
    return assignments.number(f"name/{digest}/{assignments.normalised_name(name)}") % BASE**NAME_SIGNS


def read_code(text: str) -> tuple[int, int, tuple[int, ...], int | None]:
    """Return assignment, name, answers and tries of a code; raises ConfigError in one sentence for what is none."""
    signs = answer_codes.without_checksum(text)
    ends = 1 + DIGEST_SIGNS, 1 + DIGEST_SIGNS + NAME_SIGNS
    if signs and signs[0] not in (BEFORE, VERSION, WIDE):
        raise ConfigError(FAULTS["version"])
    if len(signs) < ends[1]:
        raise ConfigError(answer_codes.FAULTS["short"])
    digest, name = answer_codes.decode_fixed(signs[1 : ends[0]]), answer_codes.decode_fixed(signs[ends[0] : ends[1]])
    read = answer_codes.decode_wide if signs[0] == WIDE else answer_codes.decode_free
    numbers = read(signs[ends[1] :])
    if signs[0] == BEFORE:
        return digest, name, numbers, None
    if not numbers or numbers[-1] > coded_answers.MAX_STEPS:
        raise ConfigError(answer_codes.FAULTS["check" if numbers else "short"])
    return digest, name, numbers[:-1], numbers[-1]


def made_under(digest: int, names: Sequence[str], text: str) -> str:
    """Return the name of several that a code was made under; the first where it was made under none of them."""
    first = names[0] if names else ""
    try:
        _, by, _, _ = read_code(text)
    except ConfigError:
        return first
    return next((name for name in names if _name(digest, name) == by), first)


def grade_all(config: Config, task: Assignment, handed_in: Sequence[tuple[str, str]]) -> Iterator[GradedSubmission]:
    """Yield every code in turn, against the student's own numbers; nothing raises, a code that is none says why."""
    digest, setting = assignments.digest(config, task), assignments.teacher_setting(config, task)[0]
    kept: dict[int, tuple[ResolvedQuestion | str, ...]] = {}
    for name, text in handed_in:
        try:
            numbers, tries = _answers(digest, task, name, text)
        except ConfigError as error:
            yield GradedSubmission(name, text, str(error))
            continue
        own_setting = assignments.with_seed(setting, task, digest, name)
        if own_setting.seed not in kept:  # a student's numbers are computed once, however many codes are handed in
            kept[own_setting.seed] = assignments.resolved_questions(task, run(own_setting), worked=False)
        yield _marked(name, text, kept[own_setting.seed], numbers, tries)


def _answers(digest: int, task: Assignment, name: str, text: str) -> tuple[tuple[int, ...], int | None]:
    """Return the answers and the tries of a code; raises ConfigError unless assignment and student are these."""
    if not assignments.normalised_name(name):
        raise ConfigError(FAULTS["name_missing"])
    of, by, numbers, tries = read_code(text)
    if of != digest:
        raise ConfigError(FAULTS["assignment"])
    if by != _name(digest, name):
        raise ConfigError(FAULTS["lost" if student_names.LOST.search(name) else "name"])
    if len(numbers) != len(task.task_questions):
        raise ConfigError(FAULTS["count"].format(given=len(numbers), n=len(task.task_questions)))
    return numbers, tries


def _marked(
    name: str, text: str, questions: Sequence[ResolvedQuestion | str], numbers: Sequence[int], tries: int | None
) -> GradedSubmission:
    words: list[str | float] = []
    shares: list[float] = []
    right: list[bool | None] = []
    mistakes: list[str] = []
    for n, (ask, answer) in enumerate(zip(questions, numbers), 1):
        try:
            words.append("" if isinstance(ask, str) else coded_answers.answer_text(ask, answer))
            judged = None if isinstance(ask, str) or ask.form == "text" else ask
            right.append(None if judged is None else coded_answers.is_right(judged, answer))
            shares.append(0.0 if judged is None else coded_answers.share(judged, answer))
            mistakes.append("" if judged is None else coded_answers.mistake(judged, answer))
        except ConfigError as error:
            return GradedSubmission(name, text, str(error).format(n=n))
    marks = tuple(right), tuple(shares), tuple(mistakes)
    asked = tuple("" if isinstance(ask, str) else plain(ask.words) for ask in questions)
    return GradedSubmission(name, text, "", tuple(words), *marks, tries, asked=asked)


def headings(graded: Sequence[GradedSubmission], n: int) -> list[str]:
    """Return the words of n questions, short enough for a column, each with its number; only that where none is known.

    >>> headings([GradedSubmission("Ada", "", asked=("Why?",))], 1), headings([], 1)
    (['1. Why?'], ['question 1'])
    """
    asked = next((each.asked for each in graded if each.asked), ("",) * n)
    named = zip(ordinals(n), (cut(words, MOST_HEADING) for words in asked))
    return [WORDS["headed"].format(n=n, words=words) if words else WORDS["answer"].format(n=n) for n, words in named]


def table(
    task: Assignment, graded: Sequence[GradedSubmission], points: Sequence[float] = (), scale: Scale = ()
) -> pd.DataFrame:
    """Return a row for every code: name, whether it is valid, the score, and every answer with its mark.

    points  of each question, where these differ;  scale  of grades, where there is to be one
    """
    n = len(task.task_questions)
    named, each_points = headings(graded, n), tuple(points) or (1.0,) * n
    is_given = [any(each.given and each.given[at] is not None for each in graded) for at in range(n)]
    has_parts = any(0 < part < 1 for each in graded for part in each.share)
    has_points = bool(set(each_points) - {1.0}) or has_parts or any(is_given)  # of all rows, if one needs them
    rows = [_row(list(zip(named, is_given)), each, each_points, scale, has_points) for each in graded]
    first = (WORDS["name"], *([WORDS["which"]] if any(each.which for each in graded) else []))
    columns = dict.fromkeys([*first, *(name for row in rows for name in row)])  # a note, the tries not all rows have
    return pd.DataFrame([{name: row.get(name, "") for name in columns} for row in rows])


def _row(
    named: Sequence[tuple[str, bool]], each: GradedSubmission, points: Sequence[float], scale: Scale, has_points: bool
) -> dict[str, Any]:
    row: dict[str, Any] = {WORDS["name"]: each.name, **({WORDS["which"]: each.which} if each.which else {})}
    row[WORDS["valid"]] = each.problem or WORDS["yes"]
    row |= {WORDS["score"]: str(each.score), WORDS["of"]: str(each.out_of)} if not each.problem else {}
    if has_points:
        row[WORDS["points"]] = each.points(points) if not each.problem else ""
        row[WORDS["of_points"]] = each.most_points(points) if not each.problem else ""
    row[WORDS["percent"]] = rounded(each.percent(points), scale) if not each.problem else ""
    if scale:
        row[WORDS["grade"]] = grade(each.percent(points), scale) if not each.problem else ""
    if each.note:
        row[WORDS["note"]] = each.note
    for n, (heading, is_given) in zip(ordinals(len(named)), named):
        row |= _of_question(each, n, heading, is_given)
    if each.tries is not None:
        row[WORDS["tries"]] = str(each.tries)
    row[WORDS["code"]] = each.code
    return {name: row.get(name, "") for name in [*_first(), *row]}


def _of_question(each: GradedSubmission, n: int, heading: str, is_given: bool) -> dict[str, Any]:
    """Return an answer under its heading, and whether it is right, or the points that were given for it."""
    marks = {True: WORDS["right"], False: WORDS["wrong"], None: ""}
    at = index_of(n)
    row: dict[str, Any] = {heading: each.answers[at] if each.answers else ""}
    if is_given:
        got = each.given[at] if each.given else None
        return row | {WORDS["given_points"].format(n=n): "" if got is None else float(got)}
    return row | {WORDS["is_right"].format(n=n): marks[each.right[at]] if each.right else ""}


def _first() -> tuple[str, ...]:
    return tuple(WORDS[name] for name in ("name", "valid", "score", "of"))
