"""What a class got wrong: for each question how many were right, and which known mistakes led to the wrong answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from attnviz.arrays import Array
from attnviz.classroom import wrong_choices
from attnviz.classroom.marking.grading import GradedSubmission
from attnviz.classroom.resolved_question import HINTS
from attnviz.lessons.catalogue import LESSONS
from attnviz.settings.counting import ordinals
from attnviz.settings.language import Words
from attnviz.text.format.number_format import short

WORDS = Words(
    {
        "question": "question",
        "right": "right",
        "of": "answered",
        "share": "right, %",
        "separates": "discrimination",
        "times": "how often",
        "mistake": "mistake",
        "lesson": "lesson that treats it",
        "other": "no known mistake leads to this answer",
        "nothing": "no answer",
        "undefined": "–",
    }
)

TREATED: Mapping[str, str] = {
    "scale": "why_root",
    "scaled_already": "why_root",
    "by_width": "why_root",
    "variance": "why_root",
    "twice": "why_root",
    "by_root": "why_root",
    "columns": "softmax_axis",
    "no_sum": "softmax_axis",
    "mask": "causal",
    "no_softmax": "what_q_k_v",
    "unweighted": "what_q_k_v",
    "transposed": "rows_and_columns",
    "columns_of_weights": "rows_and_columns",
    "crossed": "rows_and_columns",
    "one_head": "bits",
    "sides": "bits",
    "side_by_side": "find_the_bug",
    "as_they_lie": "find_the_bug",
    "forbidden": "why_minus_infinity",
    "column": "rows_and_columns",
    "row": "rows_and_columns",
    "swapped": "bits",
    "no_heads": "bits",
}
"""The lesson that treats a known mistake, by its name in `HINTS` or in the tables of wrong choices."""


@dataclass(frozen=True)
class Item:
    """One question over a class: how many answered and were right, and what the others did.

    separates  the correlation, over the students, of being right here with the points of all other questions (the
               corrected item-total correlation); None where one of the two is the same for everybody
    mistakes   what is said of wrong answers, and how often, the commonest first; "" where no known mistake leads there
    blank      how many gave no answer
    """

    answered: int
    right: int
    separates: float | None
    mistakes: tuple[tuple[str, int], ...]
    blank: int


def items(counted: Sequence[GradedSubmission], points: Sequence[float]) -> list[Item]:
    """Return one item for each question, over valid submissions of which each student has one.

    A student whose numbers have no answer to a question is left out of it.

    >>> items([GradedSubmission("Ada", "", answers=("a",), right=(True,), share=(1.0,), mistakes=("",))], [1.0])
    [Item(answered=1, right=1, separates=None, mistakes=(), blank=0)]
    """
    return [_item(counted, points, n) for n in range(len(points))]


def _item(counted: Sequence[GradedSubmission], points: Sequence[float], n: int) -> Item:
    asked = [each for each in counted if each.right[n] is not None]
    answered = [each for each in asked if each.answers[n] != ""]
    wrong = Counter(each.mistakes[n] for each in answered if not each.right[n])
    here = np.array([each.share[n] for each in asked])
    rest = np.array([each.points(points) - points[n] * each.share[n] for each in asked])
    return Item(
        answered=len(answered),
        right=sum(bool(each.right[n]) for each in asked),
        separates=_correlation(here, rest),
        mistakes=tuple(sorted(wrong.items(), key=lambda each: (-each[1], each[0]))),
        blank=len(asked) - len(answered),
    )


def _correlation(x: Array, y: Array) -> float | None:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def overview(found: Sequence[Item]) -> pd.DataFrame:
    """Return a row for each question: how many answered, how many were right, and how well it separates."""
    return pd.DataFrame(
        {
            WORDS["question"]: ordinals(len(found)),
            WORDS["of"]: [item.answered for item in found],
            WORDS["right"]: [item.right for item in found],
            WORDS["share"]: [_percent(item) for item in found],
            WORDS["separates"]: [_written(item.separates) for item in found],
        }
    )


def _percent(item: Item) -> str:
    return (
        f"{100 * item.right / (item.answered + item.blank):.0f}" if item.answered + item.blank else WORDS["undefined"]
    )


def _written(separates: float | None) -> str:
    return WORDS["undefined"] if separates is None else short(separates)


def mistakes(found: Sequence[Item]) -> pd.DataFrame:
    """Return a row for each mistake of each question: how often it was made, and the lesson that treats it."""
    rows = []
    for n, item in zip(ordinals(len(found)), found):
        said = [(words or WORDS["other"], times, lesson_of(words)) for words, times in item.mistakes]
        said += [(WORDS["nothing"], item.blank, "")] if item.blank else []
        rows += [(n, times, words, lesson) for words, times, lesson in said]
    return pd.DataFrame(rows, columns=[WORDS[name] for name in ("question", "times", "mistake", "lesson")])


def lesson_of(said: str) -> str:
    """Return the title of the lesson that treats what is said of a wrong answer; empty where none does."""
    for name, lesson in TREATED.items():
        if any(name in words and said == words[name] for words in (HINTS, wrong_choices.KEYS, wrong_choices.SHAPES)):
            return str(LESSONS[lesson].title)
    return ""
