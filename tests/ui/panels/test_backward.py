"""The panel Backward without a browser: the maps hold the slopes of the result that is chosen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import Config, gradients, run
from tests.support.page_figures import figures, numbers

APP = str(Path(__file__).parents[3] / "app.py")
SIDE_BY_SIDE = 3


def opened(**query: str) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=30)
    for name, value in ({"v": "1", "panel": "backward"} | query).items():
        at.query_params[name] = value
    return at.run()


def page_text(at: AppTest) -> str:
    return "\n".join(element.proto.body for element in at.get("html"))


def drawn(at: AppTest, figure: int) -> np.ndarray:
    array = numbers(figures(at)[SIDE_BY_SIDE + figure])
    return np.sort(array[~np.isnan(array)])


@pytest.mark.slow
@pytest.mark.parametrize("target", ["output", "points_at", "weight"])
def test_the_maps_hold_the_slopes_of_the_chosen_result(target: str) -> None:
    at = opened(target=target, head="2", query="3", key="5")
    assert not at.exception
    trace = run(Config())
    if target == "weight":
        G = np.zeros(trace["weights"].shape)
        G[1, 2, 4] = 1.0
        of = {(0, "weights"): G}
    else:
        G = np.zeros(trace["output"].shape)
        G[2] = trace["token_embeddings"].array[4] if target == "points_at" else 1.0
        of = {(None, "output"): G}
    found = gradients(trace, of)
    for figure, name in enumerate(("scores", "weights", "heads")):
        np.testing.assert_allclose(drawn(at, figure), np.sort(found[name].array.ravel()), rtol=1e-6, atol=1e-12)
    J = numbers(figures(at)[SIDE_BY_SIDE + 4])
    assert abs(np.nansum(J, axis=0)).max() < 1e-12
    assert any("frac" in each.value for each in at.markdown)


def test_without_a_cell_the_output_of_the_first_word_is_the_result() -> None:
    at = opened(target="weight")
    assert not at.exception
    assert "No cell is chosen" in page_text(at)
    assert "L = the sum of the output of" in page_text(at)
    assert "Click a cell of QKᵀ" in page_text(at)


def test_a_normaliser_without_slopes_is_said() -> None:
    assert "no slope reaches the scores" in page_text(opened(normaliser="hardmax"))
    assert "a head that is sure stops learning" in page_text(opened())


def test_the_slopes_of_any_step_can_be_seen() -> None:
    at = opened(step="w_v", query="2")
    trace = run(Config())
    G = np.zeros(trace["output"].shape)
    G[1] = 1.0
    wanted = gradients(trace, {(None, "output"): G})["w_v"].array
    np.testing.assert_allclose(drawn(at, 3), np.sort(wanted.ravel()), rtol=1e-6, atol=1e-12)


def test_a_forbidden_cell_is_said() -> None:
    at = opened(mask="causal", head="1", query="1", key="2")
    assert not at.exception
    assert "nothing flows back through the mask" in page_text(at)


def test_words_that_the_output_cannot_point_at() -> None:
    at = opened(target="points_at", output_projection="no", d_v="3", head="1", query="2", key="2")
    assert not at.exception
    assert "not as wide as the embedding" in page_text(at)
