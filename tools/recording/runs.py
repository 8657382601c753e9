"""Runs of recorded settings by whichever package is imported, and the slopes of a seeded result of each."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

import attnviz
from attnviz import Config, Gradients, Trace
from attnviz.engine.tables.blocks import FEED_FORWARDS, NORMS
from tools.recording.settings import MODELS, Setting, as_fields

TABLES: Mapping[str, Any] = {
    "tokeniser": attnviz.TOKENISERS,
    "embedding": attnviz.EMBEDDINGS,
    "position": attnviz.POSITIONS,
    "bias": attnviz.BIASES,
    "mask": attnviz.MASKS,
    "initialiser": attnviz.INITIALISERS,
    "patterns": attnviz.PATTERNS,
    "score": attnviz.SCORES,
    "normaliser": attnviz.NORMALISERS,
    "norm": NORMS,
    "feed_forward": FEED_FORWARDS,
    "task": attnviz.TASKS,
}


def draws(name: str) -> np.random.Generator:
    """Return the random numbers that belong to a name."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def traced(name: str, setting: Setting) -> Trace:
    """Run a setting. Raises what the package raises."""
    if "model" in setting:
        return _model(setting["model"])(setting["text"], **dict(as_fields(setting["changes"])))
    if "brought" in setting:
        return _brought(name, setting)
    config = Config(**dict(as_fields(setting["config"])))
    trace = attnviz.run(config)
    return attnviz.run(config, _supplied(name, setting["supplied"], trace)) if setting.get("supplied") else trace


@cache
def _model(name: str) -> Any:
    return attnviz.load(MODELS / name)


def _supplied(name: str, wanted: list[str], trace: Trace) -> list[dict[str, Any]]:
    """Return random parameters of the shapes that a run has, in each layer a list of one array a head."""
    dice, layers = draws(f"{name} supplied"), []
    for layer in trace.layers:
        there = {each: layer[each] for each in wanted if each in layer}
        layers.append(
            {
                each: [dice.normal(size=step.head(h).shape) for h in range(len(step.array))]
                if step.axes[0].endswith("head")
                else dice.normal(size=step.shape)
                for each, step in there.items()
            }
        )
    return layers


def _brought(name: str, setting: Setting) -> Trace:
    """Return a trace of random attention of three heads that was computed elsewhere."""
    dice, n = draws(name), len(setting["tokens"])
    fields = dict(as_fields(setting["config"]))
    config = Config(**fields) if fields else None
    if setting["brought"] == "of_vectors":
        return attnviz.of_vectors(*dice.normal(size=(3, 3, n, 4)), setting["tokens"], config=config)
    scores = dice.normal(size=(3, n, n))
    if setting["brought"] == "of_scores":
        return attnviz.of_scores(scores, setting["tokens"], config=config)
    weights = np.exp(scores)
    return attnviz.of_weights(weights / weights.sum(axis=-1, keepdims=True), setting["tokens"])


def slopes(name: str, trace: Trace) -> Gradients:
    """Return the gradients of a random sum of a run's result and of its first layer's weights."""
    dice, last = draws(f"{name} slopes"), len(trace.layers) - 1
    of: dict[tuple[int, str], Any] = {(last, trace.result.name): dice.normal(size=trace.result.shape)}
    of[0, "weights"] = dice.normal(size=trace.layers[0]["weights"].shape)
    return attnviz.gradients(trace, of)
