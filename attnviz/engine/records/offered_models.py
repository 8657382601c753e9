"""The names of the trained models that this process offers, which is all that a setting knows of them."""

from __future__ import annotations

from typing import Protocol


class Offered(Protocol):
    """A model as its name in a setting needs it; what it can do stands in `engine/pretrained/model_registry.py`."""

    @property
    def digest(self) -> str:
        """The first eight hexadecimal digits of the weights' SHA-256."""
        ...


OFFERED: dict[str, Offered] = {}
"""The models by their names; filled when the process starts, and only read from then on."""


def names() -> tuple[str, ...]:
    """Return the names of the models that are offered, as a setting has them."""
    return tuple(f"{name}~{model.digest}" for name, model in OFFERED.items())
