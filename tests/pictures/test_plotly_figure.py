"""Figures for notebooks: the numbers in them are those that were given, at the words that they belong to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

import attnviz
from attnviz import Config, ConfigError, heatmaps, run, show
from attnviz.pictures.plotly_figure import LONGEST_LABEL, labels

A = np.random.default_rng(9).dirichlet(np.ones(7), size=(2, 3, 5))


def numbers(figure: go.Figure) -> list[np.ndarray]:
    return [np.asarray(each.z) for each in figure.data]


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, lambda a: tuple(a[:, None])])
def test_a_map_a_head_a_layer_holds_the_weights_exactly(form: Callable[[np.ndarray], Any]) -> None:
    figure = show(form(A), list("abcde"), list("tuvwxyz"))
    assert [each.tolist() for each in numbers(figure)] == A.reshape(6, 5, 7).tolist()
    assert [each.visible for each in figure.data] == [True] * 3 + [False] * 3
    (slider,) = figure.layout.sliders
    assert [step.args[0]["visible"] for step in slider.steps] == [[True] * 3 + [False] * 3, [False] * 3 + [True] * 3]
    for number in range(1, 4):
        assert list(figure.layout[f"xaxis{number}"].ticktext) == labels("tuvwxyz")
        assert list(figure.layout[f"yaxis{number}"].ticktext) == labels("abcde")
        assert figure.layout[f"yaxis{number}"].autorange == "reversed"
        assert list(figure.layout[f"xaxis{number}"].tickvals) == list(range(7))
    assert [each.xaxis for each in figure.data] == ["x", "x2", "x3"] * 2


def test_axes_are_linear_so_that_equal_and_numeric_tokens_keep_their_positions() -> None:
    figure = show(A[0, :, :, :5], ["1", "1", "the", "the", ""])
    assert {figure.layout[f"xaxis{i}"].type for i in (1, 2, 3)} == {"linear"}
    assert list(figure.layout.xaxis.ticktext) == ["1 1", "2 1", "3 the", "4 the", "5 (empty)"]


def test_a_run_shows_its_three_stages_without_padding_and_masked_cells() -> None:
    trace = run(Config(sentence="a b c", n_heads=2, d_v=(4, 2), mask="causal"))
    figure = heatmaps(trace)
    found = numbers(figure)
    assert [each.shape for each in found] == [(3, 3)] * 4 + [(3, 4), (3, 2)]
    hidden = np.triu(np.ones((3, 3), bool), 1)
    for head in (0, 1):
        for at, name in enumerate(("scores", "weights")):
            expected = np.where(hidden, np.nan, trace[name].array[head])
            assert np.array_equal(found[2 * at + head], expected, equal_nan=True)
        assert np.array_equal(found[4 + head], trace["heads"].head(head))
    assert [note.text for note in figure.layout.annotations] == [
        f"{stage}, head {head}" for stage in ("QKᵀ", "Weights", "Outputs") for head in (1, 2)
    ]
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis2.cmin, figure.layout.coloraxis2.cmax) == (
        -figure.layout.coloraxis.cmax,
        0,
        1,
    )


def test_one_layer_of_several_can_be_chosen() -> None:
    trace = attnviz.of_weights(A)
    assert np.array_equal(numbers(heatmaps(trace, layer=1)), A[1])
    assert np.array_equal(numbers(heatmaps(trace, layer=-1)), A[1])
    assert heatmaps(trace, layer=0).layout.sliders == ()
    with pytest.raises(IndexError, match="layer is 2; choose 0 to 1"):
        heatmaps(trace, layer=2)


def test_maps_do_not_overlap_and_lie_inside_the_figure() -> None:
    figure = show(np.full((7, 4, 6), 1 / 6))
    boxes = []
    for number in range(1, 8):
        x, y = figure.layout[f"xaxis{number}"].domain, figure.layout[f"yaxis{number}"].domain
        assert 0 <= x[0] < x[1] <= 1
        assert 0 <= y[0] < y[1] <= 1
        boxes.append((*x, *y))
    for at, (left, right, low, high) in enumerate(boxes):
        for other in boxes[at + 1 :]:
            assert right < other[0] or other[1] < left or high < other[2] or other[3] < low


def test_labels_are_escaped_cut_by_what_a_reader_calls_characters_and_never_bare() -> None:
    flags = "\U0001f1e9\U0001f1ea" * 20
    assert labels(["<b>&", "$x$", "constructor", "\u202ea"]) == [
        "1 &lt;b&gt;&amp;",
        "2 &#36;x&#36;",
        "3 constructor",
        "4 a",
    ]
    assert labels([flags]) == ["1 " + flags[: 2 * (LONGEST_LABEL - 1)] + "…"]
    assert show(np.full((1, 70), 1 / 70)).layout.xaxis.ticktext[:3] == ("1 1", "4 4", "7 7")


def test_what_does_not_fit_is_refused_as_a_value_error() -> None:
    with pytest.raises(ConfigError, match="3 query tokens; give 5"):
        show(A, ["a", "b", "c"])


@pytest.mark.slow
def test_plotly_is_loaded_only_when_a_figure_is_asked_for() -> None:
    code = "import attnviz, sys; shown = attnviz.show([[1.0]]); print('plotly' in sys.modules); shown.figure; "
    code += "print('plotly' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
    with pytest.raises(AttributeError, match="has no attribute 'showw'"):
        attnviz.showw  # noqa: B018
