"""The type of an array of numbers, as every folder of the package spells it."""

from __future__ import annotations

import numpy as np

Array = np.ndarray
"""Of any shape and type; a docstring says which, and numbers are float64 unless it says otherwise."""
