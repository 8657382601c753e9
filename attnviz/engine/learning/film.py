"""The parameters of a setting while they are learned: a frame every few steps, and what each frame can do."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.learning.frames import Frames, FramesElsewhere, LearnedFrames, Run
from attnviz.engine.learning.learnable import (
    CANNOT,
    costs_nothing,
    is_shipped,
    obstacle,
    what_is_learned,
)
from attnviz.engine.learning.trainer import Measured
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import score_of
from attnviz.engine.tables.embeddings import EMBEDDINGS
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tasks.games import GAMES
from attnviz.formula.names import STEPS as SCORE_STEPS
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Plural, Words

MOST_BYTES = 64 * 10**6
"""The most bytes of the films that are kept in memory; the least recently used are dropped."""

STRANGE = Plural(
    "{words} is not a word of the task “{task}”: this head has never seen it.",
    "{words} are not words of the task “{task}”: this head has never seen them.",
)
NOTES = Words({"cannot": CANNOT, "not_finite": "Learning stopped after {n} steps: a number became too large to hold."})
MOST_NAMED = 4


@dataclass(frozen=True)
class Film:
    """Parameters while they are learned.

    steps   the steps that are kept, 0 first: that is the start, before anything is learned
    loss    at each of them the mean squared distance of what the last layer writes from the vector of the right word
    right   the share of rows whose nearest word is the right one
    crisp   the weight that lies where it should, in the best head of the last layer
    notes   why it ends early, if it does

    The last three are measured on 200 sentences that are drawn anew; a task that has few may draw some that it learned
    from.
    """

    steps: tuple[int, ...]
    notes: tuple[str, ...]
    _learner: Frames

    def at(self, step: int) -> list[dict[str, Array]]:
        """Return the parameters of a kept step as `run` takes them: a dict for each layer.

        Raises ValueError for a step that is not kept.
        """
        if step not in self.steps:
            raise ValueError(f"step {step} is not kept; choose one of: {', '.join(map(str, self.steps))}")
        return self._learner.layers(step)

    def measure(self) -> None:
        """Measure every kept frame now, so that `loss`, `right` and `crisp` cost nothing afterwards."""
        for step in self.steps:
            self._learner.evaluate_frame(step)

    @cached_property
    def _measured(self) -> tuple[Measured, ...]:
        return tuple(self._learner.evaluate_frame(step) for step in self.steps)

    @property
    def loss(self) -> tuple[float, ...]:
        return tuple(each.loss for each in self._measured)

    @property
    def right(self) -> tuple[float, ...]:
        return tuple(each.right for each in self._measured)

    @property
    def crisp(self) -> tuple[float, ...]:
        return tuple(each.crisp for each in self._measured)

    @property
    def best(self) -> int:
        """The first kept step at which right and crisp together are as large as at any, to within a fiftieth."""
        worth = [round(50.0 * each.right) + round(50.0 * each.crisp) for each in self._measured]
        return self.steps[worth.index(max(worth))]


_FRAMES: OrderedDict[Config, LearnedFrames] = OrderedDict()
_LOCK, _LEARNING = threading.Lock(), threading.Lock()
"""Of what is kept, held for a moment; and of learning, one film at a time: whoever wants one that is being learned
waits for it and pays nothing, and nobody waits who wants one that is there."""


def film_of(config: Config, run: Run) -> Film:
    """Return the film of a setting up to its `learn_steps`, from memory as far as it is there.

    run  computes the run of a setting: the start is what it draws

    Raises ConfigError for a setting that cannot be learned.
    """
    why = obstacle(config)
    if why:
        raise ConfigError(NOTES["cannot"].format(why=why))
    key, last = what_is_learned(config), config.learn_steps
    learned = _kept(key)
    if learned is None or last not in learned.frames:
        elsewhere = _elsewhere(key)
        if elsewhere is not None and elsewhere.reaches(last):
            return _film(config, elsewhere, elsewhere.until(last))
    if learned is None and is_shipped(config):
        learned = _keep(key, LearnedFrames(key, run).with_shipped())
    if learned is None or last not in learned.frames:
        with _LEARNING:
            learned, last = _learn(config, _kept(key) or LearnedFrames(key, run), last)
            _keep(key, learned)
    return _film(config, learned, last)


def _film(config: Config, learned: Frames, last: int) -> Film:
    notes = (NOTES["not_finite"].format(n=last),) if last < config.learn_steps else ()
    return Film(learned.kept(last), notes, learned)


def learned_until(learned: LearnedFrames, step: int) -> tuple[LearnedFrames, int]:
    """Learn until a step; return the frames, and the last step that there is."""
    last = learned.until(step)
    return learned, last


Learn = Callable[[Config, LearnedFrames, int], tuple[LearnedFrames, int]]
_learn: Learn = lambda config, learned, step: learned_until(learned, step)  # noqa: E731


def learn_by(learn: Learn) -> None:
    """Have frames learned in another way, such as in another process: by what does as `learned_until` does."""
    global _learn
    _learn = learn


def is_kept(config: Config) -> bool:
    """Return whether the film of a setting is in memory, so that it costs nothing."""
    key = what_is_learned(config)
    learned, elsewhere = _kept(key), _elsewhere(key)
    is_elsewhere = elsewhere is not None and elsewhere.reaches(config.learn_steps)
    return is_elsewhere or costs_nothing(config) or (learned is not None and config.learn_steps in learned.frames)


_elsewhere: Callable[[Config], FramesElsewhere | None] = lambda key: None  # noqa: E731


def look_also(elsewhere: Callable[[Config], FramesElsewhere | None]) -> None:
    """Ask also here for the film of a setting, whatever its `learn_steps`, before it is learned.

    What is found is shown, and never kept for others.
    """
    global _elsewhere
    _elsewhere = elsewhere


def _kept(key: Config) -> LearnedFrames | None:
    with _LOCK:
        if key in _FRAMES:
            _FRAMES.move_to_end(key)
        return _FRAMES.get(key)


def _keep(key: Config, learned: LearnedFrames) -> LearnedFrames:
    """Keep the frames of a setting, and as many of others as there is room for; return the same."""
    with _LOCK:
        _FRAMES[key] = learned
        _FRAMES.move_to_end(key)
        while len(_FRAMES) > 1 and sum(each.n_bytes for each in _FRAMES.values()) > MOST_BYTES:
            _FRAMES.popitem(last=False)
        return learned


def predicted_words(trace: Trace) -> tuple[str, ...]:
    """Return for each query the word of the task whose vector lies nearest to what the last layer writes."""
    config, game = trace.config, GAMES[trace.config.task]
    row = EMBEDDINGS[config.embedding]
    E = row.fn(game.vocabulary, config.d_model, game.vocabulary, **row.settings(config))
    near = 2.0 * trace.layers[-1]["output"].array @ E.T - (E * E).sum(axis=-1)
    return tuple(game.vocabulary[position] for position in near.argmax(axis=-1))


def learned(config: Config, run: Run, n_key: int) -> list[dict[str, Array]]:
    """Return the learned parameters of each layer for a sentence with so many keys.

    A score by position has a column for each position: those beyond the task's positions were never learned and hold 0.
    """
    film = film_of(config, run)
    layers = film.at(film.steps[-1])
    for own_name, axes in score_of(config).parameters.items():
        if "key" in axes:
            name = SCORE_STEPS[own_name]
            layers = [layer | {name: _with_columns(layer[name], n_key)} for layer in layers]
    return layers


def _with_columns(W: Array, n: int) -> Array:
    wide = np.zeros((*W.shape[:-1], n))
    wide[..., : W.shape[-1]] = W[..., :n]
    return wide


def notes(config: Config, tokens: tuple[str, ...]) -> list[str]:
    """Return the notes on a run whose projections are to be learned: obstacles, and words outside the task."""
    if not INITIALISERS[config.initialiser].learned or not config.learn_steps:
        return []
    why = obstacle(config)
    if why:
        return [NOTES["cannot"].format(why=why)]
    game = GAMES[config.task]
    strange = [word for word in dict.fromkeys(tokens) if word not in game.vocabulary]
    if not strange:
        return []
    named = ", ".join(f"“{word}”" for word in strange[:MOST_NAMED])
    return [STRANGE.format(n=len(strange), words=named + (" …" if strange[MOST_NAMED:] else ""), task=game.label)]
