"""The same setting dealt again with other seeds: what is left of a pattern that means nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attnviz.core.config import Config
from attnviz.core.layers import run


def mean_weights(config: Config, seeds: Sequence[int], layer: int = 0) -> np.ndarray:
    """The mean of a layer's weights over several seeds. Shape (heads, queries, keys).

    Raises ConfigError for what `run` refuses, ValueError without seeds.
    """
    if not seeds:
        raise ValueError("no seeds are given; give one or more")
    total = sum(run(replace(config, seed=seed)).layers[layer]["weights"].array for seed in seeds)
    return np.asarray(total) / len(seeds)
