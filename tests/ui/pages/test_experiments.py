"""The Experiments page without a browser: every experiment draws, says the engine's numbers, and keeps a setting."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import Config, run
from attnviz.analysis import importance, permutations, variance_and_sharing
from attnviz.settings import language
from attnviz.text.format.number_format import localised
from attnviz.ui.components import number_tables
from attnviz.ui.pages.experiments import EXPERIMENTS
from attnviz.ui.session.selection import EXPERIMENT_NAMES
from tests.support.cases import for_each
from tests.support.page_figures import figures, numbers

APP = str(Path(__file__).parents[3] / "app.py")
SETTINGS = {
    "cross": {"second_sentence": "le chat", "mask": "causal", "embedding": "one_hot"},
    "one": {"sentence": "one", "n_heads": "1", "d_model": "1", "trial_d_k": "1"},
    "ragged": {"d_k": "4.3.2.1", "d_v": "5.1", "position": "rope", "score": "additive", "tokeniser": "pieces"},
    "layers": {
        "initialiser": "by_hand",
        "n_layers": "2",
        "residual": "yes",
        "norm": "pre",
        "feed_forward": "gelu",
        "layer": "2",
    },
    "padded": {"mask": "padding", "pad_to": "9", "bos": "yes", "n_heads": "6", "bias": "alibi"},
    "empty": {"mask": "custom", "custom_cells": "", "normaliser": "sigmoid", "n_heads": "3"},
}


def opened(experiment: str, **query: str) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=30)
    for name, value in ({"v": "1", "page": "experiments", "experiment": experiment} | query).items():
        at.query_params[name] = value
    return at.run()


def page_text(at: AppTest) -> str:
    return "\n".join(element.proto.body for element in at.get("html"))


def drawn(at: AppTest, figure: int) -> np.ndarray:
    """The numbers inside a chart without its gutters, in order of size."""
    array = numbers(figures(at)[figure])
    return np.sort(array[~np.isnan(array)])


def sorted_(array: np.ndarray) -> np.ndarray:
    return np.sort(array.ravel())


def test_every_experiment_has_a_row_and_a_page() -> None:
    assert list(EXPERIMENTS) == list(EXPERIMENT_NAMES)


@pytest.mark.slow
@for_each("experiment", ["axis", "scale", "sharing", "shuffle", "importance"])
@for_each("name", SETTINGS)
def test_every_experiment_draws(experiment: str, name: str) -> None:
    at = opened(experiment, **SETTINGS[name])
    assert not at.exception
    assert len(at.subheader) == 1
    assert len(figures(at)) >= (0 if experiment == "importance" else 1 if name == "one" else 2)
    assert {"page": "experiments", "experiment": experiment}.items() <= at.query_params.items()


def test_both_sides_hold_the_weights_of_their_runs() -> None:
    at = opened("axis", head="2")
    config = Config()
    for figure, side in enumerate(("keys", "queries")):
        A = run(replace(config, normalise_over=side))["weights"].array
        np.testing.assert_allclose(drawn(at, figure), sorted_(A), rtol=1e-6)
        margins = np.concatenate([A[1].sum(axis=1), A[1].sum(axis=0), [A[1].sum()]])
        np.testing.assert_allclose(drawn(at, 2 + figure), np.sort(np.concatenate([A[1].ravel(), margins])))
    assert "rows add to 1," in page_text(at)


def test_the_wrong_side_can_be_kept() -> None:
    at = opened("axis")
    at.button(key="keep-0").click().run()
    assert at.query_params["normalise_over"] == "queries"
    at.button(key="keep-0").click().run()
    assert "normalise_over" not in at.query_params


def test_the_slider_of_the_width_moves_pictures_and_words_and_not_the_setting() -> None:
    at = opened("scale")
    at.slider(key="trial_d_k").set_value(5).run()
    assert not at.exception
    assert at.query_params["trial_d_k"] == "5"
    assert "d_k" not in at.query_params
    found = variance_and_sharing.spread(run(Config()), 0, 5)
    for figure, name in enumerate(("root", "width", "one")):
        np.testing.assert_allclose(drawn(at, figure), sorted_(found.weights[name]), rtol=1e-6)
    assert f"standard deviation {found.scores['one']:.4g};" in page_text(at)
    assert not [button for button in at.button if str(button.key).startswith("keep")]


def test_the_vectors_of_the_setting_can_be_tried_and_kept() -> None:
    at = opened("scale", d_k="4.3")
    at.segmented_control(key="pick-trial_vectors").set_value("setting").run()
    A = run(Config(d_k=16, score="dot", scale=1 / 16))["weights"].array
    np.testing.assert_allclose(drawn(at, 1), sorted_(A), rtol=1e-6)
    at.button(key="keep-1").click().run()
    assert not at.exception
    assert {"d_k": "16", "scale": "0.0625"}.items() <= at.query_params.items()


def test_sharing_shows_each_number_of_key_value_heads() -> None:
    at = opened("sharing", n_heads="12")
    for figure, n in enumerate((12, 4, 1)):
        A = run(Config(n_heads=12, n_kv_heads=n))["weights"].array
        np.testing.assert_allclose(drawn(at, figure), sorted_(A), rtol=1e-6)
    at.segmented_control(key="pick-trial_kv").set_value(6).run()
    assert at.dataframe[0].value.iloc[:, 0].tolist() == [12, 6, 1]
    assert at.query_params["trial_kv"] == "6"
    at.button(key="keep-1").click().run()
    assert at.query_params["n_kv_heads"] == "1"


def test_the_words_are_reordered_as_one_chooses() -> None:
    at = opened("shuffle", sentence="one two three four")
    for name, new in (("swap", (3, 1, 2, 0)), ("reverse", (3, 2, 1, 0)), ("shuffle", None)):
        at.segmented_control(key="pick-trial_order").set_value(name).run()
        assert at.query_params.get("trial_order", "reverse") == name
        config = Config(sentence="one two three four")
        new = new or permutations.shuffle(4, seed=0, positions=(0, 0))
        found = permutations.reordered(config, new)
        assert found is not None
        assert f"Reordered: {' '.join(found.after.query_tokens)}" in page_text(at)
        before, after = found.before["output"].array, found.matched
        np.testing.assert_allclose(drawn(at, 1), sorted_(np.array([before, after, after - before])), atol=1e-6)
    assert "which is rounding" in page_text(at) or "exactly 0" in page_text(at)


def test_two_chosen_words_are_swapped_and_the_order_is_kept() -> None:
    at = opened("shuffle", sentence="one two three four")
    at.segmented_control(key="pick-trial_order").set_value("swap").run()
    at.selectbox(key="pick-swap_one").set_value(1).run()
    at.selectbox(key="pick-swap_other").set_value(2).run()
    assert {"trial_order": "swap", "swap_one": "2", "swap_other": "3"}.items() <= at.query_params.items()
    assert "Reordered: one three two four" in page_text(at)
    at.button(key="keep-0").click().run()
    assert at.query_params["sentence"] == "one three two four"


def test_a_causal_mask_is_blamed() -> None:
    words = page_text(opened("shuffle", mask="causal"))
    assert "compares positions even without position vectors: mask (Causal)" in words
    assert "all rows would move along" in words


def test_a_sentence_that_cannot_be_reordered_says_so() -> None:
    at = opened("shuffle", tokeniser="characters", sentence="\u0301e")
    assert not at.exception
    assert "this order would give other tokens" in page_text(at)


def test_a_visitors_words_never_become_markup() -> None:
    words = "<b>x</b> $y$ [a](b) :red[z]"
    at = opened("shuffle", tokeniser="whitespace", sentence=words)
    assert "<b>x</b>" not in page_text(at)
    assert "&lt;b&gt;x&lt;/b&gt;" in page_text(at)
    assert all("red" not in element.value for element in [*at.markdown, *at.subheader])


def test_importance_shows_the_measures_of_the_chosen_row_and_what_agrees() -> None:
    at = opened("importance", head="2", query="3")
    found = importance.measure(run(Config()), 0, (1, 2))
    row = at.dataframe[0].value
    np.testing.assert_allclose(row["Weight"], run(Config())["weights"].array[1, 2])
    np.testing.assert_allclose(row["Knock-out"], found.knock_out[list(found.positions).index((1, 2))])
    assert "In this setting ∂L/∂score says best what a key is worth" in page_text(at)
    assert "the largest difference is ~0" in page_text(at)
    np.testing.assert_allclose(at.dataframe[1].value.iloc[:, 1], list(found.correlations().values()))


@pytest.mark.slow
def test_sentences_and_tables_write_numbers_as_german_does() -> None:
    """Pictures, formulas and code keep their points, and so does what is quoted: it may be a word of a visitor."""
    pages = (
        {"experiment": "scale"},
        {"experiment": "scale", "trial_vectors": "setting"},
        {"experiment": "importance", "sentence": "3.5 or 4.5"},
        {"experiment": "mask_values"},
        {"experiment": "shuffle"},
        {"experiment": "", "page": "compare", "changes": "score.dot"},
        {"experiment": "", "page": "explore", "panel": "backward"},
    )
    point = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")
    found = []
    for query in pages:
        at = opened(lang="de", **query)
        assert not at.exception
        lines = (line for each in at.get("html") for line in each.proto.body.split("\n"))
        said = [line for line in lines if 'class="attn-line"' in line or 'class="attn-note"' in line]
        cells = [cell for table in at.dataframe for column in table.value for cell in table.value[column]]
        said += [cell for cell in cells if isinstance(cell, str) and "PyTorch" not in cell]
        found += [text for text in said if point.search(re.sub("„[^“]*“", "", text))]
    assert found == []
    language.set_language("de")
    try:
        assert number_tables._written(0.25) == "0,25"
        assert localised("Aus “3.5” und „1.5“ wird 0.25.") == "Aus “3.5” und „1.5“ wird 0,25."
    finally:
        language.set_language("en")
