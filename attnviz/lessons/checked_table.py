"""The tables of a lesson file: their keys and types are checked, and what is wrong is said with its position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.lessons.nearest import with_cure
from attnviz.settings.faults import ConfigError, SeveralFaultsError, shorten
from attnviz.settings.language import Words

KINDS = Words(
    {
        "str": "a text in quotes",
        "int": "a whole number",
        "float": "a number",
        "bool": "true or false",
        "list": "a list in square brackets",
        "dict": "a table",
    }
)
"""What a value has to be, by the name of its type."""

WORDS = Words(
    {
        "table": "{where} is {given}; write a table of {allowed}",
        "key": "{where} has a {given}; there are {allowed}",
        "type": "{key} of {where} is {given}, and has to be {kind}",
        "missing": "{where} has no {key}",
    }
)


def checked(table: Any, types: Mapping[str, type], where: str, needed: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a table if it has all keys that are needed, no others than those of `types`, and values of their types.

    Raises ConfigError, with the position and all that is wrong, for a table that has not; a whole number is a number,
    too.
    """
    allowed = ", ".join(types)
    if not isinstance(table, dict):
        raise ConfigError(WORDS["table"].format(where=where, given=shorten(table), allowed=allowed))
    faults = [WORDS["missing"].format(where=where, key=key) for key in needed if key not in table]
    for key, value in table.items():
        if key not in types:
            said = WORDS["key"].format(where=where, given=shorten(key), allowed=allowed)
            faults.append(with_cure(said, key, types))
        elif type(value) is not types[key] and not (types[key] is float and type(value) is int):
            kind = KINDS[types[key].__name__]
            faults.append(WORDS["type"].format(key=key, where=where, given=shorten(value), kind=kind))
    if faults:
        raise SeveralFaultsError(faults)
    return table
