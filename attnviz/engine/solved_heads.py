"""Heads set by hand: W_Q and W_K solved from the words, the positions and the pattern of each head."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics import fixed_order
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Step
from attnviz.engine.tables.head_patterns import (
    PATTERNS,
    SMALLEST,
    SMALLEST_ANEW,
    LeastSquares,
    Match,
    Pattern,
    apart,
    directions,
    points,
)
from attnviz.engine.tables.scores import SCORES
from attnviz.settings.fields import default, settings

Layer = Mapping[str, Step]

EXACT = 1e-3
"""The largest difference between what a matrix makes of X and what it should, beyond which a head may miss its goal."""

STANDARD = (
    "score", "score_formula", "score_knobs", "softcap", "bias", "position", "mask", "normaliser", "normaliser_knobs",
    "temperature", "normalise_over",
)  # fmt: skip
"""Settings at whose defaults heads are solved, whatever was chosen, so that the effect of the choice can be seen."""

STANDARD_WIDTH = 4
"""The d_k at which the gap in score is the sharpness; at another, √d_k divides by more or less."""

WORDS, POSITIONS, WRITTEN = range(3)
"""The parts that rows of X are sums of: vectors of words, positions, and rows of W_O of former layers."""


def made_for(config: Config) -> Config:
    """Return the setting for which the heads of `config` are solved.

    >>> made_for(Config(initialiser="by_hand", score="dot", mask="window", position="rope")) == made_for(
    ...     Config(initialiser="by_hand")
    ... )
    True
    """
    if config.solved_anew:
        return replace(config, edits=())
    standard = {item.name: default(item) for item in settings(config) if item.name in STANDARD}
    if any(PATTERNS[name].before for name in config.head_patterns()):
        standard["mask"] = ("causal",)
    return replace(config, edits=(), **standard, scale=SCORES["scaled_dot"].scale(STANDARD_WIDTH))


@dataclass(frozen=True)
class SolvedLayer:
    """The matrices of a layer whose heads are set by hand, `steps` by name.

    inexact  the key/value heads, counted from 0, whose matrices come only near what they should make of X
    """

    steps: Layer
    inexact: frozenset[int]

    def matrix(self, name: str, h: int, n: int) -> Array | None:
        """Return the matrix of head h out of n, without padding; None for one that is not solved here."""
        step = self.steps.get(name)
        return None if step is None else step.head(h * len(step.array) // n)


class SolvedHeads:
    """A solver of the heads of one layer, from the steps of the former layers in the setting that they are made for."""

    def __init__(
        self,
        config: Config,
        query_tokens: Sequence[str],
        key_tokens: Sequence[str],
        former: Sequence[Layer],
        around: Layer,
    ) -> None:
        self._config, self._query_tokens, self._key_tokens = config, tuple(query_tokens), tuple(key_tokens)
        self._former, self._around = former, around
        self._names = tuple(patterns_of(config, deep=bool(former)))
        self._solvers: dict[tuple[object, ...], LeastSquares] = {}
        self._directions: dict[int, tuple[Array, Array]] = {}
        self._inexact: set[int] = set()

    @property
    def inexact(self) -> frozenset[int]:
        """The key/value heads whose matrices, of those solved so far, come only near what they should make of X."""
        return frozenset(self._inexact)

    def matrix(self, name: str, g: int, shape: tuple[int, ...], X: Array) -> Array | None:
        """Return a matrix of key/value head g, or of a query head that uses it; None for one that is drawn."""
        pattern = PATTERNS[self._names[g]]
        match = pattern.fn(self._query_tokens, self._key_tokens)
        if name == "w_v" and self._hands_on(g):
            words = PATTERNS["same_word"].fn(self._key_tokens, self._key_tokens)
            return _wide(self._solved(name, g, X, points(words.answered, words.positions), WORDS), shape)
        if name not in ("w_q", "w_k"):
            return None
        if pattern.alike:
            return self._alike(name, g, shape, X)
        radius = match.radius(self._config.sharpness, self._scale(shape[1]))
        if radius == 0.0:
            return np.zeros(shape)
        if pattern.before:
            return radius * _wide(self._reading(name, g, X, match), shape)
        return radius * _wide(self._solved(name, g, X, self._points(name, match), _part(pattern)), shape)

    def _scale(self, width: int) -> float:
        return SCORES[self._config.score].scale(width if self._config.solved_anew else STANDARD_WIDTH)

    def _points(self, name: str, match: Match) -> Array:
        """Return what a matrix should make of X; where it goes on evenly, smaller numbers do."""
        evenly = match.queried if self._config.solved_anew else match.beyond or match.queried
        return points(evenly if name == "w_q" else match.answered, match.positions)

    def _alike(self, name: str, g: int, shape: tuple[int, ...], X: Array) -> Array:
        """Return the matrix that turns the rows of X into the directions of their tokens' vectors, or nearly.

        A key whose cosine is larger by a half is ahead by the sharpness, in score.
        """
        if shape[1] not in self._directions:
            self._directions[shape[1]] = directions(*vectors_of(self._config, self._around), shape[1])
        queries, keys = self._directions[shape[1]]
        length = math.sqrt(2.0 * self._config.sharpness / self._scale(shape[1]))
        return length * self._solved(name, g, X, queries if name == "w_q" else keys, WORDS)

    def _hands_on(self, g: int) -> bool:
        """Return whether head g is the first half of two: its values are then the words, as points."""
        return self._names[g] != self._config.head_patterns()[g]

    def _reading(self, name: str, g: int, X: Array, match: Match) -> Array:
        """Return queries from all but what head g wrote in layer 1, keys from that alone. Shape (columns of X, 2).

        The stream is rest + Z W_O, so the keys' matrix sends the rest to 0 and each row of W_O to a column of its own.
        """
        Z, W_O = self._previous_columns(g, X)
        rows = np.concatenate([X - fixed_order.product(Z, W_O), W_O])
        target = np.zeros((len(rows), 2))
        if name == "w_q":
            target[: len(X)] = points(match.queried, match.positions)
        else:
            target[len(X) :] = np.eye(2)[: len(W_O)]
        return self._from_sum(name, g, rows, target, shared=False)

    def _solved(self, name: str, g: int, X: Array, target: Array, part: int) -> Array:
        """Return the matrix that turns the rows of X into those of the target, or nearly.

        It reads one part of X and sends the others to 0, where there is room for that.
        """
        side = self._side(name)
        if not self._config.solved_anew and self._has_parts():
            if (side, part) not in self._solvers:
                parts = self._parts(side)
                others = np.concatenate([rows for other, rows in enumerate(parts) if other != part])
                self._solvers[side, part] = LeastSquares(apart(parts[part], others))
            W = self._solvers[side, part](target)
            if _distance(X, W, target) < EXACT:
                return W
        return self._from_sum(name, g, X, target)

    def _from_sum(self, name: str, g: int, X: Array, target: Array, *, shared: bool = True) -> Array:
        """Return the matrix that turns the rows of X into the target, or nearly, whatever they are sums of.

        Shared, all heads have this X.
        """
        key = (self._side(name), None if shared else (g,))
        if key not in self._solvers:
            self._solvers[key] = LeastSquares(X, SMALLEST_ANEW if self._config.solved_anew else SMALLEST)
        W = self._solvers[key](target)
        if not _distance(X, W, target) < EXACT:
            self._inexact.add(g)
        return W

    def _side(self, name: str) -> str:
        return "key" if self._config.is_cross_attention and name != "w_q" else "query"

    def _has_parts(self) -> bool:
        """Return whether rows of X are sums of words, positions and what former layers wrote, with room for each."""
        config = self._config
        plain = config.norm == "none" and config.feed_forward == "none"
        room = max(len(set(self._query_tokens)), len(set(self._key_tokens))) < config.d_model
        return plain and room and (not self._former or config.residual)

    def _parts(self, side: str) -> tuple[Array, Array, Array]:
        """Return the words, the positions and the rows of W_O that X is made of. Shape of each (rows, d_model)."""
        suffix, former = ("_kv", ()) if side == "key" else ("", self._former)
        words, positions = (self._around[name + suffix].array for name in ("token_embeddings", "positions"))
        written = [layer["w_o"].array for layer in former]
        return words, positions, np.concatenate([words[:0], *written])

    def _previous_columns(self, g: int, X: Array) -> tuple[Array, Array]:
        """Return the first two columns of head g of the first layer, and their rows of W_O; none if X lacks it."""
        config = self._config
        if not self._former or config.is_cross_attention or config.norm != "none":
            return np.zeros((len(X), 0)), np.zeros((0, X.shape[1]))
        widths = np.repeat(config.value_widths(), config.group_size)
        h, first = g * config.group_size, self._former[0]
        start, n = int(widths[:h].sum()), min(2, int(widths[h]))
        return first["heads"].array[h][:, :n], first["w_o"].array[start : start + n]


def patterns_of(config: Config, *, deep: bool) -> list[str]:
    """Return the pattern of each key/value head, in the first layer or in a later one."""
    return [name if deep else PATTERNS[name].before or name for name in config.head_patterns()]


def vectors_of(config: Config, around: Layer) -> tuple[Array, Array]:
    """Return the embeddings without positions of the query tokens and of the key tokens."""
    E = around["token_embeddings"].array
    return E, around["token_embeddings_kv"].array if config.is_cross_attention else E


def _part(pattern: Pattern) -> int:
    return WORDS if pattern.words else POSITIONS


def _distance(X: Array, W: Array, target: Array) -> float:
    """Return the largest difference between X W and the target."""
    with np.errstate(all="ignore"):
        return float(np.abs(X @ W - target).max(initial=0.0))


def _wide(W: Array, shape: tuple[int, ...]) -> Array:
    """Return W with columns of zeros up to the head's width, or cut to it."""
    whole = np.zeros(shape)
    whole[:, :2] = W[:, : shape[1]]
    return whole
