"""Numbers that a handout would give away: what a question asks for, and a blank that is printed elsewhere.

A number of few digits stands in many positions by chance, so only those of three digits and more are followed by their
value; others by their position in the run alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from attnviz.arrays import Array
from attnviz.classroom.printed import blanks
from attnviz.classroom.question_kinds import resolve
from attnviz.engine.numerics import cancellation
from attnviz.engine.records.config import Config
from attnviz.engine.records.step_specs import STEPS
from attnviz.engine.records.trace import Step, Trace
from attnviz.lessons.lesson import Question
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import index_of
from attnviz.settings.language import Words
from attnviz.text.format.number_format import short

MIN_DIGITS = 3
"""Digits, without leading zeros, from which on a number is known by its value."""

NUMBER = re.compile(r"(?<![\w.,])[−-]?\d+(?:\.\d+)?(?:e[−+-]?\d+)?(?![\w]|\.\d)")
WORDS = Words({"left_out": "left out", "left_out_or_masked": "left out or masked"})
BLANK = "____"
ANYWHERE = len(STEPS)
"""The position of a text: after every step."""


def is_telling(number: str) -> bool:
    """Return whether a printed number is known by its value.

    >>> is_telling("0.8818"), is_telling("0.25"), is_telling("14"), is_telling("1.376e−18")
    (True, False, False, True)
    """
    return len(number.partition("e")[0].replace(".", "").strip("−-").lstrip("0")) >= MIN_DIGITS


def rank(name: str) -> int:
    """Return the rank of a step in the computation; what follows from the scores cell by cell ranks like the scores.

    What is read off the run of a language model ranks like the last step.
    """
    if name not in STEPS and name not in blanks.CHAIN:
        return ANYWHERE - 1
    return list(STEPS).index(blanks.CHAIN[0] if name in blanks.CHAIN else name)


@dataclass
class Printed:
    """The numbers of a handout without their signs.

    asked  what questions ask for, with the position from which on a step may not hold it
    seen   what stands on the handout, with the last position at which it does
    named  the cells that its texts name, of whichever size: the setting, the layer, the position, and where in the step
    """

    asked: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    named: set[tuple[Config, int, int, tuple[int, ...]]] = field(default_factory=set)

    def name(self, trace: Trace, step: str, numbers: str) -> None:
        """Note a cell that a text names, by its layer and position, counted from 1 and parted by points."""
        if step not in trace.around:
            layer, *at = (index_of(int(number)) for number in numbers.split(".")[1:])
            self.named.add((trace.config, layer, rank(step), tuple(at)))

    def note_question(
        self, question: Question, trace: Trace, baseline: Trace | None, number: Callable[[float], str]
    ) -> None:
        """Note what a question asks for."""
        try:
            resolved = resolve(question, trace, baseline, worked=False)
        except ValueError:
            return  # the handout says that it has no answer
        at = rank(resolved.hides) if resolved.hides else ANYWHERE
        values = [resolved.value] if resolved.form == "number" else []
        layer = index_of(question.at.get("layer", 1))
        weights = trace.layers[layer]["weights"]
        values += weights.array[blanks.questioned(trace, layer, weights, [question])].tolist()
        for text in (each for value in values for each in (number(value), short(value))):
            if is_telling(text):
                self.asked[_size(text)] = min(at, self.asked.get(_size(text), at))

    def is_asked(self, text: str, name: str) -> bool:
        """Return whether a number in a step is what a question asks for, and not one that its answer follows from."""
        return self.asked.get(_size(text), ANYWHERE) <= rank(name)

    def see(self, text: str, at: int) -> None:
        """Note a number that is printed."""
        if is_telling(text):
            self.seen[_size(text)] = max(at, self.seen.get(_size(text), -1))

    def is_seen(self, text: str, name: str) -> bool:
        """Return whether a number of a step is on the handout where that step, a later one, or a text is printed."""
        return self.seen.get(_size(text), -1) >= rank(name)

    def see_words(self, text: str) -> str:
        """Note the numbers of a text; return the text without those that are asked for."""

        def kept(match: re.Match[str]) -> str:
            if _size(match[0]) in self.asked:
                return BLANK
            self.see(match[0], ANYWHERE)
            return match[0]

        return NUMBER.sub(kept, text)


def _size(text: str) -> str:
    return text.lstrip("−-")


def kept_blank(
    printed: Printed, trace: Trace, layer: int, step: Step, cells: Array, number: Callable[[float], str]
) -> Array:
    """Return the blank cells of a step without those whose number stands elsewhere, in any step of the same chain."""
    steps = trace.layers[layer]
    names = [name for name in blanks.CHAIN if name in steps] if step.name in blanks.CHAIN else [step.name]
    for name in names:
        cells = cells & ~_where(steps[name].array, cells, partial(printed.is_seen, name=name), number)
    for config, at_layer, at_step, index in printed.named:
        if (config, at_layer, at_step) == (trace.config, layer, rank(step.name)):
            cells[index] = False
    return cells


def asked_cells(printed: Printed, step: Step, number: Callable[[float], str]) -> Array:
    """Return a mask of a computed step: True where it holds a number that a question asks for."""
    return _where(step.array, np.ones(step.shape, dtype=bool), partial(printed.is_asked, name=step.name), number)


def _where(array: Array, cells: Array, holds: Callable[[str], bool], number: Callable[[float], str]) -> Array:
    given_away = np.zeros(array.shape, dtype=bool)
    for at in np.argwhere(cells & np.isfinite(array.astype(float))):
        given_away[tuple(at)] = holds(number(float(array[tuple(at)])))
    return given_away


def note(printed: Printed, name: str, numbers: Iterable[str]) -> None:
    """Note the numbers of a step that are printed."""
    cancellation.check()
    for text in numbers:
        printed.see(text, rank(name))


def open_stages(printed: Printed, shown: Sequence[Stage], name: str, number: Callable[[float], str]) -> Iterator[Stage]:
    """Yield stages with what is asked for masked, and note their other numbers.

    name  of the step of the first two, where they are its two runs and are followed by their difference
    """
    hidden: list[Array] = []
    for stage in shown:
        step = name or stage.name
        is_difference = bool(name) and len(hidden) == 2
        if is_difference:
            sides = [each for each in hidden if each.shape == stage.array.shape]
            cells = np.logical_or.reduce(sides) if sides else np.zeros(stage.array.shape, dtype=bool)
        else:
            holds = partial(printed.is_asked, name=step)
            cells = _where(stage.array, stage.drawn_cells, holds, number)
            hidden.append(cells)
            note(printed, step, map(number, stage.array[stage.drawn_cells & ~cells].tolist()))
        yield _left_out(stage, cells)


def _left_out(stage: Stage, cells: Array) -> Stage:
    if not cells.any():
        return stage
    masked = np.zeros(stage.array.shape, dtype=bool) if stage.masked is None else stage.masked
    words = "left_out_or_masked" if masked.any() else "left_out"
    return replace(stage, masked=masked | cells, grey=WORDS[words])
