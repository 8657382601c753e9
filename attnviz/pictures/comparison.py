"""A step of two runs beside each other, and what the second has more, as pictures.

A is the first run and B the second; every difference is B - A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from attnviz.analysis.token_alignment import Pair
from attnviz.engine.records.trace import Trace
from attnviz.pictures import stages
from attnviz.pictures.stage_record import Stage
from attnviz.settings.language import Words
from attnviz.text.changes import difference, is_rounding, pair, pairs_along, step_of
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import rounded_number

WORDS = Words(
    {
        "a": "A",
        "b": "B",
        "difference": "B − A",
        "a_phrase": "the setting at the left",
        "b_phrase": "the same but for what is changed",
        "difference_phrase": "orange: larger in B; blue: smaller",
        "difference_shorter": "orange: larger in B",
        "not_in_both": "not in both",
        "masked_or_not_in_both": "masked, or not in both",
        "of": "This is {side}.",
        "less": "This is {side}. In A {a}, in B {b}: {by} less.",
        "more": "This is {side}. In A {a}, in B {b}: {by} more.",
        "alike": "This is {side}. In A {a}, in B the same.",
        "apart": "This is {side}. In A {a}, in B {b}.",
        "masked_a": "This is {side}. In A it is masked, in B {b}.",
        "masked_b": "This is {side}. In A {a}, in B it is masked.",
        "alone": "This is {side}. {other} has no such cell.",
    }
)

LEAST_REACH = 0.01
"""The colours of a difference reach at least to this part of the largest number of A and B: what is next to nothing
beside them is pale."""


def pictures(a: Trace, b: Trace, layer: int, name: str) -> tuple[Stage, ...]:
    """Return a step in A and in B under one colour scale, and what B has more.

    The last is missing where shapes differ.
    """
    both = [_picture(trace, layer, name) for trace in (a, b)]
    present = [picture for picture in both if picture is not None]
    reach = max(_reach(picture) for picture in present)
    shown = [
        replace(picture, name=side, title=WORDS[side], phrase=WORDS[f"{side}_phrase"], formula="", reach=reach)
        for side, picture in zip("ab", both)
        if picture is not None
    ]
    rows, columns = (pairs_along(a, b, axis) for axis in shown[0].axes)
    shown = [replace(each, common=(_common(rows, at), _common(columns, at))) for at, each in enumerate(shown)]
    if pair(a, b, layer, name) is None:
        return tuple(shown)
    apart = _apart([_widened(side, at, rows, columns) for at, side in enumerate(shown)])
    apart = replace(apart, reach=max(_reach(apart), LEAST_REACH * reach))
    return *shown, replace(apart, grey=_grey(apart, rows, columns))


def _common(pairs: Sequence[Pair] | None, side: int) -> list[int] | None:
    """Return where the tokens of A (side 0) or B (1) stand among those of both; None where both have as many."""
    return None if pairs is None else [at for at, each in enumerate(pairs) if each[side] is not None]


def same_cell(
    shown: Sequence[Stage], name: str, cell: tuple[int, int, int | None]
) -> dict[str, tuple[int, int, int | None]]:
    """Return head, row and column of a cell of one of these pictures in each of them that has it, by their names.

    Without a column it is a row.

    >>> from attnviz import Config, run
    >>> a, b = (run(Config(sentence=sentence)) for sentence in ("the cat sat", "the old cat sat"))
    >>> same_cell(pictures(a, b, 0, "weights"), "a", (1, 2, 1))
    {'a': (1, 2, 1), 'b': (1, 3, 2), 'difference': (1, 3, 2)}
    """
    own = next(stage for stage in shown if stage.name == name)
    head, *among = cell
    row, column = (
        at if at is None or along is None else along[at] for at, along in zip(among, own.common, strict=True)
    )
    found: dict[str, tuple[int, int, int | None]] = {}
    for stage in shown:
        down, across = (_index(along, at) for at, along in zip((row, column), stage.common, strict=True))
        if head >= len(stage.array) or down is None or down >= len(stage.rows):
            continue
        if column is None or (across is not None and across < stage.true_widths[head]):
            found[stage.name] = head, down, across
    return found


def _index(along: Sequence[int] | None, at: int | None) -> int | None:
    """Return where a position among all tokens is in a picture; None where it is not."""
    return at if along is None or at is None else along.index(at) if at in along else None


def _grey(apart: Stage, *axes: Sequence[Pair] | None) -> str:
    """Return the legend of the grey cells of the difference; nothing where all of them are masked."""
    missing = np.zeros(apart.array.shape[1:], dtype=bool)
    for axis, pairs in enumerate(axes):
        if pairs is not None:
            lacks = np.array([None in pair for pair in pairs])
            missing |= lacks[:, None] if axis == 0 else lacks[None, :]
    if not missing.any():
        return ""
    is_masked = apart.masked is not None and bool((apart.masked & ~missing).any())
    return WORDS["masked_or_not_in_both" if is_masked else "not_in_both"]


def _widened(picture: Stage, side: int, rows: Sequence[Pair] | None, columns: Sequence[Pair] | None) -> Stage:
    """Return the picture of A (side 0) or B (1) with a row and a column for every token of both.

    What it lacks is masked.
    """
    array, masked = picture.array.astype(float), picture.masked
    missing = np.zeros(array.shape[1:], dtype=bool)
    words = {"rows": picture.rows, "columns": picture.columns}
    for axis, (name, pairs) in enumerate((("rows", rows), ("columns", columns)), 1):
        if pairs is None:
            continue
        lacks = np.array([each[side] is None for each in pairs])
        positions = [each[side] or 0 for each in pairs]
        array, missing = array.take(positions, axis=axis), missing.take(positions, axis=axis - 1)
        masked = None if masked is None else masked.take(positions, axis=axis)
        missing |= lacks[:, None] if axis == 1 else lacks[None, :]
        old = words[name] or ()
        words[name] = ["" if at is None else old[at] for at in (each[side] for each in pairs)]
    if missing.any():
        array = np.where(missing, np.nan, array)
        masked = missing | (np.zeros(array.shape, dtype=bool) if masked is None else masked)
    return replace(
        picture, array=array, masked=masked, edited=(), rows=words["rows"] or picture.rows, columns=words["columns"]
    )


def _apart(shown: Sequence[Stage]) -> Stage:
    """Return the difference as a picture; masked where a cell is open in neither, and where only one has it."""
    one, other = shown
    n = min(len(one.array), len(other.array))
    rows, columns = (_both(*words) for words in ((one.rows, other.rows), (one.columns, other.columns)))
    apart, hidden = difference(one.array[:n].astype(float), other.array[:n].astype(float)), None
    if one.masked is not None or other.masked is not None:
        closed = [np.zeros(apart.shape, dtype=bool) if side.masked is None else side.masked[:n] for side in shown]
        hidden = (closed[0] & closed[1]) | ~np.isfinite(apart)
    return replace(
        one,
        name="difference",
        title=WORDS["difference"],
        phrase=WORDS["difference_phrase"],
        shorter=(WORDS["difference_shorter"],),
        array=apart,
        kind="signed",
        rows=rows or one.rows,
        columns=columns,
        masked=hidden,
        heads=[left if left == right else left.partition(" · ")[0] for left, right in zip(one.names, other.names)],
        widths=one.true_widths[:n],
        common=(None, None),
        alt=WORDS["difference"],
        reach=None,
    )


def _both(one: Sequence[str] | None, other: Sequence[str] | None) -> list[str] | None:
    """Return the words along an axis; where they differ, both."""
    if one is None or other is None:
        return None
    return [left if left == right else " / ".join(filter(None, (left, right))) for left, right in zip(one, other)]


def _reach(picture: Stage) -> float:
    """Return the largest size that is drawn."""
    drawn = picture.array if picture.masked is None else picture.array[~picture.masked]
    return float(np.abs(drawn[np.isfinite(drawn)]).max(initial=0.0))


def _picture(trace: Trace, layer: int, name: str) -> Stage | None:
    step = step_of(trace, layer, name)
    return None if step is None else stages.stage(trace, step, step.symbol)


def said_of(shown: Sequence[Stage], name: str, cell: tuple[int | None, int | None, int | None]) -> str:
    """Return a sentence on the number of a cell in A and in B, as their pictures have it; of a row, only whose it is.

    name  the picture that the head, the row and the column are of, "a" or "b"

    >>> from attnviz import Config, run
    >>> both = pictures(run(Config()), run(Config(mask="causal")), 0, "weights")
    >>> said_of(both, "a", (0, 1, 2)), said_of(both, "b", (0, 3, 2))
    ('This is A. In A 0.03383, in B it is masked.', 'This is B. In A 0.0009115, in B 0.002278: 0.0014 more.')
    """
    if len(shown) == 1:
        return ""
    by_name, other = {stage.name: stage for stage in shown}, "a" if name == "b" else "b"
    names = {"side": WORDS[name], "other": WORDS[other]}
    head, row, column = cell
    if head is None or row is None or column is None:
        return WORDS["of"].format(**names)
    cells = same_cell(shown, name, (head, row, column))
    if other in by_name and other not in cells:
        return WORDS["alone"].format(**names)
    how, numbers = _in_both({stage: (by_name[stage], place) for stage, place in cells.items()})
    return localised(WORDS[how].format(**names, **numbers))


def _in_both(cells: Mapping[str, tuple[Stage, tuple[int, int, int | None]]]) -> tuple[str, dict[str, str]]:
    """Return by what words, and with which numbers, a cell is spoken of that A and B have.

    How far they are apart has two digits: with more, it would not be what the numbers beside it give.
    """
    found = {name: float(stage.array[place]) for name, (stage, place) in cells.items() if stage.drawn_cells[place]}
    numbers = {name: rounded_number(number) for name, number in found.items()}
    match [name for name in "ab" if name in found]:
        case ["a", "b"] if "difference" in found:
            by = found["difference"]
            how = "alike" if is_rounding(by, cells["a"][0].array) else "less" if by < 0 else "more"
            return how, numbers | {"by": rounded_number(float(f"{abs(by):.2g}"))}
        case ["a", "b"]:
            return "apart", numbers
        case ["a"]:
            return "masked_b", numbers
        case ["b"]:
            return "masked_a", numbers
    return "of", numbers
