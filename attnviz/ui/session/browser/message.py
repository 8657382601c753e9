"""The message of several components of a page: what they show comes in one, and they stay as they were drawn.

Streamlit takes as long to draw a component as the page to compute what it shows, and each is a message of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnviz.pictures.stage_bytes import packed, unpacked
from attnviz.ui.session.browser.component import component

# It draws nothing: it hands out what the others draw.
_component = component(__file__, is_isolated=False)


def send(parts: Mapping[str, bytes], *, key: str) -> None:
    """Send what components show, by their keys."""
    arrays = {name: (("byte",), np.frombuffer(data, np.uint8)) for name, data in parts.items()}
    _component(key=key, data=packed({"key": key}, arrays), height="content")


def parts(data: bytes) -> dict[str, bytes]:
    """Return what components show, by their keys, as it was sent."""
    _, arrays = unpacked(data)
    return {name: array.tobytes() for name, array in arrays.items()}
