"""Numbers that are changed by hand, and how they are written down.

An edit names a layer, a step, a position in it and the number that stands there instead. In text, as in an address, it
is `scores.1.2.3.4~0.5`: the step, then the layer for a step inside one, then the position, all counted from 1. Numbers
that stand beside each other are written as a block, whose position is that of its first row and column: `edited_rows`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any

from attnviz.engine.records import edit_blocks
from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import translate

Edit = tuple[int | None, str, tuple[int, ...], float]

OUTER = (
    *("token_embeddings", "positions", "embedded", "token_embeddings_kv", "positions_kv", "embedded_kv"),
    *("token_types", "embedded_sum", "g_e", "c_e"),
)
"""The steps before the first layer, which belong to none; the last four are those of trained models."""

MAX_EDITS = 16_384
_BETWEEN = "~~"


def checked(edit: Any) -> Edit:
    """Return an edit in its proper types, counted from 0; the layer of a step before the first layer is None.

    Raises ConfigError for anything that is none, for a step inside a layer without that layer, and for NaN or plus
    infinity.
    """
    try:
        layer, step, index, value = edit
        where = tuple(map(operator.index, index))
        proper = None if layer is None or step in OUTER else operator.index(layer), str(step), where, float(value)
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(
            translate("an edit is {given}; give (layer, step, index, value)", given=shorten(edit))
        ) from None
    if proper[0] is None and step not in OUTER:
        raise ConfigError(
            translate(
                "an edit of {step} names no layer; give its number, counted from 0 (None is for: {outer})",
                step=step,
                outer=", ".join(OUTER),
            )
        )
    if math.isnan(proper[3]) or proper[3] == math.inf:
        raise ConfigError(
            translate(
                "the edit of {step} sets {value}; give a number, or -inf to forbid a masked score",
                step=step,
                value=value,
            )
        )
    return proper


def canonicalise(edits: Iterable[Any]) -> tuple[Edit, ...]:
    """Return the edits, each position once with what was set last, in order of their positions.

    Equal edits are equal settings.

    Raises ConfigError if an item is not an edit.
    """
    last = {edit[:3]: edit for edit in map(checked, edits)}
    return tuple(sorted(last.values(), key=lambda edit: (-1 if edit[0] is None else edit[0], *edit[1:3])))


def shared(edits: Iterable[Edit], names: Sequence[str], n: int) -> list[Edit]:
    """Return the edits, those of the named steps for each of the n heads that have one matrix.

    >>> shared([(0, "w_q", (3, 1, 1), 0.5)], ["w_q"], 2)
    [(0, 'w_q', (2, 1, 1), 0.5), (0, 'w_q', (3, 1, 1), 0.5)]
    """
    spread_edits: list[Edit] = []
    for layer, step, index, value in edits:
        first = index[0] // n * n if index and step in names else None
        positions = [index] if first is None else [(h, *index[1:]) for h in range(first, first + n)]
        spread_edits += [(layer, step, position, value) for position in positions]
    return spread_edits


def encode(edits: Sequence[Edit]) -> str:
    """Return the edits as one line, numbers beside each other together where that is shorter.

    >>> encode([(0, "scores", (1, 2, 3), 0.5), (None, "embedded", (0, 4), -2.0)])
    'scores.1.2.3.4~0.5~~embedded.1.5~-2.0'
    >>> encode([(0, "scores", (1, 2, 3), 0.5), (0, "scores", (1, 2, 4), -2.0)])
    'scores.1.2.3.4~.5_-2'
    """
    matrices = groupby(edits, key=lambda edit: (*edit[:2], edit[2][:-2], len(edit[2])))
    return _BETWEEN.join(_matrix_written(list(matrix)) for _, matrix in matrices)


def _matrix_written(edits: list[Edit]) -> str:
    """Return the edits of one matrix, or of one vector, in the shortest of three ways.

    All at once, by rows, one by one.
    """
    if len(edits) == 1 or not edits[0][2]:
        return _one_by_one(edits)
    whole = _block(edits)
    (*_, top, left), (*_, bottom, right) = ((0, *edit[2]) for edit in (edits[0], edits[-1]))
    if whole and (bottom - top + 1) * (right - left + 1) == len(edits):  # no position is left out: nothing is shorter
        return whole
    rows = [list(row) for _, row in groupby(edits, key=lambda edit: edit[2][:-1])]
    by_row = _BETWEEN.join(min(filter(None, (_one_by_one(row), _block(row))), key=len) for row in rows)
    return whole if whole and len(whole) < len(by_row) else by_row


def _one_by_one(edits: Sequence[Edit]) -> str:
    return _BETWEEN.join(map(_one_written, edits))


def _block(edits: Sequence[Edit]) -> str | None:
    """Return the edits as one block; None for a single one, and where they lie too far apart."""
    cells = {((0, *edit[2])[-2], edit[2][-1]): edit[3] for edit in edits}
    block = edit_blocks.written(cells) if len(edits) > 1 else None
    if block is None:
        return None
    layer, step, index, value = edits[0]
    first = (*index[:-1], min(column for _, column in cells))
    return f"{position((layer, step, first, value))}~{block}"


def _one_written(edit: Edit) -> str:
    return f"{position(edit)}~{edit[3]!r}"


def position(edit: Edit) -> str:
    """Describe the position of an edit, counted from 1.

    >>> position((0, "scores", (1, 2, 3), 0.5))
    'scores.1.2.3.4'
    """
    layer, step, index, _ = edit
    return ".".join([step, *(str(ordinal(number)) for number in (index if layer is None else (layer, *index)))])


def decode(text: str) -> tuple[tuple[Edit, ...], list[str]]:
    """Parse a line into edits; return these and the unparsable parts.

    Beyond MAX_EDITS of either, the first part of the rest stands for all of it.

    >>> decode("scores.1.2.3.4~0.5~~scores.one~2")
    (((0, 'scores', (1, 2, 3), 0.5),), ['scores.one~2'])
    """
    edits: list[Edit] = []
    unread: list[str] = []
    for part in filter(None, text.split(_BETWEEN)):
        if max(len(edits), len(unread)) > MAX_EDITS:
            unread.append(part)
            break
        try:
            edits += _block_read(part)
        except ValueError:
            unread.append(part)
    return canonicalise(edits), unread


def _block_read(part: str) -> list[Edit]:
    """Return the edits of one block, at most one more than fit, or the one that stands alone; raises ValueError if the
    text means none."""
    where, tilde, block = part.partition("~")
    step, *counted = where.split(".")
    is_position = part.isascii() and all(number.isdecimal() and len(number) < 6 and int(number) for number in counted)
    if not (tilde and is_position):
        raise ValueError(shorten(part))
    index = tuple(index_of(int(number)) for number in counted)
    layer, index = (None, index) if step in OUTER else (index[0] if index else 0, index[1:])
    placed = islice(_placed(index, block), MAX_EDITS + 1)
    edits = [checked((layer, step, at, value)) for at, value in placed]
    if not edits:
        raise ValueError(shorten(part))
    return edits


def _placed(first: tuple[int, ...], block: str) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield the numbers of a block, each with its position, from `first` on; raises ValueError if there can be none."""
    for (row, column), value in edit_blocks.read(block):
        if (row and len(first) < 2) or (column and not first):
            raise ValueError(shorten(block))
        yield (*first[:-2], *(at + by for at, by in zip(first[-2:], (row, column)[-len(first[-2:]) :]))), value


def by_layer(edits: Sequence[Edit], n_layers: int | None = None) -> dict[int | None, list[Edit]]:
    """Return the edits of each layer, and under None those of the steps around the layers.

    Raises ConfigError if an item is not an edit, or names a layer beyond `n_layers`.
    """
    edits_of: dict[int | None, list[Edit]] = {}
    for edit in map(checked, edits):
        layer, step = edit[:2]
        if step not in OUTER and n_layers is not None and (layer is None or not 0 <= layer < n_layers):
            raise ConfigError(
                translate("an edit names layer {layer}; choose 0 to {last}", layer=layer, last=n_layers - 1)
            )
        edits_of.setdefault(layer, []).append(edit)
    return edits_of
