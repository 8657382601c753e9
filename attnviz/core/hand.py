"""Heads set by hand: W_Q and W_K solved from what the layer reads, and what the weights then fail to do, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz.core.config import Config
from attnviz.core.fields import default, settings
from attnviz.core.language import Words, say
from attnviz.core.patterns import PATTERNS, Array, LeastSquares, Match, Pattern, points, share_where_wanted
from attnviz.core.positions import POSITIONS
from attnviz.core.scores import SCORES
from attnviz.core.tokens import PAD
from attnviz.core.trace import Steps

ENOUGH = 0.9
"""A head that puts less of a row's weight than this where it should is said not to do what it was made for."""

EXACT = ("scaled_dot", "dot", "gaussian")
"""The scores for which the construction is made; of the others it is only measured what comes out."""

AFTERWARDS = ("scale", "softcap", "bias", "normaliser", "temperature", "normalise_over")
"""Settings that change what the scores become; the matrices do not follow them, so that their effect can be seen."""

MISSED = "{where}{heads} should read {goal}; the least that goes there is {share:.2f}, in row {row}{why}."
HALF = (
    "{heads}: one layer holds half of an induction head, which reads the token before; the other half needs a second."
)
NOTHING = "{where}{heads} should read {goal}; where there is none to read (rows: {n}), what is taken means nothing."
NEW = "{where}{heads}: a word that comes for the first time (rows: {n}) has nothing to find, and its row means nothing."
WHY = Words(
    {
        "hidden": "the mask hides it",
        "score": "the construction is made for products of queries and keys",
        "narrow": "the construction needs two columns a head",
        "tied": "with W_K = W_Q a token can only ask for what it answers to itself",
        "cross": "keys come from the second sentence, where the first layer writes nothing",
        "norm": "the construction is not made for layer norm",
        "residual": "without residual connections the words do not reach the second layer",
        "causal": "it needs the causal mask",
        "bos": "it needs <bos>, as the first token can only read itself",
        "turned": "RoPE turns queries and keys after they were set",
        "rows": "there are more tokens than the {room} that this embedding size can tell apart for certain",
        "alike": "without positions, equal words are equal rows of X",
        "dependent": "the rows of X are too nearly dependent; a larger embedding size may help",
        "changed": "this setting is not the one that it is made for: {setting}",
        "blunt": "a higher sharpness helps",
    }
)
"""Why a head can miss what it should read, to stand after a colon."""


class Hand:
    """The heads of one layer; `first` holds the first layer's steps, and nothing while that is the layer itself."""

    def __init__(
        self, config: Config, query_tokens: Sequence[str], key_tokens: Sequence[str], first: Sequence[Steps]
    ) -> None:
        self._config, self._query_tokens, self._key_tokens = config, tuple(query_tokens), tuple(key_tokens)
        self._first = first[0] if first else None
        self._names = tuple(name if first else PATTERNS[name].before or name for name in config.head_patterns())
        self._solvers: dict[tuple[str, int | None], LeastSquares] = {}
        self._inexact: set[int] = set()

    def matrix(self, name: str, g: int, shape: tuple[int, ...], X: Array) -> Array | None:
        """A matrix of key/value head g, or of a query head that uses it; None for what is left to chance."""
        pattern, match = self._made_for(g)
        if name == "w_v" and self._hands_on(g):
            words = PATTERNS["same_word"].fn(self._key_tokens, self._key_tokens)
            return _wide(self._solved(name, g, X, points(words.answered, words.places)), shape)
        if name not in ("w_q", "w_k"):
            return None
        radius = match.radius(self._config.sharpness, SCORES[self._config.score].scale(shape[1]))
        if radius == 0.0:
            return np.zeros(shape)
        if pattern.before:
            return radius * _wide(self._reading(name, g, X, match), shape)
        numbers = match.asked if name == "w_q" else match.answered
        return radius * _wide(self._solved(name, g, X, points(numbers, match.places)), shape)

    def _made_for(self, g: int) -> tuple[Pattern, Match]:
        pattern = PATTERNS[self._names[g]]
        return pattern, pattern.fn(self._query_tokens, self._key_tokens)

    def _hands_on(self, g: int) -> bool:
        """Whether head g is the first half of two: its values are then the words, as points."""
        return self._names[g] != self._config.head_patterns()[g]

    def _reading(self, name: str, g: int, X: Array, match: Match) -> Array:
        """Queries from all but what head g wrote in the first layer, keys from that alone. Shape (columns of X, 2).

        The stream is rest + Z W_O, so the keys' matrix sends the rest to 0 and each row of W_O to a column of its own.
        """
        Z, W_O = self._written(g, X)
        rows = np.concatenate([X - Z @ W_O, W_O])
        target = np.zeros((len(rows), 2))
        if name == "w_q":
            target[: len(X)] = points(match.asked, match.places)
        else:
            target[len(X) :] = np.eye(2)[: len(W_O)]
        return self._solved(name, g, rows, target, shared=False)

    def _solved(self, name: str, g: int, X: Array, target: Array, *, shared: bool = True) -> Array:
        """The matrix that turns the rows of X into those of the target, or nearly; shared, all heads have this X."""
        side = "key" if self._config.is_cross_attention and name != "w_q" else "query"
        key = (side, None if shared else g)
        if key not in self._solvers:
            self._solvers[key] = LeastSquares(X)
        W = self._solvers[key](target)
        with np.errstate(all="ignore"):
            if not np.abs(X @ W - target).max() < 1e-3:
                self._inexact.add(g)
        return W

    def _written(self, g: int, X: Array) -> tuple[Array, Array]:
        """What head g wrote in the first layer, its first two columns and their rows of W_O; none if X lacks it."""
        config = self._config
        if self._first is None or config.is_cross_attention or config.norm != "none":
            return np.zeros((len(X), 0)), np.zeros((0, X.shape[1]))
        widths = np.repeat(config.value_widths(), config.group_size)
        h = g * config.group_size
        start, n = int(widths[:h].sum()), min(2, int(widths[h]))
        return self._first["heads"].array[h][:, :n], self._first["w_o"].array[start : start + n]

    def missed(self, layer: Steps, where: str) -> list[str]:
        """What the heads of a layer do not do, measured in its weights; one sentence where heads miss alike."""
        missing: dict[tuple[str, str], list[tuple[float, int, int]]] = {}
        for h, A in enumerate(layer["weights"].array):
            g = h // self._config.group_size
            pattern, match = self._made_for(g)
            wanted, allowed = pattern.wanted(match), layer["allowed"].array
            got = np.where(wanted.any(axis=-1) & self._spoken(), share_where_wanted(A, wanted, allowed), 1.0)
            i = int(got.argmin())
            if got[i] < ENOUGH:
                why = WHY["hidden"] if not (wanted & allowed)[i].any() else self._because(g)
                missing.setdefault((pattern.goal, f": {why}" if why else ""), []).append((float(got[i]), i, h))
        notes = self._without(where)
        for (goal, why), found in missing.items():
            share, i, _ = min(found)
            heads, down = _heads([h for *_, h in found]), np.floor(share * 100) / 100
            notes.append(say(MISSED, where=where, heads=heads, goal=goal, share=down, row=i + 1, why=why))
        return [note[0].upper() + note[1:] for note in notes + self._halves(where)]

    def _without(self, where: str) -> list[str]:
        """What is to be known of heads whose pattern some rows have no key for, such as a word that is not there."""
        lacking: dict[tuple[str, int], list[int]] = {}
        for h in range(self._config.n_heads):
            pattern, match = self._made_for(h // self._config.group_size)
            n = int((~pattern.wanted(match).any(axis=-1) & self._spoken()).sum())
            if n and not pattern.before:
                lacking.setdefault((pattern.goal, n), []).append(h)
        return [say(NOTHING, where=where, heads=_heads(hs), goal=goal, n=n) for (goal, n), hs in lacking.items()]

    def _halves(self, where: str) -> list[str]:
        """What is to be known of an induction head that does what it was made for."""
        each = self._config.group_size
        heads = [h for h in range(self._config.n_heads) if PATTERNS[self._config.head_patterns()[h // each]].before]
        if not heads:
            return []
        if self._first is None:
            return [say(HALF, heads=_heads(heads))] if self._config.n_layers == 1 else []
        pattern, match = self._made_for(heads[0] // each)
        new = int((~pattern.wanted(match).any(axis=-1) & self._spoken()).sum())
        return [say(NEW, where=where, heads=_heads(heads), n=new)] if new else []

    def _spoken(self) -> Array:
        """Which queries are words, and not there only to fill up."""
        return np.array([token != PAD for token in self._query_tokens], dtype=bool)

    def _because(self, g: int) -> str:
        """Why head g can miss what is allowed; nothing if that is not known."""
        config, (pattern, match) = self._config, self._made_for(g)
        two, inexact = bool(pattern.before), g in self._inexact
        n, room = len(self._key_tokens), config.d_model - 2 * two
        changed = [
            say(item.metadata["label"])
            for item in settings(config)
            if item.name in AFTERWARDS and getattr(config, item.name) != default(item)
        ]
        known = {
            "score": config.score not in EXACT,
            "narrow": config.key_widths()[g] < 2 or (two and config.value_widths()[g] < 2),
            "tied": config.tied and match.asked != match.answered,
            "cross": two and config.is_cross_attention,
            "norm": two and config.norm != "none",
            "residual": two and not config.residual,
            "causal": two and "causal" not in config.mask,
            "bos": two and not config.bos,
            "turned": POSITIONS[config.position].turn is not None,
            "rows": inexact and max(n, len(self._query_tokens)) > room,
            "alike": inexact and config.position == "none" and len(set(self._key_tokens)) < n,
            "dependent": inexact,
            "changed": bool(changed),
            "blunt": config.sharpness < 6.0,
        }
        reason = next((reason for reason, holds in known.items() if holds), "")
        return WHY[reason].format(room=room, setting=", ".join(changed)) if reason else ""


def _wide(W: Array, shape: tuple[int, ...]) -> Array:
    """W with columns of zeros up to the head's width, or cut to it."""
    whole = np.zeros(shape)
    whole[:, :2] = W[:, : shape[1]]
    return whole


def _heads(heads: list[int]) -> str:
    named = [str(h + 1) for h in heads]
    if len(named) == 1:
        return say("head {n}", n=named[0])
    return say("heads {heads} and {last}", heads=", ".join(named[:-1]), last=named[-1])
