"""What a user writes, for type checkers: mypy --strict and pyright read this file, and nothing runs it.

A comment that ignores an error is one that the checkers must report: both fail where it is not needed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import attnviz
from attnviz import MASKS, NORMALISERS, SCORES, Config, Trace, attend, gradients, heatmaps, of_weights, run, score, show

config = Config(sentence="the cat sat", n_heads=2, mask="causal")
masked: tuple[str, ...] = config.mask
several = Config(mask=("causal", "padding"), patterns="previous", d_k=(4, 3))
listed = Config(mask=["causal", "window"], patterns=("previous", "first"))
other = replace(config, mask="window", score="additive")
typed = Config(score=score("Manhattan", "-sum(abs(q - k))"))
traced = Config(score=score("capped", lambda q, k: np.tanh(q * k).sum()))

trace: Trace = run(config)
weights: np.ndarray = trace["weights"].array
of_output = {(0, "output"): np.ones(trace["output"].shape)}
slopes: np.ndarray = gradients(trace, of_output).layers[0]["scores"].array
both = gradients(trace, {(None, "embedded"): trace["embedded"].array, (0, "weights"): weights})
every = [run(Config(score=score, normaliser=n, mask=mask)) for score in SCORES for n in NORMALISERS for mask in MASKS]
output: np.ndarray = attend(weights, weights, weights, score="dot", normaliser="sparsemax").output
show(weights, ["the", "cat", "sat"])
heatmaps(of_weights(weights), layer=0)
same = attnviz.show

Config(mask="causl")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Config(patterns=("previous", "nxt"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Config(score="dott")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Config(n_heads="4")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
attend(weights, weights, weights, score="dott")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
attnviz.showw  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  # noqa: B018
