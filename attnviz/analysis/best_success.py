"""The best success that a task can reach where its words have to share too few numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attnviz.engine.learning.constants import network_of
from attnviz.engine.records.config import Config
from attnviz.engine.run import run
from attnviz.engine.tasks.games import GAMES

SENTENCES = 200


def best_success(config: Config) -> float:
    """Return the share of rows that a head could say right if all its weight lay where it should.

    One matrix, fitted by least squares over sentences drawn anew, turns the vector that is read, with its position,
    into the one of the right word; the word nearest to what comes out is said. Widths of values and earlier layers are
    left out of account, and another matrix may do a little better.

    >>> from attnviz import TASKS
    >>> best_success(TASKS["translation"].config()), best_success(TASKS["translation"].config(d_model=4)) < 0.2
    (1.0, True)
    """
    game = GAMES[config.task]
    plain = {name: game.recipe.get(name, "") for name in ("sentence", "second_sentence")}
    start = replace(config, learn_steps=0, edits=(), **plain)
    network = network_of(start, run(start), game)
    E, P = network.embeddings, network.positions[-1]
    queries, keys = game.examples(config.seed, "held_out", SENTENCES)
    answers = game.judge(queries, keys)
    sentences, rows = answers.counts.nonzero()
    read = answers.where.argmax(axis=-1)[sentences, rows]
    X, words = E[keys[sentences, read]] + P[read], answers.words[sentences, rows]
    Y = X @ np.linalg.lstsq(X, E[words], rcond=None)[0]
    near = (2.0 * Y @ E.T - (E * E).sum(axis=-1)).argmax(axis=-1)
    return float((near == words).mean())
