"""Orders, cells, masks and sliders before a room: asked, noted, counted and shown; and what nobody touched."""

from __future__ import annotations

import re
from typing import Any

from attnviz.classroom.writing.lesson_link import pack
from tests.classroom.test_printed_forms import AT, HEAD, QUESTION, WHOLE
from tests.support.cases import for_each
from tests.ui.pages.test_lessons import everything
from tests.ui.test_app import clean, opened, page_text

TEXT = HEAD + "".join(WHOLE + QUESTION.format(kind=kind, at=at) for kind, at in AT.items())
SLIDES = {kind: number for number, kind in enumerate(AT, 1)}
PLAIN = WHOLE.replace('"scores", "masked", "weights"', '"queries"')


def room(kind: str, **more: str) -> Any:
    at = opened(page="lessons", written=pack(TEXT), slide=str(SLIDES[kind]), **more)
    assert clean(at)
    return at


def widget_key(at: Any, kind: str) -> str:
    return f"answer-{at.session_state['_opened_lesson'].name}-{SLIDES[kind]}"


def give(at: Any, kind: str, answer: Any) -> None:
    """Set the widget of a kind; what is painted is kept in the session."""
    key = widget_key(at, kind)
    if kind == "mask":
        at.session_state[key] = answer
        at.run()
        return
    found = {"order": at.multiselect, "cell": at.selectbox, "slider": at.select_slider}[kind]
    found(key=key).set_value(answer).run()


def tally(at: Any) -> list[tuple[str, str]]:
    """What stands beside each bar of the tally, and how many hands."""
    (shown,) = [each.value for each in at.get("html") if '"attn-tally' in each.value]
    return re.findall(r"<span>(.*?)</span><span>.*?<b>(\d+)</b>", shown)


ANSWERS: dict[str, tuple[Any, Any]] = {
    "order": ([0, 1, 3, 2], [1, 0, 3, 2]),
    "cell": (12, 9),
    "mask": ([0, 4, 5, 8, 9, 10, 12, 13, 14, 15], [0, 4]),
    "slider": (2, 3),
}
"""A right answer of each kind, as its widget has it, and a wrong one."""


@for_each("kind", AT)
def test_a_room_answers_and_hands_are_counted(kind: str) -> None:
    at = room(kind, presenter="yes")
    assert not [each for each in at.text_input if each.key.startswith("hands-")]
    assert at.button(key="note-answer").disabled
    for answer in ANSWERS[kind]:
        give(at, kind, answer)
        at.button(key="note-answer").click().run()
        assert clean(at)
        assert at.button(key="note-answer").disabled  # it is noted
    (hands,) = [each for each in at.text_input if each.key.startswith("hands-")]
    hands.set_value("5 12").run()
    assert [n for _, n in tally(at)] == ["5", "12"]
    assert "✓" not in "".join(label for label, _ in tally(at))
    at.button(key="space").click().run()
    assert clean(at)
    assert [label.startswith("✓") for label, _ in tally(at)] == [True, False]
    assert not [each for each in at.button if each.key == "note-answer"]


def test_what_was_noted_can_be_cleared() -> None:
    at = room("cell", presenter="yes")
    give(at, "cell", 3)
    at.button(key="note-answer").click().run()
    assert "row 1, column 4" in page_text(at) + everything(at)
    at.button(key="clear-answers").click().run()
    assert not [each for each in at.get("html") if '"attn-tally' in each.value]


@for_each("kind, said", [("slider", "Move the slider first."), ("mask", "Paint the mask first")])
def test_what_nobody_touched_is_no_answer(kind: str, said: str) -> None:
    at = room(kind)
    at.button(key="check").click().run()
    assert said in page_text(at)
    assert "Not quite" not in page_text(at)
    give(at, kind, ANSWERS[kind][1])
    at.button(key="check").click().run()
    assert "Not quite" in page_text(at)


def test_once_a_mask_is_drawn_it_is_seen_in_the_weights() -> None:
    lesson = HEAD + PLAIN + QUESTION.format(kind="mask", at="{}")
    at = opened(page="lessons", written=pack(lesson))
    assert "Weights" not in everything(at)
    at.button(key="show-answer").click().run()
    assert clean(at)
    assert "1: 1; 2: 1–2; 3: 1–3; 4: 1–4" in page_text(at)
