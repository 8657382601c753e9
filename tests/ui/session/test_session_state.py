"""The address and the session without a browser; what only a browser shows is in `tests/browser`."""

from __future__ import annotations

from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from attnviz.settings import link_check
from attnviz.ui.session import session_state
from tests.support.address import parameters
from tests.support.cases import for_each
from tests.support.settings_page import opened, run, shown


def problems(page: AppTest) -> list[str]:
    return [text.value for text in page.text if text.value.startswith("Problem: ")]


@pytest.fixture
def navigated(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the next run is one that Back or Forward asks for."""
    answers = [False]
    monkeypatch.setattr(session_state, "_navigated", lambda: answers[0])
    return answers


def test_a_plain_visit_writes_nothing() -> None:
    assert parameters(opened()) == {}


def test_a_change_is_written_and_what_is_not_ours_stays() -> None:
    page = opened(who=["me", "you"], guest="1")
    page.slider(key="guests").set_value(9)
    assert parameters(run(page)) == {"who": ["me", "you"], "guest": "1", "v": "2", "guests": "9"}
    page.slider(key="guests").set_value(4)
    assert parameters(run(page)) == {"who": ["me", "you"], "guest": "1", "v": "2"}


@pytest.mark.slow
@for_each("query", [{"guests": "07"}, {"guests": "99"}, {"guests": ["3", "5"]}, {"v": "1", "guests": "4"}])
def test_a_link_is_not_rewritten_before_something_changes(query: dict[str, Any]) -> None:
    page = opened(**query)
    assert parameters(run(page)) == query
    page.slider(key="guests").set_value(6)
    assert parameters(run(page)) == {"v": "2", "guests": "6"}


def test_a_link_that_was_cut_stays_so_for_the_next_reader_until_something_changes() -> None:
    page = run(opened(v="2", guests="9"))
    assert dict(page.query_params) == {"v": "2", "guests": "9"}
    page.slider(key="guests").set_value(6)
    assert dict(run(page).query_params) == link_check.checked({"v": "2", "guests": "6"})


def test_problems_are_said_until_something_changes() -> None:
    page = opened(guests="99")
    assert len(problems(page)) == 1
    assert problems(run(page)) == problems(opened(guests="99"))
    page.slider(key="guests").set_value(6)
    assert problems(run(page)) != []
    assert problems(run(page)) == []


def test_an_address_that_lags_behind_is_not_adopted_and_ours_is_sent_again() -> None:
    page = opened()
    page.slider(key="guests").set_value(9)
    run(page).query_params.clear()
    assert shown(run(page))["guests"] == 9
    assert parameters(page) == {"v": "2", "guests": "9"}


def test_back_and_forward_are_followed_by_every_widget(navigated: list[bool]) -> None:
    page = opened(dish="curry", heat="2.5")
    page.slider(key="guests").set_value(9)
    page.text_input(key="spoons").set_value("3, 2")
    before = shown(run(page))
    navigated[0] = True
    page.query_params = {"guests": "6", "pot": "10", "tables": "3", "salt": "2.5", "extras": "rice", "warm": "no"}
    now = shown(run(page))
    assert now == shown(opened(**page.query_params))
    assert page.slider(key="guests").value == 6
    assert page.text_input(key="spoons").value == "2"
    assert page.multiselect(key="extras").value == ["rice"]
    navigated[0] = False
    assert shown(run(page)) == now
    page.selectbox(key="dish").set_value("curry")
    assert run(page).slider(key="heat").value == 1.0
    navigated[0] = True
    page.query_params = {"guests": "9", "spoons": "3.2", "dish": "curry", "heat": "2.5"}
    assert shown(run(page)) == before


def test_a_widget_gets_its_value_from_one_side_only(
    navigated: list[bool], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamlit.elements.lib.policies._shown_default_value_warning", False)
    page = opened(dish="curry", extras="salad", guests="9")
    navigated[0] = True
    page.query_params = {"guests": "6", "name": "Tea", "dish": "stew", "extras": "rice", "spoons": "3", "pot": "16"}
    assert shown(run(page))["name"] == "Tea"
    assert "Session State API" not in caplog.text


def unchecked(query: dict[str, list[str]]) -> dict[str, list[str]]:
    """An address without the check at its end."""
    return {name: values for name, values in query.items() if name != link_check.CHECK}


def test_after_back_the_address_is_sent_only_if_another_may_be_on_its_way(
    navigated: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older one would end up there; one that is sent needlessly may count as a step, with no way forward."""
    sent: list[dict[str, list[str]]] = []
    monkeypatch.setattr(type(st.query_params), "from_dict", lambda _, params: sent.append(unchecked(params)))

    def sent_after(*, back: bool, **query: str) -> list[dict[str, list[str]]]:
        """What is sent in a run that the browser asks for with this address."""
        sent.clear()
        navigated[0] = back
        page.query_params = {**query}
        run(page)
        return [*sent]

    page = opened(guests="5")
    moved = {"v": ["2"], "guests": ["9"]}
    page.slider(key="guests").set_value(9)
    assert sent_after(back=False, guests="5") == [moved]
    assert sent_after(back=True, guests="5") == []
    page.slider(key="guests").set_value(9)
    assert sent_after(back=False, guests="5") == [moved]
    assert sent_after(back=False, **link_check.checked({"v": "2", "guests": "9"})) == []
    assert sent_after(back=True, guests="06") == []
    page.slider(key="guests").set_value(9)
    assert sent_after(back=False, guests="06") == [moved]
    assert sent_after(back=True, guests="05") == [{"guests": ["05"]}]
    page.slider(key="guests").set_value(9)  # and it says so where the older address has come already
    assert sent_after(back=False, **link_check.checked({"v": "2", "guests": "9"})) == [moved]


def test_an_address_that_another_request_kept_from_being_sent_is_sent_by_the_next_run(
    navigated: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One Back asks twice for a run, and the second ends the first; what was on its way before Back would stay."""
    sent: list[dict[str, list[str]]] = []
    is_ended = [False]

    def send(_: object, params: dict[str, list[str]]) -> None:
        if is_ended[0]:
            is_ended[0] = False
            raise RuntimeError("another request has arrived")
        sent.append(unchecked(params))

    monkeypatch.setattr(type(st.query_params), "from_dict", send)
    page = opened(guests="5")
    page.slider(key="guests").set_value(9)
    run(page)
    page.slider(key="guests").set_value(10)
    run(page)
    navigated[0], is_ended[0], page.query_params = True, True, {"guests": "7"}
    page.run()
    assert sent == [{"v": ["2"], "guests": [guests]} for guests in ("9", "10")]
    run(page)
    run(page)
    assert sent[2:] == [{"guests": ["7"]}, {"guests": ["7"]}], "also where the second run is another of the same Back"
    navigated[0] = False
    run(page)
    assert sent[4:] == []


def _page_and_part() -> None:
    """A page with one number, of which a part runs alone where the session says so."""
    import dataclasses

    import streamlit as st

    from attnviz.ui.session import session_state
    from attnviz.ui.session.selection import Selection

    if st.session_state.get("alone"):
        session_state.resume()
        (look,) = session_state.saved(Selection)
    else:
        (look,), _ = session_state.read(Selection)
    session_state.write(dataclasses.replace(look, trial_d_k=st.session_state.get("chosen", look.trial_d_k)))


def test_a_part_that_takes_back_what_is_on_its_way_sends_the_address_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser still shows the address from before, which is that of the part; what is on its way would replace it.

    Only Back may forget what was sent where the browser shows what it showed before.
    """
    sent: list[dict[str, list[str]]] = []
    monkeypatch.setattr(type(st.query_params), "from_dict", lambda _, params: sent.append(unchecked(params)))
    page = AppTest.from_function(_page_and_part)
    page.query_params = {"v": "1", "trial_d_k": "5"}
    for chosen, alone in ((5, False), (2, False), (5, True)):
        page.session_state["chosen"], page.session_state["alone"] = chosen, alone
        run(page)
    assert [{name: text for name, text in query.items() if name != "c"} for query in sent] == [
        {"v": ["2"], "trial_d_k": ["2"]},
        {"v": ["2"], "trial_d_k": ["5"]},
    ]


def test_what_is_too_long_for_a_link_is_kept_by_the_session(navigated: list[bool]) -> None:
    page = opened()
    page.text_area(key="notes").set_value("x" * 8_000)
    page.slider(key="guests").set_value(9)
    assert parameters(run(page)) == {"v": "2", "guests": "9", "without": "notes"}
    assert "Left out: Notes" in [text.value for text in page.text]
    navigated[0] = True
    page.query_params = {"v": "1", "guests": "5", "without": "notes"}
    assert shown(run(page))["notes"] == "x" * 8_000
    assert problems(page) == []
    assert len(problems(opened(v="1", without="notes"))) == 1


def adopting() -> None:
    """A page whose button shows what a file said."""
    import dataclasses

    import streamlit as st

    from attnviz.ui.session import session_state, widgets
    from attnviz.ui.session.selection import Selection

    (look,), problems = session_state.read(Selection)
    opened = dataclasses.replace(look, trial_d_k=5)
    st.button("Open", on_click=session_state.adopt, args=(opened,), kwargs={"problems": ["Said."]})
    look = widgets.draw(look, "trial_d_k")
    session_state.write(look)
    st.text(f"{look.trial_d_k} {problems}")


def test_a_file_or_a_lesson_is_adopted_by_session_widgets_and_address() -> None:
    page = run(AppTest.from_function(adopting))
    page.slider(key="trial_d_k").set_value(2)
    run(page).button[0].click()
    assert run(page).text[0].value == "5 ['Said.']"
    assert page.slider(key="trial_d_k").value == 5
    assert parameters(page) == {"v": "2", "trial_d_k": "5"}


@pytest.mark.slow
@for_each(
    "gone, shows",
    [
        ("v=1&guests=6&name=%C3%A9", 6),
        ("guests=6&v=1&name=%C3%A9&embed=true&embed_options=light_theme", 6),
        ("v=1&guests=7", 7),  # an address of ours came after it, and took its place
        ("embed=true&v=1&guests=7", 7),
        ("", 4),
        (None, 5),
        ("v=1&guests=6&name=%C3%A9&embed=" + "x" * 2**16, 5),
        (6, 5),
        (["v=1"], 5),
    ],
)
def test_where_back_led_is_shown_once_even_if_the_run_it_asked_for_came_to_nothing(gone: Any, shows: int) -> None:
    page = opened(v="1", guests="5")
    page.session_state["_gone_to"] = gone
    page.query_params = {"v": "1", "guests": "6", "name": "é"}
    assert shown(run(page))["guests"] == shows
    page.slider(key="guests").set_value(9)
    assert shown(run(page))["guests"] == 9


def test_where_back_led_is_forgotten_once_the_browser_shows_another_address() -> None:
    page = opened(v="1", guests="5")
    page.session_state["_gone_to"] = "v=1&guests=7"
    run(page)
    page.query_params = {"v": "1", "guests": "7"}
    page.slider(key="guests").set_value(9)
    assert shown(run(page))["guests"] == 9


def test_a_move_that_crosses_a_way_back_is_sent_back_to_its_slider(navigated: list[bool]) -> None:
    """The browser then shows what it was sent, 5, and the page what it heard, 9: it has to be sent the 9 as well."""
    page = opened(v="1", guests="5")
    page.slider(key="guests").set_value(6)
    run(page)
    navigated[0] = True
    page.query_params.update(guests="5")
    run(page)
    assert page.slider(key="guests").proto.set_value
    navigated[0] = False
    page.slider(key="guests").set_value(9)
    run(page)
    assert (shown(page)["guests"], page.query_params["guests"]) == (9, "9")
    assert page.slider(key="guests").proto.set_value
    assert list(page.slider(key="guests").proto.value) == [9]
    run(page)
    assert not page.slider(key="guests").proto.set_value


def test_a_later_move_is_left_to_the_browser(navigated: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_state, "_ON_ITS_WAY", 0.0)
    page = opened(v="1", guests="5")
    navigated[0] = True
    page.query_params.update(guests="7")
    run(page)
    navigated[0] = False
    page.slider(key="guests").set_value(9)
    run(page)
    assert shown(page)["guests"] == 9
    assert not page.slider(key="guests").proto.set_value


def test_a_button_that_changes_one_thing_keeps_a_slider_that_moved_with_it() -> None:
    """Both reach the server at once; the button knows the setting only as it was when the button was drawn."""
    page = AppTest.from_function(_page_with_a_button, default_timeout=30)
    run(page)
    page.slider(key="guests").set_value(9)
    page.button(key="warm").click()
    run(page)
    assert shown(page) == {"guests": 9, "dish": "soup"}
    assert page.query_params["guests"] == "9"


def _page_with_a_button() -> None:
    import json
    from dataclasses import asdict, dataclass, replace

    import streamlit as st

    from attnviz.settings import fields
    from attnviz.settings.rows import Choice, table
    from attnviz.ui.session import session_state, widgets

    dishes = table(*(Choice(name, name, len, "x", "-", "-") for name in ("stew", "soup")))

    @dataclass(frozen=True)
    class Meal:
        guests: int = fields.number(4, 1, 24, label="Guests")
        dish: str = fields.option(dishes, "stew", label="Dish")

    (meal,), _ = session_state.read(Meal)
    meal = widgets.checked(widgets.draw(meal))
    st.button("Soup", key="warm", on_click=session_state.adopt, args=(replace(meal, dish="soup"),))
    session_state.write(meal)
    st.text(f"Shown {json.dumps(asdict(meal))}")
