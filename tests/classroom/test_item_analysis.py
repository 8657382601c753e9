"""What a class got wrong, against counts and a correlation that are worked out here from the answers."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import run
from attnviz.classroom.context.hints import HINTS
from attnviz.classroom.marking import coded_answers, grading, item_analysis, results
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.wrong_choices.keys import KEYS
from attnviz.classroom.wrong_choices.rows import ROWS
from attnviz.classroom.wrong_choices.shapes import SHAPES
from attnviz.lessons.catalogue import LESSONS
from attnviz.text.format import number_format
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
    graded = results.only_last(list(grading.grade_all(CONFIG, TASK, handed_in)), [""] * len(handed_in))
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
    assert item_analysis.in_words("why_root", 2) in set(listed[item_analysis.WORDS["lesson"]])
    assert item_analysis.overview(found)[item_analysis.WORDS["share"]].iloc[0] == f"{100 / 12:.0f}"


def test_what_is_said_of_a_wrong_shape_leads_to_the_slide_on_shapes_and_to_no_other() -> None:
    for said in (
        SHAPES["step"].format(step="outputs Z"),
        *map(SHAPES.get, ("doubled", "less")),
    ):
        found = item_analysis.treatment(str(said).format(n=3))
        assert found is not None
        assert found[0] == "bits"


def test_wrong_rows_lead_to_a_slide_that_asks_which_rows_change() -> None:
    slides = {name: item_analysis.treatment(words) for name, words in ROWS.items()}
    assert slides.pop("changed_columns") == ("rows_and_columns", 1)  # which tells rows and columns apart
    assert slides.pop("missing") == ("why_causal", 3)
    assert slides.pop("both") == ("causal", 4)
    assert set(slides.values()) == {("rows_and_columns", 4)}
    assert item_analysis.treatment(HINTS["columns"]) == ("softmax_axis", 1)


def test_every_known_mistake_of_a_number_has_a_slide_that_treats_it() -> None:
    assert not set(HINTS) - set(item_analysis.TREATED)


def test_in_german_discrimination_has_a_comma_and_two_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    item = item_analysis.Item(3, 1, 0.016142, (), 0)
    assert item_analysis.overview([item])[item_analysis.WORDS["separates"]].tolist() == ["0.02"]
    monkeypatch.setattr(number_format, "current_language", lambda: "de")
    assert item_analysis.overview([item])[item_analysis.WORDS["separates"]].tolist() == ["0,02"]


def test_answers_in_own_words_and_an_empty_class_are_no_division_by_zero() -> None:
    assert item_analysis.items([], [1.0])[0].right == 0
    assert list(item_analysis.overview(item_analysis.items([], [1.0]))[item_analysis.WORDS["share"]]) == ["–"]


def test_each_lesson_that_treats_a_mistake_is_there_and_each_mistake_is_known() -> None:
    known = {*HINTS, *KEYS, *SHAPES, *ROWS}
    assert set(item_analysis.TREATED) <= known
    assert set(item_analysis.TREATED.values()) <= set(LESSONS)
    assert item_analysis.treatment("") is None


def test_the_slide_that_treats_a_mistake_asks_where_it_can_be_made() -> None:
    """The first slide whose question knows the mistake; gone through here by the names of what it knows."""
    ours = ("scale", "mask", "no_softmax", "crossed", "swapped", "one_head", "twice", "mean", "sign", "one_side")
    for name in (*ours, "from_one", "other_wave", "no_residual", "by_length", "no_temperature", "no_exponential"):
        words = next(each for each in item_analysis.SAYING if name in each)
        found = item_analysis.treatment(words[name])
        assert found is not None
        lesson = LESSONS[found[0]]
        for n, slide in enumerate(lesson.slides[: found[1]], 1):
            if slide.question is None:
                continue
            ask = resolve(slide.question, run(lesson.on(slide)), run(lesson.config))
            told = [ask.mistake((at,)) for at in range(len(ask.options)) if ask.form == "one"]
            knows = name in [each.name for each in ask.mistakes] or words[name] in told
            assert knows == (n == found[1]), (name, lesson.name, n)
    columns = item_analysis.treatment(HINTS["columns"])
    for words in (KEYS["row"].format(row=3), KEYS["head"].format(head=12)):
        assert item_analysis.treatment(words) is not None
    assert columns == ("softmax_axis", 1)  # none of its questions is of one number


def test_the_table_of_mistakes_links_to_their_slides() -> None:
    item = item_analysis.Item(3, 1, None, ((HINTS["mask"], 2),), 1)
    linked = item_analysis.mistakes([item], lambda lesson, slide: f"{lesson}/{slide}")
    assert linked[item_analysis.WORDS["lesson"]].tolist() == ["causal/2", ""]
    assert item_analysis.overview([item], ["1. Why?"])[item_analysis.WORDS["question"]].tolist() == ["1. Why?"]
