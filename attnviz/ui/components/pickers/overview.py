"""The overview of a long text: the largest weight of each block of words, and a frame around those that are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.pictures.colours import DARK, SHARE
from attnviz.settings.language import Words
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component

MAX_BLOCKS = 64  # blocks each way
WORDS = Words(
    {
        "name": "Overview: arrow keys move the frame, with Shift by a whole one",
        "all": "{n} × {m} words",
        "blocks": "largest weight of each {block} × {block}",
        "window": "words {rows} from {columns}",
        "scale": "faint is 0, strong is {high:.2g}",
        "block": "words {rows} give {columns} a weight of at most {weight}",
        "masked": "words {rows} may not attend to {columns}",
    }
)

component(__file__)  # the maps draw it beside themselves, or over them


@dataclass(frozen=True, eq=False)
class Overview:
    """All weights of a text, and the window of it that is shown.

    weights  (heads, queries, keys), NaN where nothing may be taken
    start    first query and key of the window, counted from 0;  shown  how many there are in it
    """

    weights: Array
    start: tuple[int, int]
    shown: tuple[int, int]


def packed(overview: Overview) -> bytes:
    """Pack the data for the browser: a line of JSON, a zero byte, and the blocks as float32, line by line."""
    _, n, m = overview.weights.shape
    block = block_size(max(n, m))
    blocks_of_weights = blocks(overview.weights, block)
    with np.errstate(all="ignore"):
        high = float(np.nanmax(blocks_of_weights, initial=0.0)) or 1.0
    words = {**WORDS, "all": WORDS["all"].format(n=n, m=m), "blocks": WORDS["blocks"].format(block=block)}
    data: dict[str, Any] = {
        "words": {**words, "scale": WORDS["scale"].format(high=high)},
        "size": [n, m],
        "block": block,
        "start": overview.start,
        "shown": overview.shown,
        "high": high,
        "scales": [list(SHARE), list(DARK[SHARE])],
    }
    return transport.packed(data, blocks_of_weights.astype("<f4").tobytes())


def block_size(n: int) -> int:
    """Return how many words share a block: the least power of 2 with which there are no more than `MAX_BLOCKS` blocks.

    >>> block_size(65), block_size(128), block_size(1024)
    (2, 2, 16)
    """
    return 1 << max(0, -(-n // MAX_BLOCKS) - 1).bit_length()


def blocks(weights: Array, block: int) -> Array:
    """Return the largest weight of each block in any head, (blocks of queries, blocks of keys); NaN where all are.

    >>> blocks(np.array([[[0.1, np.nan, 0.3], [0.2, np.nan, 0.0]]]), 2).tolist()
    [[0.2, 0.3]]
    """
    drawn = np.where(np.isnan(weights), -np.inf, weights).max(axis=0)
    for axis in (0, 1):
        drawn = np.maximum.reduceat(drawn, np.arange(0, drawn.shape[axis], block), axis=axis)
    return np.where(np.isneginf(drawn), np.nan, drawn)
