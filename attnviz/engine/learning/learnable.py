"""The settings that can be learned, the fields that decide what is learned, and the steps that a film keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from attnviz.engine.learning import shipped_films
from attnviz.engine.learning.normalisers import NORMALISERS
from attnviz.engine.learning.scores import SCORES
from attnviz.engine.records.config import Config
from attnviz.engine.records.typed_rows import learned_bias
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tasks.games import GAMES
from attnviz.settings.fields import default, settings
from attnviz.settings.language import Words

BY_WORD = ("normal", "uniform", "binary", "spelling", "meaning")
"""Embeddings that give a word one vector in every sentence."""

OBSTACLES = Words(
    {
        "score": "supports only these scores: {known}",
        "normaliser": "supports only these normalisers: {known}",
        "embedding": "needs words that have one vector in every sentence: {known}",
        "formula": "supports no typed masks",
        "bias": "supports no typed bias with numbers that are learned",
        "queries": "normalises over the keys only",
        "widths": "needs heads of one width",
        "tied": "needs W_Q and W_K apart",
        "output": "needs W_O after the heads",
        "norm": "supports no layer norm",
        "feed_forward": "supports no feed-forward block",
    }
)
"""The reasons why a setting cannot be learned, each to follow "the trainer" in a sentence."""

CANNOT = "Nothing is learned in this setting, because the trainer {why}. The projections keep their initial values."


def learns(config: Config) -> bool:
    """Return whether the parameters of a setting are learned ones."""
    return INITIALISERS[config.initialiser].learned and config.learn_steps > 0 and not obstacle(config)


def obstacle(config: Config) -> str:
    """Return the reason why a setting cannot be learned, to follow "the trainer" in a sentence; empty if it can."""
    known: dict[str, Iterable[str]] = {"score": SCORES, "normaliser": NORMALISERS, "embedding": BY_WORD}
    fine = {
        "score": config.score in SCORES,
        "normaliser": config.normaliser in NORMALISERS,
        "embedding": config.embedding in BY_WORD,
        "formula": "formula" not in config.mask,
        "bias": learned_bias(config) is None,
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


def is_shipped(config: Config) -> bool:
    """Return whether the film of a setting comes with the package."""
    return config.task in shipped_films.hashes() and what_is_learned(config) == _opening(config.task)


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
