"""The pictures as Streamlit is told of them, and what is taken from a browser that may say anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from attnviz.pictures import figures as figures_of_pictures
from attnviz.pictures.stage_record import Stage
from attnviz.ui.components.pickers import film_strip
from attnviz.ui.components.stage.available_space import HEIGHTS, WIDTHS, Room, View, assumed, room_for, within
from attnviz.ui.components.stage.picking import Picked, focused_head, read
from tests.support.cases import for_each
from tests.support.page_figures import figures, numbers

HOSTILE = ("<b>", "constructor", "$x$", "the", "the")


def script() -> None:
    import numpy as np
    import streamlit as st

    from attnviz.pictures.stage_record import Stage
    from attnviz.ui.components.stage import heatmap
    from attnviz.ui.components.stage.picking import Picked

    words = ("<b>", "constructor", "$x$", "the", "the")
    times = st.session_state.get("times", 1.0)
    numbers = times * np.arange(2 * 5 * 5, dtype=float).reshape(2, 5, 5) / 7
    masked = np.triu(np.ones((5, 5), bool), 1 if times > 0 else 2)
    alt = "Scores." if times > 0 else "Other scores."
    stages = [
        Stage("scores", "QKᵀ", numbers, "signed", words, words, masked=masked, alt=alt),
        Stage("heads", "outputs", numbers[:, :, :3], "signed", words, None, ("query", "dimension"), alt="Outputs."),
    ]
    chosen = heatmap.show(stages, key="pictures", picked=Picked("scores", 1, 2, 0))
    st.text(f"chosen {chosen}")


def run(**answers: Any) -> AppTest:
    page = AppTest.from_function(script, default_timeout=60)
    for name, value in answers.items():
        page.session_state[name.replace("_", "-")] = value
    page.run()
    assert not page.exception
    return page


def components(page: AppTest) -> tuple[Any, Any]:
    """What writes over the charts, and what brings their numbers."""
    _, drawing, bringing = (element.proto for element in page.get("bidi_component"))
    return drawing, bringing


def test_the_page_holds_the_numbers_the_words_and_an_alternative_text() -> None:
    page = run()
    scores, outputs = figures(page)
    meta = json.loads(scores["data"][0]["meta"])
    z = numbers(scores)
    across = [(head % meta["across"]) * (5 + 1) for head in range(2)]
    down = [(head // meta["across"]) * (5 + 1) for head in range(2)]
    assert z[down[1] + 4, across[1] + 2] == (1 * 25 + 4 * 5 + 2) / 7
    assert np.isnan(z[down[1] + 2, across[1] + 4])
    assert meta["rows"] == meta["columns"] == list(HOSTILE)
    assert json.loads(outputs["data"][0]["meta"])["columns"] is None
    assert [scores["alt"], outputs["alt"]] == ["Scores.", "Outputs."]
    assert [chart.proto.theme for chart in page.get("plotly_chart")] == ["", ""]


def test_no_token_enters_html_or_the_component() -> None:
    page = run()
    written = " ".join(html.proto.body for html in page.get("html"))
    assert "QKᵀ" in written
    data = components(page)[0].bytes.decode()
    assert "pictures" in data
    for token in HOSTILE[:3]:
        assert token not in written
        assert token not in data
    assert json.loads(data)["picked"] == {"stage": "scores", "head": 1, "row": 2, "column": 0}


def test_the_component_is_told_the_same_at_every_run_so_that_it_need_not_be_sent_again() -> None:
    page = run()
    first = components(page)
    page.run()
    assert [each.SerializeToString() for each in first] == [each.SerializeToString() for each in components(page)]


def test_other_numbers_leave_the_charts_as_they_are_so_that_the_browser_keeps_them() -> None:
    """A chart of another id is built from nothing."""
    page, other = run(), AppTest.from_function(script, default_timeout=60)
    other.session_state["times"] = -3.0
    other.run()
    assert (numbers(figures(page)[0]) != numbers(figures(other)[0])).any()
    assert figures(page)[0]["alt"] != figures(other)[0]["alt"]
    for one, two in zip(page.get("plotly_chart"), other.get("plotly_chart"), strict=True):
        assert one.proto.SerializeToString() == two.proto.SerializeToString()
    assert components(page)[0].SerializeToString() == components(other)[0].SerializeToString()


@for_each(
    "kept, room",
    [
        ("1600x920x1", (1600, 920, True)),
        ("366x600x0", (366, 600, False)),
        ("0x9999x1", (WIDTHS[0], HEIGHTS[1], True)),
        ("1600x920", (960, 560, True)),
        ("axbx1", (960, 560, True)),
    ],
)
def test_a_page_that_is_opened_again_is_laid_out_for_the_window_that_it_had(
    monkeypatch: pytest.MonkeyPatch, kept: str, room: tuple[int, int, bool]
) -> None:
    monkeypatch.setattr(type(st.context), "cookies", {"attnviz_window_maps": kept})
    view = View(fill=True)
    found = room_for("maps", view)
    assert (found.width, found.height, found.is_wide) == room
    assert assumed("maps", view) == room[:2], "what the browser need not report"
    assert room_for("others", view).width == view.width


def test_a_choice_made_in_the_browser_is_returned() -> None:
    page = run(pictures_bridge={"picked": {"stage": "heads", "head": 1, "row": 4, "column": 2}})
    assert page.text[-1].value == "chosen Picked(stage='heads', head=1, row=4, column=2)"
    assert run().text[-1].value == "chosen None"


def test_the_width_told_by_the_browser_decides_the_arrangement() -> None:
    wide, narrow = figures(run(pictures_bridge={"width": 1200})), figures(run(pictures_bridge={"width": 358}))
    assert wide[0]["data"][0]["x"] != narrow[0]["data"][0]["x"]
    assert wide[0]["layout"]["height"] == wide[1]["layout"]["height"], "side by side, in one box"
    assert max(narrow[0]["data"][0]["x"]) < 358


@for_each("reported", [None, "1200", True, 12.5, [], {}])
def test_a_width_that_is_none_is_not_used(reported: Any) -> None:
    assert within(reported, WIDTHS, 904) == 904


def test_a_width_is_kept_within_reason() -> None:
    assert [within(reported, WIDTHS, 904) for reported in (-5, 0, 358, 10**9)] == [240, 240, 358, 3840]


@for_each("reported, height", [(None, None), ("300", None), (True, None), (300, 300), (-5, 160), (10**9, 2160)])
def test_the_room_told_by_the_browser_is_kept_within_reason(reported: Any, height: int | None) -> None:
    assert within(reported, HEIGHTS, None) == height


def stages() -> list[Stage]:
    numbers = np.zeros((2, 3, 4))
    return [
        Stage("scores", "S", numbers, "signed", "abc", "abcd"),
        Stage("heads", "Z", numbers, "signed", "abc", None, widths=(4, 1)),
    ]


def answer(stage: Any = "scores", head: Any = 0, row: Any = 0, column: Any = 0) -> dict[str, Any]:
    return {"stage": stage, "head": head, "row": row, "column": column}


@for_each(
    "browser_message, picked",
    [
        (answer(), Picked("scores", 0, 0, 0)),
        (answer(head=1, row=2, column=3), Picked("scores", 1, 2, 3)),
        (answer(head=None, column=None, row=1), Picked("scores", None, 1, None)),
        (answer(head=None, row=None, column=3), Picked("scores", None, None, 3)),
        (answer("heads", head=0, column=3), Picked("heads", 0, 0, 3)),
    ],
)
def test_a_good_choice_is_read(browser_message: Any, picked: Picked) -> None:
    assert read(browser_message, stages(), figures_of_pictures.placed(stages(), 900, 500)) == picked


@for_each(
    "browser_message",
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
def test_a_choice_of_what_is_not_there_is_none(browser_message: Any) -> None:
    assert read(browser_message, stages(), figures_of_pictures.placed(stages(), 900, 500)) is None


@for_each(
    "browser_message, found",
    [
        (None, None),
        ({}, None),
        ({"focus": 2}, (2,)),
        ({"focus": -1}, (None,)),
        ({"focus": 4}, None),
        ({"focus": True}, None),
        ({"focus": "2"}, None),
        ({"picked": answer(head=1)}, None),
        ({"picked": {**answer(head=1), "focus": True}}, None),
        ({"picked": [1]}, None),
    ],
)
def test_a_head_is_brought_forward_only_if_it_is_there(
    browser_message: Any, found: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "session_state", {"maps-bridge": browser_message})
    assert focused_head("maps", 4) == found


def test_a_click_on_a_block_means_its_largest_number() -> None:
    array = np.zeros((16, 64, 64))
    array[3, 42, 17] = -5.0
    stage = Stage("scores", "S", array, "signed", ["w"] * 64, ["w"] * 64)
    placed = figures_of_pictures.placed([stage], 900, 500)
    block = placed.tilings[0].block
    assert block > 1
    cell = answer(head=3, row=42 // block * block, column=17 // block * block)
    assert read(cell, [stage], placed) == Picked("scores", 3, 42, 17)
    row = answer(head=None, row=8, column=None)
    assert read(row, [stage], placed) == Picked("scores", None, 8, None)


def test_an_answer_at_the_foot_of_the_window_takes_the_place_of_the_film_strip() -> None:
    film = {
        (answer, wide): Room(View(fill=True, has_answer=answer), 366, 600, wide, has_film=True).film_height
        for answer in (False, True)
        for wide in (False, True)
    }
    assert film[True, False] == 0
    assert min(film[False, False], film[False, True], film[True, True]) > 0


def test_a_film_strip_below_the_pictures_is_as_high_as_is_kept_for_it() -> None:
    style = Path(film_strip.__file__).with_suffix(".css").read_text("utf-8")
    level = style.split(".film.level {")[1].split("}")[0]
    assert f"min-height: {film_strip.HEIGHT}px" in level, "or half a line of what follows is seen under it"
