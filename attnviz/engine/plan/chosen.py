"""The rows and the numbers that a setting chooses: what the operations of a plan ask when they compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Protocol

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.plan.experts import Experts
from attnviz.engine.plan.values import Value
from attnviz.engine.records.config import Config
from attnviz.engine.records.typed_rows import learned_bias, normaliser_of, score_of
from attnviz.engine.tables.blocks import FEED_FORWARDS, NORMS, FeedForward, Norm
from attnviz.engine.tables.normalisers import Normaliser
from attnviz.engine.tables.positions import POSITIONS
from attnviz.engine.tables.scores import Score

RESTING = {each.name for each in fields(Config) if each.default == 1.0}
"""The settings that are 1 to begin with."""


class Map(Protocol):
    """Anything that turns an array into another and may know the way back, as rows of tables do."""

    @property
    def back(self) -> Callable[..., Any] | None: ...


def rule_back(row: Map) -> Callable[..., Any]:
    """Return the rule that carries slopes back through a row's function; raises ValueError if the row has none."""
    if row.back is None:
        name = getattr(row, "name", "this row")
        raise ValueError(f"{name} has no way back; give its row a `back`, as those of the table that it is in")
    return row.back


@dataclass(frozen=True)
class Turn:
    """The rotation of queries or keys by their positions; `back` carries slopes the other way.

    frequencies  the angle a position of each pair (i, i + half) of a trained model; None for neighbours
    """

    fn: Callable[[Array], Array]
    back: Callable[[Array], Array]
    frequencies: Array | None = None


@dataclass(frozen=True)
class Chosen:
    """The rows and numbers of one layer.

    scale         the factor on the scores, one number or one for each head, (H, 1, 1)
    group         how many heads of queries share one of keys and values
    key_widths    the true width of queries and keys of each head of queries; None where all are equal
    value_widths  the same of the values
    bias          the typed bias, where it has learned numbers
    params        parameters of the score that are no steps of the plan
    """

    score: Score
    normaliser: Normaliser
    scale: float | Array
    softcap: float = 0.0
    temperature: float = 1.0
    over: str = "keys"
    group: int = 1
    key_widths: tuple[int, ...] | None = None
    value_widths: tuple[int, ...] | None = None
    norm: Norm = NORMS["none"]
    activation: FeedForward = FEED_FORWARDS["none"]
    turn: Turn | None = None
    experts: Experts | None = None
    bias: Score | None = None
    params: Mapping[str, Array] = field(default_factory=dict)

    @property
    def frequencies(self) -> Array | None:
        """The angle a position of each pair of columns that a trained model rotates."""
        return None if self.turn is None else self.turn.frequencies


def chosen_by(config: Config) -> Chosen:
    """Return the rows and numbers that a setting chooses."""
    score, position, group = score_of(config), POSITIONS[config.position], config.group_size
    widths, values = (
        tuple(d for d in each for _ in range(group)) for each in (config.key_widths(), config.value_widths())
    )
    scales = [score.scale(d) if config.scale is None else config.scale for d in widths]
    turn = None
    if position.rotate and position.back:
        knobs = position.settings(config)
        turn = Turn(partial(position.rotate, **knobs), partial(position.back, **knobs))
    return Chosen(
        score=score,
        normaliser=normaliser_of(config),
        scale=np.array(scales)[:, None, None],
        softcap=config.softcap,
        temperature=config.temperature,
        over=config.normalise_over,
        group=group,
        key_widths=widths,
        value_widths=values,
        norm=NORMS[config.norm],
        activation=FEED_FORWARDS[config.feed_forward],
        turn=turn,
        bias=learned_bias(config),
    )


def at_rest(factor: Value, config: Config) -> bool:
    """Return whether a factor is a number of the setting that is 1, as it is to begin with: nothing names it then."""
    return factor.op == "setting" and factor.name in RESTING and is_at_rest(factor.name, config)


def resting(config: Config) -> frozenset[str]:
    """Return the numbers of a setting that are 1, as they are to begin with."""
    return frozenset(name for name in RESTING if is_at_rest(name, config))


def is_at_rest(name: str, config: Config) -> bool:
    """Return whether a number that begins as 1 is 1 in a setting."""
    return bool(getattr(config, name) == 1.0)
