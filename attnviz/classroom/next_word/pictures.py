"""Readings of a language model as pictures of a slide."""

from __future__ import annotations

from dataclasses import replace

from attnviz.classroom.next_word.readings import WORDS, Reading, by_layer, reading
from attnviz.engine.records.trace import Trace
from attnviz.pictures.stage_record import Stage
from attnviz.settings.language import sign


def picture(trace: Trace, written: str) -> Stage:
    """Return a reading, as a lesson names it, as a picture. Raises ConfigError as `reading`."""
    key = written.replace(".", "-")  # where a picture is found by its name, a point would begin another name
    name = written.partition(".")[0]
    return _stage(reading(trace, written), name, f"{name}_phrase", key)


def of_word(trace: Trace, word: str, layer: int | None = None) -> Stage:
    """Return the share of one word after each layer, that after one of them framed; None is the last.

    Nothing of any other word is in it.
    """
    stage = _stage(by_layer(trace, word), "by_layer", "of_word_phrase", "mistake")
    column = stage.array.shape[-1] - 1 if layer is None else layer
    return replace(stage, edited=((0, 0, column),))


def _stage(found: Reading, name: str, phrased: str, key: str) -> Stage:
    title, phrase = WORDS[name], WORDS[phrased]
    about = {"heads": ("",), "phrase": phrase, "alt": title + sign(": ") + phrase}
    return Stage(key, title, found.array[None], found.kind, found.rows, found.columns, found.axes, **about)  # type: ignore[arg-type]
