"""The small random models in the folder beside this file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from attnviz.arrays import Array
from attnviz.models.model import Model, load

FOLDER = Path(__file__).parents[1] / "models"
NAMES = tuple(sorted(path.parent.name for path in FOLDER.glob("*/expected.npz")))


@cache
def model(name: str) -> Model:
    """One of them, loaded once."""
    return load(FOLDER / name)


@cache
def image() -> Array:
    """The image that the small model of images, vit, is tried with; another size than it reads."""
    with np.load(FOLDER / "vit" / "image.npz") as file:
        found: Array = file["image"]
        return found


def given(name: str, text: str) -> str | Array:
    """What a small model reads: a text, or where it reads images the image above."""
    return image() if name == "vit" else text
