"""What a user writes, for type checkers: mypy --strict and pyright read this file, and nothing runs it.

A comment that ignores an error is one that the checkers must report: both fail where it is not needed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import attnviz
from attnviz import (
    MASKS,
    NORMALISERS,
    SCORES,
    Config,
    Knob,
    LineRow,
    Trace,
    add_rows,
    attend,
    compare,
    gradients,
    heatmaps,
    normaliser,
    of_weights,
    run,
    score,
    show,
    study,
)

config = Config(sentence="the cat sat", n_heads=2, mask="causal")
masked: tuple[str, ...] = config.mask
several = Config(mask=("causal", "padding"), patterns="previous", d_k=(4, 3))
listed = Config(mask=["causal", "window"], patterns=("previous", "first"))
other = replace(config, mask="window", score="additive")
typed = Config(score=score("Manhattan", "-sum(abs(q - k))"))
traced = Config(score=score("capped", lambda q, k: np.tanh(q * k).sum()))

row = LineRow(
    kind="normaliser",
    name="powers",
    label="Powers over their sum",
    line="p = relu(x)**gamma; ratio(p, sum(p))",
    note="Positive scores to a power, over their sum.",
    source="-",
    knobs=(Knob("gamma", "Power", default=2.0, low=1.0, high=4.0),),
)
add_rows(row)
of_a_row = run(Config(normaliser=row, normaliser_knobs={"powers.gamma": 3.0}))
mine = Config(normaliser=normaliser("mine", "relu(x) / n"), score="dot")
as_function = Config(normaliser=normaliser("mine", lambda x: np.exp(x) / np.exp(x).sum()))
sharper = Config(normaliser=normaliser("entmax", alpha=2.0))
chosen: str = sharper.normaliser

trace: Trace = run(config)
weights: np.ndarray = trace["weights"].array
of_output = {(0, "output"): np.ones(trace["output"].shape)}
slopes: np.ndarray = gradients(trace, of_output).layers[0]["scores"].array
both = gradients(trace, {(None, "embedded"): trace["embedded"].array, (0, "weights"): weights})
every = [run(Config(score=score, normaliser=n, mask=mask)) for score in SCORES for n in NORMALISERS for mask in MASKS]
output: np.ndarray = attend(weights, weights, weights, score="dot", normaliser="sparsemax").output
of_rows: np.ndarray = attend(weights, weights, weights, normaliser=row).weights
show(weights, ["the", "cat", "sat"], layers=[0])
heatmaps(of_weights(weights), layer=0)
trace.figure("scores", layer=0, head=1)
also: np.ndarray = np.asarray(trace["weights"])
means: np.ndarray = study(config, ["the cat", "a dog"])["entropy"].array
apart: np.ndarray = compare(attnviz.load("small"), attnviz.load("full"), ["the cat"])["distance"].array
same = attnviz.show

Config(mask="causl")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Config(patterns=("previous", "nxt"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Config(score="dott")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Config(normaliser="powrs")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Config(normaliser=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
normaliser("mine", 3.0)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
Config(n_heads="4")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
attend(weights, weights, weights, score="dott")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
attnviz.showw  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  # noqa: B018
