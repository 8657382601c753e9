"""Slopes that have arrived at each step on the way back, and the rules that hold for every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.external.layer_plans import LayerStep
from attnviz.engine.numerics import cancellation
from attnviz.engine.records.trace import Step, Trace


class Slopes:
    """The slopes that have arrived at each step so far, with the rules that hold for all of them.

    Padding of narrow heads has no slope, and neither has what is not finite. Through a number that was changed by hand
    nothing goes further back: what stands before it moves it no more.
    """

    def __init__(self, trace: Trace, seeds: Mapping[LayerStep, Array]) -> None:
        self.steps: dict[LayerStep, Step] = {(None, name): step for name, step in trace.around.items()}
        self.steps |= {(i, name): step for i, layer in enumerate(trace.layers) for name, step in layer.items()}
        self._arrived: dict[LayerStep, Array] = {at: np.array(G, dtype=float) for at, G in seeds.items()}
        self._done: set[LayerStep] = set()
        self._edited: dict[LayerStep, list[tuple[int, ...]]] = {}
        for layer, name, index, _ in trace.edits:
            self._edited.setdefault((layer, name), []).append(index)

    def array(self, at: LayerStep) -> Array:
        return self.steps[at].array

    def add(self, at: LayerStep, G: Array) -> None:
        """Add to what has arrived at a step, if it is there; G may be kept, but is not changed."""
        cancellation.check()
        if at in self.steps:
            have = self._arrived.get(at)
            self._arrived[at] = G if have is None else have + G

    def of(self, at: LayerStep) -> Array | None:
        """Return dL/d(step) once all has arrived; None where nothing did."""
        if at in self._arrived and at not in self._done:
            self._done.add(at)
            self._arrived[at] = _proper(self._arrived[at], self.steps[at])
        return self._arrived.get(at)

    def through(self, at: LayerStep) -> Array | None:
        """Return the slope before a step: the same as after it, but 0 for the numbers that were changed by hand."""
        G = self.of(at)
        if G is None or at not in self._edited:
            return G
        G = G.copy()
        for index in self._edited[at]:
            G[index] = 0.0
        return G

    def replace(self, at: LayerStep, G: Array) -> None:
        """Set dL/d(step) anew."""
        self._arrived[at] = G

    def unedited(self, at: LayerStep, make: Callable[[], Array]) -> Array:
        """Return a step as it was computed, before any edit: slopes belong to that."""
        return make() if at in self._edited else self.array(at)


def _proper(G: Array, step: Step) -> Array:
    """Return slopes with zeros in the padding and where there is no finite one."""
    if not np.isfinite(G.sum()):
        G = np.where(np.isfinite(G), G, 0.0)
    if step.true_widths:
        real = np.zeros(G.shape, dtype=bool)
        for h in range(len(G)):
            real[h][tuple(slice(step.true_widths[a][h] if a in step.true_widths else None) for a in step.axes[1:])] = 1
        G = np.where(real, G, 0.0)
    return G
