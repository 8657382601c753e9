"""The run that a question is asked about, as the kinds of questions read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnviz.analysis import rounding
from attnviz.arrays import Array
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.run import run
from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.faults import shorten
from attnviz.settings.language import Words
from attnviz.text import step_names

SAME = 1e-9
"""Numbers this near are the same: further apart than any order of summing can bring them."""

PROBLEMS = Words(
    {
        "needs": "the question needs {name!r} in `at`",
        "outside": "{name} is {given}; {step} has 1 to {n} there",
        "shapes": "the {step} have different shapes in the two runs, so they cannot be compared",
        "no_step": "this run has no step {given}",
        "no_layer": "layer is {given}; this run has 1 to {n}",
        "two_runs": "a question about what differs needs `change`, or the run of the lesson's own setting",
    }
)


@dataclass(frozen=True)
class QuestionContext:
    """The run that is asked about, that of the lesson's own setting, and the layer, counted from 0.

    worked  whether the arithmetic of an answer is written out, which takes longer than all else
    """

    trace: Trace
    own: Trace | None
    layer: int
    worked: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.layer < len(self.trace.layers):
            raise ValueError(PROBLEMS["no_layer"].format(given=ordinal(self.layer), n=len(self.trace.layers)))

    @property
    def steps(self) -> dict[str, Step]:
        return step_names.steps(self.trace, self.layer)

    def own_step(self, name: str) -> Step | None:
        """Return a step of the lesson's own run, where it has one."""
        if self.own is None or self.layer >= len(self.own.layers):
            return None
        return step_names.steps(self.own, self.layer).get(name)

    def cleared(self, step: Step) -> Array:
        """Return the numbers of a step as they are said: 0 for what rounding has left of larger ones."""
        return (
            rounding.cleared(self.trace, self.layer, step) if step.name in self.trace.layers[self.layer] else step.array
        )

    def step(self, name: str) -> Step:
        if name not in self.steps:
            raise ValueError(PROBLEMS["no_step"].format(given=shorten(name)))
        return self.steps[name]

    def index(self, step: Step, at: Mapping[str, Any], axes: Sequence[str]) -> tuple[int, ...]:
        """Return the indices of a number along some axes of its step, counted from 0; a head need not be named."""
        return tuple(self._along(step, at, axis) for axis in axes)

    def _along(self, step: Step, at: Mapping[str, Any], axis: str) -> int:
        shared = self.trace.config.group_size if axis == "kv_head" else 1
        n = step.shape[step.axes.index(axis)] * shared
        if axis in ("head", "kv_head"):
            name, number = "head", at.get("head", 1)
        else:
            name = axis if axis in at or axis in ("query", "key") else "column"
            number = required(name, at)
        if not 1 <= number <= n:
            raise ValueError(PROBLEMS["outside"].format(name=name, given=shorten(number), step=step.name, n=n))
        return index_of(int(number)) // shared

    def of_head(self, name: str, at: Mapping[str, Any]) -> Array:
        """Return the numbers of a step in the head that is asked about, the first if none is named."""
        step = self.step(name)
        return step.head(self.index(step, at, step.axes[:1])[0])

    def compared(self, name: str, at: Mapping[str, Any]) -> Array:
        """Return the difference of each number of a step from the other run's: the changed one, or the lesson's.

        Raises ValueError if there is no other run, or if the shapes differ.
        """
        other = run(replace(self.trace.config, **at["change"])) if "change" in at else self.own
        if other is None:
            raise ValueError(PROBLEMS["two_runs"])
        left, right = self.step(name).array, replace(self, trace=other).step(name).array
        if len(other.query_tokens) < len(self.trace.query_tokens) and left.ndim == right.ndim:
            left, right = _alike(left, right)
        if left.shape != right.shape:
            raise ValueError(PROBLEMS["shapes"].format(step=name))
        with np.errstate(invalid="ignore"):
            return np.where(left == right, 0.0, np.abs(right.astype(float) - left))


def _alike(left: Array, right: Array) -> tuple[Array, Array]:
    """Return a step of a sentence and that of its beginning: new rows are nowhere the same.

    A key that only one of them has counts as one that gets nothing.
    """
    rows, columns = (max(left.shape[axis], right.shape[axis]) for axis in (-2, -1))
    filled = list[Array]()
    for array, number in ((left, np.inf), (right, -np.inf)):
        more = [(0, 0)] * (array.ndim - 2)
        wide = np.pad(array.astype(float), [*more, (0, 0), (0, columns - array.shape[-1])])
        missing = rows - wide.shape[-2]
        filled.append(np.pad(wide, [*more, (0, missing), (0, 0)], constant_values=number))
    return filled[0], filled[1]


def required(name: str, at: Mapping[str, Any]) -> Any:
    """Return the values that the question must name."""
    if name not in at:
        raise ValueError(PROBLEMS["needs"].format(name=name))
    return at[name]
