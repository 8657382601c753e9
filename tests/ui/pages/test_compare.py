"""The Compare page without a browser: B is A with something changed, and both live in one link."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Radio

from attnviz import TASKS, Config, run
from attnviz.engine.tasks.games import GAMES
from attnviz.settings import url_codec
from attnviz.ui.session import session_state
from attnviz.ui.session.selection import Selection
from tests.support.address import parameters
from tests.support.cases import for_each
from tests.support.page_figures import figures, numbers
from tests.ui.test_app import clean, drawn, expected, opened, page_text


def arrays(at: AppTest) -> list[np.ndarray]:
    return [drawn(numbers(figure)) for figure in figures(at) if "z" in figure["data"][0]]


def test_b_is_a_with_one_thing_changed() -> None:
    at = opened(page="compare", n_heads="3", b_score="additive")
    assert clean(at)
    a, b = run(Config(n_heads=3)), run(Config(n_heads=3, score="additive"))
    one, other, apart = arrays(at)
    np.testing.assert_allclose(one, expected(a["weights"].array), atol=1e-7)
    np.testing.assert_allclose(other, expected(b["weights"].array), atol=1e-7)
    np.testing.assert_allclose(apart, expected(b["weights"].array - a["weights"].array), atol=1e-7)
    assert "The first step that differs: attention scores S." in page_text(at)
    at.slider(key="n_heads").set_value(2).run()
    np.testing.assert_allclose(arrays(at)[1], expected(run(Config(n_heads=2, score="additive"))["weights"].array))


def test_a_first_comparison_is_one_press_away() -> None:
    at = opened(page="compare")
    assert "the same, number for number" in page_text(at)
    assert len(arrays(at)) == 1, "one picture, large: a second like it and an empty difference would say nothing"
    at.button(key="start-causal").click().run()
    assert clean(at)
    assert len(arrays(at)) == 3
    assert parameters(at) == {"v": "2", "page": "compare", "b_mask": "causal"}
    assert at.multiselect(key="changes").value == ["mask"]
    assert at.multiselect(key="b_mask").value == ["causal"]
    assert not [button for button in at.button if button.key.startswith("start-")]


@pytest.mark.parametrize(
    "query", [{"page": "compare"}, {"page": "experiments", "experiment": "scale"}, {"page": "lessons"}]
)
def test_what_one_presses_has_names_and_roots_typeset(query: dict[str, str]) -> None:
    at = opened(**query)
    labels = [button.label for button in at.button]
    labels += [option for choice in (*at.get("button_group"), *at.radio) for option in _options(choice)]
    assert not [label for label in labels if re.search(r"√|_", re.sub(r"\$[^$]*\$", "", label))]
    assert [label for label in labels if r"\sqrt{d_k}" in label]


def _options(choice: Any) -> list[str]:
    return [*choice.options] if isinstance(choice, Radio) else [each.content for each in choice.proto.options]


def test_what_differs_is_chosen_and_taken_back() -> None:
    at = opened(page="compare")
    at.multiselect(key="changes").set_value(["d_k", "temperature"]).run()
    at.text_input(key="b_d_k").set_value("7").run()
    at.number_input(key="b_temperature").set_value(2.0).run()
    assert parameters(at) == {"v": "2", "page": "compare", "b_d_k": "7", "b_temperature": "2.0"}
    at.multiselect(key="changes").set_value(["d_k"]).run()
    assert parameters(at) == {"v": "2", "page": "compare", "b_d_k": "7"}
    assert clean(at)


@pytest.mark.slow
def test_swap_adopt_and_start_again() -> None:
    at = opened(page="compare", seed="5", b_score="dot", b_seed="7")
    at.button(key="swap").click().run()
    swapped = {"v": "2", "page": "compare", "seed": "7", "score": "dot", "b_score": "scaled_dot", "b_seed": "5"}
    assert parameters(at) == swapped
    assert at.selectbox(key="score").value == "dot"
    assert at.selectbox(key="b_score").value == "scaled_dot"
    at.button(key="swap").click().run()
    assert parameters(at) == {"v": "2", "page": "compare", "seed": "5", "b_score": "dot", "b_seed": "7"}
    at.button(key="adopt").click().run()
    assert parameters(at) == {"v": "2", "page": "compare", "seed": "7", "score": "dot"}
    at.button(key="start-seed").click().run()
    at.button(key="stop").click().run()
    assert parameters(at) == {"v": "2", "page": "compare", "seed": "7", "score": "dot"}


def test_two_sentences() -> None:
    at = opened(page="compare", b_sentence="the dog sat on the warm mat")
    assert clean(at)
    assert "compared by position" in page_text(at)
    assert at.text_input(key="b_sentence").value == "the dog sat on the warm mat"


@pytest.mark.slow
@for_each(
    "query, words",
    [
        ({"b_score": "nonsense"}, "Score function in B was &#x27;nonsense&#x27;; choose from"),
        ({"b_n_heads": "99"}, "Heads in B was &#x27;99&#x27;; 16 is used"),
        ({"b_n_heads": "3", "n_kv_heads": "2"}, "Key/value heads was &#x27;2&#x27;, which does not go with the rest"),
        ({"b_sentence": ""}, "B cannot be drawn"),
        ({"b_nothing": "1"}, "There is no setting called &#x27;b_nothing&#x27;"),
    ],
)
def test_what_cannot_be_read_is_said(query: dict[str, str], words: str) -> None:
    at = opened(page="compare", **query)
    assert clean(at)
    assert words in page_text(at)


@for_each("step", ["embedded", "w_q", "b_q", "output", "nonsense"])
def test_any_step_of_any_setting(step: str) -> None:
    at = opened(page="compare", step=step, projection_bias="yes", second_sentence="a dog", b_d_k="3.2", b_n_layers="2")
    assert clean(at)


def test_a_second_setting_survives_a_link_and_a_file() -> None:
    selection = Selection(
        page="compare", changes={"sentence": "a & b = c", "own_numbers": "1 2\n3 4", "mask": "causal.window"}
    )
    for read in (
        url_codec.open_link(url_codec.query_string(Config(), selection), Config, Selection),
        url_codec.from_file(url_codec.to_file(Config(), selection), Config, Selection),
    ):
        assert read == ((Config(), selection), [])


def test_too_long_a_sentence_in_b_is_said() -> None:
    at = opened(page="compare", b_sentence="word " * 3000)
    assert clean(at)
    assert "Sentence in B" in page_text(at)


@pytest.mark.slow
def test_the_step_follows_its_list_and_the_list_follows_back(monkeypatch: pytest.MonkeyPatch) -> None:
    at = opened(page="compare")
    for step in ("scores", "values", "output"):
        at.selectbox(key="pick-step").set_value(step).run()
        assert at.query_params["step"] == step
    monkeypatch.setattr(session_state, "_navigated", lambda: True)
    at.query_params["step"] = "values"
    at.run()
    assert at.selectbox(key="pick-step-1").value == "values"
    assert "Value vectors: the same" in page_text(at)
    monkeypatch.setattr(session_state, "_navigated", lambda: False)
    at.selectbox(key="pick-step-1").set_value("keys").run()
    assert at.query_params["step"] == "keys"


def test_what_is_said_of_b_says_so() -> None:
    at = opened(page="compare", initialiser="by_hand", b_position="none")
    assert "<p>In B: Heads 1 and 3 should attend to the previous token and the first" in page_text(at)
    assert "<p>Head 3" not in page_text(at)


def test_sentences_of_different_length_are_compared_word_by_word() -> None:
    at = opened(page="compare", b_sentence="the big cat sat on the warm mat")
    assert clean(at)
    assert "There are 7 tokens in A and 8 in B. Only the 7 that both have" in page_text(at)
    assert len(arrays(at)) == 3


def test_a_sentence_of_b_has_the_whole_width() -> None:
    at = opened(page="compare", b_sentence="the dog sat on the warm mat", b_seed="3")
    assert not [box for box in at.columns for text in box.text_input if text.key == "b_sentence"]
    assert [box for box in at.columns for number in box.number_input if number.key == "b_seed"]


def test_todays_layer_stands_beside_that_of_2017_by_one_press() -> None:
    at = opened(page="compare")
    at.button(key="start-layers").click().run()
    assert clean(at)
    assert {name: at.query_params[name] for name in ("norm", "feed_forward", "b_norm", "b_feed_forward")} == {
        "norm": "post",
        "feed_forward": "relu",
        "b_norm": "rms",
        "b_feed_forward": "swiglu",
    }
    assert at.query_params["b_position"] == "rope"
    assert at.query_params["b_n_kv_heads"] == "2"


def test_a_learned_head_stands_beside_its_twin_that_is_set_by_hand() -> None:
    config = TASKS["recall"].config()
    at = opened(page="compare", layer="2", **{k: x for k, x in url_codec.encode(config).items() if k != "v"})
    at.button(key="start-by_hand").click().run()
    assert clean(at)
    heads: dict[str, Any] = {"initialiser": "by_hand", "patterns": ("induction",), "solved_anew": True}
    made = replace(config, **heads, temperature=1.0, position="sinusoidal")
    answers = GAMES["recall"].answers(config.sentence.split(), config.sentence.split())
    assert answers is not None
    for shown, trace in zip(arrays(at), (run(config), run(made)), strict=False):
        A = trace.layers[1]["weights"].array
        np.testing.assert_allclose(shown, np.sort(A[:, np.tri(A.shape[1], dtype=bool)].ravel()), atol=1e-7)
        assert A[0, -1, answers.where[0, -1]].item() > 0.9, "both read the colour of the one who is asked for"
    assert "start-by_hand" not in {button.key for button in opened(page="compare").button}


TYPED_IN_B = {
    "score": ("-sum(abs(q - k))", "norm1(q - k)", "sum(q*K)", "sum(q*k)"),
    "mask": ('j <= i and token[j] != "the"', "i - j", "j =< i", "j <= i"),
    "bias": ("-abs(i - j) / 2", "q", "-|i - j|", "-abs(i - j)"),
    "normaliser": ("relu(x) / n", "x @ x", "softmax(x)", "e = exp(x - max(x)); e / sum(e)"),
}
"""For each kind a line, one that cannot be read, one from which another is guessed, and that one."""


@pytest.mark.slow
@for_each("kind", TYPED_IN_B)
def test_b_may_be_a_formula_and_says_below_what_it_means_or_where_it_goes_wrong(kind: str) -> None:
    line, wrong, slip, meant = TYPED_IN_B[kind]
    b = {f"b_{kind}": "formula", f"b_{kind}_formula": line}
    at = opened(page="compare", sentence="the cat sat on the mat", **b)
    assert clean(at)
    assert [each.value for each in at.main.markdown if "$" in each.value]
    second = run(Config(sentence="the cat sat on the mat", **{kind: "formula", f"{kind}_formula": line}))
    allowed = second["allowed"].array if "allowed" in second.layers[0] else np.ones((6, 6), dtype=bool)
    wanted = second["weights"].array[:, allowed]
    np.testing.assert_allclose(np.sort(arrays(at)[1]), np.sort(wanted.reshape(-1)), atol=1e-7)
    at.main.text_input(key=f"b_{kind}_formula").input(wrong).run()
    assert not at.exception
    assert "^" in at.main.code[0].value
    at.main.text_input(key=f"b_{kind}_formula").input(slip).run()
    at.button(key=f"b_suggestion-{kind}").click().run()
    assert clean(at)
    assert at.query_params[f"b_{kind}_formula"] == meant
    assert not at.main.code


def test_a_formula_for_b_can_be_typed_after_one_press() -> None:
    at = opened(page="compare")
    at.button(key="start-formula").click().run()
    at.main.text_input(key="b_score_formula").input("max(q * k)").run()
    assert clean(at)
    assert at.query_params["b_score_formula"] == "max(q * k)"


def test_a_formula_that_is_chosen_for_b_can_be_typed_after_another_press() -> None:
    at = opened(page="compare", b_mask="formula")
    assert not [each for each in at.main.text_input if each.key == "b_mask_formula"]
    at.button(key="type-mask_formula").click().run()
    at.main.text_input(key="b_mask_formula").input("j < 2").run()
    assert clean(at)
    assert at.query_params["b_mask_formula"] == "j < 2"
