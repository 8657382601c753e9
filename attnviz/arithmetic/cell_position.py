"""The position of a cell in a run, with the numbers of the trace that belong to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.external.layer_plans import chosen_in, inputs_of, plan_of_layer
from attnviz.engine.external.traces import first_steps
from attnviz.engine.plan.chosen import Chosen
from attnviz.engine.plan.tracing import Plan
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.engine.pretrained.read_text import read_text
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.records.typed_rows import score_of
from attnviz.engine.tables.masks import MASKS, allowed, settings_of
from attnviz.engine.tables.normalisers.hardmax import size_of_terms
from attnviz.engine.tables.tokenisers import PAD
from attnviz.settings.language import Words, sign, translate

WHY = Words(
    {
        "mask": "the mask {labels} forbids it",
        "masks": "the masks {labels} forbid it",
        "window": "this layer of the model attends to the last {n} tokens only",
        "own": "this layer of the decoder attends to its own text only",
        "other": "this layer of the decoder attends to the first text only",
        "edited": "the mask was edited, the settings would allow it",
        "bias": "minus infinity was added to its score",
        "score": "its score is minus infinity",
    }
)
"""Why a query may not attend to a key."""

QUOTED, AND = "“{label}”", " and "


@dataclass(frozen=True, eq=False)
class CellPosition:
    """One cell of one head of one layer; all indices count from 0.

    Raises ValueError if the trace has no such cell.
    """

    trace: Trace
    layer: int
    head: int
    query: int
    key: int

    def __post_init__(self) -> None:
        limits = {
            "layer": len(self.trace.layers),
            "head": self.config.n_heads,
            "query": len(self.trace.query_tokens),
            "key": len(self.trace.key_tokens),
        }
        for name, n in limits.items():
            if not 0 <= getattr(self, name) < n:
                raise ValueError(f"{name} is {getattr(self, name)}; there are {n}, choose 0 to {n - 1}")

    @property
    def config(self) -> Config:
        return self.trace.config

    @property
    def steps(self) -> Mapping[str, Step]:
        return self.trace.layers[self.layer]

    @property
    def kv_head(self) -> int:
        """The key/value head that this head uses."""
        return self.head // self.config.group_size

    @property
    def d_k(self) -> int:
        return self.config.key_widths()[self.kv_head]

    @property
    def d_v(self) -> int:
        return self.config.value_widths()[self.kv_head]

    @cached_property
    def plan(self) -> Plan:
        return plan_of_layer(self.trace, self.layer)

    @cached_property
    def chosen(self) -> Chosen:
        return chosen_in(self.trace, self.layer)

    @property
    def index(self) -> Mapping[str, int]:
        """The index of this cell along each axis of a step that it has one on."""
        return {"head": self.head, "kv_head": self.kv_head, "query": self.query, "key": self.key}

    @cached_property
    def read(self) -> Mapping[str, Step]:
        """The steps of the layer, and those that it reads by their names in its plan."""
        steps: dict[int | None, Mapping[str, Step]] = {None: self.trace.around, **dict(enumerate(self.trace.layers))}
        inputs = inputs_of(self.trace, self.layer).items()
        return {**self.steps, **{name: steps[at][step] for name, (at, step) in inputs if step in steps[at]}}

    @property
    def scale(self) -> float:
        """The factor on the scores of this head."""
        scales = np.ravel(self.chosen.scale)
        return float(scales[self.head % len(scales)])

    @property
    def scaled_by_width(self) -> bool:
        return self.config.scale is None and score_of(self.config).is_over_root

    def at(self, name: str) -> Array:
        """Return the number of a score-side step in this cell."""
        return self.steps[name].array[self.head, self.query, self.key]

    @property
    def over_keys(self) -> bool:
        return self.config.normalise_over == "keys"

    @property
    def scores_to_normalise(self) -> Array:
        """The masked scores that are normalised together: the row of the query, or the column of the key."""
        masked = self.steps["masked"].array[self.head]
        return masked[self.query] if self.over_keys else masked[:, self.key]

    @property
    def size_of_terms(self) -> float:
        """The size of the numbers whose sums the scores of the head are; 0 where queries and keys are not known."""
        if "queries" not in self.steps:
            return 0.0
        Q, K = self.steps["queries"].array[self.head], self.steps["keys"].array[self.kv_head]
        return size_of_terms(Q, K, self.scale).item()

    @property
    def line_tokens(self) -> tuple[str, ...]:
        return self.trace.key_tokens if self.over_keys else self.trace.query_tokens

    @property
    def emptied(self) -> bool:
        """True if nothing that is normalised together may be attended to."""
        return "masked" in self.steps and bool(np.isneginf(self.scores_to_normalise).all())

    @property
    def may(self) -> bool:
        """True if the query may attend to the key, in this run."""
        return bool(self.keys_allowed[self.key]) and not self.closed

    @property
    def keys_allowed(self) -> Array:
        """Return for each key whether the mask lets the query attend to it in this head."""
        if "allowed" not in self.steps:
            return np.ones(len(self.trace.key_tokens), dtype=bool)
        return self.steps["allowed"].head(self.head)[self.query]

    @property
    def closed(self) -> bool:
        """True if the score of this cell was given as minus infinity."""
        return "scores" in first_steps(self.steps) and bool(np.isneginf(self.at("scores")))

    @property
    def forbidden_by(self) -> tuple[str, ...]:
        """The masks of the settings that do not allow it."""
        words, key = (self.trace.query_tokens, self.trace.key_tokens), self.key
        masks: tuple[str, ...] = tuple(self.config.mask)
        read = read_text(self.config, self.layer, *words)
        if read is not None:
            if not read.holds(key):
                return ()
            words, masks, key = (words[0], read.tokens), read.masks, key - read.start
        pad = np.array([token == PAD for token in words[1]], dtype=bool)
        n_query = len(words[0])
        shape = self.config.n_heads, n_query, len(pad)
        each = {name: allowed((name,), n_query, pad, {name: settings_of(self.config, name, words)}) for name in masks}
        at = self.head, self.query, key
        return tuple(name for name, may in each.items() if not np.broadcast_to(may, shape)[at])

    @property
    def why(self) -> str:
        """The reason why the query may not attend to the key, in words; only to be said where it may not."""
        if self.may or self.closed:
            return WHY["bias" if "bias" in self.steps and np.isneginf(self.at("bias")) else "score"]
        reach = facts_of(self.config).reach(self.layer)
        if not self.forbidden_by and reach is not None and self.query - self.key > reach:
            return WHY["window"].format(n=reach + 1)
        read = read_text(self.config, self.layer, self.trace.query_tokens, self.trace.key_tokens)
        if read is not None and not read.holds(self.key):
            return WHY["own" if read.is_own else "other"]
        *others, last = [translate(QUOTED, label=MASKS[name].label) for name in self.forbidden_by] or [""]
        labels = translate(AND).join([sign(", ").join(others), last] if others else [last])
        return WHY[("edited", "mask", "masks")[min(len(self.forbidden_by), 2)]].format(labels=labels)
