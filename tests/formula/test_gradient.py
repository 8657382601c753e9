"""The derivative of a formula: against central differences, and against PyTorch's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import SCORES, Config, run
from attnviz import gradients as slopes_of_run
from attnviz.codegen.script import Script
from attnviz.codegen.words import TORCH, helpers
from attnviz.formula.evaluation import arrays
from attnviz.formula.evaluation.arrays import Arrays
from attnviz.formula.evaluation.gradient import gradients
from attnviz.formula.evaluation.numbers import scores
from attnviz.formula.graph import Formula
from attnviz.formula.reader import parse
from tests.formula.generator import lines
from tests.support.cases import for_each

STEP = 1e-6
LINES = [
    *(row.line for row in SCORES.values() if row.line),
    "sum(tanh(q*k)) / sqrt(d_k) - 0.1*abs(i-j)",
    "max(q*k) * min(q + k)",
    "sum(max(q, q) * k)",
    "norm(q - k)**3",
    "sum(exp(-abs(q - k)) * v) * g",
    "sum((q@W)@U * k)",
    "sum(tanh((q*k)@W) * v)",
    "mean(sigmoid(q) * log(1 + k**2)) + b[j]",
    "sum(q if q > k else sin(k)) * cos(sum(q))",
    "sum(max(q, k) * relu(k)) + sum(q % 2)",
    "sum(abs(q)**(1 + k**2))",
    "ratio(sum(q*k), norm(q) * norm(k)) + sum(sqrt(1 + q**2) / (2 + k**2))",
    "t = tanh(q*k); sum(t) * sum(t*t) + sum(k * W[j])",
    "sum(q * k) * h if j <= i else -dot(q, q)",
]
NORMALISERS = [
    "e = exp(x - max(x)); e / sum(e)",
    "sigmoid(x)",
    "relu(x) / n",
    "relu(x - level(x, 1))",
    "relu(x / 2 - level(x / 2, 2.5))**2.5",
    "p = x**2; p / (1 + sum(p))",
    "unit(x)",
    "e = exp(x - max(x)) * top(x, 2); e / sum(e)",
    "p = sigmoid(x); p * exp(sum(log(1 - p)) - cumsum(log(1 - p)))",
    "cumsum(x * cumsum(x)) / (1 + max(cumsum(x**2)))",
]


def given(formula: Formula) -> Arrays:
    draws = np.random.default_rng(5)
    sizes = {"d_q": 3, "d_k": 3, "key": 5}
    own = {
        name: draws.normal(size=(2, *(sizes.get(axis, 4) for axis in formula.axes_of(name))))
        for name in formula.parameters
    }
    return arrays.of_score(formula, draws.normal(size=(2, 4, 3)), draws.normal(size=(2, 5, 3)), own)


def slope(formula: Formula, at: Arrays, G: np.ndarray, name: str, index: tuple[int, ...], step: float = STEP) -> float:
    losses = []
    for sign in (1.0, -1.0):
        values = {each: array.copy() for each, array in at.values.items()}
        values[name][index] += sign * step
        losses.append(float((G * scores(formula, replace(at, values=values))).sum()))
    return (losses[0] - losses[1]) / (2 * step)


@for_each("text", LINES)
def test_the_gradient_of_a_score_is_its_slope(text: str) -> None:
    formula = parse(text)
    at = given(formula)
    G = np.random.default_rng(6).normal(size=(2, 4, 5))
    found = gradients(formula, at, G)
    assert set(found) == (formula.variables() & {"q", "k"}) | set(formula.parameters)
    for name, gradient in found.items():
        for index in list(np.ndindex(gradient.shape))[::3]:
            wanted = slope(formula, at, G, name, index)
            assert gradient[index] == pytest.approx(wanted, rel=1e-6, abs=1e-7), (name, index)


def random_lines(first: int, n: int) -> list[Formula]:
    """Random lines without steps, on which central differences would say something else beside the step."""
    steps = ("%", "//", "sign(", " if ", "<", ">")
    found = [formula for formula in lines(4 * n, first) if not any(step in formula.text for step in steps)]
    return found[:n]


@pytest.mark.parametrize(("first", "n"), [(1, 40), pytest.param(2, 600, marks=pytest.mark.slow)])
def test_the_gradient_of_random_lines_is_their_slope(first: int, n: int) -> None:
    """Where two steps of different size find the same slope: elsewhere is a kink, or a number beyond rounding."""
    found, told = random_lines(first, n), 0
    assert len(found) == n
    for formula in found:
        at = given(formula)
        G = np.random.default_rng(9).normal(size=(2, 4, 5))
        for name, gradient in gradients(formula, at, G).items():
            for index in list(np.ndindex(gradient.shape))[:: max(1, gradient.size // 3)]:
                near, far = (slope(formula, at, G, name, index, step) for step in (STEP, 10 * STEP))
                if np.isfinite(near) and abs(near) < 1e4 and abs(near - far) <= 1e-6 * (1 + abs(near)):
                    told += 1
                    assert gradient[index] == pytest.approx(near, rel=1e-5, abs=1e-5), (formula.text, name, index)
    assert told > 4 * n


NORMALISERS += ["relu(x - level(x, 1))", "relu(x / 2 - level(x / 2, 2.5))**2.5"]


@for_each("text", NORMALISERS)
def test_the_gradient_of_a_normaliser_is_its_slope(text: str) -> None:
    formula = parse(text, "normaliser")
    draws = np.random.default_rng(7)
    at = arrays.of_normaliser(draws.normal(size=(2, 4, 5)))
    G = draws.normal(size=(2, 4, 5))
    gradient = gradients(formula, at, G)["x"]
    for index in list(np.ndindex(gradient.shape))[::3]:
        assert gradient[index] == pytest.approx(slope(formula, at, G, "x", index), rel=1e-6, abs=1e-7)


@for_each("text", ["q @ W @ k", "sum(tanh(q@W_q + k@W_k) * v)", "dot(unit(q), unit(k)) * g"])
def test_pytorch_finds_the_same_gradient(text: str, torch: Any) -> None:
    formula = parse(text)
    at = given(formula)
    G = np.random.default_rng(8).normal(size=(2, 4, 5))
    own = {name: at.values[name].reshape(_own(at.values[name])) for name in formula.parameters}
    space = {"Q": at.values["q"][:, :, 0], "K": at.values["k"][:, 0], **own}
    tensors = {name: torch.tensor(np.array(array), requires_grad=True) for name, array in space.items()}
    code = "\n".join(Script(formula, TORCH, heads=True).lines("S"))
    scope = {**tensors, "torch": torch}
    exec("\n".join([*helpers(code, TORCH).values(), code]), scope)  # noqa: S102
    (scope["S"] * torch.tensor(G)).sum().backward()
    found = gradients(formula, at, G)
    for name, tensor in {"q": "Q", "k": "K", **{name: name for name in own}}.items():
        wanted = tensors[tensor].grad.numpy()
        np.testing.assert_allclose(found[name].reshape(wanted.shape), wanted, rtol=1e-12, atol=1e-12)


def _own(array: np.ndarray) -> tuple[int, ...]:
    """The shape of a parameter without the axes that it does not have."""
    return (array.shape[0], *(n for n in array.shape[1:] if n > 1))


def test_there_is_no_slope_where_two_are_equal() -> None:
    formula = parse("sum(relu(q)) + sum(max(q, k))")
    at = arrays.of_score(formula, np.zeros((1, 1, 2)), np.zeros((1, 1, 2)), {})
    found = gradients(formula, at, np.ones((1, 1, 1)))
    assert not found["q"].any()
    assert not found["k"].any()


def test_a_cell_of_infinite_slope_leaves_the_others_theirs() -> None:
    """As relu is 0 in some cells, their scores are minus infinity; the others of their rows have finite slopes."""
    config = Config(
        sentence="the cat sat", n_heads=1, score="formula", score_formula="log(relu(sum(q*k))) + sqrt(i-j+2)"
    )
    trace = run(config)
    assert 0 < np.isneginf(trace["scores"].array).sum() < 9
    by = np.arange(trace["output"].array.size).reshape(trace["output"].shape) / 7.0
    found = slopes_of_run(trace, {(0, "output"): by}).layers[0]["queries"].array
    for at in np.ndindex(found.shape):
        value = trace["queries"].array[at]
        up, down = (run(config, edits=[(0, "queries", at, value + step)])["output"].array for step in (STEP, -STEP))
        assert found[at] == pytest.approx(((up - down) * by).sum() / (2 * STEP), rel=1e-5, abs=1e-6)
    assert np.abs(found).max() > 1
