"""The grid's messages, the mask panel and the mask-value lab, without a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import Config, run
from attnviz.engine.tables.mask_bits import compact
from attnviz.experiments import masking_methods
from attnviz.ui.components import mask_painter
from attnviz.ui.panels import mask_builder
from tests.support.cases import for_each
from tests.support.page_figures import figures

ROOT = Path(__file__).parents[3]
LAB = str(ROOT / "tests" / "browser" / "scripts" / "mask_values.py")
MASK = np.array([[True, False, True], [False, False, True]])


def opened(script: str = str(ROOT / "app.py"), **query: str) -> AppTest:
    at = AppTest.from_file(script, default_timeout=30)
    for name, value in ({"v": "1"} | query).items():
        at.query_params[name] = value
    return at.run()


def page_text(at: AppTest) -> str:
    titles = (figure["stage"].title for figure in figures(at) if "stage" in figure)
    return "\n".join([*(element.proto.body for element in at.get("html")), *titles])


def query(at: AppTest) -> dict[str, str]:
    """The parameters of the address; a list of one is what it holds."""
    return {name: value[0] if isinstance(value, list) else value for name, value in at.query_params.items()}


def test_a_mask_is_sent_and_read_back() -> None:
    told = json.loads(mask_painter.packed(MASK, ["a", "a"], ["x", "</script>", ""]))
    assert told["cells"] == "101\n001"
    assert (told["queries"], told["keys"]) == (["a", "a"], ["x", "</script>", ""])
    np.testing.assert_array_equal(mask_painter.read({"cells": told["cells"]}, (2, 3)), MASK)


@for_each(
    "answer",
    [
        None,
        {},
        {"cells": None},
        {"cells": 101},
        {"cells": "101"},
        {"cells": "10\n00\n11"},
        {"cells": "101\n00"},
        {"cells": "101\n00x"},
        {"cells": "101\n001\n"},
        {"cells": "¹01\n001"},
        ["101\n001"],
    ],
)
def test_what_a_browser_should_not_send_is_no_mask(answer: Any) -> None:
    assert mask_painter.read(answer, (2, 3)) is None


def test_the_panel_counts_cells_and_shows_every_form() -> None:
    at = opened(panel="mask", mask="causal", sentence="a b a")
    assert not at.exception
    assert "6 of 9 cells are allowed." in page_text(at)
    codes = [element.value for element in at.code]
    assert len(codes) == 5
    assert "    [T, F, F]," in codes[0]
    assert "    [F, T, T]," in codes[2]


def test_invert_forbid_and_allow_are_settings_of_their_own() -> None:
    at = opened(panel="mask", mask="causal", sentence="a b c")
    at.button(key="mask_invert").click().run()
    assert (query(at)["mask"], query(at)["custom_cells"]) == ("custom", "1: 2-3, 2: 3")
    assert "Row 3 has nothing to attend to: weights and output are zeros there." in page_text(at)
    at.button(key="mask_none").click().run()
    assert query(at)["custom_cells"] == ""
    assert "0 of 9 cells" in page_text(at)
    at.button(key="mask_all").click().run()
    assert "mask" not in query(at)
    assert query(at)["panel"] == "mask"


def test_masks_start_together_as_all_or_as_any() -> None:
    at = opened(panel="mask", sentence="a b c d", block_size="2", reach="1")
    at.multiselect(key="mask_starts").set_value(["causal", "block"]).run()
    at.button(key="mask_use").click().run()
    assert query(at)["mask"] == "causal.block"
    assert "6 of 16 cells" in page_text(at)
    at.radio(key="mask_how").set_value("any").run()
    at.button(key="mask_use").click().run()
    assert (query(at)["mask"], query(at)["custom_cells"]) == ("custom", "1: 1-2, 2: 1-2, 3: 1-4, 4: 1-4")
    config = Config(sentence="a b c d", mask="custom", custom_cells=query(at)["custom_cells"])
    assert compact(run(config)["allowed"].array) == query(at)["custom_cells"]


def test_a_mask_that_is_too_long_leaves_the_one_before_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    at = opened(panel="mask", mask="causal", sentence="a b c")
    monkeypatch.setattr(mask_builder, "compact", lambda allowed: "1: 1, " * 4000)
    at.button(key="mask_invert").click().run()
    assert not at.exception
    assert query(at)["mask"] == "causal"
    assert "too long to keep" in page_text(at)
    assert json.loads(sent(at))["refused"] == 1
    monkeypatch.undo()
    at.button(key="mask_invert").click().run()
    assert "too long to keep" not in page_text(at)


def sent(at: AppTest) -> bytes:
    """What the grid was given last."""
    grids = [
        element.proto for element in at.get("bidi_component") if element.proto.component_name == "attnviz_mask_painter"
    ]
    return bytes(grids[0].bytes)


def test_the_lab_draws_five_pictures_and_its_tables() -> None:
    at = opened(LAB, sentence="a b c", n_heads="2", head="2", mask="causal")
    assert not at.exception
    trace = run(Config(sentence="a b c", n_heads=2, mask="causal"))
    assert "Weights, head 2" in page_text(at)
    found = masking_methods.masking_trial(trace, 0, 1)
    leaks = next(frame.value for frame in at.dataframe if "0 as a score" in frame.value and frame.value.iloc[0, 0] == 0)
    np.testing.assert_allclose(leaks, masking_methods.leaked_weights(found))
    at.toggle(key="empty_row").set_value(True).run()
    assert "may attend to nothing" in page_text(at)
    at.selectbox(key="pick-head").set_value(0).run()
    assert "Weights, head 1" in page_text(at)
    assert query(at)["head"] == "1"


def test_the_lab_offers_no_empty_row_where_there_is_one() -> None:
    at = opened(LAB, sentence="a b", mask="custom", custom_cells="2: 1")
    assert not at.exception
    assert not at.toggle


@for_each("query", [{"initialiser": "by_hand"}, {"initialiser": "by_hand", "mask": "causal"}, {}, {"n_heads": "1"}])
def test_the_lab_opens_where_most_leaks(query: dict[str, str]) -> None:
    at = opened(LAB, **query)
    assert not at.exception
    config = Config(**{name: int(text) if text.isdecimal() else text for name, text in query.items()})
    trace = run(config)
    allowed = np.tri(7, dtype=bool)
    scores = np.where(allowed, trace["capped"].array, 0.0)
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    leaked = np.where(allowed, 0.0, A / A.sum(axis=-1, keepdims=True)).sum(axis=-1).max(axis=-1)
    head = int(np.flatnonzero(leaked >= leaked.max() - 1e-9)[0]) + 1
    assert f"Weights, head {head}" in page_text(at)
    assert leaked[head - 1] > 0.5
    assert (
        f"Head {head} leaks most: with 0 as a score, up to {round(100 * leaked.max())} % of a row" in page_text(at)
    ) == (config.n_heads > 1)
    assert "head" not in query
    assert [heading.value for heading in at.subheader] == ["How is a score masked out?"]


def test_the_large_number_is_written_as_the_page_writes_it() -> None:
    at = opened(LAB)
    (slider,) = (each for each in at.get("select_slider") if each.key == "large")
    assert slider.options == ["−1e9", "−10000", "−100", "−10", "−1"]
