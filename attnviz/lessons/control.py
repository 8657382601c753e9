"""The controls of a slide: choices that change its setting, and the measures of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from attnviz.settings.language import translated_fields

WITHOUT_FAULT = "none"
"""The fault of a choice whose run has none, also where the slide has one."""


@translated_fields("label")
@dataclass(frozen=True)
class ControlChoice:
    """One of the things that a move chooses from.

    label       a few words, or a number
    change      what is then otherwise than on the slide, by the names of Config
    fault       a row of FAULTS in place of the slide's, or WITHOUT_FAULT; empty: the slide's
    transposed  whether the pictures are drawn with their rows as columns
    """

    label: str
    change: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""
    transposed: bool = False


@translated_fields("label")
@dataclass(frozen=True)
class ControlMove:
    """One thing that can be moved: a slider over numbers, or a line of choices; one of them is as on the slide."""

    label: str
    choices: tuple[ControlChoice, ...]
    is_slider: bool = False


@dataclass(frozen=True)
class Control:
    """The settings that can be tried on a slide.

    moves     each with its choices, which go together
    measures  rows of MEASURES: what is printed beside the pictures
    paint     whether the mask can be painted
    """

    measures: tuple[str, ...]
    moves: tuple[ControlMove, ...] = ()
    paint: bool = False
