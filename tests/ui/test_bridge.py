"""The pictures as Streamlit is told of them, and what is taken from a browser that may say anything."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz.ui import bridge
from attnviz.ui.bridge import Picked, read
from attnviz.views.figures import Stage

HOSTILE = ("<b>", "constructor", "$x$", "the", "the")


def script() -> None:
    import numpy as np
    import streamlit as st

    from attnviz.ui import bridge
    from attnviz.views.figures import Stage

    words = ("<b>", "constructor", "$x$", "the", "the")
    numbers = np.arange(2 * 5 * 5, dtype=float).reshape(2, 5, 5) / 7
    stages = [
        Stage(
            "scores", "QKᵀ", numbers, "signed", words, words, masked=np.triu(np.ones((5, 5), bool), 1), alt="Scores."
        ),
        Stage("heads", "outputs", numbers[:, :, :3], "signed", words, None, ("query", "dimension"), alt="Outputs."),
    ]
    chosen = bridge.show(stages, key="pictures", picked=bridge.Picked("scores", 1, 2, 0))
    st.text(f"chosen {chosen}")


def run(**answers: Any) -> AppTest:
    page = AppTest.from_function(script, default_timeout=60)
    for name, value in answers.items():
        page.session_state[name.replace("_", "-")] = value
    page.run()
    assert not page.exception
    return page


def charts(page: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in page.get("plotly_chart")]


def numbers_of(chart: dict[str, Any]) -> np.ndarray:
    z = chart["data"][0]["z"]
    return np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape([int(n) for n in z["shape"].split(",")])


def test_the_page_holds_the_numbers_the_words_and_an_alternative_text() -> None:
    page = run()
    scores, outputs = charts(page)
    meta = json.loads(scores["data"][0]["meta"])
    gap = meta["gap"]
    z = numbers_of(scores)
    across = [(head % meta["across"]) * (5 + gap[0]) for head in range(2)]
    down = [(head // meta["across"]) * (5 + gap[1]) for head in range(2)]
    assert z[down[1] + 4, across[1] + 2] == (1 * 25 + 4 * 5 + 2) / 7
    assert np.isnan(z[down[1] + 2, across[1] + 4])
    assert meta["rows"] == meta["columns"] == list(HOSTILE)
    assert json.loads(outputs["data"][0]["meta"])["columns"] is None
    assert [chart.proto.alt for chart in page.get("plotly_chart")] == ["Scores.", "Outputs."]
    assert [chart.proto.theme for chart in page.get("plotly_chart")] == ["", ""]


def test_no_token_enters_html_or_the_component() -> None:
    page = run()
    written = " ".join(html.proto.body for html in page.get("html"))
    assert "QKᵀ" in written
    (component,) = page.get("bidi_component")
    data = component.proto.bytes.decode()
    assert "pictures" in data
    for token in HOSTILE[:3]:
        assert token not in written
        assert token not in data
    assert json.loads(data)["picked"] == {"stage": "scores", "head": 1, "row": 2, "column": 0}


def test_the_component_is_told_the_same_at_every_run_so_that_it_need_not_be_sent_again() -> None:
    page = run()
    (first,) = page.get("bidi_component")
    page.run()
    (second,) = page.get("bidi_component")
    assert first.proto.SerializeToString() == second.proto.SerializeToString()


def test_a_choice_made_in_the_browser_is_returned() -> None:
    page = run(pictures_bridge={"picked": {"stage": "heads", "head": 1, "row": 4, "column": 2}})
    assert page.text[-1].value == "chosen Picked(stage='heads', head=1, row=4, column=2)"
    assert run().text[-1].value == "chosen None"


def test_the_width_told_by_the_browser_decides_the_arrangement() -> None:
    wide, narrow = charts(run(pictures_bridge={"width": 1200})), charts(run(pictures_bridge={"width": 358}))
    assert wide[0]["layout"]["margin"] == narrow[0]["layout"]["margin"]
    assert wide[0]["layout"]["height"] != narrow[0]["layout"]["height"]
    assert len(run(pictures_bridge={"width": 1200}).columns) == 2
    assert len(run(pictures_bridge={"width": 358}).columns) == 0


@pytest.mark.parametrize("told", [None, "1200", True, 12.5, [], {}])
def test_a_width_that_is_none_is_not_used(told: Any) -> None:
    assert bridge._width(told, 904) == 904


def test_a_width_is_kept_within_reason() -> None:
    assert [bridge._width(told, 904) for told in (-5, 0, 358, 10**9)] == [240, 240, 358, 3840]


@pytest.mark.parametrize(
    ("told", "height"), [(None, None), ("300", None), (True, None), (300, 232), (-5, 92), (10**9, 2092)]
)
def test_the_room_told_by_the_browser_is_kept_within_reason(told: Any, height: int | None) -> None:
    assert bridge._height(told) == height


def stages() -> list[Stage]:
    numbers = np.zeros((2, 3, 4))
    return [
        Stage("scores", "S", numbers, "signed", "abc", "abcd"),
        Stage("heads", "Z", numbers, "signed", "abc", None, widths=(4, 1)),
    ]


def answer(stage: Any = "scores", head: Any = 0, row: Any = 0, column: Any = 0) -> dict[str, Any]:
    return {"stage": stage, "head": head, "row": row, "column": column}


@pytest.mark.parametrize(
    ("said", "picked"),
    [
        (answer(), Picked("scores", 0, 0, 0)),
        (answer(head=1, row=2, column=3), Picked("scores", 1, 2, 3)),
        (answer(head=None, column=None, row=1), Picked("scores", None, 1, None)),
        (answer(head=None, row=None, column=3), Picked("scores", None, None, 3)),
        (answer("heads", head=0, column=3), Picked("heads", 0, 0, 3)),
    ],
)
def test_a_good_choice_is_read(said: Any, picked: Picked) -> None:
    assert read(said, stages()) == picked


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        "scores",
        7,
        {},
        {"stage": "scores"},
        answer("nowhere"),
        answer(["scores"]),
        answer(head=2),
        answer(row=3),
        answer(column=4),
        answer(head=-1),
        answer(row=1.0),
        answer(row=True),
        answer(row="1"),
        answer(column=10**30),
        answer(row=[0]),
        answer(row=None, column=None),
        answer("heads", head=1, column=1),
    ],
)
def test_a_choice_of_what_is_not_there_is_none(said: Any) -> None:
    assert read(said, stages()) is None
