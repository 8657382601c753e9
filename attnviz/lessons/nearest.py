"""The name that was probably meant by one that there is not."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from attnviz.settings.language import Words

WORDS = Words({"near": "{said}; did you mean “{near}”?"})
MOST_SIGNS, NEAR = 60, 0.6


def nearest(given: object, allowed: Iterable[str]) -> str:
    """Return the name that is most like one that was given; empty where none is like it.

    >>> nearest("heads", ["n_heads", "d_k"]), nearest("unmasked", ["masked", "weights"]), nearest("x", ["n_heads"])
    ('n_heads', 'masked', '')
    >>> nearest("score", ["score_w", "scores"])
    'scores'
    """
    if not isinstance(given, str) or not 2 <= len(given) <= MOST_SIGNS:
        return ""
    names = list(allowed)
    close = get_close_matches(given.lower(), names, 1, NEAR)
    plural = [name for name in names if name == f"{given.lower()}s"]
    whole = [name for name in names if given.lower() in name.split("_")]
    return next(iter([*plural, *whole, *close]), "")


def with_cure(said: str, given: object, allowed: Iterable[str]) -> str:
    """Return what is said of a name that there is not, with the one that was probably meant."""
    near = nearest(given, allowed)
    return WORDS["near"].format(said=said, near=near) if near else said
