"""The Explore page by what it holds: its bands, a head in focus, what the columns show, and old links."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import Config, run
from attnviz.pictures.columns import roles
from attnviz.pictures.stage_bytes import unpacked
from attnviz.pictures.step_path import way as steps_of
from attnviz.text import opening_sentence as tales
from attnviz.ui.components.pickers import film_strip, step_path
from attnviz.ui.components.sentence import opening_sentence
from attnviz.ui.components.sentence.opening_sentence import Opening
from attnviz.ui.pages import explore
from attnviz.ui.pages.explore import GONE
from attnviz.ui.panels import stage_of_run
from attnviz.ui.session import failures
from attnviz.ui.session.selection import Selection
from tests.support import components
from tests.support.events import event
from tests.support.page_figures import figures

APP = str(Path(__file__).parents[3] / "app.py")


def opened(state: dict[str, Any] | None = None, **query: str) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=60)
    for name, value in {"v": "1", **query}.items():
        at.query_params[name] = value
    for name, value in (state or {}).items():
        at.session_state[name] = value
    at.run()
    assert not at.exception
    return at


def shown(at: AppTest) -> list[str]:
    """The steps that stand side by side."""
    return [figure["key"].removeprefix("explore-") for figure in figures(at)][:3]


def heads(at: AppTest) -> list[list[str]]:
    return [figure["data"][0]["meta"]["heads"] for figure in figures(at)[:3]]


def sent(at: AppTest, name: str) -> dict[str, Any]:
    """What a component is sent, the strip of all heads along with the maps."""
    if name not in ("heatmap", "film_strip"):
        return dict(json.loads(components.of(at, f"attnviz_{name}").partition(b"\0")[0]))
    header, arrays = unpacked(components.of(at, "attnviz_heatmap"))
    return dict(header if name == "heatmap" else json.loads(arrays[".film"].tobytes()))


def test_a_press_on_the_way_chooses_what_the_columns_show_and_travels_in_the_link() -> None:
    assert shown(opened()) == ["scores", "weights", "heads"]
    at = opened({"way": event("show", stage="queries")})
    assert shown(at) == ["queries", "keys", "scores"]
    assert at.query_params["shown"] == "queries"
    assert shown(opened(shown="queries")) == shown(at)
    assert [node["name"] for node in sent(at, "step_path")["nodes"] if node["shown"]] == shown(at)
    assert shown(opened(shown="no such step")) == ["scores", "weights", "heads"]


def test_a_head_comes_forward_and_goes_back() -> None:
    at = opened({"explore": event("focus", head=2)})
    assert at.query_params["focus"] == "3"
    assert heads(at) == [["head 3"]] * 3
    assert sent(at, "film_strip")["head"] == 2
    assert figures(at)[1]["data"][0]["meta"]["roles"] == [roles(run(Config()), 0)[2]]
    back = opened({"explore": event("focus", head=None)}, focus="3")
    assert "focus" not in back.query_params
    assert [len(each) for each in heads(back)] == [4, 4, 4]
    assert heads(opened({"explore": event("focus", head=1)}, focus="3")) == [["head 2"]] * 3


def test_the_row_that_the_sentence_is_about_is_lit_also_in_focus() -> None:
    def lit(at: AppTest) -> Any:
        return sent(at, "heatmap")["opening"]

    told = run(Config())
    for at, head in ((opened(), 0), (opened(focus="3"), 2)):
        query = tales.telling(told, 0, None if head == 0 else head)[1]
        assert lit(at)[1] == query
    assert lit(opened(focus="3"))[0] == 2
    assert lit(opened(focus="3", head="3", query="2", key="1")) is None


def test_a_cell_that_is_picked_in_focus_belongs_to_that_head() -> None:
    cell = {"stage": "weights", "head": 0, "row": 4, "column": 2}
    at = opened({"explore": event("pick", **cell)}, focus="3")
    assert [at.query_params[name] for name in ("head", "query", "key")] == ["3", "5", "3"]
    among = {**cell, "head": 2}
    assert sent(at, "heatmap")["picked"] == among, "at once"
    assert sent(at.run(), "heatmap")["picked"] == among


def test_a_cell_that_is_picked_leaves_all_heads_where_they_were() -> None:
    cell = {"stage": "weights", "head": 1, "row": 4, "column": 2}
    at = opened({"explore": event("pick", **cell)}, n_heads="16")
    assert at.query_params["head"] == "2"
    assert "focus" not in at.query_params
    assert [len(each) for each in heads(at)] == [16, 16, 16]


def test_a_head_that_is_not_there_is_not_in_focus() -> None:
    assert [len(each) for each in heads(opened(focus="9"))] == [4, 4, 4]
    assert [len(each) for each in heads(opened(n_heads="1", focus="1"))] == [1, 1, 1]


def test_each_head_has_its_own_scale_until_one_is_asked_for() -> None:
    def ends(at: AppTest) -> Any:
        return figures(at)[0]["data"][0]["meta"]["ends"]

    scores = run(Config())["scores"].array
    assert ends(opened()) == pytest.approx(np.abs(scores).max(axis=(1, 2)).tolist())
    common = opened({"explore": event("scale")})
    assert ends(common) is None
    assert common.query_params["colours"] == "common"


def test_the_sentence_opens_on_a_word_and_follows_the_choice() -> None:
    at = opened()
    opening = sent(at, "opening_sentence")
    assert not opening["chosen"]
    assert sent(at, "heatmap")["opening"] == [opening["head"], opening["query"]]
    chosen = opened({"telling": event("word", query=3)})
    assert chosen.query_params["query"] == "4"
    assert (sent(chosen, "opening_sentence")["query"], sent(chosen, "opening_sentence")["chosen"]) == (3, True)
    again = opened({"telling": event("word", query=3)}, query="4")
    assert "query" not in again.query_params


def test_an_old_link_to_the_tab_of_all_steps_shows_that_step_above() -> None:
    at = opened(panel="flow", step="queries")
    assert shown(at) == ["queries", "keys", "scores"]
    assert not {*GONE} & {*at.segmented_control(key="pick-group").options}
    assert at.segmented_control(key="pick-group").value == "cell"


def test_the_pictures_of_the_page_have_names_of_their_own() -> None:
    at = opened()
    names = [stage["title"] for stage in sent(at, "heatmap")["stages"]]
    assert len({*names}) == len(names) == 3


def test_the_film_is_small_also_for_many_words_and_shows_the_largest_weights() -> None:
    weights = np.zeros((3, 64, 64))
    weights[1, 63, 0], weights[2] = 1.0, np.nan
    small = film_strip.small_pictures(weights)
    assert small.shape == (3, 16, 16)
    assert (small[1] == 255).nonzero() == (np.array([15]), np.array([0]))
    assert (small[0] == 1).all()
    assert (small[2] == 0).all()


def test_what_the_strip_and_the_sentence_send_is_little() -> None:
    trace = run(Config(sentence="the cat sat on the warm mat while a dog slept under", n_heads=8, d_model=32))
    assert len(opening_sentence.packed(trace, 0, Opening(0, 3, ()))) < 3000
    nodes = step_path.packed(steps_of(trace, 0, 0), 12, ())
    assert len(nodes) < 6000


def test_the_table_comes_with_the_shapes_of_all_steps() -> None:
    at = opened(panel="table", step="scores")
    (shapes,) = [expander for expander in at.expander if "multiply-adds" in expander.label]
    assert len(shapes.dataframe) == 2


@pytest.mark.slow
def test_the_heads_stand_as_cards_sorted_by_what_they_do_and_a_press_shows_one_large() -> None:
    made = {"initialiser": "by_hand", "sentence": "the cat sat on the warm mat"}
    cards = sent(opened(panel="statistics", **made), "head_cards")["cards"]
    assert [card["title"] for card in cards[:3]] == ["previous token", "same word", "first token"]
    assert [card["head"] for card in cards] == [0, 1, 2, 3]
    assert cards[3]["lines"][1] == "a row spreads over 7.0 of 7 words"
    at = opened({"cards": event("card", head=2)}, panel="statistics", **made)
    assert (at.query_params["focus"], at.query_params["head"]) == ("3", "3")
    assert heads(at) == [["head 3"]] * 3
    assert sent(at.run(), "head_cards")["focus"] == 2
    hostile = opened({"cards": event("card", head="x")}, panel="statistics")
    assert "focus" not in hostile.query_params


def test_a_phone_is_told_which_stage_stands_in_front() -> None:
    assert [sent(opened(**how), "step_path")["front"] for how in ({}, {"shown": "heads"})] == ["weights", "heads"]
    at = opened({"explore": event("show", stage="scores")})
    assert at.query_params["shown"] == "scores"
    assert sent(at, "heatmap")["view"]["first"] == sent(at, "step_path")["front"] == "scores"
    chosen = {"head": "2", "query": "5", "key": "3"}
    cell = {"stage": "weights", "head": 1, "row": 6, "column": 1}
    other = opened({"explore": event("pick", **cell)}, **chosen)
    assert [other.query_params[name] for name in ("head", "query", "key")] == ["2", "7", "2"]
    assert "focus" not in other.query_params


def test_of_a_long_text_all_tokens_can_be_used_by_one_press() -> None:
    words = " ".join(f"w{number}" for number in range(200))
    at = opened(sentence=words, n_heads="2")
    at.session_state["_address"] = {**at.session_state["_address"], "head": "2"}  # chosen since, in a part of the page
    at.button(key="more-tokens").click().run()
    assert at.query_params["head"] == "2"
    assert not at.exception
    assert at.query_params["max_tokens"] == "200"
    assert [button for button in at.button if button.key == "more-tokens"] == []
    assert [button for button in opened(sentence="a " * 64).button if button.key == "more-tokens"] == []
    assert opened(sentence="a " * 1300).button(key="more-tokens").label == "Use 1,024 tokens"


def test_nothing_but_numbers_follows_from_a_move_that_changes_no_size_where_a_browser_has_them() -> None:
    config, selection = replace(Config(), sentence="numbers alone", seed=81), Selection()
    asked = partial(explore.is_of_numbers, config)
    assert not asked("seed", selection), "nobody has asked for its stage"
    stage_of_run.stage_of_run(run(config), selection)
    assert asked("seed", selection)
    assert asked("temperature", replace(selection, digits=3)), "a field that the stage does not depend on"
    assert not asked("d_k", selection), "other numbers can be held then"
    assert not asked("sentence", selection)
    assert not asked("seed", replace(selection, head=1)), "another stage"
    assert not asked("softcap", selection), "with another step of the layer"
    for other in ({"panel": "statistics"}, {"all_lines": True}, {"every": True}, {"play": True}, {"pinned": "seed=2"}):
        assert not asked("seed", replace(selection, **other)), other
    without = replace(selection, specials=True)
    stage_of_run.stage_of_run(run(config), without)
    assert not asked("seed", without), "what they are given is said above the maps"


def test_what_could_be_drawn_is_there_where_the_answer_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise ValueError

    monkeypatch.setattr(explore, "_explain", failing)
    monkeypatch.setattr(failures, "are_contained", True)
    at = opened()
    assert any("a fault of the program" in each.proto.body for each in at.get("html"))
    assert shown(at) == ["scores", "weights", "heads"]
    assert sent(at, "opening_sentence")["queries"]
