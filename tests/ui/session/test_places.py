"""The places of the page: links to them open where they always did."""

from __future__ import annotations

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from attnviz.pictures.stage_bytes import unpacked
from attnviz.ui.pages.explore import GONE
from attnviz.ui.session import places, session_state
from attnviz.ui.session.selection import PAGE_NAMES, PANEL_NAMES, Selection
from tests.support import components
from tests.support.cases import for_each
from tests.ui.pages.test_explore import opened


def held(at: AppTest) -> Selection:
    query = {name: value[0] if isinstance(value, list) else value for name, value in at.query_params.items()}
    return Selection(page=query.get("page", "explore"), panel=query.get("panel", "cell"))


@pytest.mark.slow
@for_each("page", PAGE_NAMES)
def test_a_link_to_a_page_opens_it_in_its_place(page: str) -> None:
    at = opened(page=page)
    place = next(name for name, parts in places.PLACES.items() if page in parts)
    assert at.segmented_control(key="pick-place").value == place
    assert held(at).page == page
    if len(places.PLACES[place]) > 1:
        assert at.segmented_control(key="pick-part").value == page


@pytest.mark.slow
@for_each("panel", [name for name in PANEL_NAMES if name not in GONE])
def test_a_link_to_a_panel_opens_it_in_its_place(panel: str) -> None:
    at = opened(panel=panel)
    assert held(at) == Selection(panel=panel)
    if panel in places.CHANGING:
        assert at.segmented_control(key="pick-place").value == "change"
        assert at.segmented_control(key="pick-part").value == panel
        return
    assert at.segmented_control(key="pick-place").value == "explore"
    assert panel in places.PANELS[at.segmented_control(key="pick-group").value]


@pytest.mark.slow
def test_presses_lead_from_place_to_place_and_what_was_looked_at_stays() -> None:
    at = opened(panel="statistics", n_heads="2")
    at.segmented_control(key="pick-place").set_value("teach").run()
    assert held(at).page == "assign"
    at.segmented_control(key="pick-part").set_value("class").run()
    assert held(at).page == "class"
    at.segmented_control(key="pick-place").set_value("explore").run()
    assert held(at) == Selection(panel="statistics")
    at.segmented_control(key="pick-way").set_value("redeal").run()
    assert held(at) == Selection(panel="redeal")
    at.segmented_control(key="pick-place").set_value("change").run()
    assert held(at) == Selection(panel="what_if")
    at.segmented_control(key="pick-part").set_value("mask").run()
    assert held(at) == Selection(panel="mask")
    at.segmented_control(key="pick-part").set_value("data").run()
    assert held(at).page == "data"
    at.segmented_control(key="pick-place").set_value("explore").run()
    assert held(at) == Selection()
    assert not at.exception


def test_where_something_is_changed_the_maps_have_the_room_that_they_have_elsewhere() -> None:
    views = []
    for panel in ("cell", *places.CHANGING):
        maps = next(data for name, data in components.shown(opened(panel=panel)) if name == "attnviz_heatmap")
        views.append(unpacked(maps)[0]["view"])
    assert views == views[:1] * len(views)
    assert len(views) > 2


def test_a_place_that_is_chosen_is_kept_where_another_run_ends_the_one_that_heard_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A picture that says how much room there is asks for a run, maybe while a press is being answered."""
    at = opened()
    monkeypatch.setattr(session_state, "write", lambda *_: st.stop())
    at.segmented_control(key="pick-place").set_value("compare").run()
    monkeypatch.undo()
    at.run()
    assert at.query_params["page"] == "compare"
