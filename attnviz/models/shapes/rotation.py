"""The angles by which RoPE rotates queries and keys."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.models.shapes.facts import Facts

LLAMA_3 = ("low_freq_factor", "high_freq_factor", "original_max_position_embeddings")

Rotation = tuple[Array, float]
"""The angle a position for each pair of columns, and what the rotated columns are multiplied by."""


def rotation(facts: Facts, width: int, before: Mapping[str, Any]) -> Rotation:
    """Return RoPE's angle a position for each pair of columns, and the factor of what is rotated, 1 but with YaRN.

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
        return frequencies, 1.0
    if kind == "linear":
        return frequencies / rope.number("factor"), 1.0
    if kind == "yarn" and facts.family != "phi3":  # there it is what longrope is called elsewhere
        return _yarn(facts, rope, frequencies, width, rotated)
    if kind != "llama3":
        known = "default, linear, llama3"
        raise facts.odd("rope_type", kind, known if facts.family == "phi3" else f"{known}, yarn")
    low, high, old = (rope.number(name) for name in LLAMA_3)
    smooth = np.clip((old * frequencies / (2 * math.pi) - low) / (high - low), 0.0, 1.0)
    return (1.0 - smooth) * frequencies / rope.number("factor") + smooth * frequencies, 1.0


def _yarn(facts: Facts, rope: Facts, frequencies: Array, width: int, rotated: int) -> Rotation:
    """Return angles of which fast ones stay, slow ones are divided by the factor, and those between in part.

    Source: Peng et al. 2023, YaRN, arXiv:2309.00071, sections 3.2 to 3.4, with the defaults of Transformers.
    """
    old = _positions_before(facts, rope)
    factor = rope.number("factor") if rope.get("factor") is not None else facts.number("max_position_embeddings") / old
    by = _attention_factor(rope, factor)
    if 2 * len(frequencies) != width and by != 1.0:
        raise facts.odd("attention_factor", by, "1.0 where RoPE turns a part of each head")
    base = rope.number("rope_theta")
    if base <= 1.0:
        raise facts.odd("rope_theta", base, "a number above 1")
    first, last = (
        rotated * math.log(old / (turns * 2 * math.pi)) / (2 * math.log(base))
        for turns in (rope.number("beta_fast", 32.0), rope.number("beta_slow", 1.0))
    )
    if rope.get("truncate", True):
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, rotated - 1)
    ramp = np.clip((np.arange(len(frequencies)) - first) / ((last - first) or 0.001), 0.0, 1.0)
    return frequencies / factor * ramp + frequencies * (1.0 - ramp), by


def _positions_before(facts: Facts, rope: Facts) -> float:
    """Return how many positions the model had before its RoPE was stretched, where its config.json says it."""
    name = "original_max_position_embeddings"
    holds = facts if facts.get(name) is not None else rope
    return holds.number(name) if holds.get(name) is not None else facts.number("max_position_embeddings")


def _attention_factor(rope: Facts, factor: float) -> float:
    """Return what YaRN multiplies queries and keys by: as it is said, or as the paper recommends (equation 22)."""
    if rope.get("attention_factor") is not None:
        return rope.number("attention_factor")

    def of(scale: float) -> float:
        return 0.1 * scale * math.log(factor) + 1.0 if factor > 1.0 else 1.0

    if rope.get("mscale") and rope.get("mscale_all_dim"):
        return of(rope.number("mscale")) / of(rope.number("mscale_all_dim"))
    return of(1.0)
