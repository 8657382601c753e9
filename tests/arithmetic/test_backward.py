"""The arithmetic of a slope comes to the slope that the engine has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from attnviz import NORMALISERS, Config, gradients, run
from attnviz.arithmetic.backward import jacobian, slope_lines
from tests.support.cases import for_each

BASE = Config(sentence="the cat sat on", n_heads=2, d_k=(3, 2), d_v=(2, 3), mask="causal", seed=4, temperature=0.7)


@pytest.mark.slow
@for_each("over", ["keys", "queries"])
@for_each("normaliser", NORMALISERS)
def test_the_lines_recompute_the_slope_of_every_cell(normaliser: str, over: str) -> None:
    config = replace(
        BASE, normaliser=normaliser, normalise_over=over, softcap=2.0, edits=((0, "weights", (0, 3, 1), 0.5),)
    )
    trace = run(config)
    G = np.random.default_rng(0).normal(size=trace["output"].shape)
    found = gradients(trace, {(None, "output"): G})
    for at in zip(*np.nonzero(np.isfinite(trace["masked"].array))):
        index = tuple(map(int, at))
        lines = {line.name: line for line in slope_lines(trace, found, 0, *index)}
        assert lines["masked"].value == pytest.approx(found["masked"].array[index], rel=1e-9, abs=1e-12)
        assert lines["weight"].value == found["weights"].array[index]
        assert lines["score"].value == pytest.approx(found["scores"].array[index], rel=1e-9, abs=1e-12)
        if "softmax" in lines:
            assert lines["softmax"].value == pytest.approx(found["masked"].array[index], rel=1e-9, abs=1e-12)
        assert all(r"\begin{aligned}" in line.latex for line in lines.values())


def test_rows_and_columns_of_the_jacobian_of_softmax_add_to_zero() -> None:
    J = jacobian(run(replace(BASE, mask="none")), 0, 1, 2, 3)
    assert J.shape == (4, 4)
    assert J.any()
    assert abs(J.sum(axis=0)).max() < 1e-15
    assert abs(J.sum(axis=1)).max() < 1e-15


def test_the_jacobian_is_that_of_differences() -> None:
    trace = run(replace(BASE, normaliser="entmax15"))
    J, step = jacobian(trace, 0, 0, 3, 0), 1e-6
    for j in range(4):
        x = trace["masked"].array[0, 3]
        rows = [NORMALISERS["entmax15"].fn(x + sign * step * np.eye(4)[j], 0.7) for sign in (1, -1)]
        assert np.allclose(J[:, j], (rows[0] - rows[1]) / (2 * step), rtol=0, atol=1e-8)


def test_long_rows_leave_terms_out_and_still_add_up() -> None:
    trace = run(Config(sentence=" ".join("abcdefghijklmnop"), n_heads=1))
    found = gradients(trace, {(None, "output"): np.ones(trace["output"].shape)})
    lines = {line.name: line for line in slope_lines(trace, found, 0, 0, 5, 9)}
    assert "underbrace" in lines["masked"].latex
    assert lines["masked"].value == pytest.approx(found["masked"].array[0, 5, 9], rel=1e-9)
