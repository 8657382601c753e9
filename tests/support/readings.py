"""What a run says, said again by its files and by the arithmetic of its cells: each raises where it says otherwise."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import numpy as np

from attnviz import Config, Trace, gradients
from attnviz.arithmetic.cell import derive
from attnviz.exports.workbook.book import workbook
from tests.support import scripts, slopes
from tests.support.spreadsheets import Spreadsheet
from tests.support.workbook_arithmetic import computed

Run = TypeVar("Run")
"""A trace, or a line with its trace."""

CLOSE = 1e-9
WRONG = (AssertionError, NameError, TypeError, SyntaxError, ValueError, ArithmeticError, AttributeError, RuntimeError)
"""What a reading raises that goes wrong."""


def by_script(trace: Trace, write: Callable[[Config], str]) -> None:
    """Execute a script and hold every step that it names against the run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where the page has inf or NaN, a script has it too, and NumPy says so
        scripts.compare(trace, scripts.execute(write(trace.config)), CLOSE, bits=False)


def by_cell(trace: Trace) -> None:
    """Derive a few cells of each layer, of the first head and the last, and of more than one query and key."""
    heads, n, m = trace["scores"].shape
    for layer, steps in enumerate(trace.layers):
        for h, i, j in {(0, n - 1, 0), (heads - 1, min(1, n - 1), min(1, m - 1)), (heads - 1, n // 2, m - 1)}:
            found = derive(trace, layer, h, i, j)
            changed = {edit[1] for edit in trace.edits if edit[:2] == (layer, edit[1]) and edit[2][-2:] == (i, j)}
            assert {*found.edited} <= changed, (layer, h, i, j, found.edited)
            for step, name in (("scores", "score"), ("weights", "weight")):
                recorded = steps[step].array[h, i, j]
                assert np.array_equal(found[name].result, recorded, equal_nan=True) or changed, (layer, h, i, j)


def by_workbook(trace: Trace) -> None:
    """Compute every formula of the workbook anew, where all is finite: a spreadsheet has no cell for what is not."""
    from tests.exports.workbook.test_book import differences

    if all(np.isfinite(steps[name].array).all() for steps in trace.layers for name in ("scores", "weights", "heads")):
        assert differences(trace, computed(Spreadsheet(workbook(trace)))) == []


def by_slopes(trace: Trace) -> None:
    """Hold the slope of every step, along a random direction, against what changing its numbers does to the result."""
    of = slopes.output_slopes(trace)
    off, where = slopes.furthest(trace, of, gradients(trace, of))
    assert off <= 1e-6, where


def disagreeing(names: Iterable[str], runs: Iterable[Run], readings: Mapping[str, Callable[[Run], None]]) -> list[str]:
    """What each reading says otherwise than each run, of what goes by a name."""
    found = []
    for called, each in zip(names, runs):
        for name, reading in readings.items():
            try:
                reading(each)
            except WRONG as error:
                found.append(f"{name}: {called}: {type(error).__name__}: {str(error)[:300]}")
    return found
