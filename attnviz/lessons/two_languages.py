"""A lesson in several languages in one file: beside `text` a `text_de` says the same in German.

Which of them counts follows from the language of the page; where one is missing, the other one stands.
"""

from __future__ import annotations

from typing import Any

from attnviz.settings.language import LANGUAGES, WRITTEN

TEXTS = ("title", "about", "goal", "known", "text", "notes", "ask", "why", "label")
"""The texts of a lesson that a reader sees, by their keys; no setting is called like one of them."""

SUFFIXES = tuple(f"_{code}" for code in LANGUAGES if code != WRITTEN)


MOST_LEVELS = 16
"""Of tables within tables; a lesson has eight, and what is deeper is none."""


def in_language(part: Any, language: str, levels: int = MOST_LEVELS) -> Any:
    """Return tables with the texts of a language alone, under the keys without its code.

    >>> in_language({"text": "Why?", "text_de": "Warum?", "steps": ["weights"]}, "de")
    {'text': 'Warum?', 'steps': ['weights']}
    >>> in_language([{"title_de": "Nur deutsch"}], "en")
    [{'title': 'Nur deutsch'}]
    """
    if not levels or not isinstance(part, list | dict):
        return part
    if isinstance(part, list):
        return [in_language(each, language, levels - 1) for each in part]
    found = {key: in_language(value, language, levels - 1) for key, value in part.items() if not _is_other(key)}
    for key in TEXTS:
        for suffix in SUFFIXES:
            if key + suffix in part and (suffix == f"_{language}" or key not in part):
                found[key] = part[key + suffix]
    return {key: found[key] for key in dict.fromkeys([*map(_plain, part)]) if key in found}


def _is_other(key: str) -> bool:
    return _plain(key) != key


def _plain(key: str) -> str:
    """Return the key of a text without the code of its language."""
    bare = next((key.removesuffix(suffix) for suffix in SUFFIXES if key.endswith(suffix)), key)
    return bare if bare in TEXTS else key
