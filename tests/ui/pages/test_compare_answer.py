"""A click on a cell of A, of B or of their difference on the Compare page: its number is that of the two runs."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import Config, run
from attnviz.engine.records.trace import Trace
from attnviz.pictures import comparison
from attnviz.settings import url_codec
from attnviz.text.format.number_format import short
from attnviz.ui.pages import compare
from attnviz.ui.session.selection import Selection
from tests.support.address import parameters
from tests.support.cases import for_each
from tests.support.events import event
from tests.ui.pages.test_explore import opened, sent

WORDS = ("the", "cat", "sat", "on", "a", "mat", "dog")
CHANGES: tuple[dict[str, Any], ...] = (
    {"mask": ("window",)},
    {"n_kv_heads": 1},
    {"seed": 5},
    {"normaliser": "sparsemax", "temperature": 2.0},
    {"score": "formula", "score_formula": "-sum(abs(q - k))"},
    {"normalise_over": "queries"},
    {"position": "rope", "score": "additive"},
    {"sentence": "the big cat sat there"},
    {"n_heads": 2},
    {"d_v": 3},
)


def a_case(number: int) -> tuple[Config, Config, int]:
    """A setting, another, and a layer of both."""
    dice = random.Random(number)  # noqa: S311 - nothing secret
    sentence = " ".join(dice.choice(WORDS) for _ in range(dice.randint(3, 6)))
    layers = dice.choice((1, 2))
    one = Config(sentence=sentence, n_heads=4, mask=dice.choice((("none",), ("causal",))), n_layers=layers)
    changed = CHANGES[number % len(CHANGES)]
    return (
        one,
        Config(**{**{name: getattr(one, name) for name in ("sentence", "n_heads", "mask", "n_layers")}, **changed}),
        (dice.randrange(layers)),
    )


def clicked(one: Config, other: Config, layer: int, step: str, pick: dict[str, Any] | None) -> AppTest:
    selection = Selection(page="compare", changes=url_codec.difference(one, other), layer=layer, step=step)
    query = url_codec.encode(one, selection)
    return opened({"compare": event("pick", **pick)} if pick else None, **query)


def weight(answer: dict[str, Any]) -> Any:
    """The weight that an answer says, None where it is masked."""
    line = next(line for line in answer["lines"] if line["name"] == "share")
    return line["shares"]["values"][line["shares"]["at"]]


def check_cell(at: AppTest, trace: Trace, layer: int, cell: tuple[int, int, int]) -> None:
    """The answer is about a cell of a run, with the weight of that run."""
    answer = sent(at, "drawer")["answer"]
    assert (answer["head"], answer["query"], answer["key"]) == cell
    allowed = trace.layers[layer]["allowed"].array if "allowed" in trace.layers[layer] else np.True_
    exact = trace.layers[layer]["weights"].array
    if np.broadcast_to(allowed, exact.shape)[cell]:
        assert weight(answer) == pytest.approx(float(exact[cell]), rel=1e-5, abs=1e-9)
    else:
        assert "masked" in answer["sentence"] or "may not" in answer["sentence"], answer["sentence"]


def said(a: float, b: float, side: str) -> str:
    how = "less" if b < a else "more"
    return f"This is {side}. In A {short(a)}, in B {short(b)}: {short(float(f'{abs(b - a):.2g}'))} {how}."


@for_each("number", range(10))
def test_what_is_said_of_a_cell_of_either_is_what_the_two_runs_have(number: int) -> None:
    one, other, layer = a_case(number)
    runs, dice = {"a": run(one), "b": run(other)}, random.Random(number + 100)  # noqa: S311 - nothing secret
    step = dice.choice(("weights", "scores"))
    maps = {stage.name: stage for stage in comparison.pictures(runs["a"], runs["b"], layer, step)}
    for name in ("a", "b"):
        n_heads, rows, columns = maps[name].array.shape
        cell = dice.randrange(n_heads), dice.randrange(rows), dice.randrange(columns)
        at = clicked(one, other, layer, step, dict(zip(("head", "row", "column"), cell), stage=name))
        check_cell(at, runs[name], layer, cell)
        is_dot = runs[name].config.score == Config().score
        assert sent(at, "drawer")["answer"]["has_products"] is is_dot, "its columns have headings"
        cells = comparison.same_cell(tuple(maps.values()), name, cell)
        beside = sent(at, "drawer")["answer"]["beside"]
        drawn = [side for side in "ab" if side in cells and maps[side].drawn_cells[cells[side]]]
        a, b = (float(runs[side].layers[layer][step].array[cells[side]]) if side in drawn else None for side in "ab")
        this = f"This is {name.upper()}."
        if len(cells) == 3 and a is not None and b is not None:
            same = f"{this} In A {short(a)}, in B the same."
            assert beside == (same if abs(b - a) <= 1e-12 else said(a, b, name.upper()))
        elif len(cells) == 3 and drawn:
            masked = f"In A it is masked, in B {short(b)}" if a is None else f"In A {short(a)}, in B it is masked"
            assert beside == f"{this} {masked}."
        else:
            assert beside.startswith(this)
            assert "In A" not in beside
        assert sent(at, "heatmap")["picked"] == dict(zip(("head", "row", "column"), cell), stage=name)
        again = opened(**parameters(at))
        for part in ("drawer", "heatmap"):
            assert sent(again, part).get("answer") == sent(at, part).get("answer")
            assert sent(again, part).get("picked") == sent(at, part).get("picked"), "the link says the same"


def test_a_cell_of_the_difference_is_that_of_b_with_both_numbers() -> None:
    one, other = Config(sentence="the cat sat"), Config(sentence="the old cat sat")
    a, b = (run(each)["weights"].array for each in (one, other))
    at = clicked(one, other, 0, "weights", {"stage": "difference", "head": 1, "row": 3, "column": 2})
    check_cell(at, run(other), 0, (1, 3, 2))
    assert sent(at, "drawer")["answer"]["beside"] == said(a[1, 2, 1], b[1, 3, 2], "B")
    assert at.query_params["in_b"] == "yes"
    common = {stage["name"]: stage.get("common") for stage in sent(at, "heatmap")["stages"]}
    assert common == {"a": [[0, 2, 3], [0, 2, 3]], "b": [[0, 1, 2, 3], [0, 1, 2, 3]], "difference": None}
    only = clicked(one, other, 0, "weights", {"stage": "difference", "head": 0, "row": 1, "column": 2})
    assert sent(only, "drawer")["answer"]["beside"] == "This is B. A has no such cell."
    longer = clicked(other, one, 0, "weights", {"stage": "difference", "head": 0, "row": 1, "column": 2})
    assert sent(longer, "drawer")["answer"]["beside"] == "This is A. B has no such cell."
    assert "in_b" not in longer.query_params
    neither = Config(sentence="the cat sat down"), Config(sentence="the old cat slept in a bed")
    shown = comparison.pictures(run(neither[0]), run(neither[1]), 0, "weights")
    names = next([*stage.rows] for stage in shown if stage.name == "difference")
    row, column = names.index("sat"), names.index("slept")
    none = clicked(*neither, 0, "weights", {"stage": "difference", "head": 0, "row": row, "column": column})
    assert sent(none, "drawer")["answer"] is None
    assert "query" not in none.query_params


def test_an_entry_of_an_output_is_said_of_both() -> None:
    one, other = Config(sentence="the cat sat"), Config(sentence="the cat sat", seed=3)
    a, b = (run(each)["heads"].array[1, 2, 3] for each in (one, other))
    for side, name in (("A", "a"), ("B", "b"), ("B", "difference")):
        at = clicked(one, other, 0, "heads", {"stage": name, "head": 1, "row": 2, "column": 3})
        answer = sent(at, "drawer")["answer"]
        assert answer["beside"] == said(a, b, side)
        assert answer["lines"][-1]["cells"]["values"][3] == pytest.approx(a if side == "A" else b, rel=1e-5)
        assert answer["key"] is None


def test_a_step_without_such_an_answer_and_a_browser_that_says_anything_open_none() -> None:
    one, other = Config(sentence="the cat sat"), Config(sentence="the cat sat", seed=3)
    for step, pick in (
        ("values", {"stage": "a", "head": 1, "row": 2, "column": 3}),
        ("weights", {"stage": "a", "head": 9, "row": 2, "column": 2}),
        ("weights", {"stage": "c", "head": 0, "row": 2, "column": 2}),
        ("weights", {"stage": "b", "head": 0, "row": 3, "column": 2}),
    ):
        at = clicked(one, other, 0, step, pick)
        assert sent(at, "drawer")["answer"] is None, pick
        assert "query" not in at.query_params


def test_it_is_closed_another_key_is_chosen_and_all_lines_are_drawn() -> None:
    cell = {"page": "compare", "b_seed": "3", "head": "2", "query": "4", "key": "3", "in_b": "yes"}
    at = opened({"answer-lines": event("key", key=1)}, **cell)
    assert [at.query_params[name] for name in ("head", "query", "key", "in_b")] == ["2", "4", "2", "yes"]
    closed = opened({"answer-lines": event("close")}, **cell)
    assert sent(closed, "drawer")["answer"] is None
    assert not {"query", "key", "in_b"} & {*closed.query_params}
    assert sent(closed, "heatmap")["picked"] is None
    lines = opened({"answer-lines": event("lines", is_on=True)}, **cell)
    exact = run(Config(seed=3))["weights"].array[1, 3, 2]
    assert lines.query_params["all_lines"] == "yes"
    assert any(short(exact) in each.value for each in lines.main.markdown)


def test_swapped_settings_take_the_chosen_cell_along() -> None:
    at = opened(page="compare", b_mask="causal", head="2", query="4", key="3", in_b="yes")
    before = sent(at, "drawer")["answer"]
    at.button(key="swap").click().run()
    assert "in_b" not in at.query_params
    after = sent(at, "drawer")["answer"]
    assert after["lines"] == before["lines"]
    assert after["beside"].startswith("This is A.")


def test_the_setting_that_stays_keeps_its_cell_and_takes_none_of_other_words() -> None:
    words = {"sentence": "the cat sat", "b_sentence": "the old cat sat"}
    for button, changed, in_b, keeps in (
        ("adopt", words, False, False),
        ("adopt", words, True, True),
        ("stop", words, False, True),
        ("stop", words, True, False),
        ("adopt", {"n_heads": "4", "b_n_heads": "2"}, False, False),
        ("adopt", {"b_mask": "causal"}, False, True),
        ("stop", {"b_mask": "causal"}, True, True),
    ):
        side = {"in_b": "yes"} if in_b else {}
        at = opened(page="compare", head="2", query="3", key="2", **side, **changed)
        at.button(key=button).click().run()
        assert ("query" in at.query_params, "key" in at.query_params) == (keeps, keeps), (button, changed, in_b)
        assert (sent(at, "drawer")["answer"] is not None) == keeps
        assert "in_b" not in at.query_params


def test_a_cell_that_b_does_not_have_is_said_and_another_word_of_a_is_answered_at_once() -> None:
    at = opened(page="compare", b_sentence="the cat", head="1", query="5", key="1", in_b="yes")
    assert sent(at, "drawer")["answer"] is None
    assert "Query was 5; there are 2, so none is chosen." in " ".join(each.body for each in at.get("html"))
    longer = opened(
        page="compare", sentence="the cat", b_sentence="the cat sat on", head="1", query="4", key="1", in_b="yes"
    )
    assert sent(longer, "drawer")["answer"]["beside"] == "This is B. A has no such cell."
    longer.selectbox(key="pick-query").set_value(1).run()
    assert longer.query_params["query"] == "2"
    assert "in_b" not in longer.query_params
    assert sent(longer, "drawer")["answer"]["query"] == 1


def test_while_nothing_differs_the_one_map_has_its_answers() -> None:
    at = opened({"compare": event("pick", stage="a", head=1, row=3, column=2)}, page="compare", in_b="yes")
    answer = sent(at, "drawer")["answer"]
    assert weight(answer) == pytest.approx(run(Config())["weights"].array[1, 3, 2], rel=1e-5)
    assert "beside" not in answer
    assert compare.KEY == "compare"
