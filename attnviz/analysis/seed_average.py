"""The same setting dealt again with other seeds: what is left of a pattern that means nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.records.config import Config
from attnviz.engine.run import run
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.settings.counting import ordinal


def mean_weights(config: Config, seeds: Sequence[int], layer: int = 0) -> Array:
    """Return the mean of a layer's weights over several seeds. Shape (heads, queries, keys).

    Raises ConfigError for what `run` refuses, ValueError without seeds.
    """
    if not seeds:
        raise ValueError("no seeds are given; give one or more")
    # What a layer reads does not depend on those above it; what it has learned does.
    needed = config if INITIALISERS[config.initialiser].learned else replace(config, n_layers=ordinal(layer))
    total = sum(run(replace(needed, seed=seed)).layers[layer]["weights"].array for seed in seeds)
    return np.asarray(total) / len(seeds)


SAME = 1e-9
"""Weights this near to each other differ only in the order in which a machine sums."""


def is_random(weights: Array, mean: Array) -> bool:
    """Return whether weights depend on the seed: whether they are not, but for rounding, their mean over several.

    >>> is_random(np.array([0.5, 0.5]), np.array([0.5, 0.5 + 1e-15]))
    False
    """
    return not bool(np.allclose(weights, mean, rtol=0.0, atol=SAME, equal_nan=True))
