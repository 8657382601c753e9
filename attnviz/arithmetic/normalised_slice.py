"""The scores that are normalised together: a row, or a column where the queries are normalised over."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.arrays import Array
from attnviz.settings.language import translate


@dataclass(frozen=True)
class NormalisedSlice:
    """The scores x that are normalised together, the cell's position among them, the temperature, what was recorded.

    name     what one of the scores is called, with l for its position in the line
    divided  the same over the temperature, with @
    size     how large the numbers are whose sums the scores are
    """

    x: Array
    at: int
    T: float
    recorded: Array | None
    over_keys: bool
    name: str
    divided: str
    size: float = 0.0

    @property
    def step(self) -> str:
        """The step that holds the weight; none where more is made of it."""
        return "" if self.recorded is None else "weights"

    def label(self, position: int) -> str:
        """Return the label under the bar of a score."""
        return translate("key {n}", n=position) if self.over_keys else translate("query {n}", n=position)
