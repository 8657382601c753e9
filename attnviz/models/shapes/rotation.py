"""The angles by which RoPE rotates queries and keys."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.models.shapes.facts import Facts

LLAMA_3 = ("low_freq_factor", "high_freq_factor", "original_max_position_embeddings")


def rotation(facts: Facts, width: int, before: Mapping[str, Any]) -> Array:
    """Return RoPE's angle a position for each pair of columns.

    Source: Su et al. 2021, arXiv:2104.09864; the scaling of Llama 3.1 is that of its model card and of Transformers.
    """
    config = dict(before) | {"rope_theta": facts.get("rope_theta", before.get("rope_theta", 1e4))}
    for name in ("rope_scaling", "rope_parameters"):
        config |= facts.get(name, {}) if isinstance(facts.get(name, {}), dict) else {}
    rope = Facts({"model_type": facts.family} | config)
    base = rope.number("rope_theta")
    rotated = int(width * rope.number("partial_rotary_factor", 1.0))
    frequencies = base ** (-np.arange(0, rotated - rotated % 2, 2) / max(rotated, 1))
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind == "default":
        return frequencies
    if kind == "linear":
        return frequencies / rope.number("factor")
    if kind != "llama3":
        raise facts.odd("rope_type", kind, "default, linear, llama3")
    low, high, old = (rope.number(name) for name in LLAMA_3)
    smooth = np.clip((old * frequencies / (2 * math.pi) - low) / (high - low), 0.0, 1.0)
    return (1.0 - smooth) * frequencies / rope.number("factor") + smooth * frequencies
