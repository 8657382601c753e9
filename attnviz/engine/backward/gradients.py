r"""`gradients`: how fast a result moves with every number of a run.

A trace keeps all that a run computed, so no tape is needed: the recorded steps are walked from the last to the first.

dL/d(number) is the slope of *What if*: how fast L moves when that one recorded number is changed by an edit and all
that follows is computed again. So it is settled what it is where steps are shared, tied, set by hand or changed.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.backward.accumulated_slopes import Slopes
from attnviz.engine.backward.layer import LayerBack
from attnviz.engine.external.layer_plans import LayerStep
from attnviz.engine.external.traces import is_external
from attnviz.engine.pretrained.pretrained_config import is_pretrained
from attnviz.engine.records.trace import Step, Trace
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import translate

FORMULAS = {
    "concat": r"\frac{\partial L}{\partial Y}\, W_O^\top",
    "heads": r"\frac{\partial L}{\partial C_h}",
    "values": r"A_h^\top \frac{\partial L}{\partial Z_h}",
    "weights": r"\frac{\partial L}{\partial Z_h}\, V_h^\top",
    "capped": r"\frac{\partial L}{\partial \hat S} \text{ where allowed}",
    "bias": r"\frac{\partial L}{\partial \hat S} \text{ where allowed}",
    "scores": r"c_h\, \frac{\partial L}{\partial S'_h}",
    "w_q": r"X^\top \frac{\partial L}{\partial Q_h}",
    "w_k": r"X^\top \frac{\partial L}{\partial K_h}",
    "w_v": r"X^\top \frac{\partial L}{\partial V_h}",
    "w_o": r"C^\top \frac{\partial L}{\partial Y}",
}
"""The formula of a step's slopes, where one line holds in every setting."""


@dataclass(frozen=True)
class Gradients(Trace):
    """dL/d(step) for every step of a run, under the same names and with the same axes as in its trace."""

    def __repr__(self) -> str:
        return f"<Gradients of {len(self.layers)} layers; {', '.join([*self.around, *self.layers[-1]])}>"


Targets = Mapping[LayerStep, Any] | Mapping[tuple[int, str], Any] | Mapping[tuple[None, str], Any]
"""Steps that a result is made from; the key of a mapping is of one type to a checker, so each is named."""


def gradients(trace: Trace, of: Targets) -> Gradients:
    r"""Return dL/d(step) for every recorded step of a run.

    trace  what `run` returned
    of     L, as its own slopes: {(layer, step): array of the step's shape} means that L is the sum of all entries of
           array * step. The layer is None for the steps around the layers, and for "output", the last layer's result.

    A number is the slope of *What if*: of L against what `run(config, edits=[(layer, step, index, value)])` sets there.
    It is 0 on a kink, before a forbidden cell, in padding, and for what nothing reads, such as "embedded_kv" in
    self-attention. A number that was changed by hand has a slope, and hands none back.

    Raises ConfigError for a step that is not there, an array of another shape, and numbers that are not finite.

    >>> from attnviz import Config, run
    >>> trace = run(Config(sentence="the cat sat", n_heads=2))
    >>> slopes = gradients(trace, {(0, "weights"): np.ones((2, 3, 3))})
    >>> bool(abs(slopes["scores"].array).max() < 1e-15)  # every row of weights adds to 1, whatever the scores
    True
    """
    if not isinstance(trace, Trace) or isinstance(trace, Gradients):
        raise ConfigError(translate("gradients takes what run returned, not {given}", given=f"{trace!r:.60}"))
    if is_external(trace):
        raise ConfigError(translate("gradients needs a run from a sentence; these numbers were uploaded"))
    slopes = walk(trace, _checked(trace, of))
    around = {name: _step(step, slopes[None, name]) for name, step in trace.around.items()}
    layers = tuple(
        {name: _step(step, slopes[i, name]) for name, step in layer.items()} for i, layer in enumerate(trace.layers)
    )
    result = layers[-1][trace.result.name]
    what = trace.notes, trace.edits, trace.given, trace.given_in
    return Gradients(trace.config, trace.query_tokens, trace.key_tokens, around, layers, result, *what)


@np.errstate(all="ignore")
def walk(trace: Trace, seeds: Mapping[LayerStep, Array]) -> dict[LayerStep, Array]:
    """Return dL/d(step) for every step of a run, from the slopes that L itself has in some steps."""
    slopes = Slopes(trace, seeds)
    for i in reversed(range(len(trace.layers))):
        LayerBack(trace, slopes, i).walk()
    if is_pretrained(trace):
        LayerBack(trace, slopes, None).walk()
    else:
        _to_embeddings(trace, slopes)
    by_step = {at: slopes.of(at) for at in slopes.steps}
    return {at: np.zeros(slopes.steps[at].shape) if G is None else G for at, G in by_step.items()}


def _to_embeddings(trace: Trace, slopes: Slopes) -> None:
    """Hand the slopes of what the first layer reads on to what that is the sum of."""
    for suffix in ("", "_kv") if trace.config.is_cross_attention else ("",):
        G = slopes.through((None, f"embedded{suffix}"))
        if G is not None:
            slopes.add((None, f"token_embeddings{suffix}"), G)
            slopes.add((None, f"positions{suffix}"), G)


def _step(step: Step, G: Array) -> Step:
    array = G.view()
    array.flags.writeable = False
    symbol = rf"\partial L / \partial {step.symbol}"
    meaning = translate("how fast L moves with each number of this step")
    formula = FORMULAS.get(step.name, symbol)
    return Step(step.name, array, symbol, step.axes, "signed", formula, meaning, step.true_widths, step.words)


def _checked(trace: Trace, of: Any) -> dict[LayerStep, Array]:
    """Return the slopes of L by their positions; raises ConfigError for what is none."""
    if not isinstance(of, Mapping):
        raise ConfigError(translate("L is {given}; give {{(layer, step): array}}", given=f"{of!r:.60}"))
    seeds: dict[LayerStep, Array] = {}
    for position, slope in of.items():
        at = _layer_step(trace, position)
        shape = (trace.around if at[0] is None else trace.layers[at[0]])[at[1]].shape
        try:
            array = np.array(slope, dtype=float)
        except (TypeError, ValueError):
            raise ConfigError(translate("L in {name} is not an array of numbers", name=at[1])) from None
        if array.shape != shape:
            text = translate(
                "L in {name} has shape {shape}; give {needed}", name=at[1], shape=array.shape, needed=shape
            )
            raise ConfigError(text)
        if not np.isfinite(array).all():
            raise ConfigError(translate("L in {name} holds NaN or infinity; give finite numbers", name=at[1]))
        seeds[at] = seeds[at] + array if at in seeds else array
    return seeds


def _layer_step(trace: Trace, position: Any) -> LayerStep:
    try:
        layer, name = position
        layer = None if layer is None else operator.index(layer)
    except (TypeError, ValueError):
        text = translate("L names {given}; give (layer, step), the layer counted from 0", given=shorten(str(position)))
        raise ConfigError(text) from None
    if layer is None and name == "output":
        layer, name = len(trace.layers) - 1, trace.result.name
    if layer is not None and not 0 <= layer < len(trace.layers):
        text = translate("L names layer {n}; the layers are 0 to {last}", n=layer, last=len(trace.layers) - 1)
        raise ConfigError(text)
    steps = trace.around if layer is None else trace.layers[layer]
    if not isinstance(name, str) or name not in steps:
        quoted, listed = shorten(str(name)), ", ".join(steps)
        raise ConfigError(
            translate("L names {given}, which is not a step there; choose one of: {names}", given=quoted, names=listed)
        )
    return layer, name
