"""The title of the line of a step, and the words for it: which sentence, and the facts that it names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.entries import Entry
from attnviz.engine.plan.formulas import letter_of
from attnviz.engine.plan.values import Value
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.engine.tables.biases import BIASES
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, translate

OWNERS = Words(
    {
        "one": " of head {head}",
        "shared": " of key/value head {head}, which heads {first} to {last} share",
    }
)
"""Whose matrix it is."""

VECTORS = {"queries": "query", "keys": "key", "values": "value"}
NUMBERS = {
    "scores": "score",
    "scaled": "scale",
    "capped": "softcap",
    "bias": "sink",
    "masked": "mask",
    "weights": "weight",
    "heads": "output",
}
"""The lines of a cell that have words of their own, by the step that they end in."""


@dataclass(frozen=True)
class Said:
    """The name of a line, the words for it in LINES, and what they name."""

    name: str
    words: str
    facts: dict[str, object] = field(default_factory=dict)


def said(at: Entry, value: Value, made: Value | None) -> Said:
    """Return what is said of a step, made of something or given; a value without a name is the score and its bias."""
    name, kind = value.name, VECTORS.get(value.name.rpartition("_")[2], NUMBERS.get(value.name, ""))
    if made is None:
        return Said(kind, f"given_{kind}")
    if not name:
        return _of_bias(at)
    if not kind:  # a step that has no words of its own here
        meaning = at.position.steps[name].meaning
        return Said(name, "step", {"meaning": meaning, "step": name.replace("_", " ").capitalize()})
    if kind in VECTORS.values():
        return _of_vector(at, value, made, kind)
    if name in _WORDS:
        words, facts = _WORDS[name](at, made)
        return Said(kind, words, facts)
    return Said(kind, f"typed_{kind}" if kind in ("score", "weight") else kind)  # what goes on from the row's own lines


def _of_vector(at: Entry, value: Value, made: Value, kind: str) -> Said:
    """Return the words of a query, a key or a value: projected, normalised or rotated."""
    ops = ops_in(made)
    of_heads = "norm_of_heads" in ops
    before = "turned_" if "rope" in ops else "normed_" if "norm" in ops or of_heads else ""
    biases = [letter_of(weight) for weight in weights_in(made) if weight.name.startswith("b_")]
    size, head = at.position.config.group_size, at.index[value.axes[0]]
    which = "one" if value.axes[0] == "head" or size == 1 else "shared"
    owner = OWNERS[which].format(head=ordinal(head), first=ordinal(head * size), last=ordinal(head) * size)
    plus = "".join(translate(" plus {bias}", bias=bias) for bias in biases)
    by = at.position.plan.has.rotated_by
    words = f"{before}{kind}_of_heads" if of_heads else before + kind
    words = f"stretched_{kind}" if before == "turned_" and by != 1.0 else words
    facts: dict[str, object] = {"at": at.row(value), "plus": plus, "owner": owner, "by": at.to.format(by)}
    return Said(before + kind, words, facts)


def _of_scale(at: Entry, made: Value) -> tuple[str, dict[str, object]]:
    words = "scale_of_width" if at.position.scaled_by_width else "scale"
    return words, {"c": at.to.format(at.position.scale), "d": at.position.d_k}


def _of_cap(at: Entry, made: Value) -> tuple[str, dict[str, object]]:
    return "softcap_off" if made.name else "softcap", {"cap": at.to.format(at.position.config.softcap)}


def _of_mask(at: Entry, made: Value) -> tuple[str, dict[str, object]]:
    position = at.position
    opened = "opened" if position.forbidden_by else "mask"
    return "forbidden" if np.isneginf(at.number(made)) else opened, {"why": position.why}


_WORDS = {"scaled": _of_scale, "capped": _of_cap, "masked": _of_mask}


def _of_bias(at: Entry) -> Said:
    if "sinks" in at.position.steps:
        return Said("bias", "bias_of_sink")
    bias, expected = float(at.position.at("bias")), _bias_of_settings(at.position)
    facts: dict[str, object] = {"bias": at.to.format(bias), "expected": at.to.format(expected)}
    return Said("bias", "bias" if bias == expected else "bias_edited", facts)


def _bias_of_settings(position: CellPosition) -> float:
    if "bias" in position.plan and position.plan["bias"].args:  # a line of its own says what it is made of
        return float(position.at("bias"))
    row = BIASES[position.config.bias]
    shape = position.steps["scores"].shape
    facts = facts_of(position.config)
    if facts.buckets is None:
        B = row.fn(*shape, **row.settings(position.config))
    else:
        B = facts.bias(shape[-2], shape[-1] - shape[-2])  # of a decoder the columns of the first text come before
    return 0.0 if B is None else float(np.broadcast_to(B, shape)[position.head, position.query, position.key])


def weights_in(value: Value) -> Iterator[Value]:
    """Yield the matrices, biases and gains that a value is made of."""
    return (each for each in _all(value) if each.op == "weight")


def ops_in(value: Value) -> set[str]:
    """Return the operations that a value is made of."""
    return {each.op for each in _all(value)}


def _all(value: Value) -> Iterator[Value]:
    """Yield a value and all that it is made of up to what has a name."""
    yield value
    if not value.name:
        for arg in value.args:
            yield from _all(arg)
