"""The settings of heads and projections: how many, how wide, and what fills their matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from attnviz.engine.tables.head_patterns import PATTERNS
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tables.row_names import (
    InitialiserName,
    PatternName,
    TaskName,
)
from attnviz.engine.tasks.games import GAMES
from attnviz.settings.fields import listed, number, option, switch, widths
from attnviz.settings.held import Holds

MOST_HEADS = 16
MOST_STEPS = 2000

Item = TypeVar("Item")


def divisors(values: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the numbers of key/value heads that the query heads can share evenly."""
    n_heads = values["n_heads"]
    return tuple(n for n in range(1, n_heads + 1) if n_heads % n == 0)


@dataclass(frozen=True)
class HeadSettings:
    """The fields that decide how queries, keys and values are made of the rows."""

    n_heads: int = number(
        4, 1, MOST_HEADS, label="Heads", help="Multi-head attention: the number of heads, computed side by side."
    )
    n_kv_heads: int | None = number(
        None,
        1,
        MOST_HEADS,
        none="as many as heads",
        offered=divisors,
        label="Key/value heads",
        group="Heads and projections",
        help="With fewer than there are heads, query heads share keys and values (grouped-query attention); 1 is "
        "multi-query.",
    )
    d_k: int | tuple[int, ...] = widths(
        4,
        1,
        64,
        most=MOST_HEADS,
        label="Width of queries and keys, d_k",
        group="Heads and projections",
        help="One number, or one for each key/value head: 4, 3, 2. The last one repeats.",
    )
    d_v: int | tuple[int, ...] = widths(
        4,
        1,
        64,
        most=MOST_HEADS,
        label="Width of values, d_v",
        group="Heads and projections",
        help="One number, or one for each key/value head. It need not equal d_k.",
    )
    initialiser: InitialiserName = option(INITIALISERS, "glorot", label="Projections", group="Heads and projections")
    patterns: Holds[tuple[PatternName, ...], PatternName | list[PatternName]] = listed(
        PATTERNS,
        ("previous", "same_word", "first", "uniform"),
        most=MOST_HEADS,
        each=lambda values: values["n_kv_heads"] or values["n_heads"],
        label="Pattern",
        group="Heads and projections",
        help="What each key/value head is made for. The last one repeats.",
    )
    sharpness: float = number(
        6.0,
        0.0,
        50.0,
        step=0.5,
        integer=False,
        label="Sharpness",
        group="Heads and projections",
        help="How far the right key is ahead of the next best, in score, with d_k = 4 and all else at its default. 6 "
        "leaves it about 0.995 of the weight.",
    )
    solved_anew: bool = switch(
        False,
        label="Solve heads anew for each setting",
        group="Heads and projections",
        help="Off: W_Q and W_K are solved once, from the words and the patterns; the score function, its scale, d_k, "
        "positions and masks leave them as they are, so that what these change can be seen. On: the matrices follow "
        "the score function, d_k and positions, so that heads reach their goal with these as well.",
    )
    task: TaskName = option(GAMES, "translation", label="Task", group="Heads and projections")
    learn_steps: int = number(
        100,
        0,
        MOST_STEPS,
        label="Steps of learning",
        stops=(0, 1, 2, 5, *range(10, 201, 10), *range(240, 401, 40), *range(500, MOST_STEPS + 1, 100)),
        group="Heads and projections",
        help="One batch of sentences each. 0 leaves the random start as it is.",
    )
    learn_rate: float = number(
        0.01,
        0.0001,
        0.1,
        step=0.001,
        integer=False,
        label="Learning rate",
        group="Heads and projections",
        help="Roughly how far a number moves in each step at first; it decreases from step 150 on.",
    )
    learn_batch: int = number(
        16,
        1,
        64,
        label="Sentences in a batch",
        group="Heads and projections",
        help="How many sentences each step learns from.",
    )
    projection_bias: bool = switch(
        False, label="Biases b_Q, b_K, b_V, b_O", group="Heads and projections", help="Added after each projection."
    )
    tied: bool = switch(
        False,
        label="W_K = W_Q",
        group="Heads and projections",
        help="Queries and keys from one matrix: in self-attention QKᵀ is symmetric.",
    )
    output_projection: bool = switch(
        True,
        label="W_O after the heads",
        group="Heads and projections",
        help="Mixes the heads. With several layers or a residual it is always there.",
    )

    @property
    def kv_heads(self) -> int:
        """The number of key/value heads."""
        return self.n_kv_heads or self.n_heads

    @property
    def group_size(self) -> int:
        """The number of query heads that share one key/value head; head h uses group h // group_size."""
        return self.n_heads // self.kv_heads

    def key_widths(self) -> tuple[int, ...]:
        """Return d_k of each key/value head; the last one given repeats."""
        return _repeated(self.d_k, self.kv_heads)

    def value_widths(self) -> tuple[int, ...]:
        """Return d_v of each key/value head; the last one given repeats."""
        return _repeated(self.d_v, self.kv_heads)

    def head_patterns(self) -> tuple[PatternName, ...]:
        """Return the pattern of each key/value head; the last one given repeats."""
        return _repeated(self.patterns, self.kv_heads)


def _repeated(items: Item | tuple[Item, ...], n: int) -> tuple[Item, ...]:
    one_each = items if isinstance(items, tuple) else (items,)
    return (one_each + (one_each[-1],) * n)[:n]
