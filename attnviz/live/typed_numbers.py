"""The numbers in lines that were typed: each has a name in the program, so that a hand may move it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from attnviz.engine.records.config import Config
from attnviz.engine.records.typed_rows import TYPED
from attnviz.formula.faults import FormulaError
from attnviz.formula.graph import Formula
from attnviz.formula.reader import parse
from attnviz.formula.text import is_number, span, tree

KINDS = {"score_formula": "score", "mask_formula": "mask", "bias_formula": "bias", "normaliser_formula": "normaliser"}
"""The fields of a setting into which a line is typed, with what each is a line of."""


@dataclass(frozen=True)
class TypedNumber:
    """A number in a line: the name of its setting, the name in place of it, where it stands, and what it is."""

    setting: str
    name: str
    start: int
    end: int
    value: float
    is_whole: bool


@lru_cache(maxsize=64)
def numbers_of(text: str, field: str) -> tuple[TypedNumber, ...]:
    """Return the numbers of a line that may be others without it being another line.

    >>> [(each.setting, each.value) for each in numbers_of("0.1 * abs(i - j)", "bias_formula")]
    [('bias_formula.0', 0.1)]
    >>> numbers_of("top(x, 2) * x", "normaliser_formula")
    ()
    """
    kind, found = KINDS[field], list[TypedNumber]()
    for place, (start, end) in enumerate(_places(text)):
        written = text[start:end]
        is_whole = kind == "mask" and written.isdecimal()
        number = TypedNumber(f"{field}.{place}", f"typed_{place}", start, end, float(written), is_whole)
        try:
            _named(text, field, (*found, number))
        except FormulaError:  # it has to be a number, as in top(x, 2); or the line would be too long with one more name
            continue
        found.append(number)
    return tuple(found)


def named_line(text: str, field: str) -> tuple[Formula, dict[str, str], dict[str, float]]:
    """Return a line in which numbers have names, the settings of these names, and the values of the settings."""
    numbers = numbers_of(text, field)
    keys = {each.name: each.setting for each in numbers}
    return _named(text, field, numbers), keys, {each.setting: each.value for each in numbers}


def typed_fields(config: Config) -> Iterator[str]:
    """Yield the fields of the lines that a run reads."""
    chosen: dict[str, Sequence[str]] = {"score_formula": [config.score], "mask_formula": config.mask}
    chosen |= {"bias_formula": [config.bias], "normaliser_formula": [config.normaliser]}
    yield from (field for field, rows in chosen.items() if TYPED in rows)


def with_typed_number(config: Config, setting: str, value: float) -> Config:
    """Return the setting with another number in a line that was typed; its name is that of a `TypedNumber`.

    Raises ConfigError where that is no line any more.

    >>> with_typed_number(Config(bias="formula", bias_formula="-0.1*abs(i-j)"), "bias_formula.0", 0.25).bias_formula
    '-0.25*abs(i-j)'
    >>> with_typed_number(Config(bias="formula", bias_formula="0.1*i"), "bias_formula.0", 1 / 3).bias_formula
    '0.3333333333333333*i'
    """
    field = setting.partition(".")[0]
    text = getattr(config, field)
    number = next(each for each in numbers_of(text, field) if each.setting == setting)
    short = f"{value:g}"
    written = str(round(value)) if number.is_whole else short if float(short) == value else repr(value)
    changes: dict[str, Any] = {field: text[: number.start] + written + text[number.end :]}
    return replace(config, **changes)


def _places(text: str) -> list[tuple[int, int]]:
    """Return where the numbers of a line stand, in the order in which they do."""
    nodes = [node for node in ast.walk(tree(text, "a number")) if isinstance(node, ast.Constant)]
    places = sorted(span(text, node) for node in nodes if not isinstance(node.value, str))
    return [(start, end) for start, end in places if is_number(text[start:end])]


def _named(text: str, field: str, numbers: tuple[TypedNumber, ...]) -> Formula:
    for each in reversed(numbers):
        text = f"{text[: each.start]}{each.name}{text[each.end :]}"
    return parse(text, KINDS[field], {each.name: each.name for each in numbers})
