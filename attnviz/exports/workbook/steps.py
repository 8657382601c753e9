"""The steps of a run as blocks of a workbook: what stands above and beside their numbers, their names and colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.records.trace import Step, Trace
from attnviz.exports.workbook.layout import Block, Formula, Sheet, fault
from attnviz.exports.workbook.score_formulas import numbers, shape
from attnviz.settings.counting import ordinal
from attnviz.settings.language import translate
from attnviz.text.step_names import LABELS, PARAMETERS, plain

HEADING, SIDE_HEADING = "{symbol} · {label} · {shape} · {meaning}", "{symbol} · head {n} · {shape}"


@dataclass(frozen=True)
class StepWriter:
    """A writer of the steps of one layer, or of those around the layers, on sheets."""

    trace: Trace
    layer: int | None
    steps: Mapping[str, Step]

    def step(self, sheet: Sheet, name: str, formula: Formula | None, head: int | None = None, **more: Any) -> Block:
        """Return a step, or what belongs to one head of it; `more` as `Sheet.add` takes it.

        forbidden    among them: True where the numbers say nothing, for the step before is -inf there
        may_forbid   whether -inf has a meaning in this step: forbidden

        Raises ConfigError for a number that a cell cannot hold.
        """
        step, forbidden = self.steps[name], more.pop("forbidden", False)
        array, rows, columns = self.labelled(step, head)
        array = np.where(forbidden, -np.inf, array)
        may_forbid = bool(more.pop("may_forbid", False) or np.any(forbidden))
        if not np.isfinite(array).all():
            _check(name, array, may_forbid=may_forbid)
        return sheet.add(
            _heading(step, array, head),
            array,
            formula,
            rows=rows,
            columns=columns,
            name=self._name(name, head),
            kind=step.kind,
            reach=_reach(step.array),
            edited=self.edited(name, head),
            is_masked=may_forbid,
            **more,
        )

    def labelled(self, step: Step, head: int | None) -> tuple[Array, Sequence[str], Sequence[str]]:
        """Return the numbers as a matrix, and the words of its rows and columns."""
        array = np.asarray(step.array if head is None else step.head(head), dtype=float)
        axes = step.axes if head is None else step.axes[1:]
        if array.ndim == 1:
            return array[None], (plain(step.symbol),), self._words(axes[0], len(array))
        return array, self._words(axes[0], array.shape[0]), self._words(axes[1], array.shape[1])

    def _words(self, axis: str, n: int) -> Sequence[str]:
        """Return tokens with their positions, so that one that comes twice is two; other axes are counted."""
        tokens = {"query": self.trace.query_tokens, "key": self.trace.key_tokens}.get(axis)
        return numbers(n) if tokens is None else [f"{number} {token}" for number, token in enumerate(tokens, 1)]

    def _name(self, name: str, head: int | None) -> str:
        """Name a block as an edit does: the step, the layer and the head, counted from 1."""
        return "_".join([name, *(str(ordinal(number)) for number in (self.layer, head) if number is not None)])

    def edited(self, name: str, head: int | None) -> frozenset[tuple[int, int]]:
        """Return the cells of a step, or of one head of it, that were changed by hand."""
        indices = [index for layer, step, index, _ in self.trace.edits if (layer, step) == (self.layer, name)]
        positions = indices if head is None else [index[1:] for index in indices if index[0] == head]
        return frozenset((position[0] if len(position) > 1 else 0, position[-1]) for position in positions)


def _check(name: str, array: Array, *, may_forbid: bool) -> None:
    """Raise ConfigError for NaN and plus infinity, and for minus infinity where it does not mean forbidden."""
    if np.isnan(array).any() or np.isposinf(array).any() or not may_forbid:
        raise fault("infinite", name=name.replace("_", " "))


def _heading(step: Step, array: Array, head: int | None) -> str:
    """Return symbol, name, shape and meaning; those that stand side by side have room for less."""
    symbol, label = plain(step.symbol), LABELS[step.name]
    if head is not None and step.name in PARAMETERS:
        return translate(SIDE_HEADING, symbol=symbol, n=ordinal(head), shape=shape(array))
    text = HEADING.format(symbol=symbol, label=label, shape=shape(array), meaning=step.meaning)
    return text if label else text.replace(" ·  · ", " · ")


def _reach(array: Array) -> float:
    """Return the largest size of what is there, for colours that mean the same in all heads."""
    finite = np.abs(array[np.isfinite(array)].astype(float))
    return float(finite.max(initial=0.0)) or 1.0
