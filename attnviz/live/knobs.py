"""The numbers of the setting that a hand may move while a program computes what follows from them."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator
from typing import Any

import numpy as np

from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of
from attnviz.settings.fields import settings
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

FACTOR = 20.0
"""How many times its value a number above 0 may become, and how small a part of it."""


def knobs_of(trace: Trace, values: Data, read: Container[str]) -> Iterator[Data]:
    """Yield the numbers of the setting that may be moved, each with the ends of its slider and of what may be typed.

    values  those of the program;  read  the names of those that something reads
    """
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
        value = each[0].item()
        low, high = _ends(kind, value, most)
        knob = {"name": name, "label": translate(item.metadata["label"]), "value": value, "low": low, "high": high}
        yield knob | {"whole": kind.integer, "least": kind.low, "most": kind.high}


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
