"""What a slide of a lesson shows: its text with the run's own numbers, and its pictures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from attnviz.core.language import Words, say
from attnviz.core.trace import Step, Trace
from attnviz.views import comparison, flow, stages
from attnviz.views.captions import NAMES
from attnviz.views.figures import Stage

NUMBER = re.compile(r"\[\[([a-z_0-9]+?)((?:\.\d+)+)\]\]")
"""A step, its layer where it stands in one, and a place in it, counted from 1: [[scores.1.2.3.4]]."""

PHRASES = Words({"a": "the setting of the lesson", "b": "as changed on this slide"})
PROBLEM = "the text names {given}, which is no number of this run"


def told(text: str, trace: Trace) -> str:
    """The text with the run's numbers where it names them, four digits each.

    Raises ValueError for a number that the run does not have.

    >>> from attnviz import Config, run
    >>> told("the first weight is [[weights.1.1.1.1]]", run(Config(sentence="one", n_heads=1)))
    'the first weight is 1'
    """
    return NUMBER.sub(lambda named: shown(_number(trace, named)), text)


def named(text: str) -> tuple[str, ...]:
    """The steps whose numbers a text names."""
    return tuple(found[1] for found in NUMBER.finditer(text))


def shown(x: float) -> str:
    """A number as it stands in a text: four digits, and a minus is a minus."""
    return f"{x:.4g}".replace("-", "−") if x else "0"


def _number(trace: Trace, named: re.Match[str]) -> float:
    place = [int(number) - 1 for number in named[2].split(".")[1:]]
    try:
        layer = 0 if named[1] in trace.around else place.pop(0)
        array = flow.steps(trace, layer)[named[1]].array
        if len(place) != array.ndim or min(place) < 0:
            raise IndexError(place)
        return float(array[tuple(place)])
    except (KeyError, IndexError):
        raise ValueError(say(PROBLEM, given=named[0])) from None


def pictures(trace: Trace, layer: int, names: Sequence[str]) -> tuple[Stage, ...]:
    """The steps of a layer as pictures, as on the Explore page where they stand there; those that the run has."""
    explored = {stage.name: stage for stage in stages.side_by_side(trace, layer)}
    found = flow.steps(trace, layer)
    return tuple(explored.get(name) or _picture(trace, found, layer, name) for name in names if name in found)


def _picture(trace: Trace, found: Mapping[str, Step], layer: int, name: str) -> Stage:
    entry = next(entry for entry in flow.entries(trace, layer) if entry.name == name)
    return stages.stage(trace, found[name], entry.text, entry.meaning, entry.plain_formula)


def beside(own: Trace, trace: Trace, layer: int, name: str) -> tuple[Stage, ...]:
    """A step under the lesson's own setting, under the slide's, and the difference; each says which step it is."""
    both = comparison.pictures(own, trace, layer, name)
    said = NAMES.get(name, name).lower()
    return tuple(replace(each, phrase=PHRASES.get(each.name, each.phrase), formula=said) for each in both)


def silent(picture: Stage) -> Stage:
    """The picture without the sentence that says what is largest in it: for one that is to be judged by eye."""
    return replace(picture, alt=picture.title)
