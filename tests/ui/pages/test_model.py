"""The page with a trained model, without a browser: a small random one stands for those that a host offers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.engine.records.hosted import MODELS
from attnviz.models import hosting
from tests.page_figures import figures, numbers
from tests.small_models import FOLDER
from tests.ui.test_app import clean, drawn, opened, said

WORDS = "the cat sat on the mat"


@pytest.fixture(autouse=True)
def bert() -> Iterator[str]:
    """The small BERT offered; its name in a link."""
    hosting.offer([f"bert={FOLDER / 'bert'}"])
    yield f"bert~{MODELS['bert'].digest}"
    MODELS.clear()


def test_explore_draws_the_models_numbers_and_offers_what_is_free(bert: str) -> None:
    at = opened(model=bert, sentence=WORDS, layer="2", head="1", query="2", key="3")
    assert clean(at)
    weights = drawn(numbers(figures(at)[1]))
    np.testing.assert_allclose(weights, np.sort(run(Config(sentence=WORDS, model=bert))["weights"].array.ravel()))
    assert at.selectbox(key="model").value == bert
    assert {"sentence", "mask"} <= {each.key for kind in (at.text_input, at.multiselect) for each in kind}
    assert not {"d_model", "n_heads", "seed"} & {each.key for kind in (at.slider, at.select_slider) for each in kind}
    assert "The model decides the rest: 2 layers" in said(at)
    assert at.query_params["model"] == bert
    at.multiselect(key="mask").set_value(["causal"]).run()
    assert clean(at)
    assert at.query_params["mask"] == "causal"
    assert "n_layers" not in at.query_params


def test_a_model_is_chosen_and_left(bert: str) -> None:
    at = opened(sentence=WORDS, d_model="24")
    at.selectbox(key="model").set_value(bert).run()
    assert clean(at)
    assert at.query_params["model"] == bert
    at.selectbox(key="model").set_value("").run()
    assert clean(at)
    assert at.query_params == {"v": "1", "sentence": WORDS, "d_model": "24"}


def test_a_link_to_a_model_that_is_not_here_is_said_and_kept() -> None:
    at = opened(model="tiny~0123abcd", sentence=WORDS)
    assert clean(at)
    assert "not offered here" in said(at)
    assert at.query_params["model"] == "tiny~0123abcd"
    assert at.slider(key="n_heads").value == 4


@pytest.mark.parametrize("name", ["../../etc/passwd", "%2e%2e%2fetc", "a\x00b", "x" * 5_000])
def test_a_hostile_name_opens_the_page_with_a_sentence(name: str) -> None:
    at = opened(model=name)
    assert clean(at)
    assert "Model was" in said(at)
