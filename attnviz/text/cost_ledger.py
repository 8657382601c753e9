"""The shape ledger: what every step of a layer is made of, how many parameters it has and how much work it is.

Work is counted as `engine/plan/lengths.py` says: products of two numbers, at the true width of every head.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.engine.external.layer_plans import plan_of_layer
from attnviz.engine.external.traces import first_steps
from attnviz.engine.plan.lengths import Lengths, lengths_of
from attnviz.engine.records.config import Config
from attnviz.engine.records.step_specs import AXES
from attnviz.engine.records.trace import Step, Trace
from attnviz.text.step_names import PARAMETERS, plain, shape_in_words, short_shape, steps


@dataclass(frozen=True)
class LedgerEntry:
    """One step: `axes` are the name, size and meaning of each of its axes."""

    name: str
    symbol: str
    text: str
    meaning: str
    shape: str
    words: str
    axes: tuple[tuple[str, str, str], ...]
    n_parameters: int
    n_multiply_adds: int


@dataclass(frozen=True)
class Ledger:
    """The rows of a layer in the order of the data, and their sums."""

    rows: tuple[LedgerEntry, ...]

    @property
    def n_parameters(self) -> int:
        return sum(row.n_parameters for row in self.rows)

    @property
    def n_multiply_adds(self) -> int:
        return sum(row.n_multiply_adds for row in self.rows)


def ledger(trace: Trace, layer: int) -> Ledger:
    """Return the shape, parameters and operations of every step of a layer.

    Token embeddings and positions are looked up and count no parameters here. Tied W_Q and W_K are one matrix and
    count once.

    >>> from attnviz import Config, run
    >>> whole = ledger(run(Config(sentence="a b", d_model=3, n_heads=1, d_k=2, d_v=2)), 0)
    >>> [(row.name, row.n_multiply_adds) for row in whole.rows if row.n_multiply_adds][3:]
    [('scores', 8), ('scaled', 4), ('heads', 8), ('output', 12)]
    >>> whole.n_parameters
    24
    """
    by_name = steps(trace, layer)
    plan, lengths, given = plan_of_layer(trace, layer), _lengths(trace, by_name), first_steps(by_name)
    tied = _tied(trace.config, by_name)
    rows = []
    for name, step in by_name.items():
        made = plan.get(name)
        is_counted = name not in given and made is not None and made.op == "step"
        rows.append(
            LedgerEntry(
                name=name,
                symbol=step.symbol,
                text=plain(step.symbol),
                meaning=step.meaning,
                shape=short_shape(step),
                words=shape_in_words(step, trace.config.group_size > 1),
                axes=tuple((axis, size, AXES[axis]) for axis, size in zip(step.axes, short_shape(step).split(" × "))),
                n_parameters=tied.get(name, _true_size(step)) if name in PARAMETERS else 0,
                n_multiply_adds=lengths.n_multiply_adds(made.args[0]) if made and is_counted else 0,
            )
        )
    return Ledger(tuple(rows))


def multiply_adds_of_score(trace: Trace, layer: int) -> int:
    """Return the multiply-adds of the score function in a layer, all heads together."""
    by_name = steps(trace, layer)
    return _lengths(trace, by_name).n_multiply_adds(plan_of_layer(trace, layer)["scores"].args[0])


def _lengths(trace: Trace, by_name: Mapping[str, Step]) -> Lengths:
    return lengths_of(trace.config, {axis: n for step in by_name.values() for axis, n in zip(step.axes, step.shape)})


def _true_size(step: Step) -> int:
    """Count the numbers of a step without padding."""
    if not step.axes[0].endswith("head"):
        return step.array.size
    return sum(step.head(h).size for h in range(len(step.array)))


def _tied(config: Config, by_name: Mapping[str, Step]) -> dict[str, int]:
    """Return the parameters of W_Q, W_K and their biases where the one is the other: counted once, with the queries."""
    counts: dict[str, int] = {}
    for query, key in (("w_q", "w_k"), ("b_q", "b_k")):
        if not config.tied or key not in by_name:
            continue
        Q, K = by_name[query].array, by_name[key].array
        if Q.shape == np.repeat(K, config.group_size, axis=0).shape and np.array_equal(Q[:: config.group_size], K):
            counts[key] = 0
            if np.array_equal(Q, np.repeat(K, config.group_size, axis=0)):
                counts[query] = _true_size(by_name[key])
    return counts
