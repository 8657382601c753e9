"""The wording and the points that a teacher gives to each question of an assignment.

Both are lists in the order of the questions, written without what stands at their ends by default, so that a link in
which nothing of it is set is what it was before there were any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words
from attnviz.settings.plain_text import clean

MAX_WORDING_CHARACTERS = 300
MOST_POINTS = 100.0
_BETWEEN = "\n"

FAULTS = Words(
    {
        "words": "holds {given}; give a text of at most {most} characters",
        "points": "holds {given}; give a number from 0 to {most:g}",
    }
)


def checked_words(values: Sequence[Any]) -> tuple[str, ...]:
    """Return wordings on one line each; raises ConfigError for what is none."""
    if not all(isinstance(each, str) and len(each) <= MAX_WORDING_CHARACTERS for each in values):
        wrong = next(each for each in values if not isinstance(each, str) or len(each) > MAX_WORDING_CHARACTERS)
        raise ConfigError(FAULTS["words"].format(given=shorten(wrong), most=MAX_WORDING_CHARACTERS))
    return _without_end([" ".join(clean(each).split()) for each in values], "")


def write_words(words: Sequence[str]) -> str:
    return _BETWEEN.join(words)


def read_words(text: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the wordings of a line; one that is too long is cut.

    >>> read_words("How large?\\n\\nWhy?")
    (('How large?', '', 'Why?'), [])
    """
    words = [each[:MAX_WORDING_CHARACTERS] for each in text.split(_BETWEEN)]
    return checked_words(words), []


def checked_points(values: Sequence[Any]) -> tuple[float, ...]:
    """Return points as numbers; raises ConfigError for what is none."""
    for each in values:
        if isinstance(each, bool) or not isinstance(each, int | float) or not 0 <= each <= MOST_POINTS:
            raise ConfigError(FAULTS["points"].format(given=shorten(each), most=MOST_POINTS))
    return _without_end([float(each) for each in values], 1.0)


def write_points(points: Sequence[float]) -> str:
    return " ".join(f"{each:g}" for each in points)


def parse_points(text: str) -> tuple[tuple[float, ...], list[str]]:
    """Return the points of a line, and the parts of it that are none; these count one point.

    >>> parse_points("2 0.5 many 3")
    ((2.0, 0.5, 1.0, 3.0), ['many'])
    """
    points, unread = list[float](), list[str]()
    for part in text.split():
        try:
            points += checked_points([float(part), 0])[:1]
        except ValueError:
            unread.append(part)
            points.append(1.0)
    return _without_end(points, 1.0), unread


def _without_end(values: Sequence[Any], default: Any) -> tuple[Any, ...]:
    n = max((at for at, value in enumerate(values, 1) if value != default), default=0)
    return tuple(values[:n])
