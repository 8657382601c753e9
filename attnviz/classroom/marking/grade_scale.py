"""Grades out of percent: a scale as a line that a teacher may write, such as `90 A; 80 B; 0 F`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words
from attnviz.settings.plain_text import clean

Scale = tuple[tuple[float, str], ...]
"""Each grade with the percent from which it is given, the highest first."""

PRESETS: Mapping[str, str] = {
    "none": "",
    "letters": "90 A; 80 B; 70 C; 60 D; 0 F",
    "german": "95 1,0; 90 1,3; 85 1,7; 80 2,0; 75 2,3; 70 2,7; 65 3,0; 60 3,3; 55 3,7; 50 4,0; 0 5,0",
}
IN_WORDS = Words({"passed": "50 passed; 0 failed"})
OFFERED = (*PRESETS, *IN_WORDS)
MOST_GRADES, MOST_SIGNS = 30, 24
BETWEEN = re.compile("[\n;；]")
"""What stands between grades; a Chinese keyboard writes the last."""
DIGITS = 1
"""Of a percentage behind the point, where no more are needed."""
NEARLY = 1e-9  # what a sum of points may fall short of a bound by rounding
FAULTS = Words(
    {
        "grade": "{given} is no grade; write the percent from which it is given and its name, such as 90 A; 80 B; 0 F",
        "many": "there are {n} grades; at most {most} fit",
        "twice": "two grades begin at {percent:g} %",
        "percent": "{given} is no percentage; grades begin between 0 and 100 %",
    }
)


def preset(name: str) -> str:
    """Return the line of a scale that is offered; empty for any other name."""
    return IN_WORDS[name] if name in IN_WORDS else PRESETS.get(name, "")


def read_scale(text: str) -> Scale:
    """Return the grades of a line; none for an empty one.

    Raises ConfigError in one sentence for what is no scale.

    >>> read_scale("0 F; 90 % A; 79,5 B")
    ((90.0, 'A'), (79.5, 'B'), (0.0, 'F'))
    >>> read_scale("50 通过；0 未通过")
    ((50.0, '通过'), (0.0, '未通过'))
    """
    parts = [part.split(None, 1) for part in BETWEEN.split(clean(text, 99)) if part.strip()]
    if len(parts) > MOST_GRADES:
        raise ConfigError(FAULTS["many"].format(n=len(parts), most=MOST_GRADES))
    found = dict[float, str]()
    for part in parts:
        percent, name = _percent(part[0]), part[1].removeprefix("%").strip() if len(part) > 1 else ""
        if not name or len(name) > MOST_SIGNS:
            raise ConfigError(FAULTS["grade"].format(given=shorten(" ".join(part))))
        if percent in found:
            raise ConfigError(FAULTS["twice"].format(percent=percent))
        found[percent] = name
    return tuple(sorted(found.items(), reverse=True))


def _percent(text: str) -> float:
    try:
        percent = float(text.removesuffix("%").replace(",", "."))
    except ValueError:
        raise ConfigError(FAULTS["grade"].format(given=shorten(text))) from None
    if not 0 <= percent <= 100:
        raise ConfigError(FAULTS["percent"].format(given=shorten(text)))
    return percent


def grade(percent: float, scale: Sequence[tuple[float, str]]) -> str:
    """Return the grade of a percentage; empty below the lowest.

    >>> grade(89.99, read_scale(PRESETS["letters"])), grade(90, read_scale(PRESETS["letters"]))
    ('B', 'A')
    """
    return next((name for low, name in scale if percent >= low - NEARLY), "")


def rounded(percent: float, scale: Sequence[tuple[float, str]]) -> float:
    """Return a percentage with one digit, or with as many as it takes to have the grade that it has.

    >>> [rounded(percent, read_scale(PRESETS["letters"])) for percent in (89.96, 89.9996, 90.04, 100 * 2 / 3)]
    [89.96, 89.9996, 90.0, 66.7]
    """
    said = (round(percent, digits) for digits in range(DIGITS, DIGITS + 10))
    return next((each for each in said if grade(each, scale) == grade(percent, scale)), percent)
