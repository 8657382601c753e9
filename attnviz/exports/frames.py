"""A step for other libraries: as a table of pandas, or an array of xarray, with the words as labels."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import chain, count
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.records.trace import Step
from attnviz.settings.language import Words

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

FAULTS = Words(
    {
        "pandas": 'A table needs pandas: pip install "attnviz[app]". np.asarray(step) needs nothing.',
        "xarray": "An array with named axes needs xarray: pip install xarray. step.to_pandas() has the same names.",
    }
)


def axis_names(step: Step) -> list[str]:
    """Return the axes, each by a name of its own: a matrix from d_k to d_k has a second d_k."""
    return [axis if axis not in step.axes[:at] else f"{axis}_2" for at, axis in enumerate(step.axes)]


def to_pandas(step: Step) -> pd.DataFrame:
    """Return a step as a DataFrame: its last axis as columns, all others as levels of the index; see `Step.to_pandas`.

    A vector is one column, named for the step.
    """
    pd = _library("pandas")
    numbers, labels, names = true_numbers(step), _labels(step), axis_names(step)
    if numbers.ndim == 1:
        return pd.DataFrame({step.name: numbers}, index=pd.Index(labels[0], name=names[0]))
    rows = pd.Index(labels[0], name=names[0])
    if numbers.ndim > 2:
        rows = pd.MultiIndex.from_product(labels[:-1], names=names[:-1])
    columns = pd.Index(labels[-1], name=names[-1])
    return pd.DataFrame(numbers.reshape(-1, numbers.shape[-1]), index=rows, columns=columns)


def to_xarray(step: Step) -> xr.DataArray:
    """Return a step as a DataArray: its axes as dimensions, the labels as coordinates; see `Step.to_xarray`."""
    about = {"long_name": step.meaning, "symbol": step.symbol, "formula": step.formula}
    names = axis_names(step)
    labels = dict(zip(names, _labels(step)))
    return _library("xarray").DataArray(true_numbers(step), coords=labels, dims=names, name=step.name, attrs=about)


def true_numbers(step: Step) -> Array:
    """Return a copy of the numbers of a step in which the padding of narrower heads is NaN; the shape is the step's."""
    if not step.true_widths:
        return step.array.copy()
    numbers = np.full(step.shape, np.nan)
    for h in range(len(numbers)):
        part = step.head(h)
        numbers[h][tuple(slice(n) for n in part.shape)] = part
    return numbers


def _labels(step: Step) -> list[Sequence[object]]:
    return [told_apart(step.words.get(axis, ())) or list(range(n)) for axis, n in zip(step.axes, step.shape)]


def told_apart(words: Sequence[str]) -> list[str]:
    """Return words as labels of which no two are alike: one that stands again has a number behind it.

    >>> told_apart(["the", "cat", "the", "the (2)"])
    ['the', 'cat', 'the (2)', 'the (2) (2)']
    """
    labels: dict[str, None] = {}
    for word in words:
        ways = chain([word], (f"{word} ({n})" for n in count(2)))
        labels[next(label for label in ways if label not in labels)] = None
    return list(labels)


def _library(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(FAULTS[name], name=error.name) from None
