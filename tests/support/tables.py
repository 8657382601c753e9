"""The tables of choices, by the fields of a setting that name their rows."""

from __future__ import annotations

from typing import Any

from attnviz import (
    BIASES,
    EMBEDDINGS,
    INITIALISERS,
    MASKS,
    NORMALISERS,
    PATTERNS,
    POSITIONS,
    SCORES,
    TOKENISERS,
)
from attnviz.engine.tables.blocks import FEED_FORWARDS, NORMS
from attnviz.engine.tables.normalised_axes import NORMALISED_AXES

TABLES: dict[str, dict[Any, Any]] = {
    "embedding": EMBEDDINGS,
    "position": POSITIONS,
    "initialiser": INITIALISERS,
    "score": SCORES,
    "mask": MASKS,
    "bias": BIASES,
    "normaliser": NORMALISERS,
    "normalise_over": NORMALISED_AXES,
    "tokeniser": TOKENISERS,
    "norm": NORMS,
    "feed_forward": FEED_FORWARDS,
    "patterns": PATTERNS,
}
"""Every table of which a setting names rows."""
