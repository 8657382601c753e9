"""An image as a model reads it, in patches: the tokens of a run through a model of images."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.arrays import Array


@dataclass(frozen=True, eq=False)
class Image:
    """An image at the size that a model reads, cut into patches.

    name    what stands for it where a run of words has its sentence: the start of a hash of its pixels
    array   (height, width, 3), floats from 0 to 1, as it is drawn
    pixels  the same normalised, as the projection of patches reads it
    patch   the height and the width of a patch
    """

    name: str
    array: Array
    pixels: Array
    patch: tuple[int, int]

    @property
    def grid(self) -> tuple[int, int]:
        """The rows and columns of patches."""
        height, width = self.array.shape[:2]
        return height // self.patch[0], width // self.patch[1]

    @property
    def tokens(self) -> tuple[str, ...]:
        """The names of the tokens: [CLS], then each patch by row and column."""
        rows, columns = self.grid
        return ("[CLS]", *(f"{row},{column}" for row in range(1, rows + 1) for column in range(1, columns + 1)))

    @property
    def patches(self) -> Array:
        """The normalised numbers of each patch, row by row: (patches, 3 · height · width of a patch), colour by colour.

        That is the order of a convolution's weights: colour, row, column.
        """
        (rows, columns), (high, wide) = self.grid, self.patch
        cut = self.pixels.reshape(rows, high, columns, wide, 3)
        return cut.transpose(0, 2, 4, 1, 3).reshape(rows * columns, -1)
