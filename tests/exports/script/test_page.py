"""Scripts follow the page: what it says has its line, and a call of PyTorch that computes something else goes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from attnviz import Config, run
from attnviz.engine.plan import plans
from attnviz.engine.plan.operations import OPERATIONS
from attnviz.engine.plan.tracing import Page
from attnviz.engine.plan.values import Value
from attnviz.exports.script.layers import LayerScript
from attnviz.exports.script.lines import Lines
from attnviz.exports.script.notebook import notebook
from attnviz.exports.script.numpy_script import numpy_script
from attnviz.exports.script.torch_script import torch_script
from tests.support import readings
from tests.support.cases import for_each
from tests.support.small_models import model

SMALL = Config(sentence="the cat sat on", d_model=4, n_heads=2, d_k=2, d_v=2, mask="causal", residual=True)
CALL, MODULE = "scaled_dot_product_attention(", "MultiheadAttention("

CHANGES: dict[str, tuple[str, Any]] = {
    "values": ("V = temperature * (X @ W_V)", lambda page, V: page.setting("temperature") * V),
    "masked": ("S_masked = 2.0 * np.where(M, S_scaled, -np.inf)", lambda page, S: 2.0 * S),
    "heads": ("Z = 2.0 * (A @ V)", lambda page, Z: 2.0 * Z),
    "output": ("Y = C @ W_O / temperature", lambda page, Y: Y / page.setting("temperature")),
    "added": (
        "Y_added = X + Y + -1.0 * temperature * (X + Y)",
        lambda page, Y: Y + -1.0 * page.setting("temperature") * Y,
    ),
}
"""What is changed in the page: the step, its line then, and how."""


@contextmanager
def another_page(name: str) -> Iterator[None]:
    """A page that says more of a step."""
    said = Page.step
    Page.step = lambda self, step, value: said(self, step, CHANGES[name][1](self, value) if step == name else value)  # type: ignore[method-assign]
    plans.layer_plan.cache_clear()
    try:
        yield
    finally:
        Page.step = said  # type: ignore[method-assign]
        plans.layer_plan.cache_clear()


def set_for(name: str) -> Config:
    """A setting in which no temperature keeps PyTorch's module away, but where the change is one."""
    return replace(SMALL, temperature=0.7) if "temperature" in CHANGES[name][0] else SMALL


@for_each("name", CHANGES)
def test_a_change_of_the_page_is_a_change_of_every_script(name: str) -> None:
    with another_page(name):
        config = set_for(name)
        readings.by_script(run(config), numpy_script)
        line = CHANGES[name][0]
        assert f"\n{line}  # " in numpy_script(config)
        assert f'"{line}  # ' in notebook(config)
        assert f"\n{line}  # ".replace("np.", "torch.") in torch_script(config) or name == "heads"
    assert line not in numpy_script(config)


@for_each("name", CHANGES)
def test_so_it_is_in_pytorch(name: str, torch: Any) -> None:
    with another_page(name):
        readings.by_script(run(set_for(name)), torch_script)
        readings.by_script(run(replace(set_for(name), d_k=3)), torch_script)


def test_a_call_is_made_only_for_what_the_page_says() -> None:
    found = {}
    for name in CHANGES:
        with another_page(name):
            text = torch_script(SMALL)
            found[name] = CALL in text, MODULE in text
    assert found == {
        "values": (True, True),  # a temperature of 1 changes nothing
        "masked": (False, False),
        "heads": (False, False),
        "output": (True, False),
        "added": (True, True),
    }
    plain = torch_script(SMALL)
    assert (CALL in plain, MODULE in plain) == (True, True)
    with another_page("values"):
        assert MODULE not in torch_script(replace(SMALL, temperature=0.7))


def test_a_factor_at_rest_is_not_named_and_one_that_is_not_is_in_the_formula() -> None:
    with another_page("values"):
        assert "temperature" not in numpy_script(SMALL)
        assert run(SMALL)["values"].formula == "V_h = X W_V^h"
        assert run(replace(SMALL, temperature=0.7))["values"].formula == r"V_h = \mathrm{temperature}\, X W_V^h"
        biased = run(replace(SMALL, temperature=0.7, projection_bias=True))
        assert biased["values"].formula == r"V_h = \mathrm{temperature}\, (X W_V^h + b_V^h)"


def test_every_operation_has_its_code() -> None:
    trace = model("mixtral")("a cat")
    writer = LayerScript(Lines(trace, (0,)), trace)
    made = Value("input", axes=("query", "model"), name="X")
    for op in {*OPERATIONS} - {"as_keys", "score", "bias_line", "normalise", "mix"}:
        n = {"from_sink": 3, **dict.fromkeys(("+", "*", "/", "@", "only_where"), 2)}.get(op, 1)
        assert "X" in writer.code(Value(op, (made,) * n, made.axes)), op
