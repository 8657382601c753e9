"""The fields of a settings record as options of a command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field
from typing import Any

from attnviz.settings import plain_text
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.fields import default, settings
from attnviz.settings.kinds import Number, Switch, Text
from attnviz.settings.tuple_kinds import Options, SerialisedTuple, Widths

UNREADABLE = "cannot be read at {part}; write each as scores.1.2.3.4~0.5, with ~~ between two"


def add(group: argparse._ArgumentGroup, items: Sequence[Field[Any]]) -> None:
    """Add an option for each field."""
    for item in items:
        kind = item.metadata["kind"]
        more: dict[str, Any] = {"metavar": "TEXT"}
        if isinstance(kind, Switch):
            more = {"action": argparse.BooleanOptionalAction}
        elif isinstance(kind, (Number, Widths)):
            more = {"metavar": "N"}
        elif hasattr(kind, "table"):
            more = {"metavar": "NAME"}
        group.add_argument(*_spellings(item.name), dest=item.name, help=_help(item), **more)


def _spellings(name: str) -> Iterator[str]:
    """Yield a field's name as an option: n_heads is --heads and --n-heads."""
    dashed = name.replace("_", "-")
    if dashed.startswith("n-"):
        yield f"--{dashed.removeprefix('n-')}"
    yield f"--{dashed}"


def _help(item: Field[Any]) -> str:
    """Return the help of a field: its meaning, its limits, and its default."""
    kind, label = item.metadata["kind"], str(item.metadata["label"])
    allowed = ""
    if hasattr(kind, "table"):
        allowed = f": {', '.join(kind.table)}"
    elif isinstance(kind, Number):
        allowed = f": {kind.range}{_automatic(kind)}"
    otherwise = kind.write(default(item))
    return f"{label}{allowed}{f' [{otherwise}]' if otherwise else ''}".replace("%", "%%")


def named_fields(record: type, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record that the arguments of a command line name, as values.

    Raises ConfigError for one that cannot be used: here nothing is moved into its range, as it is in an address.
    """
    return {item.name: _value(item, arguments[item.name]) for item in settings(record) if item.name in arguments}


def _value(item: Field[Any], argument: Any) -> Any:
    kind = item.metadata["kind"]
    if isinstance(kind, Switch):
        return argument
    text = plain_text.clean(argument, kind.lines) if isinstance(kind, Text) else argument
    if isinstance(kind, Options):
        text = text.replace(",", ".")
    try:
        value, problem = kind.read(text)
    except ValueError:
        value, problem = None, "cannot be read"
    if problem is None:
        return value
    raise ConfigError(f"{next(_spellings(item.name))} {_why(kind, text, problem)}")


def _why(kind: Any, text: str, problem: str) -> str:
    """Return the fault of a text, in the words of the field's own check."""
    if isinstance(kind, SerialisedTuple):
        return UNREADABLE.format(part=shorten(text))
    try:
        kind.check(text)
    except ConfigError as error:
        return f"{error}{_automatic(kind)}"
    return problem


def _automatic(kind: Any) -> str:
    """Return the word for an empty number, where a number may be none."""
    return " (auto)" if isinstance(kind, Number) and kind.none else ""
