"""The slides of a lesson: text with the run's own numbers, and pictures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from attnviz.analysis import rounding
from attnviz.classroom import score_variance
from attnviz.classroom.next_word import readings
from attnviz.classroom.next_word.pictures import picture as reading_picture
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.run import run
from attnviz.lessons.lesson import Lesson, Slide
from attnviz.pictures import comparison, pipeline_strip, stages
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import index_of
from attnviz.settings.faults import cut
from attnviz.settings.language import Words, translate
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.format.number_format import short, with_head_names
from attnviz.text.format.sentence_parts import within_sentence

_READ = "|".join((*readings.OF_WORDS, *readings.READINGS))
READ = re.compile(rf"\[\[({_READ})((?:\.[a-z]+)*)((?:\.\d+)*)\]\]")
"""A number that is read off the run of a language model: [[share.mary]], [[without.mary.john.2.3]]."""

NUMBER = re.compile(rf"\[\[(?!(?:{_READ})\.)([a-z_0-9]+?)((?:\.\d+)+)\]\]")
"""A step, its layer where it stands in one, and a position in it, counted from 1: [[scores.1.2.3.4]]."""

MEASURE = re.compile(rf"\[\[({'|'.join(score_variance.MEASURES)})\]\]")
"""A measure of the whole run."""

DIVISORS = "[[divisors]]"
"""The table of the three divisors."""

N_SEEDS = 1_000_000
"""As many as a setting can have."""

PHRASES = Words({"a": "the setting of the lesson", "b": "as changed on this slide"})
CHANGED = Words({"a": "before the change", "b": "after the change"})
PROBLEM = "the text names {given}, which is not a number of this run"


def fill_numbers(text: str, trace: Trace) -> str:
    """Return the text with the run's numbers where it names them, four digits each.

    Raises ValueError for a number that the run does not have.

    >>> from attnviz import Config, run
    >>> fill_numbers("the first weight is [[weights.1.1.1.1]]", run(Config(sentence="one", n_heads=1)))
    'the first weight is 1'
    """
    if trace.config.model:
        text = with_head_names(text, len(trace.layers), trace.config.n_heads)
    text = text.replace(DIVISORS, score_variance.divisor_table(trace), 1) if DIVISORS in text else text
    measured = {name: score_variance.measure(name, trace, 0, {}) for name in set(MEASURE.findall(text))}
    text = MEASURE.sub(lambda named: format_number(measured[named[1]]), text)
    text = READ.sub(lambda named: format_number(_read(trace, named)), text)
    return NUMBER.sub(lambda named: format_number(_number(trace, named)), text)


def named_steps(text: str) -> tuple[str, ...]:
    """Return the steps whose numbers a text names."""
    return tuple(match[1] for match in NUMBER.finditer(text))


def format_number(x: float) -> str:
    """Return a number as it stands in a text."""
    return short(x)


def _read(trace: Trace, named: re.Match[str]) -> float:
    words, position = ([part for part in named[group].split(".") if part] for group in (2, 3))
    return readings.number(trace, named[1], words, [int(each) for each in position])


def _number(trace: Trace, named: re.Match[str]) -> float:
    try:
        position = [index_of(int(number)) for number in named[2].split(".")[1:]]
        layer = 0 if named[1] in trace.around else position.pop(0)
        step = step_names.steps(trace, layer)[named[1]]
        array = rounding.cleared(trace, layer, step) if named[1] in trace.layers[layer] else step.array
        if len(position) != array.ndim or min(position) < 0:
            raise IndexError(position)
        return float(array[tuple(position)])
    except (KeyError, IndexError, ValueError):
        raise ValueError(translate(PROBLEM, given=cut(named[0]))) from None


def pictures(trace: Trace, layer: int, names: Sequence[str]) -> tuple[Stage, ...]:
    """Return the steps of a layer as pictures, as on the Explore page where they stand there.

    Steps that the run does not have are left out.
    """
    explored = {stage.name: stage for stage in stages.side_by_side(trace, layer)}
    by_name = step_names.steps(trace, layer)
    shown = [name for name in names if name in by_name or readings.is_reading(name)]
    return tuple(explored.get(name) or _picture(trace, by_name, layer, name) for name in shown)


def _picture(trace: Trace, steps: Mapping[str, Step], layer: int, name: str) -> Stage:
    if name not in steps:
        return reading_picture(trace, name)
    entry = next(entry for entry in pipeline_strip.entries(trace, layer) if entry.name == name)
    return stages.stage(trace, steps[name], entry.text, entry.meaning, entry.plain_formula)


def rows(slide: Slide, baseline: Trace, trace: Trace) -> list[tuple[Stage, ...]]:
    """Return all pictures of a slide, a row at a time; a change that its question asks about is drawn with them."""
    layer, question = slide.layer, slide.question
    if slide.beside:
        return [comparison_row(baseline, trace, layer, name) for name in slide.steps]
    rows_of_pictures = [tuple(_on_scale(each, baseline, layer) for each in pictures(trace, layer, slide.steps))]
    if question is not None and "change" in question.at:
        other = run(replace(trace.config, **question.at["change"]))
        rows_of_pictures.append(comparison_row(trace, other, layer, question.at.get("step", "weights"), CHANGED))
    return rows_of_pictures


def _on_scale(picture: Stage, baseline: Trace, layer: int) -> Stage:
    """Return a picture with pale colours if it is next to nothing beside the step of the lesson's own setting."""
    own = step_names.steps(baseline, layer).get(picture.name) if layer < len(baseline.layers) else None
    if own is None or picture.kind != "signed":
        return picture
    usual, here = (float(np.abs(array[np.isfinite(array)]).max(initial=0.0)) for array in (own.array, picture.array))
    least = comparison.LEAST_REACH * usual
    return picture if here >= least else replace(picture, reach=least)


def n_rows(slide: Slide) -> int:
    """Count the rows of pictures of a slide."""
    return len(slide.steps) if slide.beside else 1 + bool(slide.question and "change" in slide.question.at)


DECIMAL = re.compile(r"\d[.,]\d|\[\[divisors")
ASKS_FOR_NUMBERS = ("highest_key", "weight", "number", "sum")


def can_be_reseeded(lesson: Lesson, slide: Slide) -> bool:
    """Return whether a question can be asked with another seed: its numbers follow from it, and no text says them.

    >>> from attnviz.lessons.catalogue import LESSONS
    >>> [can_be_reseeded(LESSONS[name], LESSONS[name].slides[1]) for name in ("bits", "translation")]
    [True, False]
    """
    question = slide.question
    if (
        question is None
        or question.kind not in ASKS_FOR_NUMBERS
        or DECIMAL.search(slide.text + question.ask + question.why)
    ):
        return False
    before, after = (run(lesson.on(slide, seed)) for seed in (None, next_seed(lesson, 1)))
    step = {"number": question.at.get("step"), "sum": question.at.get("step", "weights")}.get(question.kind, "weights")
    one, other = (step_names.steps(each, slide.layer)[str(step)].array for each in (before, after))
    return not np.array_equal(one, other) and not np.allclose(one, other, equal_nan=True)


def next_seed(lesson: Lesson, times: int) -> int:
    """Return the seed of a lesson whose numbers were dealt so many times again."""
    return (lesson.config.seed + times) % N_SEEDS


def with_seed(config: Config, seed: int | None) -> Config:
    """Return a setting with another seed; None leaves its own."""
    return config if seed is None else replace(config, seed=seed)


def comparison_row(
    baseline: Trace, trace: Trace, layer: int, name: str, phrases: Mapping[str, str] = PHRASES
) -> tuple[Stage, ...]:
    """Return a step of two runs and the difference: the lesson's own setting and the slide's, or around a change."""
    both = comparison.pictures(baseline, trace, layer, name)
    symbol = within_sentence(NAMES[name]) if name in NAMES else name
    return tuple(replace(each, phrase=phrases.get(each.name, each.phrase), formula=symbol) for each in both)


def without_caption(picture: Stage) -> Stage:
    """Return the picture without the sentence that says what is largest in it: for one that is to be judged by eye."""
    return replace(picture, alt=picture.title)
