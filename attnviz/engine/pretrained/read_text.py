"""The text that a layer of a decoder beside an encoder attends to: its own, or that which the encoder read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.engine.records.config import Config


@dataclass(frozen=True)
class ReadText:
    """The part of the columns that a layer looks at, and the masks that apply there, which count from its first one.

    start  its first column;  tokens  those of it;  masks  the names of the masks
    """

    start: int
    tokens: tuple[str, ...]
    masks: tuple[str, ...]
    is_own: bool

    def holds(self, column: int) -> bool:
        """Return whether a column is one of it."""
        return self.start <= column < self.start + len(self.tokens)


def read_text(config: Config, layer: int, queries: Sequence[str], keys: Sequence[str]) -> ReadText | None:
    """Return the text that a layer attends to; None where a layer attends to all, as those of every other model do.

    queries, keys  the tokens of rows and columns, those of the first text in front of those of the rows

    The decoder's own mask, the causal one, is not one of what it reads of the other text.
    """
    if not isinstance(config, PretrainedConfig) or not config.facts.reads:
        return None
    first = len(keys) - len(queries)
    if config.facts.reads[layer] == "own":
        return ReadText(first, tuple(keys[first:]), tuple(config.mask), is_own=True)
    names = (name for name in config.mask if name not in config.own_masks or name in config.beside.mask)
    return ReadText(0, tuple(keys[:first]), tuple(names), is_own=False)
