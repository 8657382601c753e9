"""The shape ledger: what every step of a layer is made of, how many parameters it has and how much work it is.

How work is counted: one multiply-add for every product of two numbers that the formula asks for, whether or not a sum
follows, so that a matrix product (n, d) by (d, m) counts n d m. Not counted are sums alone, divisions, roots,
comparisons and the functions exp, tanh and Phi; so a softmax, a mask, a bias and a residual connection count 0. Masked
cells are computed like all others and count. Heads count at their true width, without padding, and keys and values that
several heads share count once where they are made and once a head where they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.codegen.cost import multiply_adds
from attnviz.engine.external.traces import first_steps
from attnviz.engine.records.config import Config
from attnviz.engine.records.step_specs import AXES
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.records.typed_rows import score_of
from attnviz.engine.tables.blocks import FEED_FORWARDS
from attnviz.engine.tables.positions import POSITIONS
from attnviz.formula.graph import HIDDEN
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
    sizes, first = _Sizes(trace, by_name), first_steps(by_name)
    tied = _tied(trace.config, by_name)
    rows = []
    for name, step in by_name.items():
        count = None if name in first else MULTIPLY_ADDS.get(name)
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
                n_multiply_adds=count(sizes) if count else 0,
            )
        )
    return Ledger(tuple(rows))


def multiply_adds_of_score(trace: Trace, layer: int) -> int:
    """Return the multiply-adds of the score function in a layer, all heads together."""
    return _scores(_Sizes(trace, steps(trace, layer)))


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


class _Sizes:
    """The sizes that the counts are made of: numbers of tokens and columns, and the true width of every head."""

    def __init__(self, trace: Trace, layer: Mapping[str, Step]) -> None:
        config = trace.config
        self.config, self.steps = config, layer
        self.n_query, self.n_key = layer["weights"].shape[1:]
        self.pairs = self.n_query * self.n_key
        self.model_q, self.model_k = (layer[name].shape[1] if name in layer else 0 for name in ("w_q", "w_k"))
        self.key_widths, self.value_widths = config.key_widths(), config.value_widths()
        self.d_q = tuple(np.repeat(self.key_widths, config.group_size).tolist())
        self.d_z = tuple(np.repeat(self.value_widths, config.group_size).tolist())

    def columns(self, name: str) -> int:
        """Return the columns of a step, 0 if it was not recorded."""
        return self.steps[name].shape[-1] if name in self.steps else 0


def _queries(s: _Sizes) -> int:
    return s.n_query * s.model_q * sum(s.d_q)


def _keys(s: _Sizes) -> int:
    return s.n_key * s.model_k * sum(s.key_widths)


def _cost_of_rotation(n: int, widths: tuple[int, ...]) -> int:
    """Count four products for two numbers rotated by an angle."""
    return n * sum(4 * (width // 2) for width in widths)


def _is_rotated(s: _Sizes) -> bool:
    return POSITIONS[s.config.position].rotate is not None


def _scores(s: _Sizes) -> int:
    """Return the products of one score function, head by head."""
    formula, hidden = score_of(s.config).definition, dict.fromkeys(HIDDEN, s.config.d_a)
    return sum(multiply_adds(formula, s.n_query, s.n_key, {"d_q": d, "d_k": d, **hidden}) for d in s.d_q)


def _scaled(s: _Sizes) -> int:
    scale = score_of(s.config).scale
    factors = [scale(d) if s.config.scale is None else s.config.scale for d in s.d_q]
    return sum(s.pairs for factor in factors if factor != 1.0)


def _hidden_units(s: _Sizes) -> int:
    """Return those of the first matrix, or one a unit where the units are gated."""
    gated = FEED_FORWARDS[s.config.feed_forward].gated
    return s.n_query * s.columns("ff_hidden") * (1 if gated else s.columns("output"))


MULTIPLY_ADDS: dict[str, Callable[[_Sizes], int]] = {
    "normed": lambda s: s.n_query * s.columns("normed"),
    "projected_queries": _queries,
    "projected_keys": _keys,
    "queries": lambda s: _cost_of_rotation(s.n_query, s.d_q) if _is_rotated(s) else _queries(s),
    "keys": lambda s: _cost_of_rotation(s.n_key, s.key_widths) if _is_rotated(s) else _keys(s),
    "values": lambda s: s.n_key * s.model_k * sum(s.value_widths),
    "scores": _scores,
    "scaled": _scaled,
    "capped": lambda s: s.pairs * len(s.d_q) if s.config.softcap else 0,
    "heads": lambda s: s.pairs * sum(s.d_z),
    "output": lambda s: s.n_query * sum(s.d_z) * s.columns("w_o"),
    "added_normed": lambda s: s.n_query * s.columns("added_normed"),
    "ff_normed": lambda s: s.n_query * s.columns("ff_normed"),
    "ff_gate": lambda s: s.n_query * s.columns("output") * s.columns("ff_gate"),
    "ff_up": lambda s: s.n_query * s.columns("output") * s.columns("ff_up"),
    "ff_hidden": _hidden_units,
    "ff_output": lambda s: s.n_query * s.columns("ff_hidden") * s.columns("ff_output"),
    "ff_added_normed": lambda s: s.n_query * s.columns("ff_added_normed"),
}
"""Of each step, by its formula; a step that is not here counts 0. Layer norm: the squares of its variance."""
