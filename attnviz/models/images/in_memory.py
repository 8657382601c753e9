"""A model of images in memory: its parameters by the names of files, and the image behind what it reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.pretrained.image import Image
from attnviz.models.images import reader
from attnviz.settings.faults import ConfigError

PARTS = {
    "attention.q_proj": "attention.attention.query",
    "attention.k_proj": "attention.attention.key",
    "attention.v_proj": "attention.attention.value",
    "attention.o_proj": "attention.output.dense",
    "mlp.fc1": "intermediate.dense",
    "mlp.fc2": "output.dense",
}
"""The names in files by those that Transformers 5 has in memory."""

NEAR = 1e-3
"""The tolerance of a number of an image, which is from 0 to 1."""


def name_in_files(name: str) -> str:
    """Return the name that a parameter of a ViT has in files; older versions have the same in memory.

    >>> name_in_files("vit.layers.3.attention.o_proj.bias"), name_in_files("vit.layernorm.weight")
    ('vit.encoder.layer.3.attention.output.dense.bias', 'vit.layernorm.weight')
    """
    found = re.fullmatch(r"(|.*\.)layers\.(\d+)\.(.*)\.(weight|bias)", name)
    if found is None:
        return name
    before, number, part, kind = found.groups()
    return f"{before}encoder.layer.{number}.{PARTS.get(part, part)}.{kind}"


def image_of(pixels: Array, config: Mapping[str, Any], processor: Any) -> Image:
    """Return the image behind normalised pixels (3, height, width), as far as the processor says how they were made.

    Where it does not, the smallest number is drawn as 0 and the largest as 1.

    Raises ConfigError for one of another size than the model has positions for.
    """
    (height, width), patch = reader.sizes(config)
    if pixels.shape != (3, height, width):
        fault = {"height": pixels.shape[-2], "width": pixels.shape[-1], "rows": height, "columns": width}
        raise ConfigError(reader.FAULTS["size"].format(**fault))
    whole = np.ascontiguousarray(pixels.transpose(1, 2, 0), dtype=float)
    return reader.made(_drawn(whole, processor), whole, patch)


def _drawn(pixels: Array, processor: Any) -> Array:
    mean, std = (np.asarray(getattr(processor, f"image_{name}", ()), dtype=float) for name in ("mean", "std"))
    if mean.shape == std.shape == (3,) and getattr(processor, "do_normalize", False):
        array = pixels * std + mean
        if array.min() >= -NEAR and array.max() <= 1 + NEAR:
            return np.clip(array, 0.0, 1.0)
    low, high = float(pixels.min()), float(pixels.max())
    return (pixels - low) / ((high - low) or 1.0)
