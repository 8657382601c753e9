"""Slopes through trained models, against what changed numbers do to all that follows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attnviz import Gradients, Trace, gradients
from attnviz.engine.records.edits import Edit
from tests.support.cases import for_each
from tests.support.slopes import loss, slope_of, steps_of
from tests.support.small_models import NAMES, model

WORDS = "the cat sat on the mat"
MOST_CELLS = 8
STEP = 1e-4


def targets(trace: Trace) -> dict[Any, np.ndarray]:
    """An L that is made from the result of every layer and from weights of the first."""
    dice = np.random.default_rng(1)
    of: dict[Any, np.ndarray] = {(0, "weights"): dice.normal(size=trace.layers[0]["weights"].shape)}
    for i, layer in enumerate(trace.layers):
        name = list(layer)[-1]
        of[i, name] = dice.normal(size=layer[name].shape)
    return of


def cells(array: np.ndarray, dice: np.random.Generator) -> list[tuple[int, ...]]:
    """A few cells of a step that hold a finite number."""
    there = np.argwhere(np.isfinite(array))
    return [tuple(map(int, at)) for at in dice.permutation(there)[:MOST_CELLS]]


def furthest(
    name: str, trace: Trace, of: dict[Any, np.ndarray], slopes: Gradients, *, every: int = 1, **free: Any
) -> tuple[float, str]:
    """How far the slope of any step, along a few of its cells, is from what edits give; one step of `every` is taken,
    another one in each family.

    Weights are kept as their file has them, in 32 bits, so how far a number was moved is read off the run.
    """
    dice, found = np.random.default_rng(2), (0.0, "")
    kept = list(free.pop("edits", ()))
    for layer, step_name, step in list(steps_of(trace))[NAMES.index(name) % every :: every]:
        changed = {edit[2] for edit in kept if edit[:2] == (layer, step_name)}
        chosen = [at for at in cells(step.array, dice) if at not in changed]
        by = dice.normal(size=len(chosen))
        ends = []
        for sign in (STEP, -STEP):
            edits: list[Edit] = [
                (layer, step_name, at, float(step.array[at]) + sign * move) for at, move in zip(chosen, by)
            ]
            moved = model(name)(WORDS, edits=[*kept, *edits], **free)
            array = (moved.around if layer is None else moved.layers[layer])[step_name].array
            ends.append((loss(moved, of), [float(array[at]) for at in chosen]))
        (high, above), (low, below) = ends
        G = slope_of(slopes, layer, step_name)
        terms = [G[at] * (a - b) for at, a, b in zip(chosen, above, below)]
        size = max(2 * STEP, sum(map(abs, terms)))
        found = max(found, (abs(sum(terms) - (high - low)) / size, f"{step_name} of layer {layer}"))
    return found


def check(name: str, *, every: int = 1, **free: Any) -> None:
    trace = model(name)(WORDS, **free)
    of = targets(trace)
    off, where = furthest(name, trace, of, gradients(trace, of), every=every, **free)
    assert off < 1e-5, (name, where, off)


@pytest.mark.slow
@for_each("name", NAMES)
def test_slopes_of_every_step_are_what_changed_numbers_do(name: str) -> None:
    check(name)


def test_slopes_hold_under_another_mask_normaliser_and_a_changed_number() -> None:
    check("qwen3", every=5, mask="no_self", temperature=2.0)
    check("gpt2", every=5, normaliser="entmax15")
    check("llama", every=5, edits=[(0, "weights", (0, 2, 1), 0.5), (1, "g_1", (0,), 0.7)])


@for_each("name", NAMES)
def test_every_step_has_a_slope_but_the_bias_of_keys_which_moves_no_softmax(name: str) -> None:
    trace = model(name)(WORDS)
    slopes = gradients(trace, {(None, "output"): np.random.default_rng(0).normal(size=trace.result.shape)})
    for steps, of in zip((trace.around, *trace.layers), (slopes.around, *slopes.layers), strict=True):
        assert list(of) == list(steps)
        nothing = {step for step in of if step != "allowed" and np.abs(of[step].array).max() < 1e-12}
        assert nothing == ({"b_k"} if "b_k" in steps and "projected_keys" not in steps else set()), nothing
