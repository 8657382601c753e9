"""Any step of a run as a picture, and the three that stand side by side: scores, weights and outputs of every head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.external.traces import are_shares, first_steps, forbidden
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Step, Trace, holds
from attnviz.engine.records.typed_rows import normaliser_of, score_of
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinal, ordinals
from attnviz.settings.language import Words
from attnviz.text import captions
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import plain
from attnviz.text.goal_label import goal_labels

SIDE_BY_SIDE = ("scores", "weights", "heads")

TITLES = Words({"product": "QKᵀ", "scores": "Scores", "weights": "Weights", "heads": "Outputs"})
PHRASES = Words(
    {
        "scores": "how well each query matches each key",
        "weights": "how much each query attends to each key",
        "not_shares": "the weight of each key for each query",
        "columns": "the wrong way: each column adds to 1",
        "heads": "the values, mixed by those weights",
        "mixed": "weights × values",
        "given": "as given",
    }
)
HEAD_NAMES = Words({"head": "head {}", "kv_head": "key/value head {}"})


def side_by_side(trace: Trace, layer: int) -> tuple[Stage, ...]:
    """Return scores, weights and outputs of a layer, those it has; forbidden cells are masked in the first two."""
    config, steps = trace.config, trace.layers[layer]
    first = first_steps(steps)
    product = score_of(config).is_dot and "scores" not in first
    shown = {
        "scores": (TITLES["product" if product else "scores"], PHRASES["scores"], score_of(config).plain),
        "weights": (TITLES["weights"], _weights_phrase(trace, layer), weights_formula(config)),
        "heads": (TITLES["heads"], PHRASES["heads"], PHRASES["mixed"]),
    }
    words = {name: (*words_of[:2], PHRASES["given"]) if name in first else words_of for name, words_of in shown.items()}
    return tuple(stage(trace, steps[name], *words_of) for name, words_of in words.items() if name in steps)


def stage(trace: Trace, step: Step, title: str, phrase: str = "", formula: str = "") -> Stage:
    """Return a step of any shape as a picture: heads side by side, or one map; a vector is a map with one row."""
    by_head = step.axes[0] in HEAD_NAMES
    array = step.array if by_head else step.array[None]
    array = array if array.ndim == 3 else array[:, None, :]
    axes = step.axes[by_head:]
    rows = axes[0] if len(axes) == 2 else ""
    masked = _masked(trace, step, array.shape)
    return Stage(
        name=step.name,
        title=title,
        array=array,
        kind=step.kind,
        rows=_names(trace, rows, array.shape[1]) or [str(n) for n in ordinals(array.shape[1])],
        columns=_names(trace, axes[-1], array.shape[2]),
        axes=(rows or "row", axes[-1]),
        masked=masked,
        widths=step.widths,
        heads=_head_names(trace, step) if by_head else [""],
        phrase=phrase,
        formula=formula,
        alt=_alt(trace, step) or title,
        edited=_edited(trace, step),
    )


def _edited(trace: Trace, step: Step) -> tuple[tuple[int, int, int], ...]:
    """Return head, row and column of the numbers of this step that were changed by hand."""
    layer = _layer_of(trace, step)
    if layer is None and trace.around.get(step.name) is not step:
        return ()
    positions = [edit[2] for edit in trace.edits if edit[1] == step.name and edit[0] == layer]
    if step.axes[0] in HEAD_NAMES:
        return tuple((position[0], position[1] if len(position) > 2 else 0, position[-1]) for position in positions)
    return tuple((0, position[0] if len(position) > 1 else 0, position[-1]) for position in positions)


def head_name(trace: Trace, step: Step, head: int) -> str:
    """Return a head of a step by its number, which counts from 0 here."""
    is_per_head = step.shape[0] == trace.config.n_heads  # then its keys and values are each head's own
    return HEAD_NAMES["head" if is_per_head else step.axes[0]].format(ordinal(head))


def _head_names(trace: Trace, step: Step) -> list[str]:
    """Return the heads by number, and in a map of queries against keys by what they were made for, if they were.

    Keys and values that several heads share have a head of their own; others belong to a head like all else.
    """
    names = [head_name(trace, step, h) for h in range(step.shape[0])]
    if step.axes[-2:] != ("query", "key"):
        return names
    made_for = goal_labels(trace, _layer_of(trace, step))
    return [f"{name} · {label}" for name, label in zip(names, made_for)] or names


def _names(trace: Trace, axis: str, size: int) -> Sequence[str] | None:
    """Return the words along an axis of tokens; None along an axis that is merely counted."""
    return {"query": trace.query_tokens, "key": trace.key_tokens, "": ("",) * size}.get(axis)


def _masked(trace: Trace, step: Step, shape: tuple[int, ...]) -> Array | None:
    """Return a mask of the cells that stay empty: those that a query may not attend to, and those at minus infinity."""
    if step.axes[-2:] != ("query", "key") or step.kind == "allowed":
        return None
    return np.broadcast_to(forbidden(trace.layers[_layer_of(trace, step) or 0]), shape)


def _layer_of(trace: Trace, step: Step) -> int | None:
    """Return the layer that recorded the step; None for a step around the layers."""
    return next((i for i, steps in enumerate(trace.layers) if holds(steps, step)), None)


def _alt(trace: Trace, step: Step) -> str:
    """Return the picture in words, with its largest number; nothing for a step that the run itself did not record."""
    layer = _layer_of(trace, step)
    known = layer is not None or trace.around.get(step.name) is step
    return localised(plain(captions.alt(trace, layer or 0, step.name))) if known else ""


def _weights_phrase(trace: Trace, layer: int) -> str:
    if trace.config.normalise_over == "queries":
        return PHRASES["columns"]
    return PHRASES["weights" if are_shares(trace, layer) else "not_shares"]


def weights_formula(config: Config) -> str:
    """Return the formula from the scores S to the weights, in one line of plain text.

    >>> weights_formula(Config())
    'softmax(S / √d_k)'
    >>> weights_formula(Config(score="dot", softcap=5.0, bias="alibi", temperature=0.5))
    'softmax((cap₅(S) + bias) / 0.5)'
    """
    of = weights_formula_facts(config)
    inner = "S / √d_k" if of["is_over_root"] else "S"
    if of["scale"] is not None:
        inner = f"{of['scale']:g} S"
    cap = f"{of['softcap']:g}".translate(SUBSCRIPT)
    inner = f"cap{cap}({inner})" if of["softcap"] else inner
    if of["has_bias"]:
        inner += " + bias"
    if of["temperature"] != 1.0:
        inner = f"{inner if inner == 'S' else f'({inner})'} / {of['temperature']:g}"
    return f"{of['normaliser']}({inner})"


def weights_formula_facts(config: Config) -> dict[str, Any]:
    """Return what that formula is made of; `weights_formula.js` writes it while one of its numbers is held."""
    return {
        "normaliser": normaliser_of(config).plain,
        "is_over_root": score_of(config).is_over_root,
        "has_bias": config.bias != "none",
        "scale": config.scale,
        "softcap": config.softcap,
        "temperature": config.temperature,
    }


SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
