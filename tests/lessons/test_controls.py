"""What can be tried on the slides of lessons: what every choice measures, and what a file may say of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from attnviz import Config, ConfigError, Trace, run
from attnviz.classroom.measures import MEASURES, measure_text
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Lesson, Slide
from attnviz.lessons.read_lesson import read_lesson
from tests.lessons.test_catalogue import WRITTEN
from tests.support.cases import for_each

TRIED = [
    pytest.param(lesson, slide, id=f"{lesson.name}-{number}")
    for lesson in LESSONS.values()
    for number, slide in enumerate(lesson.slides, 1)
    if slide.control
]


def runs(lesson: Lesson, slide: Slide) -> Iterator[tuple[str, Trace]]:
    assert slide.control
    for move in slide.control.moves:
        for choice in move.choices:
            yield choice.label, run(lesson.on(slide, tried=[choice]))


def test_every_lesson_lets_something_be_tried() -> None:
    assert [name for name, lesson in LESSONS.items() if not any(slide.control for slide in lesson.slides)] == []


@for_each("lesson, slide", TRIED)
def test_every_choice_has_its_numbers_and_some_choice_changes_one(lesson: Lesson, slide: Slide) -> None:
    assert slide.control
    own = run(lesson.config)
    assert set(slide.control.measures) <= set(MEASURES)
    found = [
        tuple(measure_text(name, own, trace) for name in slide.control.measures) for _, trace in runs(lesson, slide)
    ]
    assert not any("–" in each for each in found)
    assert (
        slide.control.paint or len(set(found)) > 1 or any(c.transposed for m in slide.control.moves for c in m.choices)
    )


def shown(name: str, number: int, measure: str) -> dict[str, str]:
    lesson = LESSONS[name]
    own = run(lesson.config)
    return {label: measure_text(measure, own, trace) for label, trace in runs(lesson, lesson.slides[number - 1])}


@pytest.mark.slow
def test_what_is_measured_is_what_the_lessons_say() -> None:
    leaks = shown("why_minus_infinity", 2, "leaked")
    assert leaks["−∞"] == leaks["−10⁹"] == "0"
    row = np.exp([1.0, 0.0, 0.0, 0.0])
    assert leaks["0"] == f"{1 - row[0] / row.sum():.4g}"
    assert shown("softmax_axis", 2, "row_sums")["keys"] == shown("softmax_axis", 2, "column_sums")["queries"] == "1"
    assert shown("why_both", 2, "rank") == {each: each for each in ("1", "2", "3", "4", "6")}
    assert shown("why_both", 3, "asymmetry")["the same as W_Q"] == "0"
    assert set(shown("one_or_many", 4, "parameters").values()) == {"36"}
    assert set(shown("one_or_many", 4, "one_wide").values()) == {"0"}
    assert shown("self_cross_grouped", 5, "kept") == {str(n): str(n * 3 * (2 + 3)) for n in (1, 2, 4)}
    assert shown("padding", 5, "leaked") == {"rows alone": "0.6", "columns alone": "0", "both": "0", "neither": "0.6"}
    assert shown("not_explanation", 3, "weights_apart") == dict.fromkeys(["no value", "first", "second", "last"], "0")
    assert [shown("find_the_bug", n, m)["fixed"] for n, m in ((3, "joined_apart"), (4, "leaked"), (7, "stale"))] == [
        "0"
    ] * 3
    assert shown("order", 1, "moved")["rotary"] != shown("order", 1, "moved")["none"] == "0"


def test_the_spread_under_each_divisor_is_that_of_the_scores() -> None:
    lesson = LESSONS["why_root"]
    scores = run(Config(**{**lesson.setting, "score": "dot"}))["scores"].array
    for label, divisor in (("nothing", 1.0), ("√d_k", 8.0), ("d_k", 64.0)):
        assert shown("why_root", 7, "spread")[label] == f"{(scores / divisor).std():.4g}"


CONTROL = """
[slides.control]
measures = ["leaked"]
moves = [
    {label = "Mask", choices = [{label = "as it is"}, {label = "none", change = {mask = "none"}}]},
    {label = "Scale", field = "d_a", stops = [8, 16]},
]
"""


@for_each(
    "old, new, says",
    [
        ('measures = ["leaked"]', "measures = []", "the control on slide 1 of the lesson one measures nothing"),
        ('field = "d_a", ', "", "move 2 of the control on slide 1 of the lesson one has to have a label, and either"),
        ('"d_a"', '"d_z"', "sets 'd_z', which is no setting"),
        ("[8, 16]", "[8, 16000]", "slide 1 of the lesson one: d_a"),
        ("[8, 16]", '[8, "x"]', "have to be numbers"),
        ("[8, 16]", "[12, 16]", "no choice of “Scale” is as on the slide"),
        ('label = "none", ', "", "a choice of move 1 of the control on slide 1 of the lesson one has to have a label"),
        ('label = "none", ', 'label = "none", fault = "x", ', "its fault may be none, joined"),
        ('label = "none", ', 'label = "none", turned = 1, ', "has to be true or false"),
        ("moves = [", "paints = [", "has a 'paints'; there are measures, moves, paint"),
    ],
)
def test_what_is_wrong_with_a_control_is_said_with_its_position(old: str, new: str, says: str) -> None:
    [slide] = read_lesson("one", WRITTEN + CONTROL).slides
    assert slide.control
    assert [[choice.label for choice in move.choices] for move in slide.control.moves] == [
        ["as it is", "none"],
        ["8", "16"],
    ]
    assert old in CONTROL
    with pytest.raises(ConfigError) as caught:
        read_lesson("one", WRITTEN + CONTROL.replace(old, new))
    assert says in str(caught.value)


@pytest.mark.slow
def test_the_slopes_and_the_knock_out_see_what_a_weight_does_not_show() -> None:
    names = ("first_weight", "first_by_weight", "first_by_score", "first_knock_out")
    found = {
        name: {label: float(x.replace("−", "-")) for label, x in shown("not_explanation", 4, name).items()}
        for name in names
    }
    assert min(found["first_weight"].values()) > 0.9, "as large as ever"
    assert found["first_by_weight"]["first"] == 0
    assert abs(found["first_by_score"]["first"]) < 0.01
    assert found["first_knock_out"]["first"] < 0
    assert found["first_knock_out"]["no value"] > 1
    assert 0 < found["first_by_score"]["no value"] < 0.01, "a sure row hardly moves"
