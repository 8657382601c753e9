"""Heads set by hand: W_Q and W_K solved from the input of the layer, and sentences on goals that the weights miss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics import fixed_order
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.solved_head_notes import HALF, MISSED, NEARLY, NEW, NOTHING, WHY, heads_in_words
from attnviz.engine.tables.head_patterns import (
    PATTERNS,
    LeastSquares,
    Match,
    Pattern,
    directions,
    points,
    share_where_wanted,
)
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tables.positions import POSITIONS
from attnviz.engine.tables.scores import SCORES
from attnviz.engine.tables.tokenisers import PAD
from attnviz.settings.counting import ordinal
from attnviz.settings.fields import default, settings
from attnviz.settings.language import translate

ENOUGH = 0.9
"""The least share of a row's weight on its goal; a head below it gets a note that it misses the goal."""

ROUNDING = 1e-9
"""Shares closer than this are equal up to rounding, whose order differs between machines."""

BESIDE = ("w_v", "b_v", "values", "heads", "concat", "w_o", "b_o", "output")
"""Steps that the weights of their own layer do not follow from."""

AFTERWARDS = ("scale", "softcap", "bias", "normaliser", "temperature", "normalise_over")
"""Settings that change what the scores become; the matrices do not follow them, so that their effect can be seen."""


class SolvedHeads:
    """The heads of one layer; `first` holds the first layer's steps, and nothing while that is the layer itself."""

    def __init__(
        self,
        config: Config,
        query_tokens: Sequence[str],
        key_tokens: Sequence[str],
        first: Sequence[Mapping[str, Step]],
        vectors: tuple[Array, Array],
    ) -> None:
        """Take the `vectors` of the queries' and of the keys' tokens, without positions."""
        self._config, self._query_tokens, self._key_tokens = config, tuple(query_tokens), tuple(key_tokens)
        self._first = first[0] if first else None
        self._names = tuple(name if first else PATTERNS[name].before or name for name in config.head_patterns())
        self._vectors = vectors
        self._solvers: dict[tuple[str, int | None], LeastSquares] = {}
        self._directions: dict[int, tuple[Array, Array]] = {}
        self._inexact: set[int] = set()

    def matrix(self, name: str, g: int, shape: tuple[int, ...], X: Array) -> Array | None:
        """Return a matrix of key/value head g, or of a query head that uses it; None for one that is drawn."""
        pattern, match = self._made_for(g)
        if name == "w_v" and self._hands_on(g):
            words = PATTERNS["same_word"].fn(self._key_tokens, self._key_tokens)
            return _wide(self._solved(name, g, X, points(words.answered, words.positions)), shape)
        if name not in ("w_q", "w_k"):
            return None
        if pattern.alike:
            return self._alike(name, g, shape, X)
        radius = match.radius(self._config.sharpness, SCORES[self._config.score].scale(shape[1]))
        if radius == 0.0:
            return np.zeros(shape)
        if pattern.before:
            return radius * _wide(self._reading(name, g, X, match), shape)
        numbers = match.queried if name == "w_q" else match.answered
        return radius * _wide(self._solved(name, g, X, points(numbers, match.positions)), shape)

    def _alike(self, name: str, g: int, shape: tuple[int, ...], X: Array) -> Array:
        """Return the matrix that turns the rows of X into the directions of their tokens' vectors, or nearly.

        A key whose cosine is larger by a half is ahead by the sharpness, in score.
        """
        if shape[1] not in self._directions:
            self._directions[shape[1]] = directions(*self._vectors, shape[1])
        queries, keys = self._directions[shape[1]]
        length = math.sqrt(2.0 * self._config.sharpness / SCORES[self._config.score].scale(shape[1]))
        return length * self._solved(name, g, X, queries if name == "w_q" else keys)

    def _made_for(self, g: int) -> tuple[Pattern, Match]:
        pattern = PATTERNS[self._names[g]]
        return pattern, pattern.fn(self._query_tokens, self._key_tokens)

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
        return self._solved(name, g, rows, target, shared=False)

    def _solved(self, name: str, g: int, X: Array, target: Array, *, shared: bool = True) -> Array:
        """Return the matrix that turns the rows of X into those of the target, or nearly.

        Shared, all heads have this X.
        """
        side = "key" if self._config.is_cross_attention and name != "w_q" else "query"
        key = (side, None if shared else g)
        if key not in self._solvers:
            self._solvers[key] = LeastSquares(X)
        W = self._solvers[key](target)
        with np.errstate(all="ignore"):
            if not np.abs(X @ W - target).max() < 1e-3:
                self._inexact.add(g)
        return W

    def _previous_columns(self, g: int, X: Array) -> tuple[Array, Array]:
        """Return the first two columns of head g of the first layer, and their rows of W_O; none if X lacks it."""
        config = self._config
        if self._first is None or config.is_cross_attention or config.norm != "none":
            return np.zeros((len(X), 0)), np.zeros((0, X.shape[1]))
        widths = np.repeat(config.value_widths(), config.group_size)
        h = g * config.group_size
        start, n = int(widths[:h].sum()), min(2, int(widths[h]))
        return self._first["heads"].array[h][:, :n], self._first["w_o"].array[start : start + n]

    def unmet_goals(self, layer: Mapping[str, Step], where: str) -> list[str]:
        """Return the goals that the heads of a layer miss, measured in its weights; one sentence for equal ones."""
        missing: dict[tuple[str, str], list[tuple[float, int, int]]] = {}
        for h, A in enumerate(layer["weights"].array):
            g = h // self._config.group_size
            pattern, match = self._made_for(g)
            if pattern.alike:
                continue
            wanted, allowed = pattern.wanted(match), layer["allowed"].array
            share_of = self._share_on_wanted(A, pattern, wanted, allowed)
            i = int(np.flatnonzero(share_of <= share_of.min() + ROUNDING)[0])
            if share_of[i] < ENOUGH - ROUNDING:
                why = WHY["hidden"] if not (wanted & allowed)[i].any() else self._because(g)
                missing.setdefault((pattern.goal, f": {why}" if why else ""), []).append((float(share_of[i]), i, h))
        notes = self._without(where) + self._nearly(where)
        for (goal, why), missing_heads in missing.items():
            share = min(missing_heads)[0]
            i = min(i for other, i, _ in missing_heads if other <= share + ROUNDING)
            heads, down = heads_in_words([h for *_, h in missing_heads]), np.floor((share + ROUNDING) * 100) / 100
            row = {"row": ordinal(i), "token": self._query_tokens[i]}
            notes.append(translate(MISSED, where=where, heads=heads, goal=goal, share=down, **row, why=why))
        return [note[0].upper() + note[1:] for note in notes + self._halves(where)]

    def _asks_itself(self, pattern: Pattern, wanted: Array) -> Array:
        """Return a mask of the queries that could only attend to themselves, and by choice may not."""
        if not pattern.edge or "no_self" not in self._config.mask:
            return np.zeros(len(wanted), dtype=bool)
        return wanted.argmax(axis=-1) == np.arange(len(wanted))

    def _nearly(self, where: str) -> list[str]:
        """Return that heads for like words read these only nearly, where the rows of X do not allow more."""
        each = self._config.group_size
        heads = [h for h in range(self._config.n_heads) if h // each in self._inexact and self._is_alike(h // each)]
        if not heads:
            return []
        goal, why = self._made_for(heads[0] // each)[0].goal, self._because(heads[0] // each)
        why = f": {why}" if why else ""
        return [NEARLY.format(n=len(heads), where=where, heads=heads_in_words(heads), goal=goal, why=why)]

    def _is_alike(self, g: int) -> bool:
        return PATTERNS[self._names[g]].alike

    def missing(self, layer: Mapping[str, Step]) -> frozenset[int]:
        """Return the heads of a layer, counted from 0, that miss what they should attend to in some row.

        Heads for similar meaning miss nothing: how much each word takes is for the vectors to say.
        """
        heads, allowed = layer["weights"].array, layer["allowed"].array
        patterns = [self._made_for(g) for g in range(self._config.kv_heads)]
        each = self._config.group_size
        goals = [
            (patterns[h // each][0], patterns[h // each][0].wanted(patterns[h // each][1])) for h in range(len(heads))
        ]
        least = [
            1.0 if goal[0].alike else self._share_on_wanted(A, *goal, allowed).min() for A, goal in zip(heads, goals)
        ]
        return frozenset(h for h, share in enumerate(least) if share < ENOUGH - ROUNDING)

    def _share_on_wanted(self, A: Array, pattern: Pattern, wanted: Array, allowed: Array) -> Array:
        """Return the share of each row that goes where it should.

        1 where there is nothing to read, or no word to read it.
        """
        asks = wanted.any(axis=-1) & self._are_words() & ~self._asks_itself(pattern, wanted)
        return np.where(asks, share_where_wanted(A, wanted, allowed), 1.0)

    def _without(self, where: str) -> list[str]:
        """Return notes on heads whose pattern some rows have no key for, such as a word that is not there."""
        lacking: dict[tuple[str, int], list[int]] = {}
        for h in range(self._config.n_heads):
            pattern, match = self._made_for(h // self._config.group_size)
            n = int((~pattern.wanted(match).any(axis=-1) & self._are_words()).sum())
            if n and not (pattern.before or pattern.alike):
                lacking.setdefault((pattern.goal, n), []).append(h)
        return [
            translate(NOTHING, where=where, heads=heads_in_words(hs), goal=goal, n=n)
            for (goal, n), hs in lacking.items()
        ]

    def _reaches(self, edit: Edit) -> bool:
        """Return whether a number that was changed can change the weights of this layer."""
        layer, step, *_ = edit
        return self._first is not None or (layer in (None, 0) and step not in BESIDE)

    def _halves(self, where: str) -> list[str]:
        """Return notes on an induction head that meets its goal."""
        each = self._config.group_size
        heads = [h for h in range(self._config.n_heads) if PATTERNS[self._config.head_patterns()[h // each]].before]
        if not heads:
            return []
        if self._first is None:
            return [translate(HALF, heads=heads_in_words(heads))] if self._config.n_layers == 1 else []
        pattern, match = self._made_for(heads[0] // each)
        new = int((~pattern.wanted(match).any(axis=-1) & self._are_words()).sum())
        return [translate(NEW, where=where, heads=heads_in_words(heads), n=new)] if new else []

    def _are_words(self) -> Array:
        """Return a mask of the queries that are words, and not padding."""
        return np.array([token != PAD for token in self._query_tokens], dtype=bool)

    def _because(self, g: int) -> str:
        """Say why head g can miss what is allowed; nothing if that is not known."""
        config, (pattern, match) = self._config, self._made_for(g)
        two, inexact = bool(pattern.before), g in self._inexact
        n, room = len(self._key_tokens), config.d_model - 2 * two
        changed = [
            translate(item.metadata["label"])
            for item in settings(config)
            if item.name in AFTERWARDS and getattr(config, item.name) != default(item)
        ]
        known = {
            "score": not SCORES[config.score].by_hand,
            "narrow": config.key_widths()[g] < 2 or (two and config.value_widths()[g] < 2),
            "tied": config.tied and match.queried != match.answered,
            "cross": two and config.is_cross_attention,
            "norm": two and config.norm != "none",
            "residual": two and not config.residual,
            "causal": two and "causal" not in config.mask,
            "bos": two and not config.bos,
            "turned": POSITIONS[config.position].rotate is not None,
            "rows": inexact and max(n, len(self._query_tokens)) > room,
            "alike": inexact and config.position == "none" and len(set(self._key_tokens)) < n,
            "dependent": inexact,
            "edited": any(map(self._reaches, config.edits)),
            "changed": bool(changed),
            "blunt": config.sharpness < 6.0,
        }
        reason = next((reason for reason, holds in known.items() if holds), "")
        return WHY[reason].format(room=room, setting=", ".join(changed)) if reason else ""


def misses(trace: Trace, layer: int) -> frozenset[int]:
    """Return the heads of a layer that miss their goal, both counted from 0.

    None where none is made for it.
    """
    if not INITIALISERS[trace.config.initialiser].solved or not {"weights", "allowed"} <= trace.layers[layer].keys():
        return frozenset()
    first = [trace.layers[0]] if layer else []
    vectors = vectors_of(trace.config, trace.around)
    return SolvedHeads(trace.config, trace.query_tokens, trace.key_tokens, first, vectors).missing(trace.layers[layer])


def vectors_of(config: Config, around: Mapping[str, Step]) -> tuple[Array, Array]:
    """Return the embeddings without positions of the query tokens and of the key tokens."""
    E = around["token_embeddings"].array
    return E, around["token_embeddings_kv"].array if config.is_cross_attention else E


def _wide(W: Array, shape: tuple[int, ...]) -> Array:
    """Return W with columns of zeros up to the head's width, or cut to it."""
    whole = np.zeros(shape)
    whole[:, :2] = W[:, : shape[1]]
    return whole
