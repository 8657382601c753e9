"""The stages of a run, in a message of their own: what is chosen in them does not send them again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from attnviz.ui.session.browser.component import component

UNNAMED = "0" * 16

# It draws nothing: it keeps what the maps draw.
_component = component(__file__, is_isolated=False)


class SentApart(NamedTuple):
    """Stages with the numbers that explain their cells, packed, and their name: another one for others."""

    name: str
    data: bytes


def named(make: Callable[[Mapping[str, Any]], bytes]) -> SentApart:
    """Return packed stages with their name; `make` packs them with it at the beginning of their header."""
    data = make({"name": UNNAMED})
    name = blake2b(data, digest_size=len(UNNAMED) // 2).hexdigest()
    return SentApart(name, data.replace(UNNAMED.encode(), name.encode(), 1))


def send(stages: SentApart | None, *, key: str) -> None:
    """Send the stages of a run; None where a browser has them from elsewhere."""
    _component(key=key, data=b"" if stages is None else stages.data, height="content")
