"""The constants of learning a setting: vectors, positions and mask, each snapped to numbers that all machines share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.engine.learning.network import Network
from attnviz.engine.learning.normalisers import NORMALISERS
from attnviz.engine.learning.scores import SCORES
from attnviz.engine.numerics.exact import snapped
from attnviz.engine.plan.chosen import chosen_by
from attnviz.engine.plan.plans import plan_of
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.embeddings import EMBEDDINGS
from attnviz.engine.tasks.game import Game


def network_of(config: Config, trace: Trace, game: Game) -> Network:
    """Return the constants of learning a setting, from the run of one of the task's own sentences."""
    row, layer = EMBEDDINGS[config.embedding], trace.layers[0]
    E = row.fn(game.vocabulary, config.d_model, game.vocabulary, **row.settings(config))
    chosen = chosen_by(config)
    return Network(
        plan=plan_of(config),
        chosen=replace(chosen, scale=float(np.ravel(chosen.scale)[0])),  # all heads are of one width
        score=SCORES[config.score],
        normaliser=NORMALISERS[config.normaliser],
        embeddings=snapped(E),
        positions=(snapped(trace["positions"].array), snapped(trace[_of_keys(config)].array)),
        rotations=_rotations(config, trace) if config.position == "rope" else None,
        given={"allowed": layer["allowed"].array.astype(bool)}
        | ({"bias": snapped(layer["bias"].array)} if "bias" in layer else {}),
    )


def _of_keys(config: Config) -> str:
    return "positions_kv" if config.is_cross_attention else "positions"


def _rotations(config: Config, trace: Trace) -> Any:
    """Return the cosines and sines by which RoPE rotates queries and keys."""
    d = config.key_widths()[0]
    speeds = config.rope_base ** (-2 * np.arange(d // 2) / d)
    angles = (np.arange(len(tokens))[:, None] * speeds for tokens in (trace.query_tokens, trace.key_tokens))
    return tuple((snapped(np.cos(angle)), snapped(np.sin(angle))) for angle in angles)
