"""A link of which much is wrong says all of it, whatever else the page has to put right, and says it again."""

from __future__ import annotations

import html
import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.cases import for_each
from tests.ui.test_app import clean, opened, page_text

PARTS = {
    "n_heads": ("99", "Heads was '99'; 16 is used"),
    "score": ("nonsense", "Score function was 'nonsense'; choose from"),
    "mask": ("foo", "Mask names 'foo', which does not exist"),
    "hello": ("1", "There is no setting called 'hello'"),
    "d_k": ("?", "Width of queries and keys, d_k was '?'"),
    "residual": ("perhaps", "Residual connections was 'perhaps'; choose yes or no"),
    "edits": ("scores.x~1", "Changed numbers holds what could not be read"),
    "v": ("7", "The link's version '7' is not known here"),
}
"""Broken links, and the sentence on each."""

PLACES = {
    "head": ({"head": "99"}, "Head was 99; there are"),
    "query": ({"query": "50"}, "Query was 50; there are 7, so none is chosen."),
    "key": ({"key": "50", "panel": "word"}, "Key was 50; there are 7, so none is chosen."),
    "layer": ({"layer": "3"}, "Layer was 3; there is only one."),
    "flow": ({"panel": "flow", "step": "nonsense"}, "Step was 'nonsense', which this setting does not have"),
    "table": ({"panel": "table", "step": "nonsense"}, "Step was 'nonsense', which this setting does not have"),
    "what_if": ({"panel": "what_if", "step": "nonsense"}, "Step was 'nonsense', which this setting does not have"),
    "compare": ({"page": "compare", "step": "nonsense"}, "Step was 'nonsense', which this setting does not have"),
    "slide": ({"page": "lessons", "slide": "40"}, "Slide was 40; there are"),
    "data": ({"page": "data", "head": "99"}, "Head was 99; there"),
    "b": ({"page": "compare", "b_n_heads": "4", "b_n_kv_heads": "3"}, "In B: Key/value heads was '3', which does not"),
}
"""Places that are there in no run of such a link, and what is said of them."""


def notes(at: AppTest) -> list[str]:
    """The sentences of the page, a name with its subscript as it is typed."""
    lines = (line.replace("<sub>", "_") for line in re.findall(r"<p>(.*?)</p>", page_text(at)))
    return [html.unescape(re.sub(r"</?(i|sub|bdi)>", "", line)) for line in lines]


@pytest.mark.slow
@for_each("place", PLACES)
def test_a_place_that_is_not_there_takes_no_warning_away(place: str) -> None:
    query, words = PLACES[place]
    at = opened(**{name: text for name, (text, _) in PARTS.items()} | query)
    for again in range(2):
        assert clean(at)
        found = notes(at)
        for expected in (words, *(expected for _, expected in PARTS.values())):
            assert sum(expected in note for note in found) == 1, (again, expected, found)
        at.run()


@pytest.mark.slow
@for_each("part", PARTS)
def test_each_part_is_said_beside_a_place_that_is_not_there(part: str) -> None:
    text, words = PARTS[part]
    at = opened(**{"v": "1", part: text, "query": "50"})
    for _ in range(2):
        found = notes(at)
        assert sum(words in note for note in found) == 1, found
        assert sum("Query was 50" in note for note in found) == 1, found
        at.run()


def test_the_warnings_go_with_the_next_change() -> None:
    at = opened(head="99", hello="1")
    at.slider(key="n_heads").set_value(2).run().run()
    assert not [note for note in notes(at) if "99" in note or "hello" in note]


def test_fewer_heads_by_the_visitor_are_no_fault_of_a_link() -> None:
    at = opened(n_heads="8", head="7", query="1", key="1")
    at.slider(key="n_heads").set_value(2).run()
    assert "head" not in at.query_params
    assert not [note for note in notes(at) if "Head was" in note]


def test_b_is_fitted_aloud() -> None:
    at = opened(page="compare", b_n_kv_heads="3")
    assert at.query_params["b_n_kv_heads"] == "2"
    for _ in range(2):
        assert notes(at)[0] == "In B: Key/value heads was '3', which does not go with the rest; '2' is used."
        at.run()
