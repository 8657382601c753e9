"""The numbers of the setting that a hand may move while a program computes what follows from them."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator
from typing import Any

import numpy as np

from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.engine.tables.scores import SCORES
from attnviz.live.typed_numbers import numbers_of, typed_fields
from attnviz.settings.fields import relevant_fields, settings
from attnviz.settings.kinds import Number
from attnviz.settings.language import translate

Data = dict[str, Any]

MOVED = (
    "temperature",
    "scale",
    "softcap",
    "bias_slope",
    "reach",
    "dilation",
    "block_size",
    "prefix_length",
    "n_global",
)
"""The settings that are offered where the run reads them: those between the scores and the weights."""

SIZES = ("d_k", "d_v", "n_heads")
"""The settings that are lengths of axes: another number is another run, which no program computes."""

DIVISORS = ("softcap",)
"""Settings that are off at 0, which is another plan: where a run divides by them, another number than 0 may be set."""

LARGEST = 1e6
"""Of what a number in a typed line may be moved to."""

FACTOR = 20.0
"""How many times its value a number above 0 may become, and how small a part of it."""


def knobs_of(trace: Trace, values: Data, read: Container[str]) -> Iterator[Data]:
    """Yield the numbers of the setting that may be moved, each with the ends of its slider and of what may be typed.

    values  those of the program;  read  the names of those that something reads
    """
    yield from _fields(trace, values, read)
    yield from _of_rows(trace.config, values, read)
    yield from _typed(trace.config, read)


def sizes_of(config: Config) -> Iterator[Data]:
    """Yield the lengths of axes that a hand may change: what follows has to be asked for.

    >>> [(knob["name"], knob["value"]) for knob in sizes_of(Config(d_k=8, d_v=(3, 2)))]
    [('n_heads', 4), ('d_k', 8)]
    """
    live = relevant_fields(config)
    for item in settings(Config):
        value = getattr(config, item.name)
        each = {*value} if isinstance(value, tuple) else {value}
        if item.name in SIZES and item.name in live and len(each) == 1:  # heads of several widths have one each
            kind: Any = item.metadata["kind"]
            whole = Number(kind.low, kind.high, 1, integer=True)
            yield _knob(item.name, translate(item.metadata["label"]), each.pop(), whole, kind.high) | {"reruns": True}


def _fields(trace: Trace, values: Data, read: Container[str]) -> Iterator[Data]:
    """Yield the fields of the setting."""
    most = max(len(trace.query_tokens), len(trace.key_tokens))
    for item in settings(Config):
        kind, name = item.metadata["kind"], item.name
        if name not in MOVED or name not in read or not isinstance(kind, Number):
            continue
        if name == "temperature" and normaliser_of(trace.config).is_indifferent:
            continue
        each = np.unique(values[name])
        if len(each) > 1:  # heads of several widths have a scale each
            continue
        yield _knob(name, translate(item.metadata["label"]), each[0].item(), kind, most)


def _of_rows(config: Config, values: Data, read: Container[str]) -> Iterator[Data]:
    """Yield the numbers of the score and of the normaliser that belong to their rows, such as the α of entmax."""
    for row in (SCORES[config.score], NORMALISERS[config.normaliser]):
        for knob in row.knobs:
            name = f"{row.name}.{knob.name}"
            if name in read and isinstance(values[name], float | int):
                kind = Number(knob.low, knob.high, knob.step, False)
                yield _knob(name, knob.label, float(values[name]), kind) | {"low": knob.low, "high": knob.high}


def _typed(config: Config, read: Container[str]) -> Iterator[Data]:
    """Yield the numbers in lines that were typed, each with its `text` and what stands `before` it and `after` all."""
    for field in typed_fields(config):
        name = translate(next(item.metadata["label"] for item in settings(Config) if item.name == field))
        text, at = getattr(config, field), 0
        numbers = [number for number in numbers_of(text, field) if number.setting in read]
        for number in numbers:
            kind = Number(0, LARGEST, 1 if number.is_whole else 0.1, number.is_whole)
            written, is_last = text[number.start : number.end], number is numbers[-1]
            value = round(number.value) if number.is_whole else number.value
            knob = _knob(number.setting, f"{name}: {written}", value, kind, max(2 * round(number.value), 10))
            after = text[number.end :] if is_last else ""
            yield knob | {"line": field, "before": text[at : number.start], "text": written, "after": after}
            at = number.end


def _knob(name: str, label: str, value: float, kind: Number, most: int = 0) -> Data:
    low, high = _ends(kind, value, most)
    least = low if name in DIVISORS else kind.low
    ends = {"low": low, "high": high, "least": least, "most": kind.high}
    return {"name": name, "label": label, "value": value, "whole": kind.integer, **ends}


def settings_of(made: Data | None) -> Iterator[str]:
    """Yield the names of the numbers and lines of the setting that a value of a program reads."""
    if made is None:
        return
    if made["op"] == "setting":
        yield made["name"]
    yield from made.get("settings", ())
    for arg in made["args"]:
        yield from settings_of(arg)


def as_text(value: float) -> str:
    """Return a number as JavaScript reads it, which JSON has no way to write where it is not finite.

    >>> as_text(0.1), as_text(-math.inf), as_text(math.nan)
    ('0.1', '-Infinity', 'NaN')
    """
    if math.isfinite(value):
        return repr(float(value))
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _ends(kind: Number, value: float, most: int) -> tuple[float, float]:
    """Return from where to where a slider reaches: by factors where a number is above 0, so that it stands halfway.

    >>> _ends(Number(0.01, 100.0, 0.05, False), 1.0, 12), _ends(Number(0, 64, 1, True), 2, 12)
    ((0.05, 20.0), (0, 12))
    """
    if kind.integer:
        return kind.low, max(value, min(kind.high, most))
    if value > 0:
        return max(kind.low, value / FACTOR), min(kind.high, value * FACTOR)
    reach = math.fabs(value) or 1.0
    return max(kind.low, value - reach), min(kind.high, value + reach)
