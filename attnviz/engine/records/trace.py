"""All intermediates of a run, with their axes named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics import cancellation
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.lookups import Layers, no_attribute, no_head, no_step
from attnviz.engine.records.step_specs import STEPS
from attnviz.outlets import outlet
from attnviz.settings.counting import index_of
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import translate, translated_fields

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    import xarray as xr


@translated_fields("meaning")
@dataclass(frozen=True)
class Step:
    """One intermediate: a read-only array and what its axes are.

    `true_widths` holds, for an axis along which heads differ, the width of each head: columns beyond it are padding.
    `words` are those along an axis of tokens. NumPy takes a step for its array: `np.asarray(step)`, `np.log(step)`.
    """

    name: str
    array: Array
    symbol: str
    axes: tuple[str, ...]
    kind: str
    formula: str
    meaning: str
    true_widths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    words: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False, compare=False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the numbers as NumPy asks for them: the read-only array itself where no copy is needed.

        Raises ValueError where `copy` is False and another `dtype` needs one. Source: NumPy 2's protocol of arrays.
        """
        return np.array(self.array, dtype=dtype, copy=copy)

    def to_pandas(self) -> pd.DataFrame:
        """Return the step as a table of pandas: the last axis as columns, all others as levels of the index.

        Axes have their names, axes of tokens the words as labels, all others numbers from 0. A word that stands again
        has a number behind it, the (2). Columns that a narrower head lacks are NaN. pandas hands the table on to Arrow.

        Raises ModuleNotFoundError without pandas.

        >>> from attnviz import Config, run
        >>> run(Config(sentence="the cat", n_heads=1, mask="causal"))["weights"].to_pandas().loc[0, "the"].to_dict()
        {'the': 1.0, 'cat': 0.0}
        """
        table: pd.DataFrame = outlet("to_pandas")(self)
        return table

    def to_xarray(self) -> xr.DataArray:
        """Return the step as an array of xarray, with the same names and labels as `to_pandas`.

        Raises ModuleNotFoundError without xarray, which no extra of this package brings.
        """
        named: xr.DataArray = outlet("to_xarray")(self)
        return named

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def widths(self) -> tuple[int, ...] | None:
        """The true number of columns of each head, or None if the last axis is the same for all."""
        return self.true_widths.get(self.axes[-1])

    def head(self, h: int) -> Array:
        """Return the part of the array that belongs to head h, without padding.

        Raises IndexError for a head that the step does not have.
        """
        if not self.axes[0].endswith("head"):
            return self.array
        if h not in range(-self.shape[0], self.shape[0]):
            raise no_head(self, h)
        return self.array[h][
            tuple(slice(self.true_widths[a][h] if a in self.true_widths else None) for a in self.axes[1:])
        ]


class Steps(Mapping[str, Step]):
    """The steps of one layer, or those around the layers, in the order in which they were recorded."""

    def __init__(
        self,
        label: str,
        sizes: dict[str, int],
        edits: Sequence[Edit] = (),
        optional: Sequence[Edit] = (),
        *,
        words: tuple[Sequence[str], Sequence[str]] | None = None,
    ) -> None:
        """Apply `edits`, which must fit, and those `optional` ones that do; the others are kept in `left_out`.

        `words` are the tokens of queries and keys, which each step keeps as labels.
        """
        self._label, self._sizes = label, sizes
        self._words = dict(zip(("query", "key"), words or ()))
        self._edits: dict[str, list[tuple[Edit, bool]]] = {}
        for edit, must in [*((edit, False) for edit in optional), *((edit, True) for edit in edits)]:
            self._edits.setdefault(edit[1], []).append((edit, must))
        self._steps: dict[str, Step] = {}
        self.edits: list[Edit] = []
        self.left_out: list[Edit] = []

    def record(
        self,
        name: str,
        array: Array,
        *,
        formula: str | None = None,
        axes: tuple[str, ...] | None = None,
        widths: Mapping[str, tuple[int, ...]] | None = None,
    ) -> Array:
        """Keep the array under its name and return it, so that a formula can stand around the call.

        Applies the edits that name this step; the array is read-only from here on. Raises ValueError if an axis has
        another size than it had before. `formula` and `axes` stand in for those of the step where they depend on the
        setting; `widths` are the widths of each head along an axis where heads differ.
        """
        cancellation.check()
        spec, widths = STEPS[name], widths or {}
        axes, formula = axes or spec.axes, formula or spec.formula
        array = self._edited(name, array, axes, widths)
        self._check_axes(name, axes, array.shape)
        array = array.view()
        array.flags.writeable = False
        ragged = {axis: each for axis, each in widths.items() if axis in axes and len(set(each)) > 1}
        what = name, array, spec.symbol, axes, spec.kind, formula, spec.meaning, ragged, self._words
        self._steps[name] = Step(*what)
        return array

    def _edited(self, name: str, array: Array, axes: tuple[str, ...], widths: Mapping[str, tuple[int, ...]]) -> Array:
        edits = self._edits.pop(name, [])
        if edits:  # a model's file may hold numbers of 16 bits, and none that is set is rounded to these
            array = array.astype(float) if array.dtype.kind == "f" else array.copy()
        for edit, must in edits:
            index, limits = edit[2], list(array.shape)
            if index and 0 <= index[0] < limits[0]:
                limits = [widths[axis][index[0]] if axis in widths else n for axis, n in zip(axes, limits)]
            if len(index) == len(limits) and all(0 <= i < n for i, n in zip(index, limits)):
                array[index] = edit[3]
                self.edits.append(edit)
            elif must:
                raise ConfigError(
                    translate(
                        "an edit of {name} at {index} lies outside its shape {shape}; correct or remove it",
                        name=name,
                        index=index,
                        shape=tuple(limits),
                    )
                )
            else:
                self.left_out.append(edit)
        return array

    def _check_axes(self, name: str, axes: tuple[str, ...], shape: tuple[int, ...]) -> None:
        if len(axes) != len(shape):
            raise ValueError(f"{name} has {len(shape)} axes, but is declared with {len(axes)}: {', '.join(axes)}")
        for axis, size in zip(axes, shape):
            if self._sizes.setdefault(axis, size) != size:
                raise ValueError(f"{name}: axis {axis!r} has size {size}, but had {self._sizes[axis]} before")

    def check_edits(self) -> None:
        """Raise ConfigError if an edit names a step that was never recorded here; optional ones are left out."""
        for name, edits in self._edits.items():
            if any(must for _, must in edits):
                raise ConfigError(
                    translate(
                        "an edit names {name}, which is not a step of {place}; the steps are: {names}",
                        name=repr(name),
                        place=self._label,
                        names=", ".join(self),
                    )
                )
            self.left_out += [edit for edit, _ in edits]

    def __getitem__(self, name: str) -> Step:
        try:
            return self._steps[name]
        except KeyError:
            raise no_step(name, self) from None

    def __contains__(self, name: object) -> bool:
        return name in self._steps

    def __iter__(self) -> Iterator[str]:
        return iter(self._steps)

    if not TYPE_CHECKING:  # a checker would take any name here

        def __getattr__(self, name):
            raise no_attribute(self, name, self.__dict__.get("_steps", ()))

    def __len__(self) -> int:
        return len(self._steps)


def holds(layer: Mapping[str, Step], step: Step) -> bool:
    """Return whether a step is one of a layer; a layer that is computed later is not computed for that."""
    steps: Mapping[str, Step] = getattr(layer, "there", layer)
    return steps.get(step.name) is step


def result_of(layer: Mapping[str, Step]) -> Step:
    """Return the last step of a layer, which the next one reads."""
    return layer[list(layer)[-1]]


@dataclass(frozen=True)
class Trace:
    """All steps of a run.

    `trace["embedded"]` and the other steps around the layers, `trace.layers[i]["weights"]` and the other steps of a
    layer; `trace["weights"]` is short for the last layer's. `trace["output"]` is the last layer's result, after
    residual, norm and feed-forward where there are any.
    """

    config: Config
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    around: Mapping[str, Step]
    layers: tuple[Mapping[str, Step], ...]
    result: Step
    notes: tuple[str, ...]
    """Facts about this run that a reader should know: emptied rows, cut sentences, missing numbers."""
    edits: tuple[Edit, ...] = ()
    """The numbers that were changed by hand, where they stand."""
    given: frozenset[str] = frozenset()
    """The parameters that the caller supplied in every layer, by their names in `projections`."""
    given_in: tuple[frozenset[str], ...] = ()
    """The same for each layer; empty where nothing was supplied."""
    token_ids: tuple[int, ...] = ()
    """The rows of a trained model's table of tokens, one a token; empty in every other run."""
    model: object = field(default=None, repr=False)
    """The trained model whose run this is; None for every other run."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", Layers(self.layers))

    def __getitem__(self, name: str) -> Step:
        if name == "output":
            return self.result
        for steps in (self.around, self.layers[-1]):
            if name in steps:
                return steps[name]
        raise no_step(name, [*self.around, *self.layers[-1]])

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            steps = self.__dict__
            raise no_attribute(self, name, [*steps.get("around", ()), *steps.get("layers", ((),))[-1]])

    def save(
        self,
        path: str | PathLike[str],
        *,
        layer: int = 1,
        step: str = "weights",
        head: int | None = None,
        query: int | None = None,
        key: int | None = None,
    ) -> None:
        """Write the trace to a file; the end of its name says what kind.

        .html .svg .png .step.svg .step.png .pdf .tikz .csv .npz .json .xlsx .tex, and .py .torch.py .ipynb, which
        compute the run anew. `layer`, `step`, `head`, `query` and `key`, counted from 1, matter to parts of it.

        Raises ConfigError, a ValueError, for any other name, for what this trace cannot be written as, and where a
        library is missing.
        """
        position = index_of(layer), step, index_of(head), index_of(query), index_of(key)
        outlet("save")(self, path, position)

    def figure(self, step: str = "weights", *, layer: int = -1, head: int | None = None) -> go.Figure:
        """Return one step as a Plotly figure, a map a head, for Dash, Quarto, Jupyter or a page of your own.

        Each cell says its words and its number when it is pointed at. `layer` and `head` count from 0, or from the end
        if negative; None is all heads. `attnviz.heatmaps` draws scores, weights and outputs of all layers.

        Raises KeyError for a step that the run does not have, IndexError for a layer or a head, and ModuleNotFoundError
        without Plotly.
        """
        drawn: go.Figure = outlet("figure")(self, step, layer, head)
        return drawn

    def _repr_html_(self) -> str:
        """Return the interactive file in a frame, which a notebook draws where a trace ends a cell; see `show`."""
        drawn: str = outlet("framed")(self)
        return drawn

    def __repr__(self) -> str:
        sizes = f"{len(self.query_tokens)} queries, {len(self.key_tokens)} keys"
        heads = f"{self.config.n_heads} heads in each of {len(self.layers)} layers"
        return f"<Trace: {sizes}, {heads}; {', '.join([*self.around, *self.layers[-1]])}>"
