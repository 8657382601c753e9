"""The small random models in the folder beside this file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from attnviz.models.model import Model, load

FOLDER = Path(__file__).parents[1] / "models"
NAMES = tuple(sorted(path.parent.name for path in FOLDER.glob("*/expected.npz")))


@cache
def model(name: str) -> Model:
    """One of them, loaded once."""
    return load(FOLDER / name)
