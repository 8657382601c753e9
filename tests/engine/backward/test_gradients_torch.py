"""Slopes of every step against PyTorch's automatic derivatives of a run that is written there once more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attnviz import SCORES, Config, Trace, gradients, run
from tests.support import slopes
from tests.support.cases import for_each
from tests.torch_attention import TorchRun

NEAR = 1e-9


def by_torch(torch: Any, trace: Trace, of: Any) -> dict[Any, np.ndarray]:
    """dL/d(step) of every step that PyTorch has; of heads that share one matrix it is their sum, for each of them."""
    theirs = TorchRun(torch, trace)
    for at, step in theirs.steps.items():
        mine = (trace.around if at[0] is None else trace.layers[at[0]])[at[1]].array
        assert np.allclose(mine, step.detach().numpy(), rtol=1e-8, atol=1e-8), at
    loss = sum((torch.tensor(G) * theirs.steps[at]).sum() for at, G in of.items())
    loss.backward()
    found = {}
    for at, step in theirs.steps.items():
        G = np.zeros(step.shape) if step.grad is None else step.grad.numpy()
        group = trace.config.group_size
        if trace.config.tied and at[1] in ("w_q", "b_q"):
            G = np.repeat(G.reshape(-1, group, *G.shape[1:]).sum(axis=1), group, axis=0)
        found[at] = G
    return found


def off(torch: Any, config: Config) -> tuple[float, str]:
    """How far the slopes of a setting are from PyTorch's, relative to the largest of the step, and where."""
    trace = run(config)
    of = slopes.output_slopes(trace)
    mine, theirs, worst, seen = gradients(trace, of), by_torch(torch, trace, of), (0.0, ""), set()
    rounding = 1e-6 * max(abs(G).max() for G in theirs.values())  # what cancels in one step was as large in another
    for at, G in theirs.items():
        seen.add(at)
        far = abs(slopes.slope_of(mine, *at) - G).max() / max(1.0, abs(G).max(), rounding)
        worst = max(worst, (far, f"{at} of {trace.config}"))
    unread = {(None, "embedded_kv")} - seen
    assert seen | unread == {(layer, name) for layer, name, _ in slopes.steps_of(trace)}
    return worst


def agree(torch: Any, number: int) -> None:
    """Hold a setting to NEAR, but where its numbers have grown so far that rounding is no longer small."""
    config = slopes.anything(number)
    trace = run(config)
    if not slopes.has_grown(trace):
        far, where = off(torch, config)
        assert far <= NEAR or slopes.kink(trace), where


@pytest.mark.slow
def test_few_settings_have_grown_beyond_measure() -> None:
    assert sum(slopes.has_grown(run(slopes.anything(number))) for number in range(100)) <= 5


@for_each("score", [name for name in SCORES if name != "formula"])
def test_every_score_has_the_slopes_of_torch_with_every_normaliser(score: str, torch: Any) -> None:
    for config in slopes.combinations(score):
        far, where = off(torch, config)
        assert far <= NEAR or slopes.kink(run(config)), where


@for_each("number", range(40))
def test_slopes_are_those_of_torch(number: int, torch: Any) -> None:
    agree(torch, number)


@pytest.mark.slow
@for_each("number", range(40, 150))
def test_slopes_are_those_of_torch_in_many_settings(number: int, torch: Any) -> None:
    agree(torch, number)
