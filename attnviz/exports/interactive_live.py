"""The numbers that a hand may move in an interactive file, and the program that computes there what follows.

The program is that of `attnviz.live`, without the steps that nothing in the file shows: what it reads of the run
beyond the numbers that the file draws is sent along.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.external.traces import is_external
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of
from attnviz.exports.interactive_part import EXACT, Part, kept
from attnviz.live.program import Data, arrays_of, key, program_of
from attnviz.settings.fields import settings
from attnviz.settings.kinds import Number
from attnviz.settings.language import translate

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

HELD = ("scores", "allowed", "weights", "heads")
"""The steps whose single numbers may be held."""

MOST_MORE = 4_000_000
"""Characters of numbers that a file holds for the sake of what may be moved; with more, it stays as it was saved."""

FACTOR = 20.0
"""How many times its value a number above 0 may become, and how small a part of it."""


@dataclass(frozen=True)
class Live:
    """A program, the lines of its rows as JavaScript, the numbers that may be moved, and what else it reads."""

    program: Data
    lines: Mapping[str, str]
    knobs: list[Data] = field(default_factory=list)
    arrays: Mapping[str, Array] = field(default_factory=dict)


def live(trace: Trace, part: Part) -> Live | None:
    """Return what may be moved; None where numbers were uploaded, layers are missing, or it reads too much."""
    if is_external(trace) or part.whole != tuple(range(len(trace.layers))):
        return None
    program = program_of(trace)
    values: Data = program["settings"]
    lines = {name: value for name, value in values.items() if isinstance(value, str)}
    drawn = {key((layer, step.name)) for layer in part.whole for step in kept(trace, layer)}
    steps, read = _needed(program["steps"], drawn)
    arrays = arrays_of(trace, read)
    if sum(array.size for array in arrays.values()) * EXACT > MOST_MORE:
        return None
    knobs = list(_knobs(trace, values, {name for step in steps for name in _settings_of(step["made"])}))
    numbers = {name: value for name, value in values.items() if name not in lines}
    edits = [edit | {"value": _as_text(edit["value"])} for edit in program["edits"]]
    return Live(program | {"steps": steps, "settings": numbers, "edits": edits}, lines, knobs, arrays)


def _as_text(value: float) -> str:
    """Return a number as JavaScript reads it, which JSON has no way to write where it is not finite.

    >>> _as_text(0.1), _as_text(-math.inf), _as_text(math.nan)
    ('0.1', '-Infinity', 'NaN')
    """
    if math.isfinite(value):
        return repr(float(value))
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _needed(steps: list[Data], drawn: set[str]) -> tuple[list[Data], set[str]]:
    """Return the steps that follow from what may be moved and lead to what is drawn, with what they are made of.

    Beside them the names of those that are neither drawn nor computed there, so that they have to be sent.
    """
    changed: set[str] = set()
    for step in steps:
        name, made = step["name"], step["made"]
        reads_changed = made and (changed & {*_names(made)} or {*MOVED} & {*_settings_of(made)})
        if name.partition(".")[0] in HELD or reads_changed:
            changed.add(name)
    needed, sent = drawn & changed, set[str]()
    for step in reversed(steps):
        name, made = step["name"], step["made"]
        if name not in needed or (name in drawn and name not in changed):
            continue
        if made is None:
            sent |= {name} - drawn
        else:
            needed |= {*_names(made)}
    return [step for step in steps if step["name"] in needed], sent


def _names(made: Data) -> Iterator[str]:
    """Yield the names of the steps that a value is made of."""
    if made["op"] == "step":
        yield made["name"]
    for arg in made["args"]:
        yield from _names(arg)


def _settings_of(made: Data | None) -> Iterator[str]:
    """Yield the names of the numbers and lines of the setting that a value reads."""
    if made is None:
        return
    if made["op"] == "setting":
        yield made["name"]
    yield from made.get("settings", ())
    for arg in made["args"]:
        yield from _settings_of(arg)


def _knobs(trace: Trace, values: Data, read: set[str]) -> Iterator[Data]:
    """Yield the numbers of the setting that may be moved, each with the ends of its slider and of what may be typed."""
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
