"""A file names a link only where that link brings the run back."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl

import numpy as np
import pytest

from attnviz import Config, of_weights, run
from attnviz.engine.pretrained.model_registry import MODELS
from attnviz.exports import interactive_html, worked_solution
from attnviz.exports.links import setting_of
from attnviz.models import hosting
from attnviz.settings import url_codec
from tests.support.small_models import FOLDER, model


@pytest.fixture
def bert() -> Iterator[None]:
    hosting.offer([f"bert={FOLDER / 'bert'}"])
    yield
    MODELS.clear()


def test_the_link_of_a_run_brings_it_back(bert: None) -> None:
    for config in (Config(sentence="a b", n_heads=3), Config(sentence="the cat", model="bert", temperature=0.5)):
        trace = run(config)
        (again, _), _ = url_codec.decode(dict(parse_qsl(setting_of(trace))), Config, Config)
        np.testing.assert_array_equal(run(again).result.array, trace.result.array)


def test_what_no_link_brings_back_has_none() -> None:
    own = run(Config(sentence="a b"), {"w_q": np.zeros((4, 16, 4))})
    for trace in (of_weights(np.eye(2), ["a", "b"]), own, model("bert")("the cat")):
        assert setting_of(trace) == ""
        assert interactive_html.described(trace)["link"] == ""
        assert worked_solution.cell(trace, 0, 0, 0, 0).startswith(r"\documentclass")
