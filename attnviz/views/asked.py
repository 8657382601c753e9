"""What a question is once it is asked of a run: what can be answered, and what is right.

Until it is shown, nothing of the answer leaves this file but the options.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnviz.core.language import Words
from attnviz.core.layers import run
from attnviz.core.trace import Step, Trace
from attnviz.views import flow
from attnviz.views.line import Line
from attnviz.views.sentences import Sentence

SAME = 1e-9
"""Numbers this near are the same: further apart than any order of summing can bring them."""

WORDS = Words(
    {
        "right": "Right.",
        "wrong": "Not so.",
        "larger": "Not so: the number is larger.",
        "smaller": "Not so: the number is smaller.",
    }
)
PROBLEMS = Words(
    {
        "needs": "the question needs {name!r} in `at`",
        "outside": "{name} is {given}; {step} has 1 to {n} there",
        "shapes": "the {step} have other shapes in the two runs, so they cannot be compared",
        "no_step": "this run has no step {given!r}",
        "no_layer": "layer is {given}; this run has 1 to {n}",
        "two_runs": "a question about what differs needs `change`, or the run of the lesson's own setting",
    }
)


@dataclass(frozen=True, eq=False)
class Asked:
    """A question in a run.

    form       "one" of the options, "some" of them, or a "number"
    words      the question; `options` what can be chosen, counted from 0 in an answer
    right      the options that are right: any of them for "one", all of them for "some"
    value      the number that is right, and how far from it an answer may be
    solution   the answer in sentences;  `lines` the arithmetic of this very cell
    hides      the first step that gives the answer away; "" where any step may
    """

    form: str
    options: tuple[Sentence, ...] = ()
    right: frozenset[int] = frozenset()
    value: float = 0.0
    tolerance: float = 0.0
    solution: tuple[Sentence, ...] = ()
    lines: tuple[Line, ...] = ()
    hides: str = ""
    words: Sentence = ()
    why: str = ""

    def is_right(self, given: float | Collection[int]) -> bool:
        """Whether an answer is right: the number, or the chosen options."""
        if isinstance(given, Collection):
            chosen = frozenset(given)
            return chosen == self.right if self.form == "some" else len(chosen) == 1 and chosen <= self.right
        return self.form == "number" and abs(given - self.value) <= self.tolerance * (1 + 1e-9)

    def judged(self, given: float | Collection[int]) -> str:
        """What is said of an answer, without saying the right one."""
        if self.is_right(given):
            return WORDS["right"]
        if isinstance(given, Collection):
            return WORDS["wrong"]
        return WORDS["larger" if given < self.value else "smaller"]


@dataclass(frozen=True)
class Runs:
    """The run that is asked about, that of the lesson's own setting, and the layer, counted from 0."""

    trace: Trace
    own: Trace | None
    layer: int

    def __post_init__(self) -> None:
        if not 0 <= self.layer < len(self.trace.layers):
            raise ValueError(PROBLEMS["no_layer"].format(given=self.layer + 1, n=len(self.trace.layers)))

    @property
    def steps(self) -> dict[str, Step]:
        return flow.steps(self.trace, self.layer)

    def step(self, name: str) -> Step:
        if name not in self.steps:
            raise ValueError(PROBLEMS["no_step"].format(given=name))
        return self.steps[name]

    def place(self, step: Step, at: Mapping[str, Any], axes: Sequence[str]) -> tuple[int, ...]:
        """Where a number stands along some axes of its step, counted from 0; a head need not be named."""
        return tuple(self._along(step, at, axis) for axis in axes)

    def _along(self, step: Step, at: Mapping[str, Any], axis: str) -> int:
        shared = self.trace.config.group_size if axis == "kv_head" else 1
        n = step.shape[step.axes.index(axis)] * shared
        if axis in ("head", "kv_head"):
            name, number = "head", at.get("head", 1)
        else:
            name = axis if axis in at or axis in ("query", "key") else "column"
            number = need(name, at)
        if not 1 <= number <= n:
            raise ValueError(PROBLEMS["outside"].format(name=name, given=number, step=step.name, n=n))
        return int(number - 1) // shared

    def of_head(self, name: str, at: Mapping[str, Any]) -> np.ndarray:
        """The numbers of a step in the head that is asked about, the first if none is named."""
        step = self.step(name)
        return step.head(self.place(step, at, step.axes[:1])[0])

    def compared(self, name: str, at: Mapping[str, Any]) -> np.ndarray:
        """How far each number of a step is from the same in the other run: the changed one, or the lesson's own.

        Raises ValueError if there is no other run, or if the shapes differ.
        """
        other = run(replace(self.trace.config, **at["change"])) if "change" in at else self.own
        if other is None:
            raise ValueError(PROBLEMS["two_runs"])
        left, right = self.step(name).array, replace(self, trace=other).step(name).array
        if left.shape != right.shape:
            raise ValueError(PROBLEMS["shapes"].format(step=name))
        with np.errstate(invalid="ignore"):
            return np.where(left == right, 0.0, np.abs(right.astype(float) - left))


def need(name: str, at: Mapping[str, Any]) -> Any:
    """What the question must say."""
    if name not in at:
        raise ValueError(PROBLEMS["needs"].format(name=name))
    return at[name]


def read_number(text: str) -> float | None:
    """The number that was typed, with a comma or a long minus too; None if it is none.

    >>> read_number("0,25"), read_number(" −0.1 "), read_number("a half")
    (0.25, -0.1, None)
    """
    try:
        number = float(text.strip().replace("−", "-").replace(",", "."))
    except ValueError:
        return None
    return number if np.isfinite(number) else None
