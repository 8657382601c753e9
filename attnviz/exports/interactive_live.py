"""The numbers that a hand may move in an interactive file, and the program that computes there what follows.

The program is that of `attnviz.live`, without the steps that nothing in the file shows: what it reads of the run
beyond the numbers that the file draws is sent along.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from attnviz.arrays import Array
from attnviz.engine.external.traces import is_external
from attnviz.engine.records.trace import Trace
from attnviz.exports.interactive_part import EXACT, Part, kept
from attnviz.live.knobs import MOVED, as_text, knobs_of, settings_of
from attnviz.live.program import Data, arrays_of, key, program_of
from attnviz.pictures.stages import weights_formula_facts

HELD = ("scores", "allowed", "weights", "heads")
"""The steps whose single numbers may be held."""

MOST_MORE = 4_000_000
"""Characters of numbers that a file holds for the sake of what may be moved; with more, it stays as it was saved."""


@dataclass(frozen=True)
class Live:
    """A program, the lines of its rows as JavaScript, the numbers that may be moved, and what else it reads.

    formula  what that of the weights is made of, as `stages.weights_formula_facts` has it
    """

    program: Data
    lines: Mapping[str, str]
    knobs: list[Data] = field(default_factory=list)
    arrays: Mapping[str, Array] = field(default_factory=dict)
    formula: Mapping[str, Any] = field(default_factory=dict)


def live(trace: Trace, part: Part) -> Live | None:
    """Return what may be moved; None where numbers were uploaded, layers are missing, or it reads too much."""
    if is_external(trace) or part.whole != tuple(range(len(trace.layers))):
        return None
    program = program_of(trace)
    values: Data = program["settings"]
    lines = {name: value for name, value in values.items() if isinstance(value, str)}
    drawn = {key((layer, step.name)) for layer in part.whole for step in kept(trace, layer)}
    of_lines = {name for name, value in values.items() if "." in name and name not in lines}
    steps, read = _needed(program["steps"], drawn, {*MOVED, *of_lines})
    arrays = arrays_of(trace, read)
    if sum(array.size for array in arrays.values()) * EXACT > MOST_MORE:
        return None
    reads = {name for step in steps for name in settings_of(step["made"])}
    knobs = list(knobs_of(trace, values, reads))
    numbers = {name: value for name, value in values.items() if name not in lines}
    edits = [edit | {"value": as_text(edit["value"])} for edit in program["edits"]]
    program |= {"steps": steps, "settings": numbers, "edits": edits}
    return Live(program, lines, knobs, arrays, weights_formula_facts(trace.config))


def _needed(steps: list[Data], drawn: set[str], moved: set[str]) -> tuple[list[Data], set[str]]:
    """Return the steps that follow from what may be moved and lead to what is drawn, with what they are made of.

    Beside them the names of those that are neither drawn nor computed there, so that they have to be sent.
    """
    changed: set[str] = set()
    for step in steps:
        name, made = step["name"], step["made"]
        reads_changed = made and (changed & {*_names(made)} or moved & {*settings_of(made)})
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
