"""The same words in another order: which token goes where, and what attention makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine import inputs
from attnviz.engine.numerics import noise
from attnviz.engine.numerics.noise import Address
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.step_specs import STEPS
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tables.tokenisers import TOKENISERS
from attnviz.settings.faults import ConfigError
from attnviz.settings.rows import Choice, table

Order = tuple[int, ...]
"""For each new position, the old position of what now stands there."""

ROUNDING = 1e-9
"""Differences below this part of the largest number come from sums that are added up in another order."""

FREE_MASKS = ("none", "padding", "no_self")
"""Masks that do not ask where a token stands; every other compares positions."""


def reverse(n: int, *, seed: int, positions: tuple[int, int]) -> Order:
    """Return the words from last to first.

    >>> reverse(3, seed=0, positions=(0, 2))
    (2, 1, 0)
    """
    return tuple(range(n - 1, -1, -1))


def swap(n: int, *, seed: int, positions: tuple[int, int]) -> Order:
    """Let two change places.

    >>> swap(4, seed=0, positions=(0, 2))
    (2, 1, 0, 3)
    """
    order = list(range(n))
    i, j = positions
    order[i], order[j] = j, i
    return tuple(order)


def shuffle(n: int, *, seed: int, positions: tuple[int, int]) -> Order:
    """Return the words in a random order, the same for the same seed.

    >>> sorted(shuffle(5, seed=0, positions=(0, 1)))
    [0, 1, 2, 3, 4]
    """
    return tuple(np.argsort(noise.uniform(Address(seed, "trial/order"), (n,)), kind="stable").tolist())


ORDERS = table(
    Choice("reverse", "Reverse", reverse, "-", "The last word first.", "-"),
    Choice("swap", "Swap two", swap, "-", "Two words change places.", "-"),
    Choice("shuffle", "Shuffle", shuffle, "-", "At random, by the seed.", "-"),
)
"""`fn(n, seed=, positions=)` is an order of n words; `positions` are the two that are swapped, counted from 0."""


@dataclass(frozen=True)
class Reordered:
    """Attention over a sentence, and over its words in another order with the same matrices.

    order  of the tokens, as in `Order`
    """

    order: Order
    before: Trace
    after: Trace

    def outcome(self) -> Reordered:
        """Return the same with nothing of the two runs in memory but their results."""
        return replace(
            self, **{name: replace(getattr(self, name), around={}, layers=()) for name in ("before", "after")}
        )

    @property
    def matched(self) -> Array:
        """The output after, its rows put back to where their words stood before. Shape (n_query, d_out)."""
        back = np.empty_like(self.after["output"].array)
        back[list(self.order)] = self.after["output"].array
        return back

    @property
    def differences(self) -> Array:
        """The largest difference between its two output rows for each word. Shape (n_query,)."""
        return np.abs(self.matched - self.before["output"].array).max(axis=-1)

    @property
    def changed(self) -> Array:
        """True for each word whose output row is another, rounding aside. Shape (n_query,)."""
        return ~(self.differences <= ROUNDING * max(1.0, float(np.abs(self.before["output"].array).max())))


def words(config: Config) -> tuple[tuple[int, ...], ...]:
    """Return the positions of the tokens of each word of the sentence; <bos>, <eos> and padding belong to none.

    Every token is a word, except that the pieces of one word stay together.

    >>> words(Config(sentence="cats sleep", tokeniser="pieces", bos=True))
    ((1,), (2, 3))
    """
    tokens = inputs.tokens(config)[0]
    row = TOKENISERS[config.tokeniser]
    n = min(len(row.fn(config.sentence, **row.settings(config))), max(config.max_tokens - config.bos - config.eos, 0))
    wordings: list[tuple[int, ...]] = []
    for position in range(config.bos, config.bos + n):
        if wordings and config.tokeniser == "pieces" and tokens[position].startswith("##"):
            wordings[-1] += (position,)
        else:
            wordings.append((position,))
    return tuple(wordings)


def order_of_tokens(config: Config, order: Sequence[int]) -> Order:
    """Return the order of all tokens that an order of the words makes; what is no word stays where it is."""
    each = words(config)
    moved = [position for word in order for position in each[word]]
    n = len(inputs.tokens(config)[0])
    return (*range(config.bos), *moved, *range(config.bos + len(moved), n))


def in_order(config: Config, order: Sequence[int]) -> Config | None:
    """Return the setting with the words of its sentence in another order, numbers that were changed by hand along
    with them.

    None where the tokens of that sentence would be others: some signs join what follows them.

    >>> in_order(Config(sentence="a b c"), (2, 0, 1)).sentence
    'c a b'
    """
    tokens = inputs.tokens(config)[0]
    texts = [
        "".join(tokens[at].removeprefix("##" if position else "") for position, at in enumerate(word))
        for word in words(config)
    ]
    of_tokens = order_of_tokens(config, order)
    try:
        joiner = "" if config.tokeniser == "characters" else " "
        moved = replace(config, sentence=joiner.join(texts[word] for word in order), edits=_moved(config, of_tokens))
        kept = inputs.tokens(moved)[0] == tuple(tokens[at] for at in of_tokens)
    except ConfigError:
        return None
    return moved if kept else None


def _moved(config: Config, order: Order) -> tuple[Edit, ...]:
    """Return the numbers changed by hand, each where its word stands now; those of a position stay there."""
    to = {old: new for new, old in enumerate(order)}
    moving = {"query"} if config.is_cross_attention else {"query", "key"}
    edits = []
    for layer, step, index, value in config.edits:
        axes = () if step not in STEPS or step in PLACED else STEPS[step].axes
        if len(axes) == len(index):
            index = tuple(to.get(at, at) if axis in moving else at for axis, at in zip(axes, index))
        edits.append((layer, step, index, value))
    return tuple(edits)


PLACED = ("positions", "positions_kv", "bias", "allowed")
"""Steps whose rows belong to positions and not to words."""


def reordered(config: Config, order: Sequence[int], known: Trace | None = None) -> Reordered | None:
    """Run the setting and its words in another order; the vectors of the words and all matrices stay the same.

    A one-hot vector depends on which word comes first and own numbers belong to a position, so both are moved along;
    heads that are set by hand are solved once, for the first order.

    known  a run that there is already, perhaps that of this very setting

    None where the words cannot be put into that order.
    """
    moved = in_order(config, order)
    if moved is None:
        return None
    before = known if known is not None and known.config == config else run(config)
    of_tokens = order_of_tokens(config, order)
    solved = [_solved(layer) for layer in before.layers] if INITIALISERS[config.initialiser].solved else None
    wanted = {"token_embeddings": before.around["token_embeddings"].array[list(of_tokens)]}
    if config.is_cross_attention:
        wanted["token_embeddings_kv"] = before.around["token_embeddings_kv"].array
    after = run(moved, solved)
    pinned = [edit for name, E in wanted.items() for edit in _differing(name, E, after.around[name].array)]
    if pinned:
        del after  # before the next is made: together they would need half as much memory again
        after = run(moved, solved, pinned)
    return Reordered(of_tokens, before, after)


def outcome(config: Config, order: Sequence[int], known: Trace | None = None) -> Reordered | None:
    """Return what `reordered` does, without the runs that it comes from."""
    found = reordered(config, order, known)
    return None if found is None else found.outcome()


def _solved(layer: Any) -> dict[str, list[Array]]:
    """Return the matrices of one layer that are solved from the sentence, without padding."""
    return {name: [layer[name].head(h) for h in range(len(layer[name].array))] for name in ("w_q", "w_k", "w_v")}


def _differing(name: str, wanted: Array, words_left: Array) -> list[Edit]:
    return [(None, name, (int(i), int(j)), float(wanted[i, j])) for i, j in np.argwhere(wanted != words_left)]


def without_position_effects(config: Config) -> Config:
    """Return the setting without the masks and the bias that ask where a token stands."""
    free = [
        name for name in config.mask if name in FREE_MASKS and not (name == "no_self" and config.is_cross_attention)
    ]
    return replace(config, mask=tuple(free) or ("none",), bias="none")
