"""The mistakes of a class: for each question how many were right, and which known mistakes led to the wrong answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd

from attnviz.arrays import Array
from attnviz.classroom.context.hints import HINTS
from attnviz.classroom.marking.grading import GradedSubmission
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.classroom.wrong_choices.keys import KEYS
from attnviz.classroom.wrong_choices.rows import ROWS
from attnviz.classroom.wrong_choices.shapes import SHAPES
from attnviz.engine.run import run
from attnviz.lessons.catalogue import LESSONS
from attnviz.settings.counting import ordinals
from attnviz.settings.language import Words
from attnviz.text.format.number_format import localised, short

WORDS = Words(
    {
        "question": "question",
        "right": "right",
        "of": "answered",
        "share": "right, %",
        "separates": "discrimination",
        "times": "how often",
        "mistake": "mistake",
        "lesson": "slide that treats it",
        "slide": "slide {n}, {title}",
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
    "head": "one_or_many",
    "layer": "one_or_many",
    "other_layer": "one_or_many",
    "itself": "what_q_k_v",
    "alike": "what_q_k_v",
    "second": "what_q_k_v",
    "smallest": "what_q_k_v",
    "negative": "what_q_k_v",
    "share": "what_q_k_v",
    "smaller": "what_q_k_v",
    "step": "bits",
    "swapped": "bits",
    **dict.fromkeys(("no_heads", "less", "one_more", "doubled"), "bits"),
    "mean": "softmax_axis",
    "divided_again": "why_minus_infinity",
    "left_out": "why_minus_infinity",
    "sign": "what_makes_a_score",
    "one_side": "n_squared",
    "from_one": "why_sines",
    "other_wave": "why_sines",
    **dict.fromkeys(("no_residual", "only_before", "no_root", "by_length", "unnormed"), "next_word"),
    **dict.fromkeys(("no_exponential", "no_temperature", "times_temperature", "halved_ratio"), "next_word"),
    "as_one_head": "one_or_many",
    "unshared": "self_cross_grouped",
    "keys_wide": "store",
    "values_wide": "store",
    **dict.fromkeys(("none", "others", "changed_columns", "all", "none_of", "too_many"), "rows_and_columns"),
    "missing": "why_causal",
    "both": "causal",
}
"""The lesson that treats a known mistake, by its name in `HINTS` or in the tables of wrong choices."""
SAYING = (HINTS, KEYS, SHAPES, ROWS)
MOST_TRIED = 8
"""Options of a question of which every choice of several is tried, for what is said of it."""


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


def overview(found: Sequence[Item], named: Sequence[str] = ()) -> pd.DataFrame:
    """Return a row for each question: how many answered, how many were right, and how well it separates.

    named  the questions in words; without them their numbers
    """
    return pd.DataFrame(
        {
            WORDS["question"]: list(named) or list(map(str, ordinals(len(found)))),
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
    return WORDS["undefined"] if separates is None else localised(short(round(separates, 2)))


def mistakes(found: Sequence[Item], link: Callable[[str, int], str] | None = None) -> pd.DataFrame:
    """Return a row for each mistake of each question: how often it was made, and the slide that treats it.

    link  makes of a lesson and a slide, counted from 1, what stands in the table; without it the words
    """
    rows = []
    for n, item in zip(ordinals(len(found)), found):
        said = [(words or WORDS["other"], times, treatment(words)) for words, times in item.mistakes]
        said += [(WORDS["nothing"], item.blank, None)] if item.blank else []
        rows += [(n, times, words, (link or in_words)(*slide) if slide else "") for words, times, slide in said]
    return pd.DataFrame(rows, columns=[WORDS[name] for name in ("question", "times", "mistake", "lesson")])


def in_words(lesson: str, slide: int) -> str:
    """Return what a slide of a lesson is called."""
    return WORDS["slide"].format(title=LESSONS[lesson].title, n=slide)


def treatment(said: str) -> tuple[str, int] | None:
    """Return the lesson and the slide, counted from 1, that treat what is said of a wrong answer; None where none do.

    The slide is the first one whose question knows the mistake; where none asks, the lesson's first.
    """
    for name, lesson in TREATED.items():
        if any(name in words and _is_said(words[name], said) for words in SAYING):
            return lesson, _slide(lesson, name)
    return None


def _is_said(words: str, said: str) -> bool:
    """Return whether words, in which something may be filled in, are what is said."""
    parts = re.split(r"\{\w+\}", words)
    return re.fullmatch(".+".join(map(re.escape, parts)), said) is not None


@cache
def _slide(lesson: str, mistake: str) -> int:
    of_lesson = LESSONS[lesson]
    baseline = run(of_lesson.config)
    of_mistake = [words[mistake] for words in SAYING if mistake in words]
    for n, slide in enumerate(of_lesson.slides, 1):
        if slide.question is None:
            continue
        ask = resolve(slide.question, run(of_lesson.on(slide)), baseline, worked=False)
        is_told = any(_is_said(words, said) for words in of_mistake for said in _told(ask))
        if is_told or mistake in [each.name for each in ask.mistakes]:
            return n
    return 1


def _told(ask: ResolvedQuestion) -> set[str]:
    """Return what a question says of wrong choices: of one option, or of several."""
    n = len(ask.options)
    sizes = {"one": (1,), "some": range(n + 1) if n <= MOST_TRIED else ()}.get(ask.form, ())
    return {ask.mistake(chosen) for size in sizes for chosen in combinations(range(n), size)}
