"""Readings of a language model as pictures of a slide."""

from __future__ import annotations

from attnviz.classroom.next_word.readings import WORDS, reading
from attnviz.engine.records.trace import Trace
from attnviz.pictures.stage_record import Stage
from attnviz.settings.language import sign


def picture(trace: Trace, written: str) -> Stage:
    """Return a reading, as a lesson names it, as a picture. Raises ConfigError as `reading`."""
    found, name = reading(trace, written), written.partition(".")[0]
    title, phrase = WORDS[name], WORDS[f"{name}_phrase"]
    about = {"heads": ("",), "phrase": phrase, "alt": title + sign(": ") + phrase}
    key = written.replace(".", "-")  # where a picture is found by its name, a point would begin another name
    return Stage(key, title, found.array[None], found.kind, found.rows, found.columns, found.axes, **about)  # type: ignore[arg-type]
