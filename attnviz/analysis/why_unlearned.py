"""Reasons, computed from runs, for which a head cannot learn its task once something is taken away.

Each reason is a property of the runs that holds number for number, and fails where nothing was taken away. It is given
only where it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.learn import learn
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.engine.tasks.games import GAMES

ROUNDING = 1e-9
STORED = 1e-6
"""More than films lose of a number that is below 4, as they are kept in single precision."""


@dataclass(frozen=True, eq=False)
class Reason:
    """A reason: its name, the numbers that it names, and two runs in which it is seen.

    layer, step  what is to be looked at in both
    """

    name: str
    before: Trace
    after: Trace
    layer: int
    step: str
    numbers: dict[str, float] = field(default_factory=dict)


def reason(name: str, config: Config, without: Config) -> Reason | None:
    """Return the reason why `without`, which is `config` with one thing taken away, falls short of its task.

    name  what was taken away: "position", "layers", "mask", "hardmax" or "location"
    """
    return REASONS[name](config, without) if name in REASONS else None


def _never_moved(config: Config, without: Config) -> Reason | None:
    """Return that queries and keys never moved: a hardmax has no slope."""
    film = learn(without)
    first, last = film.at(0), film.at(film.steps[-1])
    moved = {
        name: max(float(np.abs(np.asarray(b[name]) - np.asarray(a[name])).max()) for a, b in zip(first, last))
        for name in ("w_q", "w_k", "w_v")
    }
    if max(moved["w_q"], moved["w_k"]) > STORED or moved["w_v"] <= STORED:
        return None
    before, after = run(replace(without, learn_steps=0)), run(without)
    return Reason("hardmax", before, after, 0, "weights", {"moved": moved["w_v"]})


def _order_unseen(config: Config, without: Config) -> Reason | None:
    """Return that a score is the same wherever two words stand."""
    before, after = run(without), run(_reversed(without))
    there = before.layers[0]["scores"].array
    back = after.layers[0]["scores"].array[..., ::-1]
    if not without.second_sentence:
        back = back[..., ::-1, :]
    return Reason("position", before, after, 0, "scores") if _is_same(there, back) else None


def _keys_unread(config: Config, without: Config) -> Reason | None:
    """Return that the scores do not depend on the words that are read."""
    before, after = run(without), run(_replaced(without, 0))
    rows = slice(None) if without.second_sentence else slice(1, None)
    one, other = (trace.layers[0]["scores"].array[:, rows] for trace in (before, after))
    return Reason("location", before, after, 0, "scores") if _is_same(one, other) else None


def _neighbour_unseen(config: Config, without: Config) -> Reason | None:
    """Return that a key of the only layer knows its own word alone, where the last layer of the setting knows more."""
    before, after = run(without), run(_replaced(without, 0))
    one, other = (trace.layers[0]["keys"].array[:, 1] for trace in (before, after))
    last = config.n_layers - 1
    whole, changed = (run(each).layers[last]["keys"].array[:, 1] for each in (config, _replaced(config, 0)))
    moved = float(np.abs(whole - changed).max())
    if not _is_same(one, other) or moved <= ROUNDING:
        return None
    return Reason("layers", before, after, 0, "keys", {"moved": moved})


def _looks_ahead(config: Config, without: Config) -> Reason | None:
    """Return how much of the weight lies on later words, among which the answer may be."""
    before, after = run(config), run(without)
    last = without.n_layers - 1
    A = after.layers[last]["weights"].array
    share = float(np.triu(A, 1).sum() / A.sum())
    return Reason("mask", before, after, last, "weights", {"share": share}) if share > ROUNDING else None


REASONS: dict[str, Callable[[Config, Config], Reason | None]] = {
    "hardmax": _never_moved,
    "position": _order_unseen,
    "location": _keys_unread,
    "layers": _neighbour_unseen,
    "mask": _looks_ahead,
}
"""The reasons that can be computed, by what was taken away."""


def _is_same(one: Array, other: Array) -> bool:
    return bool(np.abs(one - other).max(initial=0.0) <= ROUNDING)


def _words(config: Config) -> list[str]:
    return (config.second_sentence or config.sentence).split()


def _with_words(config: Config, words: list[str]) -> Config:
    text = " ".join(words)
    return replace(config, second_sentence=text) if config.second_sentence else replace(config, sentence=text)


def _reversed(config: Config) -> Config:
    """Return the setting with the words that are read in reverse order."""
    return _with_words(config, _words(config)[::-1])


def _replaced(config: Config, at: int) -> Config:
    """Return the setting with another word of the task for one of those that are read."""
    words = _words(config)
    other = next((word for word in GAMES[config.task].vocabulary if word not in words), words[-1])
    return _with_words(config, [*words[:at], other, *words[at + 1 :]])
