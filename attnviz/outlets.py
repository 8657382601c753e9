"""The abilities of a trace that are made on floors above this one: handed down, and loaded when first asked for.

The package itself, which stands above all floors, provides it; so nothing here imports what lies above.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_outlets: dict[str, Callable[[], Callable[..., Any]]] = {}


def provide(name: str, load: Callable[[], Callable[..., Any]]) -> None:
    """Say how the function of a name is loaded: `save` writes a trace to a file, `framed` draws it in a notebook."""
    _outlets[name] = load


def outlet(name: str) -> Callable[..., Any]:
    """Return the function of a name, loaded.

    Raises KeyError for a name that nothing provides.
    """
    return _outlets[name]()
