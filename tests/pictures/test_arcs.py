"""Arcs between layers: the numbers themselves as thickness, their sign as colour, and words that are only words."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz.pictures.charts.arcs import LEAST, NEGATIVE, POSITIVE, THICKEST, THINNEST, arcs, drawn

PARTS = np.array([[[1.0, -4.0, 0.0], [0.5, LEAST, 0.02]], [[0.0, 3.0, -0.3], [0.1, LEAST * 3.9, LEAST * 4]]])
TOKENS = ("<b>cat</b>", "$x$", "to")


def test_every_arc_is_as_thick_as_its_number_and_goes_to_the_last_word() -> None:
    data = arcs(PARTS, TOKENS)["data"]
    assert len(data) == len(drawn(PARTS)) == 7
    for trace, at in zip(reversed(data), drawn(PARTS), strict=True):
        layer, head, token = at
        amount = PARTS[at]
        assert set(trace["customdata"]) == {amount}
        assert trace["line"]["width"] == pytest.approx(max(THICKEST * abs(amount) / 4, THINNEST))
        assert trace["line"]["color"] == (POSITIVE if amount > 0 else NEGATIVE)
        assert (trace["y"][0], trace["y"][-1]) == (layer, layer + 1)
        assert round(trace["x"][0]) == token
        assert round(trace["x"][-1]) == len(TOKENS) - 1
        assert f"head {layer + 1}.{head + 1}, from " in trace["text"][0]
    sizes = [abs(PARTS[at]) for at in drawn(PARTS)]
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes) >= LEAST * 4


def test_words_of_a_visitor_are_no_html() -> None:
    figure = arcs(PARTS, TOKENS)
    assert figure["layout"]["xaxis"]["ticktext"] == ["&lt;b&gt;cat&lt;/b&gt;", "&#36;x&#36;", "to"]
    assert "<b>" not in str(figure["data"])


def test_nothing_is_drawn_of_nothing() -> None:
    assert arcs(np.zeros((1, 2, 3)), TOKENS)["data"] == []
