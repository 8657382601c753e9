"""The film strip: the weights of all heads as small pictures, of which the one in focus is framed."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.pictures.colours import DARK, SHARE
from attnviz.settings.language import Words
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component

MAX_PIXELS = 16  # pixels of a small picture, each way
WORDS = Words({"heads": "Heads; Escape shows all of them", "head": "head {n}", "all": "all"})

component(__file__)  # the maps draw it beside themselves, or below


@dataclass(frozen=True, eq=False)
class Strip:
    """All heads, and the one in focus, counted from 0.

    weights  (heads, queries, keys), NaN where nothing may be taken
    """

    weights: Array
    head: int


def packed(film: Strip) -> bytes:
    """Pack the data for the browser: the pictures as bytes, 0 for masked and 1 to 255 for shares from 0 to 1."""
    small = small_pictures(film.weights)
    data: dict[str, Any] = {
        "head": film.head,
        "words": dict(WORDS),
        "size": list(small.shape[1:]),
        "pixels": base64.b64encode(small.tobytes()).decode(),
        "scales": [list(SHARE), list(DARK[SHARE])],
    }
    return transport.packed(data)


def small_pictures(weights: Array) -> Array:
    """Return (heads, rows, columns) of bytes: the largest weight of each block, 0 where all of them are masked.

    >>> small_pictures(np.array([[[0.0, 1.0], [np.nan, 0.5]]])).tolist()
    [[[1, 255], [0, 128]]]
    """
    heads, rows, columns = weights.shape
    block = -(-max(rows, columns) // MAX_PIXELS)
    whole = np.full((heads, -(-rows // block) * block, -(-columns // block) * block), -1.0)
    whole[:, :rows, :columns] = np.where(np.isfinite(weights), np.clip(weights, 0.0, 1.0), -1.0)
    apart = whole.reshape(heads, whole.shape[1] // block, block, whole.shape[2] // block, block)
    largest = apart.max(axis=(2, 4))
    return np.where(largest < 0, 0, 1 + np.rint(254 * np.maximum(largest, 0))).astype(np.uint8)
