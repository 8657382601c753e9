"""Norms and feed-forward blocks against PyTorch's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.engine.tables import blocks
from attnviz.engine.tables.blocks import FEED_FORWARDS, NORMS
from tests.support.cases import for_each

X = np.random.default_rng(0).normal(size=(7, 5)) * np.array([[0.0, 1e-3, 1.0, 3.0, 10.0, 1e3, 1.0]]).T - 0.5
"""Rows of every size, and one whose numbers are all the same."""


def test_layer_norm_and_rms_norm_are_the_library_s(torch: Any) -> None:
    x = torch.tensor(X)
    np.testing.assert_allclose(blocks.layer_norm(X), torch.nn.functional.layer_norm(x, (5,)), rtol=0, atol=1e-12)
    np.testing.assert_allclose(blocks.rms_norm(X), torch.nn.functional.rms_norm(x, (5,), eps=1e-5), rtol=0, atol=1e-14)


@for_each("name", ["relu", "gelu", "gelu_tanh", "swiglu", "geglu"])
def test_hidden_units_are_activated_as_the_library_does(name: str, torch: Any) -> None:
    functions = {
        "relu": torch.nn.functional.relu,
        "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
        "swiglu": torch.nn.functional.silu,
    }
    expected = functions.get(name, torch.nn.functional.gelu)(torch.tensor(X))
    np.testing.assert_allclose(FEED_FORWARDS[name].fn(X), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("biased", [False, True])
def test_a_llama_block_is_the_library_s(torch: Any, biased: bool) -> None:
    config = Config(
        norm="rms", feed_forward="swiglu", residual=True, d_ff=7, projection_bias=biased, initialiser="linear"
    )
    layer = {name: torch.tensor(step.array) for name, step in run(config).layers[0].items()}
    zero = torch.zeros(())
    read = torch.nn.functional.rms_norm(layer["added"], (16,), eps=1e-5)
    gate = torch.nn.functional.silu(read @ layer["w_1"] + layer.get("b_1", zero))
    hidden = gate * (read @ layer["w_3"] + layer.get("b_3", zero))
    result = layer["added"] + hidden @ layer["w_2"] + layer.get("b_2", zero)
    np.testing.assert_allclose(layer["ff_added"], result, rtol=0, atol=1e-13)


def test_rms_norm_stands_before_each_block() -> None:
    layer = run(Config(norm="rms", feed_forward="relu", residual=True)).layers[0]
    assert [name for name in layer if "norm" in name] == ["normed", "ff_normed"]
    assert layer["normed"].formula == r"\hat X = \mathrm{RMS}(X)"
    assert layer["ff_normed"].formula == r"\hat Y = \mathrm{RMS}(X + Y)"


def test_gated_units_are_a_product_of_two_steps() -> None:
    layer = run(Config(feed_forward="geglu")).layers[0]
    np.testing.assert_array_equal(layer["ff_hidden"].array, layer["ff_gate"].array * layer["ff_up"].array)
    assert [layer[name].formula for name in ("ff_gate", "ff_up", "ff_hidden")] == [
        "F_1 = f(Y W_1)", "F_3 = Y W_3", r"F = F_1 \odot F_3",
    ]  # fmt: skip


def test_rows_say_where_they_stand_and_whether_they_are_gated() -> None:
    assert {name: row.applied for name, row in NORMS.items()} == {
        "none": "", "pre": "before", "post": "after", "rms": "before",
    }  # fmt: skip
    assert [name for name, row in FEED_FORWARDS.items() if row.gated] == ["swiglu", "geglu"]
