"""Words in a picture are legal, seen, and never wider than their room."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.engine.tables.tokenisers import graphemes
from attnviz.pictures.static.text_metrics import ELLIPSIS, drawable, fitted, width, word, wrapped
from tests.support.cases import for_each

HOSTILE = [
    "",
    " ",
    "\x00",
    "\ud800",
    "\ufffe",
    "]]>",
    "<script>",
    "a\u202eb",
    "e" + "\u0301" * 200,
    "\U0001f469\u200d\U0001f467",
]
ANY = st.text(st.characters(), max_size=40)


@for_each("token", HOSTILE)
def test_a_token_can_be_seen_and_stands_in_xml(token: str) -> None:
    element = ET.Element("text")
    element.text = word(token)
    assert ET.fromstring(ET.tostring(element, encoding="unicode")).text == word(token)  # noqa: S314
    assert word(token).strip()
    assert len(graphemes(word(token))[0]) <= 8


@settings(max_examples=100, deadline=None)
@given(ANY, st.floats(5, 300))
def test_what_is_cut_fits_and_begins_as_the_whole(text: str, room: float) -> None:
    clean = drawable(text)
    cut = fitted(clean, 12, room)
    assert cut == clean or (cut.endswith(ELLIPSIS) and clean.startswith(cut[:-1]))
    assert width(cut, 12) <= max(room, width(ELLIPSIS, 12))


@settings(max_examples=60, deadline=None)
@given(ANY, st.floats(30, 300))
def test_lines_hold_the_whole_text_while_there_are_enough_of_them(text: str, room: float) -> None:
    clean = " ".join(drawable(text).split())
    lines = wrapped(clean, 12, room, most=100)
    assert "".join(lines).replace(" ", "") == clean.replace(" ", "")
    assert all(width(line, 12) <= room or len(graphemes(line)) == 1 for line in lines)
    assert len(wrapped(clean, 12, room, most=2)) <= 2


def test_a_chinese_letter_is_as_wide_as_high_a_pictograph_wider_and_a_mark_nothing() -> None:
    assert 10 < width("猫", 10) < width("🐈", 10) == pytest.approx(2 * width("a", 10))
    assert width("e\u0301", 10) == width("e", 10)
    assert width("\ufdfd", 10) > 10 * width("a", 10)  # a sentence in one character
    assert width("cat", 10, bold=True) > width("cat", 10)


def test_towers_of_marks_are_taken_down() -> None:
    assert drawable("e" + "\u0301" * 50 + "x") == "e" + "\u0301" * 3 + "x"
