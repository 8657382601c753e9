"""Changes that a hand has made, one by one: taken back, and done again; what else was changed meanwhile stays."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from attnviz.engine.records.config import Config

MOST, MOST_ENTRIES = 64, 40_000
"""Changes that are kept, and entries of their lists and texts in all: about 10 MB of changed numbers at most."""

Values = dict[str, Any]


class Undo:
    """The changes of one visitor, each as the fields that it changed, before and after it."""

    def __init__(self) -> None:
        self._done: list[tuple[Values, Values]] = []
        self._undone: list[tuple[Values, Values]] = []

    def note(self, before: Config, after: Config) -> None:
        """Keep a change; what was taken back before it is done again no more."""
        names = [field.name for field in fields(before) if getattr(before, field.name) != getattr(after, field.name)]
        if names:
            each = [{name: getattr(config, name) for name in names} for config in (before, after)]
            self._done = [*self._done, (each[0], each[1])][-MOST:]
            self._undone = []
            while sum(map(_entries, self._done)) > MOST_ENTRIES:
                del self._done[0]

    def back(self, config: Config) -> Config:
        """Return the setting without the last change that is still in it; the same one if there is none."""
        while self._done:
            before, after = change = self._done.pop()
            if _has(config, after):  # else Back has taken it back, or it was changed again elsewhere
                self._undone.append(change)
                return replace(config, **before)
        return config

    def again(self, config: Config) -> Config:
        """Return the setting with the change that was taken back last; the same one if there is none."""
        while self._undone:
            before, after = change = self._undone.pop()
            if _has(config, before):
                self._done.append(change)
                return replace(config, **after)
        return config


def _entries(change: tuple[Values, Values]) -> int:
    return sum(len(value) for values in change for value in values.values() if isinstance(value, (str, tuple)))


def _has(config: Config, values: Values) -> bool:
    return all(getattr(config, name) == value for name, value in values.items())
