"""The parameters of a setting while they are learned: a frame every few steps, and what each frame can do."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Protocol

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.learning import shipped
from attnviz.engine.learning.network import Network
from attnviz.engine.learning.normalisers import NORMALISERS
from attnviz.engine.learning.scores import SCORES
from attnviz.engine.learning.trainer import Measured, Trainer
from attnviz.engine.numerics.exact import snapped
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import score_of
from attnviz.engine.tables.embeddings import EMBEDDINGS
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tasks.game import Game
from attnviz.engine.tasks.tasks import GAMES
from attnviz.formula.names import STEPS as SCORE_STEPS
from attnviz.settings.faults import ConfigError
from attnviz.settings.fields import default, settings
from attnviz.settings.language import Plural, Words

Run = Callable[[Config], Trace]

MOST_BYTES = 64 * 10**6
"""The most bytes of the films that are kept in memory; the least recently used are dropped."""

BY_WORD = ("normal", "uniform", "binary", "spelling", "meaning")
"""Embeddings that give a word one vector in every sentence."""

OBSTACLES = Words(
    {
        "score": "it knows these scores: {known}",
        "normaliser": "it knows these normalisers: {known}",
        "embedding": "it needs words that have one vector in every sentence: {known}",
        "formula": "it does not know masks that are typed",
        "queries": "it normalises over the keys only",
        "widths": "it needs heads of one width",
        "tied": "it needs W_Q and W_K apart",
        "output": "it needs W_O after the heads",
        "norm": "it knows no layer norm",
        "feed_forward": "it knows no feed-forward block",
    }
)
"""The reasons why a setting cannot be learned, as the end of a sentence."""

CANNOT = "Nothing is learned in this setting, because {why}. The projections keep their initial values."
STRANGE = Plural(
    "{words} is not a word of the task “{task}”: this head has never seen it.",
    "{words} are not words of the task “{task}”: this head has never seen them.",
)
NOTES = Words({"cannot": CANNOT, "not_finite": "Learning stopped after {n} steps: a number became too large to hold."})
MOST_NAMED = 4


def learns(config: Config) -> bool:
    """Return whether the parameters of a setting are learned ones."""
    return INITIALISERS[config.initialiser].learned and config.learn_steps > 0 and not obstacle(config)


def obstacle(config: Config) -> str:
    """Return the reason why a setting cannot be learned, as the end of a sentence; empty if it can."""
    known: dict[str, Iterable[str]] = {"score": SCORES, "normaliser": NORMALISERS, "embedding": BY_WORD}
    fine = {
        "score": config.score in SCORES,
        "normaliser": config.normaliser in NORMALISERS,
        "embedding": config.embedding in BY_WORD,
        "formula": "formula" not in config.mask,
        "queries": config.normalise_over == "keys",
        "widths": len({*config.key_widths()}) == 1 and len({*config.value_widths()}) == 1,
        "tied": not config.tied,
        "output": config.has_output_projection(),
        "norm": config.norm == "none",
        "feed_forward": config.feed_forward == "none",
    }
    name = next((name for name, is_fine in fine.items() if not is_fine), "")
    return OBSTACLES[name].format(known=", ".join(known.get(name, ()))) if name else ""


def kept_steps(last: int) -> tuple[int, ...]:
    """Return the steps of which a film keeps a frame: every tenth, further on fewer, and the last.

    >>> kept_steps(25)
    (0, 10, 20, 25)
    """
    stops = [*range(0, 201, 10), *range(220, 401, 20), *range(450, last + 1, 50)]
    return (*(step for step in stops if step < last), last)


class Frames(Protocol):
    """Frames of a setting, wherever they were learned."""

    def kept(self, last: int) -> tuple[int, ...]:
        """Return the steps up to a last one whose frames there are."""

    def layers(self, step: int) -> list[dict[str, Array]]:
        """Return the parameters of a frame, which are not to be changed."""

    def measured(self, step: int) -> Measured:
        """Return what a frame can do."""


class FramesElsewhere(Frames, Protocol):
    """Frames that were learned elsewhere, as many as there are."""

    def reaches(self, step: int) -> bool:
        """Return whether there is a frame of this step, or learning ended before it."""

    def until(self, step: int) -> int:
        """Return the last step that there is up to this one."""


@dataclass(frozen=True)
class Film:
    """Parameters while they are learned.

    steps   the steps that are kept, 0 first: that is the start, before anything is learned
    loss    at each of them the mean squared distance of what the last layer writes from the vector of the right word
    right   the share of rows whose nearest word is the right one
    crisp   the weight that lies where it should, in the best head of the last layer
    notes   why it ends early, if it does

    The last three are measured on 200 sentences that are not learned from.
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
            self._learner.measured(step)

    @cached_property
    def _measured(self) -> tuple[Measured, ...]:
        return tuple(self._learner.measured(step) for step in self.steps)

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


class Learner:
    """The frames of one setting, learned as far as anybody has wanted."""

    def __init__(self, config: Config, run: Run) -> None:
        self._config, self._run = config, run
        self.trainer = self._begun()
        self.frames: dict[int, Array] = {0: self.trainer.vector}
        self._found: dict[int, Measured] = {}

    def with_shipped(self) -> Learner:
        """Take the frames that come with the package, where it has the film of this very setting."""
        if is_shipped(self._config):
            layout = self.trainer.layout
            found = shipped.read(self._config.task, self.frames[0], layout.sizes)
            if found is not None:
                self.frames = found[0]
                self._found = {step: Measured(*figures) for step, figures in found[1].items()}
        return self

    def _begun(self) -> Trainer:
        config, game = self._config, GAMES[self._config.task]
        trace = self._run(replace(config, learn_steps=0))
        start = [_learned_parts(layer) for layer in trace.layers]
        network = network_of(config, trace, game)
        return Trainer(network, start, game, seed=config.seed, start_rate=config.learn_rate, batch=config.learn_batch)

    def until(self, step: int) -> int:
        """Learn until a step, and return the last step that there is: less where a number became too large."""
        if step in self.frames:
            return step
        if step < self.trainer.step:
            self.trainer = self._begun()  # the frame between two that are kept
        stops = {*kept_steps(step)}
        while self.trainer.step < step and self.trainer.advance():
            if self.trainer.step in stops:
                self.frames[self.trainer.step] = self.trainer.frame()
        last = min(self.trainer.step, step)
        if last not in self.frames:
            self.frames[last] = self.trainer.frame()
        return last

    def kept(self, last: int) -> tuple[int, ...]:
        """Return the steps up to a last one whose frames there are."""
        return kept_steps(last)

    def layers(self, step: int) -> list[dict[str, Array]]:
        """Return the parameters of a frame, which are not to be changed."""
        vector = self.frames[step].view()
        vector.flags.writeable = False
        return self.trainer.layout.layers(vector)

    def measured(self, step: int) -> Measured:
        """Measure a frame, once."""
        if step not in self._found:
            self._found[step] = self.trainer.measured(self.frames[step])
        return self._found[step]

    @property
    def n_bytes(self) -> int:
        """The bytes that it holds in memory."""
        return self.trainer.vector.nbytes * (len(self.frames) + 3) + self.trainer.network.embeddings.nbytes


_LEARNERS: OrderedDict[Config, Learner] = OrderedDict()
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
    learner = _kept(key)
    if learner is None or last not in learner.frames:
        elsewhere = _elsewhere(key)
        if elsewhere is not None and elsewhere.reaches(last):
            return _film(config, elsewhere, elsewhere.until(last))
    if learner is None and is_shipped(config):
        learner = _keep(key, Learner(key, run).with_shipped())
    if learner is None or last not in learner.frames:
        with _LEARNING:
            learner = _kept(key) or Learner(key, run)
            last = learner.until(last)
            _keep(key, learner)
    return _film(config, learner, last)


def _film(config: Config, learner: Frames, last: int) -> Film:
    notes = (NOTES["not_finite"].format(n=last),) if last < config.learn_steps else ()
    return Film(learner.kept(last), notes, learner)


def is_kept(config: Config) -> bool:
    """Return whether the film of a setting is in memory, so that it costs nothing."""
    key = what_is_learned(config)
    learner, elsewhere = _kept(key), _elsewhere(key)
    there = elsewhere is not None and elsewhere.reaches(config.learn_steps)
    return there or costs_nothing(config) or (learner is not None and config.learn_steps in learner.frames)


_elsewhere: Callable[[Config], FramesElsewhere | None] = lambda key: None  # noqa: E731


def look_also(elsewhere: Callable[[Config], FramesElsewhere | None]) -> None:
    """Ask also here for the film of a setting, whatever its `learn_steps`, before it is learned.

    What is found is shown, and never kept for others.
    """
    global _elsewhere
    _elsewhere = elsewhere


def _kept(key: Config) -> Learner | None:
    with _LOCK:
        if key in _LEARNERS:
            _LEARNERS.move_to_end(key)
        return _LEARNERS.get(key)


def _keep(key: Config, learner: Learner) -> Learner:
    """Keep the frames of a setting, and as many of others as there is room for; return the same."""
    with _LOCK:
        _LEARNERS[key] = learner
        _LEARNERS.move_to_end(key)
        while len(_LEARNERS) > 1 and sum(each.n_bytes for each in _LEARNERS.values()) > MOST_BYTES:
            _LEARNERS.popitem(last=False)
        return learner


def is_shipped(config: Config) -> bool:
    """Return whether the film of a setting comes with the package."""
    return config.task in shipped.hashes() and what_is_learned(config) == _opening(config.task)


def costs_nothing(config: Config) -> bool:
    """Return whether the frame of a setting comes with the package, so that nothing has to be learned."""
    last = GAMES[config.task].recipe["learn_steps"]
    return config.learn_steps in kept_steps(last) and is_shipped(config)


@cache
def _opening(task: str) -> Config:
    """Return the learned part of the setting that a task opens with."""
    recipe: Mapping[str, Any] = GAMES[task].recipe
    return what_is_learned(Config(**{"initialiser": "learned", "task": task} | dict(recipe)))


READ_ONLY = ("sentence", "second_sentence", "tokeniser", "piece_length", "bos", "eos", "pad_to", "max_tokens", "edits")
"""Settings of what is read afterwards, which change nothing in what is learned."""


def what_is_learned(config: Config) -> Config:
    """Return the setting with everything that does not change what is learned as the task has it."""
    game, fields = GAMES[config.task], {item.name: default(item) for item in settings(config)}
    plain: dict[str, Any] = {name: fields[name] for name in READ_ONLY}
    plain |= {"sentence": game.recipe["sentence"], "second_sentence": game.recipe.get("second_sentence", "")}
    return replace(config, **plain, initialiser="learned", learn_steps=fields["learn_steps"])


def _learned_parts(layer: Mapping[str, Any]) -> dict[str, Array]:
    """Return the parameters among the steps of a layer."""
    return {name: step.array for name, step in layer.items() if name.startswith(("w_", "b_", "score_"))}


def network_of(config: Config, trace: Trace, game: Game) -> Network:
    """Return the constants of learning a setting, from the run of one of the task's own sentences."""
    row, layer = EMBEDDINGS[config.embedding], trace.layers[0]
    E = row.fn(game.vocabulary, config.d_model, game.vocabulary, **row.settings(config))
    d_k = config.key_widths()[0]
    return Network(
        n_layers=config.n_layers,
        group_size=config.group_size,
        residual=config.residual,
        is_cross=config.is_cross_attention,
        score=config.score,
        normaliser=config.normaliser,
        temperature=config.temperature,
        scale=score_of(config).scale(d_k) if config.scale is None else config.scale,
        softcap=config.softcap,
        embeddings=snapped(E),
        positions=(snapped(trace["positions"].array), snapped(trace[_of_keys(config)].array)),
        turns=_turns(config, trace) if config.position == "rope" else None,
        allowed=layer["allowed"].array.astype(bool),
        bias=snapped(layer["bias"].array) if "bias" in layer else None,
    )


def predicted_words(trace: Trace) -> tuple[str, ...]:
    """Return for each query the word of the task whose vector lies nearest to what the last layer writes."""
    config, game = trace.config, GAMES[trace.config.task]
    row = EMBEDDINGS[config.embedding]
    E = row.fn(game.vocabulary, config.d_model, game.vocabulary, **row.settings(config))
    near = 2.0 * trace.layers[-1]["output"].array @ E.T - (E * E).sum(axis=-1)
    return tuple(game.vocabulary[place] for place in near.argmax(axis=-1))


def _of_keys(config: Config) -> str:
    return "positions_kv" if config.is_cross_attention else "positions"


def _turns(config: Config, trace: Trace) -> Any:
    """Return the cosines and sines by which RoPE rotates queries and keys."""
    d = config.key_widths()[0]
    speeds = config.rope_base ** (-2 * np.arange(d // 2) / d)
    angles = (np.arange(len(tokens))[:, None] * speeds for tokens in (trace.query_tokens, trace.key_tokens))
    return tuple((snapped(np.cos(angle)), snapped(np.sin(angle))) for angle in angles)


def learned(config: Config, run: Run, n_key: int) -> list[dict[str, Array]]:
    """Return the learned parameters of each layer for a sentence with so many keys.

    A score by position has a column for each place: places beyond those of the task were never learned and hold 0.
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
