"""Numbers that are changed by hand, and how they are written down.

An edit names a layer, a step, a place in it and the number that stands there instead. In text, as in an address, it
is `scores.1.2.3.4~0.5`: the step, then the layer for a step inside one, then the place, all counted from 1.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

from attnviz.core.fields import ConfigError, shorten
from attnviz.core.language import say

Edit = tuple[int | None, str, tuple[int, ...], float]

OUTER = ("token_embeddings", "positions", "embedded", "token_embeddings_kv", "positions_kv", "embedded_kv")
"""The steps before the first layer, which belong to none."""

MOST = 16_384
_BETWEEN = "~~"


def checked(edit: Any) -> Edit:
    """An edit in its proper types, counted from 0; the layer of a step before the first layer is None.

    Raises ConfigError for anything that is none, and for NaN or plus infinity.
    """
    try:
        layer, step, index, value = edit
        where = tuple(map(operator.index, index))
        proper = None if layer is None or step in OUTER else operator.index(layer), str(step), where, float(value)
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(say("an edit is {given}; give (layer, step, index, value)", given=repr(edit))) from None
    if math.isnan(proper[3]) or proper[3] == math.inf:
        raise ConfigError(
            say(
                "the edit of {step} sets {value}; give a number, or -inf to forbid a masked score",
                step=step,
                value=value,
            )
        )
    return proper


def tidy(edits: Iterable[Any]) -> tuple[Edit, ...]:
    """The edits, each place once with what was set last, in order of their places: equal edits are equal settings.

    Raises ConfigError for one that is none.
    """
    last = {edit[:3]: edit for edit in map(checked, edits)}
    return tuple(sorted(last.values(), key=lambda edit: (-1 if edit[0] is None else edit[0], *edit[1:3])))


def written(edits: Sequence[Edit]) -> str:
    """The edits as one line.

    >>> written([(0, "scores", (1, 2, 3), 0.5), (None, "embedded", (0, 4), -2.0)])
    'scores.1.2.3.4~0.5~~embedded.1.5~-2.0'
    """
    return _BETWEEN.join(map(_one_written, edits))


def _one_written(edit: Edit) -> str:
    return f"{place(edit)}~{edit[3]!r}"


def place(edit: Edit) -> str:
    """Where an edit stands, counted from 1.

    >>> place((0, "scores", (1, 2, 3), 0.5))
    'scores.1.2.3.4'
    """
    layer, step, index, _ = edit
    return ".".join([step, *(str(number + 1) for number in (index if layer is None else (layer, *index)))])


def read(text: str) -> tuple[tuple[Edit, ...], list[str]]:
    """The edits that a line means, and the parts of it that mean none.

    >>> read("scores.1.2.3.4~0.5~~scores.one~2")
    (((0, 'scores', (1, 2, 3), 0.5),), ['scores.one~2'])
    """
    found, unread = [], []
    for part in filter(None, text.split(_BETWEEN)):
        try:
            found.append(_one_read(part))
        except ValueError:
            unread.append(part)
    return tidy(found), unread


def _one_read(part: str) -> Edit:
    """One edit; raises ValueError if the text means none."""
    where, tilde, value = part.partition("~")
    step, *counted = where.split(".")
    is_place = part.isascii() and all(number.isdecimal() and len(number) < 6 and int(number) for number in counted)
    if not (tilde and is_place) or "_" in value:
        raise ValueError(shorten(part))
    index = tuple(int(number) - 1 for number in counted)
    if step in OUTER:
        return checked((None, step, index, float(value)))
    return checked((index[0] if index else 0, step, index[1:], float(value)))
