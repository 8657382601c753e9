"""The record of a learner's answers in practice, which a browser keeps, and what follows from it.

The level of a kind goes up after two right answers in a row and down after a wrong one. Missed is what was wrong when
it was last answered.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass

from attnviz.classroom.practice.kinds import KINDS, LEVELS, MOST_DEALS
from attnviz.settings.language import Words, translate

MOST_KEPT = 500
"""Answers that are kept; the oldest are dropped."""

IN_A_ROW = 2
COLUMNS = Words({"kind": "kind", "level": "level", "deal": "number", "right": "right at the first try"})


@dataclass(frozen=True)
class Asked:
    """A question: its kind, its level from 1 on, and the number of the deal."""

    kind: str
    level: int
    deal: int


@dataclass(frozen=True)
class Answer:
    """A question that was answered, and whether that was right at the first try."""

    asked: Asked
    is_right: bool


Record = tuple[Answer, ...]


def encode(record: Iterable[Answer]) -> str:
    """Return a record as text, an answer a line.

    >>> encode([Answer(Asked("weight", 2, 17), True)])
    'weight.2.17.1'
    """
    return "\n".join(f"{a.asked.kind}.{a.asked.level}.{a.asked.deal}.{int(a.is_right)}" for a in record)


def decode(text: str) -> Record:
    """Return the record in a text, without the lines that are none: a browser can hold anything.

    >>> encode(decode("weight.2.17.1\\nnonsense\\nweight.9.1.0\\nshape.1.0.0"))
    'weight.2.17.1\\nshape.1.0.0'
    """
    answers = [_read(line) for line in text.split("\n")[-2 * MOST_KEPT :]]
    return tuple(answer for answer in answers if answer is not None)[-MOST_KEPT:]


def _read(line: str) -> Answer | None:
    kind, *numbers = line.split(".")
    if kind not in KINDS or len(numbers) != 3 or not all(n.isascii() and n.isdecimal() for n in numbers):
        return None
    if any(len(n) > len(str(MOST_DEALS)) for n in numbers):
        return None
    level, deal, right = map(int, numbers)
    return Answer(Asked(kind, level, deal), right == 1) if 1 <= level <= LEVELS and right in (0, 1) else None


def level_of(record: Record, kind: str) -> int:
    """Return the level that suits a learner after these answers.

    >>> right = [Answer(Asked("shape", 1, n), True) for n in range(4)]
    >>> level_of((*right,), "shape"), level_of((*right, Answer(Asked("shape", 3, 4), False)), "shape")
    (3, 2)
    """
    level, run = 1, 0
    for answer in record:
        if answer.asked.kind != kind:
            continue
        run = run + 1 if answer.is_right else 0
        if not answer.is_right:
            level = max(1, level - 1)
        elif run == IN_A_ROW:
            level, run = min(LEVELS, level + 1), 0
    return level


def missed(record: Record) -> tuple[Asked, ...]:
    """Return the questions that were wrong when they were last answered, the oldest first."""
    last = {answer.asked: answer.is_right for answer in record}
    return tuple(asked for asked, is_right in last.items() if not is_right)


def following(record: Record, now: Asked, *, stay: bool) -> Asked:
    """Return the question after this one: of the same kind, or of the kind that was answered least often.

    Its number is one that was not dealt before, and its level the one that suits.
    """
    counts = {kind: sum(answer.asked.kind == kind for answer in record) for kind in KINDS}
    others = [kind for kind in KINDS if kind != now.kind]
    kind = now.kind if stay else min(others, key=counts.__getitem__)
    dealt = [answer.asked.deal for answer in record if answer.asked.kind == kind]
    dealt += [now.deal] if kind == now.kind else []
    return Asked(kind, level_of(record, kind), (max(dealt, default=-1) + 1) % (MOST_DEALS + 1))


def results(record: Record) -> dict[str, tuple[int, int]]:
    """Return how many answers of each kind were right, and of how many; kinds without one are left out."""
    of_kind = {kind: [answer.is_right for answer in record if answer.asked.kind == kind] for kind in KINDS}
    return {kind: (sum(answers), len(answers)) for kind, answers in of_kind.items() if answers}


def as_csv(record: Record) -> str:
    """Return the record as a file for a spreadsheet, with headings."""
    file = io.StringIO()
    rows = csv.writer(file)
    rows.writerow(COLUMNS[name] for name in COLUMNS)
    for answer in record:
        asked = answer.asked
        is_right = translate("yes" if answer.is_right else "no")
        rows.writerow((translate(KINDS[asked.kind].label), asked.level, asked.deal, is_right))
    return file.getvalue()
