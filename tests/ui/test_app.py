"""The page as a whole, without a browser: what it draws, what it says, and that it never breaks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import MASKS, NORMALISERS, SCORES, Config, run
from attnviz.analysis.seed_average import mean_weights
from attnviz.settings import url_codec
from attnviz.ui.main import OPENING
from attnviz.ui.session import widgets
from attnviz.ui.session.selection import LESSON_NAMES, PANEL_NAMES
from tests.support.address import parameters
from tests.support.cases import for_each
from tests.support.page_figures import figures, numbers

APP = str(Path(__file__).parents[2] / "app.py")


def opened(**query: str) -> AppTest:
    """The page as a link with these parameters opens it; without any, the defaults."""
    at = AppTest.from_file(APP, default_timeout=30)
    for name, value in ({"v": "1"} | query).items():
        at.query_params[name] = value
    return at.run()


def folded(at: AppTest, group: str, *, away: bool) -> AppTest:
    """Open a group of settings, or fold it away; `run` it."""
    at.session_state[f"group-{group}"] = not away
    return at


def unfolded(group: str, **query: str) -> AppTest:
    return folded(opened(**query), group, away=False).run()


def page_text(at: AppTest) -> str:
    """Everything that the page says in plain text."""
    headings = (f"{each['stage'].title} {each['stage'].phrase}" for each in figures(at) if "stage" in each)
    return "\n".join([*(element.proto.body for element in at.get("html")), *headings])


def pictures(at: AppTest) -> dict[str, np.ndarray]:
    """The numbers inside the three charts, by the order in which they stand."""
    return dict(zip(("scores", "weights", "heads"), map(numbers, figures(at)), strict=True))


def drawn(picture: np.ndarray) -> np.ndarray:
    """The numbers of a picture without its gutters and masked cells, in a fixed order."""
    return np.sort(picture[~np.isnan(picture)])


def expected(step: np.ndarray) -> np.ndarray:
    return np.sort(step.ravel())


def clean(at: AppTest) -> bool:
    return not at.exception and "Traceback" not in page_text(at)


WIDGETS = ("slider", "select_slider", "number_input", "text_input", "text_area", "toggle")
WIDGETS += ("selectbox", "multiselect", "button_group", "radio")
SETTING = {"sentence": "one two three", "d_model": "24", "n_heads": "3", "mask": "causal", "seed": "7"}
SETTING |= {"score": "additive", "d_a": "5", "normaliser": "entmax", "n_layers": "2", "position": "sinusoidal"}


def starts(at: AppTest) -> dict[str, bytes]:
    """All that a browser is told of each widget, by its key."""
    found = [element for kind in WIDGETS for element in at.get(kind)]
    return {str(element.key): element.proto.SerializeToString(deterministic=True) for element in found if element.key}


@pytest.mark.slow
@for_each(
    "query",
    [
        {"panel": "table", "step": "scores"},
        {"page": "compare", "b_mask": "causal", "b_seed": "3", "panel": "statistics"},
        {"page": "lessons", "lesson": [*LESSON_NAMES][1]},
        {"page": "experiments"},
        {"page": "assign"},
        {"page": "data"},
        {"page": "take"},
        {"page": "class"},
    ],
)
def test_every_answer_says_what_each_widget_starts_from(query: dict[str, str]) -> None:
    """A slow browser may draw a widget only at the second answer, and takes from it what the widget starts from."""
    at = opened(**SETTING, **query)
    assert parameters(at) == {"v": "1", **SETTING, **query}
    first = starts(at)
    for group in widgets.groups(Config()):
        if group:
            folded(at, group, away=False)
    second = starts(at.run())
    assert clean(at)
    assert first
    assert first.items() <= second.items()
    assert starts(at.run()) == second


def test_the_first_screen_shows_the_numbers_of_the_default_run() -> None:
    at = opened()
    assert clean(at)
    trace = run(Config())
    for name, picture in pictures(at).items():
        np.testing.assert_allclose(drawn(picture), expected(trace[name].array), rtol=1e-6, atol=1e-9)


def test_a_visit_without_a_link_opens_with_heads_that_have_a_purpose() -> None:
    at = AppTest.from_file(APP, default_timeout=30).run()
    assert clean(at)
    trace = run(OPENING)
    masked = np.isneginf(trace["masked"].array)
    weights = trace["weights"].array
    np.testing.assert_allclose(drawn(pictures(at)["weights"]), expected(weights[~masked]), rtol=1e-6, atol=1e-9)
    assert parameters(at) == url_codec.encode(OPENING)
    assert trace.notes == ()


def test_the_first_picture_shows_words_that_mean_something_similar() -> None:
    trace = run(OPENING)
    words, A = trace.query_tokens, trace["weights"].array[0]
    apart = A - np.diag(np.diag(A))
    for one, other in (("king", "queen"), ("queen", "king"), ("dog", "cat"), ("cat", "dog")):
        assert apart[words.index(one)].argmax() == words.index(other)
        assert A[words.index(one), words.index(other)] > 0.3
    others = [i for i, word in enumerate(words) if word not in ("king", "queen", "dog", "cat")]
    assert apart[others].max() < 0.2
    assert len(set(words)) == len(words)


def test_what_people_try_first_on_the_first_picture_is_seen() -> None:
    """No mask is on, softmax is seen at work, and each of these changes the weights of every head it should change."""
    trace = run(OPENING)
    A = trace["weights"].array
    assert trace["allowed"].array.all()
    assert (A.max(axis=-1) > 0.99).sum() <= 4, "of 44 rows"
    assert np.diagonal(A[0]).mean() < 0.65, "words attend to others than themselves"
    changes: tuple[tuple[dict[str, Any], list[int]], ...] = (
        ({"score": "dot"}, [0, 1, 2, 3]),
        ({"position": "none"}, [1, 2, 3]),
        ({"d_k": 16}, [0, 1, 2, 3]),
        ({"scale": 0.1}, [0, 1, 2, 3]),
        ({"temperature": 3.0}, [0, 1, 2, 3]),
        ({"mask": "causal"}, [0, 2]),
    )
    for change, heads in changes:
        other = run(replace(OPENING, **change))
        assert (abs(other["weights"].array - A)[heads].max(axis=(1, 2)) > 0.02).all(), change
        np.testing.assert_array_equal(other["w_q"].array[:, :, :5][1:], trace["w_q"].array[1:])
    causal = run(replace(OPENING, mask="causal"))
    assert causal["weights"].array.any(axis=-1).all(), "no row is empty"
    assert [note.partition(" should")[0] for note in causal.notes] == ["Head 3"]


def test_a_changed_control_changes_the_numbers_and_the_address() -> None:
    at = opened()
    at.slider(key="n_heads").set_value(2).run()
    at.selectbox(key="score").set_value("additive").run()
    at.multiselect(key="mask").set_value(["causal", "window"]).run()
    assert clean(at)
    trace = run(Config(n_heads=2, score="additive", mask=("causal", "window")))
    masked = np.isneginf(trace["masked"].array)
    np.testing.assert_allclose(drawn(pictures(at)["weights"]), expected(trace["weights"].array[~masked]), rtol=1e-6)
    assert parameters(at) == {"v": "2", "n_heads": "2", "score": "additive", "mask": "causal.window"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("field", "table"), [("score", SCORES), ("mask", MASKS), ("normaliser", NORMALISERS)], ids=lambda x: str(x)[:10]
)
def test_every_row_opens_from_its_link(field: str, table: dict[str, Any]) -> None:
    for name in table:
        at = opened(**{field: name, "v": "1"})
        assert clean(at), name
        assert len(pictures(at)) == 3


@pytest.mark.slow
@for_each(
    "query, words",
    [
        ({"n_heads": "1000000000"}, "1 to 16"),
        ({"score": "softmaxx"}, "scaled_dot"),
        ({"mask": "causal.nope"}, "nope"),
        ({"colour": "red"}, "colour"),
        ({"temperature": "nan"}, "Temperature"),
        ({"n_heads": "4", "n_kv_heads": "3"}, "Key/value heads"),
        ({"embedding": "own", "own_numbers": "1 2 nan"}, "row 1, column 3"),
        ({"sentence": ""}, "no tokens"),
        ({"mask": "custom", "custom_cells": "one: two"}, "Allowed cells"),
    ],
)
def test_a_broken_link_says_what_it_could_not_read(query: dict[str, str], words: str) -> None:
    at = opened(**query)
    assert clean(at)
    assert words in page_text(at)


@pytest.mark.slow
@for_each(
    "sentence",
    [
        "a",
        "a " * 5_000,
        "😀 👨‍👩‍👧 🏳️‍🌈",
        "مرحبا بالعالم",
        "__proto__ constructor toString",
        "<b>bold</b> $x$ %{y}",
        "x" * 10_000,
        "0 1 1e9",
    ],
)
def test_any_sentence_is_drawn(sentence: str) -> None:
    at = opened()
    at.text_input(key="sentence").set_value(sentence).run()
    assert clean(at)
    assert len(pictures(at)) == 3
    assert at.text_input(key="sentence").value == sentence


@pytest.mark.parametrize("sentence", ["", "   "])
def test_without_words_the_last_picture_stays_and_the_page_says_so(sentence: str) -> None:
    at = opened(sentence="one two")
    before = pictures(at)["weights"]
    at.text_input(key="sentence").set_value(sentence).run()
    assert clean(at)
    assert "type at least one word" in page_text(at)
    np.testing.assert_array_equal(pictures(at)["weights"], before)


def test_a_fault_in_own_numbers_keeps_what_was_typed() -> None:
    at = unfolded("Embedding and positions", embedding="own", d_model="3", sentence="a b")
    at.text_area(key="own_numbers").set_value("1 2 3\n4 oops 6").run()
    assert clean(at)
    assert "oops" in page_text(at)
    assert "row 2, column 2" in page_text(at)
    assert at.text_area(key="own_numbers").value == "1 2 3\n4 oops 6"


def test_an_emptied_row_is_said() -> None:
    assert "nothing to attend to" in page_text(opened(mask="custom", custom_cells="1: 1"))


def test_a_visitors_words_never_become_markup() -> None:
    at = opened(embedding="own", own_numbers="<img src=x onerror=alert(1)>")
    assert "<img" not in page_text(at)
    assert "&lt;img" in page_text(at)


SLOW = pytest.mark.slow  # the same once more for settings that the other tests of these panels know


@pytest.mark.slow
@pytest.mark.parametrize("panel", PANEL_NAMES)
@pytest.mark.parametrize(
    "setting",
    [
        pytest.param({}, marks=SLOW),
        pytest.param({"second_sentence": "le chat", "mask": "causal"}, marks=SLOW),
        {"n_layers": "2", "residual": "yes", "norm": "pre", "feed_forward": "gelu", "layer": "2"},
        pytest.param({"d_k": "4.3.2.1", "d_v": "5.1", "position": "rope", "score": "additive"}, marks=SLOW),
        pytest.param({"n_kv_heads": "2", "normaliser": "sigmoid", "bias": "alibi"}, marks=SLOW),
        pytest.param({"sentence": "one", "n_heads": "1", "d_model": "1"}, marks=SLOW),
    ],
    ids=["plain", "cross", "layers", "ragged", "grouped", "least"],
)
def test_every_panel_opens_from_its_link(panel: str, setting: dict[str, str]) -> None:
    at = opened(panel=panel, head="1", query="1", key="1", **setting)
    assert clean(at)
    assert len(figures(at)) >= 3


@pytest.mark.slow
@for_each("score", SCORES)
def test_the_arithmetic_of_every_score_is_drawn(score: str) -> None:
    at = opened(score=score, head="2", query="3", key="2", all_lines="yes")
    assert clean(at)
    assert sum(each.value.startswith("| | |") for each in at.markdown) >= 8


def test_a_position_that_this_run_does_not_have_is_let_go() -> None:
    at = opened(head="9", query="100", key="100", layer="6")
    assert clean(at)
    assert "Click a cell" in page_text(at)


def test_the_class_page_shows_one_step_and_goes_on() -> None:
    at = opened(page="class", step="embedded")
    assert clean(at)
    assert len(figures(at)) == 1
    assert not at.sidebar.children
    at.button(key="next").click().run()
    assert at.query_params["step"] == "queries"
    at.button(key="previous").click().run()
    assert at.query_params["step"] == "embedded"
    at.button(key="previous").click().run()
    assert at.query_params["step"] == "embedded"


def test_the_class_page_keeps_the_setting_that_was_made_on_the_other() -> None:
    at = opened(n_heads="2", score="dot")
    at.segmented_control(key="pick-place").set_value("teach").run()
    at.segmented_control(key="pick-part").set_value("class").run()
    at.segmented_control(key="pick-place").set_value("explore").run()
    assert at.slider(key="n_heads").value == 2
    assert parameters(at) == {"v": "2", "n_heads": "2", "score": "dot", "step": "embedded"}, "begun at the beginning"


def test_dealing_again_shows_the_mean_over_ten_seeds() -> None:
    at = opened(panel="redeal")
    charts = [numbers(figure) for figure in figures(at)]
    mean = mean_weights(Config(), range(10))
    np.testing.assert_allclose(drawn(charts[-1]), expected(mean), rtol=1e-6)


@pytest.mark.slow
@for_each(
    "query, depends",
    [
        ({}, True),
        ({"initialiser": "by_hand"}, False),
        ({"initialiser": "by_hand", "sharpness": "0.0"}, False),
        ({"initialiser": "by_hand", "score": "additive"}, True),
    ],
)
def test_dealing_again_says_whether_the_seed_matters(query: dict[str, str], depends: bool) -> None:
    at = opened(panel="redeal", **query)
    one, mean = (drawn(numbers(figure)) for figure in figures(at)[-2:])
    assert (np.abs(one - mean).max() > 1e-6) == depends
    assert ("A random pattern fades" in page_text(at)) == depends
    assert ("These weights do not depend on the seed" in page_text(at)) != depends


def test_the_table_holds_the_numbers_of_the_step() -> None:
    at = opened(panel="table", step="weights", head="2")
    frame = at.dataframe[0].value
    np.testing.assert_array_equal(frame.to_numpy(dtype=float), run(Config())["weights"].array[1])


def test_what_is_too_long_for_a_link_is_said_and_can_be_saved() -> None:
    at = unfolded("Embedding and positions", embedding="own")
    at.text_area(key="own_numbers").set_value("\n".join(["1.2345678 " * 16] * 60)).run()
    assert clean(at)
    assert "Too long for a link" in page_text(at)
    assert at.query_params["without"] == "own_numbers"


def keys(at: AppTest) -> set[str]:
    """The widgets that are drawn, by their keys."""
    return {element.key for kind in ("slider", "selectbox", "text_input", "number_input") for element in at.get(kind)}


def test_a_group_of_settings_is_drawn_only_while_it_is_open() -> None:
    at = opened()
    assert "normaliser" not in keys(at)
    assert "Normaliser" in [box.label for box in at.expander]
    assert {"normaliser", "temperature"} <= keys(folded(at, "Normaliser", away=False).run())
    assert "position" not in keys(at)


def test_what_was_chosen_in_a_group_stays_when_it_is_folded_away_and_is_there_when_it_is_opened_again() -> None:
    at = unfolded("Normaliser")
    at.selectbox(key="normaliser").select("sparsemax").run()
    folded(at, "Normaliser", away=True).run().run()
    assert "normaliser" not in keys(at)
    assert at.query_params["normaliser"] == "sparsemax"
    assert folded(at, "Normaliser", away=False).run().selectbox(key="normaliser").value == "sparsemax"


def test_a_value_that_comes_with_the_folding_counts() -> None:
    at = unfolded("Normaliser")
    at.selectbox(key="normaliser").select("sparsemax")
    folded(at, "Normaliser", away=True).run()
    assert at.query_params["normaliser"] == "sparsemax"


def test_a_group_that_is_opened_shows_what_came_while_it_was_folded_away() -> None:
    at = opened(n_heads="4", n_kv_heads="2")
    at.session_state["n_kv_heads"] = "2"  # as a button leaves it that adopts a setting
    at.slider(key="n_heads").set_value(3).run()
    assert clean(at)
    assert at.query_params["n_kv_heads"] == "1"
    at.slider(key="n_heads").set_value(4).run()
    folded(at, "Heads and projections", away=False).run()
    assert at.selectbox(key="n_kv_heads").value == "1"
    assert at.query_params["n_kv_heads"] == "1"
