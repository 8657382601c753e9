"""The answer beside the maps: what opens it, what closes it, and what it holds."""

from __future__ import annotations

from typing import Any

import pytest

from attnviz import Config, run
from attnviz.pictures.answer.explanation_parts import number as written
from attnviz.ui.components.answer import drawer
from attnviz.ui.components.stage import heatmap
from tests.support.events import event
from tests.support.page_figures import figures
from tests.ui.pages.test_explore import opened, sent


def answer(at: Any) -> Any:
    return sent(at, "drawer")["answer"]


def title(at: Any) -> list[str]:
    return [text for _, text in answer(at)["title"]]


def test_a_link_to_a_cell_opens_with_its_answer() -> None:
    assert answer(opened()) is None
    at = opened(panel="cell", head="2", query="4", key="3")
    assert title(at) == ["on", "attends to", "sat"]
    assert answer(at)["head"] == 1
    assert len(answer(at)["lines"]) == 4
    weight = run(Config())["weights"].array[1, 3, 2]
    assert answer(at)["lines"][2]["shares"]["values"][2] == pytest.approx(weight, rel=1e-5)


def test_a_cell_is_answered_in_the_run_of_its_click() -> None:
    at = opened({"explore": event("pick", stage="scores", head=1, row=3, column=2)})
    assert title(at) == ["on", "attends to", "sat"]
    assert sent(at, "heatmap")["picked"] == {"stage": "weights", "head": 1, "row": 3, "column": 2}


def test_an_output_is_answered_from_the_weights_side_and_travels_in_the_link() -> None:
    at = opened({"explore": event("pick", stage="heads", head=1, row=3, column=2)}, key="5")
    assert [at.query_params[name] for name in ("head", "query", "dimension")] == ["2", "4", "3"]
    assert "key" not in at.query_params
    assert title(at) == ["on", "entry 3 of z"]
    assert sent(at, "heatmap")["picked"] == {"stage": "heads", "head": 1, "row": 3, "column": 2}
    again = opened(head="2", query="4", dimension="3")
    assert answer(again) == answer(at)
    cell = opened({"explore": event("pick", stage="weights", head=0, row=1, column=2)}, dimension="3")
    assert "dimension" not in cell.query_params


def test_a_number_of_any_other_map_is_answered_by_what_it_is_the_sum_of_and_travels_in_the_link() -> None:
    trace = run(Config(n_kv_heads=2))
    kv = {"n_kv_heads": "2", "shown": "embedded"}
    cell = {"head": 1, "row": 3, "column": 2}
    for stage, head, word, other, number in (
        ("embedded", "", "query", "key", trace.around["embedded"].array[3, 2]),
        ("queries", "2", "query", "key", trace["queries"].array[1, 3, 2]),
        ("keys", "3", "key", "query", trace["keys"].array[1, 3, 2]),
    ):
        among = cell if head else {**cell, "head": 0}
        at = opened({"explore": event("pick", stage=stage, **among)}, **kv, query="1")
        names = ("head", word, other, "number_of", "entry")
        assert [at.query_params.get(name, "") for name in names] == [head, "4", "", stage, "3"]
        assert title(at)[0] == "on"
        (line,) = answer(at)["lines"]
        assert line["value"] == written(number), stage
        assert sent(at, "heatmap")["picked"] == {"stage": stage, **among}
        again = opened(**{name: at.query_params[name] for name in (*kv, *names) if name in at.query_params})
        assert answer(again) == answer(at)
        for events in ({"explore": event("pick", stage="keys", row=5)}, {"telling": event("word", query=3)}):
            assert "number" not in (answer(opened(events, **at.query_params)) or {})
            assert "number_of" not in opened(events, **at.query_params).query_params
        closed = opened({"answer-lines": event("close")}, **at.query_params)
        assert answer(closed) is None


def test_a_number_is_let_go_of_where_another_page_or_panel_chooses_otherwise() -> None:
    number = {"head": "2", "query": "4", "entry": "3", "number_of": "queries"}
    for page in ("class", "compare", "learn"):
        assert "number_of" not in opened(page=page, **number).query_params, page
    assert title(opened(key="2", **number)) == ["on", "attends to", "cat"], "a whole cell says more"
    assert "head 3" in answer(opened(focus="3", **{**number, "head": ""}))["sentence"]
    at = opened(panel="products", step="queries", **number)
    assert title(at) == ["on", "entry 3 of Q"]
    assert "number_of" in at.query_params
    token = next(each for each in at.selectbox if each.label == "Token")
    assert "number_of" not in token.select(0).run().query_params


def test_a_number_that_is_not_there_is_no_answer() -> None:
    at = opened(query="4", entry="3", number_of="nonsense")
    assert title(at) == ["on"]
    assert "number_of" not in at.query_params
    assert any("Number of was" in html.proto.body for html in at.get("html"))
    assert answer(opened(query="4", entry="99", number_of="queries"))["lines"][0]["name"] == "score", "its word is"
    assert title(opened(query="4", entry="3", number_of="w_q")) == ["on"]


def test_a_word_is_answered_by_its_row() -> None:
    at = opened({"telling": event("word", query=3)})
    assert title(at) == ["on"]
    assert [line["name"] for line in answer(at)["lines"]] == ["score", "share", "value"]
    row = opened({"explore": event("pick", stage="heads", row=5)})
    assert title(row) == ["warm"]


def test_it_is_closed_and_nothing_is_chosen_any_more() -> None:
    at = opened({"answer-lines": event("close")}, head="2", query="4", key="3")
    assert answer(at) is None
    assert not {"query", "key", "dimension"} & {*at.query_params}
    assert sent(at, "heatmap")["picked"] is None


def test_a_column_that_was_chosen_alone_is_answered_by_its_words() -> None:
    at = opened(key="3")
    assert [text for _, text in answer(at)["title"]] == ["sat", "is attended to by"]
    assert answer(at)["query"] is None


def test_all_lines_open_the_full_arithmetic_below() -> None:
    at = opened({"answer-lines": event("lines", is_on=True)}, panel="table", head="2", query="4", key="3")
    assert at.segmented_control(key="pick-group").value == "cell"
    assert any("From q and k" in expander.label for expander in at.expander)
    assert at.query_params["all_lines"] == "yes"
    assert any("From q and k" in expander.label for expander in at.run().expander)
    again = opened(head="2", query="4", key="3", all_lines="yes")
    assert any("From q and k" in expander.label for expander in again.expander)
    away = opened({"answer-lines": event("lines", is_on=False)}, head="2", query="4", key="3", all_lines="yes")
    assert not any("From q and k" in expander.label for expander in away.expander)
    assert "all_lines" not in away.query_params, "who opens the link sees no more"


def test_the_full_arithmetic_is_drawn_only_when_it_is_asked_for() -> None:
    at = opened(head="2", query="4", key="3")
    assert not any("From q and k" in expander.label for expander in at.expander)
    at = at.toggle(key="all_lines").set_value(True).run()
    assert any("From q and k" in expander.label for expander in at.expander)
    at = at.toggle(key="all_lines").set_value(False).run()
    assert not any("From q and k" in expander.label for expander in at.expander)
    assert "all_lines" not in at.query_params


def test_the_answer_is_sent_before_the_maps_where_the_browser_does_not_explain_by_their_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent_so_far: list[object] = []
    for module in (drawer, heatmap):

        def show(*given: Any, module: Any = module, show: Any = module.show, **named: Any) -> Any:
            sent_so_far.append(module)
            return show(*given, **named)

        monkeypatch.setattr(module, "show", show)
    opened(head="2", query="4", key="3", edits="scaled.1.1.1.1~0.5")
    assert sent_so_far == [drawer, heatmap]
    sent_so_far.clear()
    opened(head="2", query="4", key="3")
    assert sent_so_far == [heatmap, drawer]


def test_a_key_in_it_is_a_way_to_that_cell() -> None:
    at = opened({"answer-lines": event("key", key=5)}, head="2", query="4", key="3")
    assert [at.query_params[name] for name in ("head", "query", "key")] == ["2", "4", "6"]
    row = opened({"answer-lines": event("key", key=5)}, query="4")
    assert row.query_params["key"] == "6"
    assert row.query_params["head"] == str(answer(row)["head"] + 1)


def test_the_maps_are_as_large_beside_it() -> None:
    def across(at: Any) -> int:
        return sum(round(figure["data"][0]["x"][-1]) for figure in figures(at)[:3])

    free, beside = opened(), opened(head="2", query="4", key="3")
    assert across(beside) == across(free)


def test_an_entry_that_is_not_there_is_said() -> None:
    at = opened(head="2", query="4", dimension="99")
    assert "dimension" not in at.query_params
    assert any("Dimension was 99" in html.proto.body for html in at.get("html"))
