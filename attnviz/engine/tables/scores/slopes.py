"""The slopes that the score functions written by hand share."""

from __future__ import annotations

import numpy as np

from attnviz.arrays import Array, Keys, Queries

Slopes = tuple[Queries, Keys, dict[str, Array]]
"""dL/dQ, dL/dK and those of a score's own parameters by name, each of the shape of what it belongs to."""


def swap(x: Array) -> Array:
    """Return the transpose of each matrix of a stack."""
    return np.swapaxes(x, -1, -2)
