"""The goals of heads set by hand: how far the weights meet them, and a sentence on each that they miss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.pretrained.pretrained_config import is_pretrained
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.solved_head_notes import (
    HALF,
    LARGE,
    MISSED,
    NEARLY,
    NEW,
    NOTHING,
    SEVERAL_MISSED,
    SHARED_MISSED,
    WHY,
    heads_in_words,
)
from attnviz.engine.solved_heads import STANDARD_WIDTH, SolvedLayer, made_for, patterns_of
from attnviz.engine.tables.head_patterns import PATTERNS, Match, Pattern, share_where_wanted
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tables.positions import POSITIONS
from attnviz.engine.tables.scores import SCORES
from attnviz.engine.tables.tokenisers import PAD
from attnviz.settings.counting import ordinal
from attnviz.settings.fields import default, settings
from attnviz.settings.language import translate

ENOUGH = 0.9
"""The least share of a row's weight on its goal; a head below it gets a note that it misses the goal."""

SHARP = 6.0
"""Below this sharpness a higher one is worth a try."""

ROUNDING = 1e-9
"""Shares closer than this are equal up to rounding, whose order differs between machines."""

BESIDE = ("w_v", "b_v", "values", "heads", "concat", "w_o", "b_o", "output")
"""Steps that the weights of their own layer do not follow from."""

AFTERWARDS = ("scale", "softcap", "bias", "normaliser", "temperature", "normalise_over")
"""Settings that change what the scores become; the matrices do not follow them, so that their effect can be seen."""

MOST = 1e6
"""The largest number of a matrix of which nothing is said; a product of two such numbers loses twelve digits."""

BEFORE = ("position", "score")
"""Settings that heads follow only where they are solved anew."""


class HeadGoals:
    """The goals of the heads of one layer, the first or a later one where `deep`; `solved` are its matrices."""

    def __init__(
        self,
        config: Config,
        query_tokens: Sequence[str],
        key_tokens: Sequence[str],
        *,
        deep: bool,
        solved: SolvedLayer | None = None,
    ) -> None:
        self._config, self._query_tokens, self._key_tokens = config, tuple(query_tokens), tuple(key_tokens)
        self._deep, self._solved = deep, solved
        self._inexact = solved.inexact if solved else frozenset[int]()
        self._names = patterns_of(config, deep=deep)

    def _made_for(self, g: int) -> tuple[Pattern, Match]:
        pattern = PATTERNS[self._names[g]]
        return pattern, pattern.fn(self._query_tokens, self._key_tokens)

    def unmet_goals(self, layer: Mapping[str, Step], where: str) -> list[str]:
        """Return the goals that the heads of a layer miss, measured in its weights; one sentence for each reason."""
        missing: dict[str, list[tuple[float, int, int]]] = {}
        for h, A in enumerate(layer["weights"].array):
            g = h // self._config.group_size
            pattern, match = self._made_for(g)
            if pattern.alike:
                continue
            wanted, allowed = pattern.wanted(match), layer["allowed"].head(h)
            share_of = self._share_on_wanted(A, pattern, wanted, allowed)
            i = int(np.flatnonzero(share_of <= share_of.min() + ROUNDING)[0])
            if share_of[i] < ENOUGH - ROUNDING:
                at_width = self._share_on_wanted(self._at_standard_width(A, g), pattern, wanted, allowed).min()
                is_hidden = not (wanted & allowed)[i].any()
                why = WHY["hidden"] if is_hidden else self._because(g, is_width=at_width >= ENOUGH)
                missing.setdefault(f": {why}" if why else "", []).append((float(share_of[i]), i, h))
        notes = self._without(where) + self._nearly(where) + self._large(where)
        notes += [self._missed(heads, where, why) for why, heads in missing.items()]
        return [note[0].upper() + note[1:] for note in notes + self._halves(where)]

    def _missed(self, missing: list[tuple[float, int, int]], where: str, why: str) -> str:
        """Say that heads miss their goals for one reason; of each its least share, row and number."""
        share = min(missing)[0]
        _, i, h = min((each for each in missing if each[0] <= share + ROUNDING), key=lambda each: each[1:])
        numbers: dict[str, list[int]] = {}
        for *_, head in missing:
            numbers.setdefault(self._made_for(head // self._config.group_size)[0].goal, []).append(ordinal(head))
        given = {
            "heads": heads_in_words([head for *_, head in missing]),
            "share": np.floor((share + ROUNDING) * 100) / 100,
            "row": ordinal(i),
            "token": self._query_tokens[i],
        }
        if len(numbers) == 1:
            return translate(MISSED, where=where, goal=next(iter(numbers)), why=why, **given)
        one_each = len(numbers) == len(missing)
        goals = [goal if one_each else f"{goal} ({', '.join(map(str, each))})" for goal, each in numbers.items()]
        listed = ", ".join(goals[:-1]) + translate(" and ") + goals[-1]
        given |= {"goals": listed, "head": ordinal(h)}
        if one_each:
            return translate(SEVERAL_MISSED, where=where, why=why, **given)
        return translate(SHARED_MISSED, where=where, why=why, **given)

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

    def _large(self, where: str) -> list[str]:
        """Return that heads have matrices of such numbers that the last digits of their scores are rounding."""
        if self._solved is None:
            return []
        each, n = self._config.group_size, self._config.n_heads
        sizes = [
            max(float(np.abs(self._solved.steps[name].array[at]).max(initial=0.0)) for name, at in at_head)
            for at_head in ((("w_q", h), ("w_k", h // each)) for h in range(n))
        ]
        heads = [h for h, size in enumerate(sizes) if size > MOST]
        if not heads:
            return []
        largest = f"{max(sizes):.0e}"
        return [LARGE.format(n=len(heads), where=where, heads=heads_in_words(heads), largest=largest)]

    def _is_alike(self, g: int) -> bool:
        return PATTERNS[self._names[g]].alike

    def missing(self, layer: Mapping[str, Step]) -> frozenset[int]:
        """Return the heads of a layer, counted from 0, that miss what they should attend to in some row.

        Heads for similar meaning miss nothing: how much each word takes is for the vectors to say.
        """
        heads, masks = layer["weights"].array, layer["allowed"]
        patterns = [self._made_for(g) for g in range(self._config.kv_heads)]
        each = self._config.group_size
        goals = [
            (patterns[h // each][0], patterns[h // each][0].wanted(patterns[h // each][1])) for h in range(len(heads))
        ]
        least = [
            1.0 if goal[0].alike else self._share_on_wanted(A, *goal, masks.head(h)).min()
            for h, (A, goal) in enumerate(zip(heads, goals))
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
        return self._deep or (layer in (None, 0) and step not in BESIDE)

    def _halves(self, where: str) -> list[str]:
        """Return notes on an induction head that meets its goal."""
        each = self._config.group_size
        heads = [h for h in range(self._config.n_heads) if PATTERNS[self._config.head_patterns()[h // each]].before]
        if not heads:
            return []
        if not self._deep:
            return [translate(HALF, heads=heads_in_words(heads))] if self._config.n_layers == 1 else []
        pattern, match = self._made_for(heads[0] // each)
        new = int((~pattern.wanted(match).any(axis=-1) & self._are_words()).sum())
        return [translate(NEW, where=where, heads=heads_in_words(heads), n=new)] if new else []

    def _are_words(self) -> Array:
        """Return a mask of the queries that are words, and not padding."""
        return np.array([token != PAD for token in self._query_tokens], dtype=bool)

    def _not_as_made_for(self, g: int) -> set[str]:
        """Return the settings by which the weights of head g differ from those that it was solved for."""
        config, made = self._config, made_for(self._config)
        changed = {item.name for item in settings(config) if getattr(config, item.name) != default(item)}
        differing = {name for name in AFTERWARDS if name in changed}
        if not config.solved_anew:
            differing |= {name for name in BEFORE if name in changed}
            differing |= {"mask"} if self._deep and config.mask != made.mask else set()
        if not (config.solved_anew or differing) and config.key_widths()[g] > STANDARD_WIDTH:
            return {"d_k"}
        return differing

    def _at_standard_width(self, A: Array, g: int) -> Array:
        """Return softmax weights of head g as its logits over the root of the width it was solved for give them.

        A later layer reads what those before it made of their width, which no root takes back.
        """
        powers = A ** np.sqrt(self._config.key_widths()[g] / STANDARD_WIDTH)
        total = powers.sum(axis=-1, keepdims=True)
        return powers / np.where(total == 0, 1.0, total)

    def _because(self, g: int, *, is_width: bool = True) -> str:
        """Say why head g can miss what is allowed; nothing if that is not known.

        is_width  whether it would reach its goal at the width that it was solved for
        """
        config, (pattern, match) = self._config, self._made_for(g)
        two, inexact = bool(pattern.before), g in self._inexact
        n, room = len(self._key_tokens), config.d_model - 2 * two
        differing = self._not_as_made_for(g)
        if differing == {"d_k"} and not (is_width or self._deep) and config.sharpness < SHARP:
            differing = set()
        changed = [translate(item.metadata["label"]) for item in settings(config) if item.name in differing]
        known = {
            "score": not SCORES[config.score].by_hand,
            "narrow": config.key_widths()[g] < 2 or (two and config.value_widths()[g] < 2),
            "tied": config.tied and match.queried != match.answered,
            "cross": two and config.is_cross_attention,
            "norm": two and config.norm != "none",
            "residual": two and not config.residual,
            "causal": two and "causal" not in config.mask,
            "bos": two and not config.bos,
            "turned": config.solved_anew and POSITIONS[config.position].rotate is not None,
            "rows": inexact and max(n, len(self._query_tokens)) > room,
            "alike": inexact and config.solved_anew and config.position == "none" and len(set(self._key_tokens)) < n,
            "dependent": inexact,
            "edited": any(map(self._reaches, config.edits)),
            "changed": bool(changed),
            "blunt": config.sharpness < SHARP,
        }
        reason = next((reason for reason, holds in known.items() if holds), "")
        return WHY[reason].format(room=room, setting=", ".join(changed)) if reason else ""


def rows_without_goal(trace: Trace, layer: int) -> Array:
    """Return whether a head is made for a key that a query does not have, so that its row means nothing.

    Shape (heads, queries), bool; False in heads that are not set by hand.
    """
    config = trace.config
    found = np.zeros((config.n_heads, len(trace.query_tokens)), bool)
    if not INITIALISERS[config.initialiser].solved or is_pretrained(trace) or {"w_q", "w_k"} & trace.given:
        return found
    for h, name in enumerate(np.repeat(patterns_of(config, deep=layer > 0), config.group_size)):
        pattern = PATTERNS[name]
        if not pattern.alike:
            found[h] = ~pattern.wanted(pattern.fn(trace.query_tokens, trace.key_tokens)).any(axis=-1)
    return found


def misses(trace: Trace, layer: int) -> frozenset[int]:
    """Return the heads of a layer that miss their goal, both counted from 0.

    None where none is made for it.
    """
    if not INITIALISERS[trace.config.initialiser].solved or not {"weights", "allowed"} <= trace.layers[layer].keys():
        return frozenset()
    goals = HeadGoals(trace.config, trace.query_tokens, trace.key_tokens, deep=layer > 0)
    return goals.missing(trace.layers[layer])
