"""The cost of learning, before anything is learned: from the sizes of a setting and its steps alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from attnviz.engine.learning.learnable import costs_nothing, kept_steps, learns
from attnviz.engine.learning.trainer import AT_ONCE, HELD_OUT
from attnviz.engine.records.config import Config
from attnviz.engine.records.typed_rows import score_of
from attnviz.engine.tasks.games import GAMES

CALLS, MULTIPLIED, MOVED, CELL, HIDDEN = 1e-3, 0.3e-9, 20e-9, 60e-9, 40e-9
"""Seconds for a layer and step, however small; for each product; for each parameter; for each cell of the weights; for
each hidden unit of the additive score. Measured, and rounded up."""


@dataclass(frozen=True)
class LearningCost:
    """Seconds of an ordinary processor, numbers in memory at the same time, and those that stay there as frames."""

    seconds: float = 0.0
    numbers: int = 0
    kept: int = 0


def of(config: Config) -> LearningCost:
    """Return the cost of learning the film of a setting and of measuring its frames; zero where nothing is learned.

    A film that comes with the package takes its memory alone: all of its frames are read.

    >>> of(Config())
    LearningCost(seconds=0.0, numbers=0, kept=0)
    """
    if not learns(config):
        return LearningCost()
    recipe = GAMES[config.task].recipe
    if costs_nothing(config):
        read = of(replace(config, learn_steps=recipe["learn_steps"] + 1))
        return LearningCost(0.0, read.numbers, read.kept)
    n = len(recipe["sentence"].split())
    m = len(recipe.get("second_sentence", "").split()) or n
    d, d_k, d_v = config.d_model, config.key_widths()[0], config.value_widths()[0]
    cells = config.n_heads * n * m
    hidden = cells * config.d_a if score_of(config).definition.hidden else 0
    projected = n * d * config.n_heads * (d_k + d_v) + m * d * config.kv_heads * (d_k + d_v)
    parameters = sum(_size(axes, config, m) for axes in score_of(config).parameters.values()) * config.n_heads
    learned = d * (config.n_heads * (d_k + d_v) + config.kv_heads * (d_k + d_v)) + parameters + 4 * d
    products = 3 * (projected + cells * (d_k + d_v) + parameters * max(n, m))
    sentence = MULTIPLIED * products + CELL * cells + HIDDEN * hidden
    frames = len(kept_steps(config.learn_steps))
    shown = config.learn_steps * config.learn_batch + frames * HELD_OUT / 3  # forward alone takes a third
    calls = (config.learn_steps + frames * HELD_OUT / AT_ONCE) * CALLS
    seconds = config.n_layers * (calls + shown * sentence + config.learn_steps * MOVED * learned)
    each = 6 * (n + m) * d + 4 * config.n_heads * (n + m) * (d_k + d_v) + 8 * cells + 5 * hidden
    together = max(config.learn_batch, AT_ONCE)
    numbers = config.n_layers * (learned * (frames + 8) + together * each)
    return LearningCost(seconds, numbers, config.n_layers * learned * (frames + 3))


def _size(axes: tuple[str, ...], config: Config, n_key: int) -> int:
    widths = {"d_q": config.key_widths()[0], "d_k": config.key_widths()[0], "key": n_key}
    return math.prod(widths.get(axis, config.d_a) for axis in axes)
