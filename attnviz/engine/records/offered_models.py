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


FORMER: dict[str, tuple[str, ...]] = {}
"""The digests of weights that a model of this name had before, of those in the package; filled like OFFERED."""


def present(written: str) -> str:
    """Return the name of a model with its present weights where it is written with former ones, else as it is written.

    >>> present("minilm~53aa5117")
    'minilm~53aa5117'
    """
    name, _, digest = written.partition("~")
    return f"{name}~{OFFERED[name].digest}" if name in OFFERED and digest in FORMER.get(name, ()) else written


def names() -> tuple[str, ...]:
    """Return the names of the models that are offered, as a setting has them."""
    return tuple(f"{name}~{model.digest}" for name, model in OFFERED.items())
