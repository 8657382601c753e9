"""Facts about a trained model that its arithmetic needs: the places of its numbers in its files, angles and windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attnviz.arrays import Array


@dataclass(frozen=True)
class FilePlace:
    """Where the columns of a matrix, or the entries of a bias or a gain, lie in a tensor of a model's file.

    tensor  its name;  `file` the file that holds it, empty for a model in memory
    axis    what of the tensor a column is: its row, its column, or an entry of a vector
    first   the place of column 0 of head 0;  `stride` how much further that of the next head is
    plus    what the model adds to each number of the file
    """

    tensor: str
    axis: str
    file: str = ""
    first: int = 0
    stride: int = 0
    plus: float = 0.0

    def number(self, column: int, head: int = 0) -> int:
        """Return the place of a column of a head along the tensor's axis, from 0.

        >>> FilePlace("query.weight", "row", stride=32).number(5, head=2)
        69
        """
        return self.first + head * self.stride + column

    def at(self, column: int, head: int = 0) -> str:
        """Return what holds a column, as NumPy and PyTorch write it.

        >>> FilePlace("query.weight", "row", stride=32).at(5, head=2), FilePlace("c_attn.weight", "column").at(5)
        ('query.weight[69]', 'c_attn.weight[:, 5]')
        """
        n = self.number(column, head)
        return f"{self.tensor}[:, {n}]" if self.axis == "column" else f"{self.tensor}[{n}]"


@dataclass(frozen=True, eq=False)
class Anatomy:
    """The facts about a model beyond its sizes; one object a model.

    places       for each layer the places of its parameters by their names in a trace
    tables       those of the vectors of tokens, positions and types, and of the norms around the layers
    frequencies  the angle of RoPE a position for each pair of columns, None without RoPE; the pairs are (i, i + half)
    windows      for each layer how many positions back it looks, None for all
    eps          what every norm adds to the mean square;  `centred` whether it takes the mean away first
    """

    places: tuple[Mapping[str, FilePlace], ...] = ()
    tables: Mapping[str, FilePlace] = field(default_factory=dict)
    frequencies: Array | None = None
    windows: tuple[int | None, ...] = ()
    eps: float = 0.0
    centred: bool = True

    def place(self, layer: int | None, name: str) -> FilePlace | None:
        """Return the place of a parameter, None where it is not in a file; the layer is None for those around them."""
        return (self.tables if layer is None else self.places[layer] if self.places else {}).get(name)

    def reach(self, layer: int) -> int | None:
        """Return how many positions back a layer looks, None for all."""
        return self.windows[layer] if self.windows else None
