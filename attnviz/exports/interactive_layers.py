"""The layers of an interactive file: what is drawn of each, and its numbers in base64."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.records.trace import Step, Trace
from attnviz.exports.interactive_live import Live
from attnviz.exports.interactive_part import Part, kept
from attnviz.live.entries import trees_of_layer
from attnviz.pictures.colours import SIGNED
from attnviz.pictures.headings import end_of_scale, sum_up
from attnviz.pictures.stage_record import Stage
from attnviz.pictures.stages import side_by_side
from attnviz.pictures.static.text_metrics import drawable
from attnviz.settings.counting import ordinal
from attnviz.text.format.number_format import localised
from attnviz.text.head_sentences import what_heads_do


def layers(trace: Trace, part: Part) -> Iterator[dict[str, Any]]:
    """Yield what the script reads of each layer of a part."""
    for layer in part.layers:
        held = _rounded(trace, layer) if layer in part.rounded else _whole(trace, layer)
        yield held | {"number": ordinal(layer), "does": what_heads_do(trace, layer)}


def _whole(trace: Trace, layer: int) -> dict[str, Any]:
    """Return the stages of a layer, and every step that they and the arithmetic need, bit for bit."""
    return {
        "stages": [_stage(stage) for stage in side_by_side(trace, layer)],
        "steps": {step.name: _step(step) for step in kept(trace, layer)},
        "plan": trees_of_layer(trace, layer),
    }


def _rounded(trace: Trace, layer: int) -> dict[str, Any]:
    """Return a layer with its weights alone, and where they are masked."""
    steps = trace.layers[layer]
    held = {"weights": _rounded_step(steps["weights"])}
    if "masked" in steps:
        closed = np.packbits(np.isneginf(steps["masked"].array), bitorder="little")
        held["masked"] = {"shape": list(steps["masked"].shape), "form": "closed", "base64": _base64(closed)}
    return {
        "stages": [_stage(stage) for stage in side_by_side(trace, layer) if stage.name == "weights"],
        "steps": held,
    }


def movable(moved: Live) -> dict[str, Any]:
    """Return what may be moved as the script reads it; the lines of the rows stand in the script itself."""
    arrays = {name: _exact(array) for name, array in moved.arrays.items()}
    return {"program": moved.program, "knobs": moved.knobs, "formula": moved.formula, "arrays": arrays}


def _step(step: Step) -> dict[str, Any]:
    return _exact(step.array)


def _exact(array: Array) -> dict[str, Any]:
    """Return numbers as float64 in base64, little end first."""
    return {"shape": list(array.shape), "form": "exact", "base64": _base64(np.ascontiguousarray(array, "<f8"))}


@np.errstate(all="ignore")
def _rounded_step(step: Step) -> dict[str, Any]:
    """Return a step rounded to three decimal digits, as float16 times a power of two.

    Eleven binary digits hold three decimal ones: written with three, a number is the one that was rounded. Numbers
    below `least`, which has three digits itself, have fewer, and none but 0 becomes 0.
    """
    A = step.array
    size = np.abs(A)
    largest = size.max(initial=0.0, where=np.isfinite(A))
    power = min(15 - int(np.frexp(largest)[1]), 1000)  # two to the power of its negative is above 0 in the script too
    normal = np.ldexp(1.0, -14 - power)
    unit = 10.0 ** (np.floor(np.log10(normal)) - 2.0)
    least = np.ceil(normal / unit) * unit
    digits = 10.0 ** (2.0 - np.floor(np.log10(size)))
    is_written = (size >= normal / 2) & np.isfinite(A) & np.isfinite(digits)
    halves = np.ldexp(np.where(is_written, np.rint(A * digits) / digits, A), power).astype("<f2")
    lost = (halves == 0.0) & (A != 0.0)
    halves[lost] = np.copysign(np.float16(2.0**-24), A[lost])
    shape = list(step.shape)
    return {"shape": shape, "form": "rounded", "base64": _base64(halves), "power": power, "least": float(least)}


def _base64(array: Array) -> str:
    return base64.b64encode(array.tobytes()).decode()


def _stage(stage: Stage) -> dict[str, Any]:
    shades = stage.scale
    signed = shades.colours is SIGNED
    return {
        "name": stage.name,
        "title": stage.title,
        "phrase": stage.phrase,
        "formula": sum_up(stage),
        "alt": drawable(stage.alt),
        "heads": list(stage.names),
        "widths": list(stage.true_widths),
        "worded": stage.columns is not None,
        "masked": stage.masked is not None and bool(stage.masked.any()),
        "scale": {
            "low": shades.low,
            "high": shades.high,
            "colours": list(shades.colours),
            "said": [localised(end_of_scale(end, signed)) for end in (shades.low, shades.high)],
        },
    }
