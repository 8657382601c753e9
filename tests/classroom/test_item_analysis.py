"""What a class got wrong, against counts and a correlation that are worked out here from the answers."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz.classroom import wrong_choices
from attnviz.classroom.marking import coded_answers, grading, item_analysis, results
from attnviz.classroom.resolved_question import HINTS
from attnviz.lessons.catalogue import LESSONS
from tests.classroom.test_grading import CONFIG, DIGEST, TASK, asks, right, wrong


@pytest.mark.slow
def test_a_class_is_counted_question_by_question() -> None:
    """Of twelve students the first k are right in question k + 1; one hands in twice, one leaves a question out, two
    take the scale for the step after it."""
    handed_in, names = [], [f"student {n}" for n in range(12)]
    known = np.zeros((len(names), len(TASK.task_questions)))
    for n, name in enumerate(names):
        questions = asks(name)
        answers = [right(ask) if n <= 2 * k else wrong(ask) for k, ask in enumerate(questions)]
        known[n] = [n <= 2 * k for k in range(len(questions))]
        if n in (3, 4):  # a softmax without the scale
            mistaken = next(each.value for each in questions[0].mistakes if each.name == "scale")
            answers[0] = coded_answers.encode(questions[0], mistaken)
        if n == 5:
            answers[0] = 0
        handed_in.append((name, grading.answer_code(DIGEST, name, answers)))
    handed_in.insert(0, (names[1], grading.answer_code(DIGEST, names[1], [0] * len(TASK.task_questions))))
    graded = results.only_last(list(grading.grade_all(CONFIG, TASK, handed_in)))
    found = item_analysis.items(results.counted(graded), [1.0] * len(TASK.task_questions))
    assert [item.right for item in found] == known.sum(axis=0).tolist()
    assert [item.answered + item.blank for item in found] == [len(names)] * len(found)
    first = found[0]
    assert (first.answered, first.blank) == (11, 1)
    assert dict(first.mistakes)[HINTS["scale"]] == 2
    assert sum(times for _, times in first.mistakes) == first.answered - first.right
    for k, item in enumerate(found):
        rest = known.sum(axis=1) - known[:, k]
        x, y = known[:, k] - known[:, k].mean(), rest - rest.mean()
        if (x == 0).all():
            assert item.separates is None
        else:
            assert item.separates == pytest.approx((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))
    listed = item_analysis.mistakes(found)
    assert len(listed) == sum(len(item.mistakes) + bool(item.blank) for item in found)
    assert LESSONS["why_root"].title in set(listed[item_analysis.WORDS["lesson"]])
    assert item_analysis.overview(found)[item_analysis.WORDS["share"]].iloc[0] == f"{100 / 12:.0f}"


def test_answers_in_own_words_and_an_empty_class_are_no_division_by_zero() -> None:
    assert item_analysis.items([], [1.0])[0].right == 0
    assert list(item_analysis.overview(item_analysis.items([], [1.0]))[item_analysis.WORDS["share"]]) == ["–"]


def test_each_lesson_that_treats_a_mistake_is_there_and_each_mistake_is_known() -> None:
    known = {*HINTS, *wrong_choices.KEYS, *wrong_choices.SHAPES}
    assert set(item_analysis.TREATED) <= known
    assert set(item_analysis.TREATED.values()) <= set(LESSONS)
    assert item_analysis.lesson_of(HINTS["columns"]) == LESSONS["softmax_axis"].title
    assert item_analysis.lesson_of("") == ""
