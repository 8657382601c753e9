"""Facts about a trained model that its arithmetic needs: where its numbers lie in its files, angles and windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.plan.experts import Experts
from attnviz.engine.plan.tracing import Has
from attnviz.engine.tables.biases import t5_buckets


@dataclass(frozen=True)
class TensorSlice:
    """The slice of a tensor in a model's file that holds the columns of a matrix, or the entries of a bias or a gain.

    tensor  its name;  `file` the file that holds it, empty for a model in memory
    axis    what of the tensor a column is: its row, its column, an entry of a vector, a column of a stack of matrices
    first   the index of column 0 of head 0;  `stride` how much further that of the next head is; of experts how much
            further that of the next column is, where others stand between
    plus    what the model adds to each number of the file
    units   the columns of each expert, one expert after the other; {e} in the name of the tensor is its number, and
            a tensor without it holds all, the expert in front
    """

    tensor: str
    axis: str
    file: str = ""
    first: int = 0
    stride: int = 0
    plus: float = 0.0
    units: int = 0

    def number(self, column: int, head: int = 0) -> int:
        """Return the index of a column of a head along the tensor's axis.

        >>> TensorSlice("query.weight", "row", stride=32).number(5, head=2)
        69
        """
        return self.first + head * self.stride + column

    def at(self, column: int, head: int = 0) -> str:
        """Return what holds a column, as NumPy and PyTorch write it.

        >>> TensorSlice("query.weight", "row", stride=32).at(5, head=2), TensorSlice("c_attn.weight", "column").at(5)
        ('query.weight[69]', 'c_attn.weight[:, 5]')
        >>> TensorSlice("experts.{e}.w1.weight", "row", units=4).at(9)
        'experts.2.w1.weight[1]'
        >>> TensorSlice("experts.gate_up_proj", "column", first=1, stride=2, units=4).at(9)
        'experts.gate_up_proj[2, :, 3]'
        """
        if self.units:
            e, n = divmod(column, self.units)
            n = self.first + n * max(self.stride, 1)
            return self.place(f"{n}", f"{e}")
        return self.place(f"{self.number(column, head)}")

    def place(self, n: str, e: str = "") -> str:
        """Return what holds the column n along the tensor's axis, of the expert e where there are any.

        >>> TensorSlice("down_proj", "stack").place("7"), TensorSlice("gate_up_proj", "column").place("n", "e")
        ('down_proj[:, :, 7]', 'gate_up_proj[e, :, n]')
        """
        inside = {"column": f":, {n}", "stack": f":, :, {n}"}.get(self.axis, n)
        if "{e}" in self.tensor:
            return f"{self.tensor.format(e=e)}[{inside}]"
        return f"{self.tensor}[{e}, {inside}]" if e else f"{self.tensor}[{inside}]"


@dataclass(frozen=True, eq=False)
class ModelFacts:
    """The facts about a model beyond its sizes; one object a model.

    slices       for each layer those of its parameters by their names in a trace
    tables       those of the vectors of tokens, positions and types, and of the norms around the layers
    frequencies  for each layer RoPE's angle a position for each pair of columns, (i, i + half), None without RoPE
    windows      for each layer how many positions back it looks, None for all
    eps          what every norm adds to the mean square;  `centred` whether it takes the mean away first
    activation   of the hidden units, a row of FEED_FORWARDS_OF_MODELS
    experts      of the feed-forward blocks, None where each is one alone
    buckets      what each head adds to the scores in each range of distances, (H, ranges), None for nothing
    furthest     the distance from which on all share one range
    parts        those of each layer;  `around` those of what the first one reads
    reads        of a decoder beside an encoder, for each layer, whether it attends to its own text or to the other;
                 its columns are those of the other text, then its own
    """

    slices: tuple[Mapping[str, TensorSlice], ...] = ()
    tables: Mapping[str, TensorSlice] = field(default_factory=dict)
    frequencies: tuple[Array | None, ...] = ()
    windows: tuple[int | None, ...] = ()
    eps: float = 0.0
    centred: bool = True
    activation: str = "none"
    experts: Experts | None = None
    buckets: Array | None = None
    furthest: int = 0
    parts: tuple[Has, ...] = ()
    around: Has = Has()
    reads: tuple[Literal["own", "other"], ...] = ()

    def slice_of(self, layer: int | None, name: str) -> TensorSlice | None:
        """Return the slice that a parameter is, None if it is in no file; `layer` is None for those around all."""
        return (self.tables if layer is None else self.slices[layer] if self.slices else {}).get(name)

    def rotation(self, layer: int | None) -> Array | None:
        """Return the angle a position of each pair of columns that a layer rotates, None where it rotates nothing."""
        return self.frequencies[layer] if self.frequencies and layer is not None else None

    @property
    def rotations(self) -> dict[str, tuple[Array, tuple[int, ...]]]:
        """The angles of the layers and which layers have them, by a name; most models have the same in all."""
        found: list[tuple[Array, list[int]]] = []
        for layer, each in enumerate(self.frequencies):
            if each is not None:
                layers = next((layers for other, layers in found if other is each), None)
                if layers is None:
                    found.append((each, layers := []))
                layers.append(layer)
        names = ["frequencies"] if len(found) == 1 else [f"frequencies_{n}" for n in range(1, len(found) + 1)]
        return {name: (each, tuple(layers)) for name, (each, layers) in zip(names, found)}

    def rotation_name(self, layer: int | None) -> str:
        """Return the name of the angles of a layer, "" where it has none."""
        return next((name for name, (_, layers) in self.rotations.items() if layer in layers), "")

    def bias(self, n: int, first: int = 0) -> Array:
        """Return what is added to the scores of n tokens by their distance: zeros where a model adds nothing.

        first  the columns of another text before those of the n tokens; nothing may be read there

        Shape (H, n, first + n), for a model that adds nothing (1, n, first + n).
        """
        if self.buckets is None:
            return np.zeros((1, n, first + n))
        i, j = np.indices((n, first + n))
        ranges, both = self.buckets.shape[1], not self.reads
        bucket = t5_buckets(j - first - i, bidirectional=both, buckets=ranges, max_distance=self.furthest)
        return np.asarray(self.buckets[:, bucket], dtype=float)

    def reach(self, layer: int) -> int | None:
        """Return how many positions back a layer looks, None for all."""
        return self.windows[layer] if self.windows else None
