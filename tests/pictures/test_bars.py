"""Bars: the numbers themselves, below zero in another colour."""

from __future__ import annotations

from attnviz.pictures.charts.bars import NEGATIVE, POSITIVE, bars
from attnviz.pictures.colours import SHARE


def test_bars_are_the_numbers_and_their_signs_have_colours() -> None:
    trace = bars([("a", 1 / 3), ("b", -2.0), ("c", 0.0)])["data"][0]
    assert trace["y"] == [1 / 3, -2.0, 0.0]
    assert trace["customdata"] == ["a", "b", "c"]
    assert trace["marker"]["color"] == [POSITIVE, NEGATIVE, POSITIVE]


def test_shares_have_the_colour_of_weights() -> None:
    assert bars([("a", 0.5)], shares=True)["data"][0]["marker"]["color"] == SHARE[3]


def test_labels_are_thinned_and_never_merged() -> None:
    layout = bars([("same", float(i)) for i in range(40)])["layout"]["xaxis"]
    assert len(layout["tickvals"]) == len(layout["ticktext"]) <= 16
    assert layout["tickmode"] == "array"
