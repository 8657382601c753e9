"""The types of arrays of numbers, as every folder of the package spells them.

To a type checker all are `Array`: the other names say shapes in signatures, where a gradient is named for what it is
the gradient of. Leading axes, heads among them, are carried along.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
"""Of any shape and type; a docstring says which, and numbers are float64 unless it says otherwise."""

Queries = Array
"""(..., n_query, d_q): the vector of each query."""

Keys = Array
"""(..., n_key, d_k): the vector of each key."""

Values = Array
"""(..., n_key, d_v): the vector of each key from which the output is made."""

Scores = Array
"""(..., n_query, n_key): a number for each pair of query and key. A normaliser takes any number of such rows."""

Weights = Array
"""(..., n_query, n_key): what a normaliser makes of scores, 0 where the query may not attend."""

Allowed = Array
"""(..., n_query, n_key): True where the query may attend to the key."""
