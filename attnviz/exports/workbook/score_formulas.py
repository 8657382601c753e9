"""Products, rotations and norms as formulas of a spreadsheet, with the blocks that lie between two steps.

Only functions that every spreadsheet of the last fifteen years has, and none that must be entered as an array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.tables.blocks import ALPHA, LIMIT
from attnviz.exports.workbook.layout import Block, Formula, Sheet
from attnviz.settings.counting import ordinals
from attnviz.settings.language import Words, translate

HEADINGS = Words(
    {
        "angles": "p θ · angles · {shape} · how far each pair of columns is rotated at each position, counted from 0",
        "root": "root of the mean square of each row · {shape} · √(mean square + {epsilon})",
        "root_of_heads": "root of the mean square of each row in all heads · {shape} · √(mean square + {epsilon})",
        "experts": "experts that each token takes · {shape} · 1 for its {n} largest scores",
        "spread": "mean and standard deviation of each row · {shape} · √(variance + {epsilon})",
        "angles_of_model": "p θ · angles · {shape} · each position, counted from 0, times the angles per position",
        "linear_part": "{symbol} · {shape} · the hidden units before the activation function",
    }
)
MEAN, DEVIATION, ROOT = "mean", "deviation", "root"


def shape(array: Array) -> str:
    """Return rows × columns."""
    return " × ".join(map(str, array.shape))


def numbers(n: int) -> tuple[str, ...]:
    """Return 1, 2, 3 ... as words."""
    return tuple(str(number) for number in ordinals(n))


def product(left: Block, right: Block) -> Formula:
    """Return each row of one block times each column of another.

    The sum around the product of matrices takes one number out of a 1 × 1 array, which needs no array entry.
    """

    def formula(i: int, j: int) -> str:
        if left.array.shape[1] == 1:
            return f"{left.at(i, 0)}*{right.at(0, j)}"
        return f"SUMPRODUCT(MMULT({left.row(i)},{right.column(j)}))"

    return formula


def added(left: Block, right: Block) -> Formula:
    """Return the sum of two blocks, cell by cell."""
    return lambda i, j: f"{left.at(i, j)}+{right.at(i, j)}"


@dataclass(frozen=True)
class Pair:
    """The queries and keys of one head, the score's own matrices, and the sheet on which they stand."""

    sheet: Sheet
    Q: Block
    K: Block
    parameters: Mapping[str, Block]


def rotated(sheet: Sheet, block: Block, base: float, cell: str) -> Formula:
    """Return queries or keys, each pair of columns rotated by its angle; the last of an odd number stays.

    The angles are added to the sheet; `cell` holds their base.
    """
    n, width = block.array.shape
    if width == 1:
        return block.at
    pairs = [(2 * pair, 2 * pair + 1) for pair in range(width // 2)]
    return _turned(block, _angles(sheet, n, width, base, cell), pairs)


def rotated_by(sheet: Sheet, block: Block, frequencies: Block) -> Formula:
    """Return queries or keys of a trained model, column i and the one half further on rotated by angles a position."""
    n, half = len(block.array), frequencies.array.shape[1]
    array = np.arange(n)[:, None] * frequencies.array
    heading = HEADINGS["angles_of_model"].format(shape=shape(array))
    rows, columns = tuple(map(str, range(n))), numbers(half)
    angles = sheet.add(heading, array, lambda i, j: f"{i}*{frequencies.at(0, j)}", rows=rows, columns=columns)
    return _turned(block, angles, [(pair, pair + half) for pair in range(half)])


def _turned(block: Block, angles: Block, pairs: Sequence[tuple[int, int]]) -> Formula:
    """Return a block whose pairs of columns are rotated, each by its column of angles; the others stay."""
    pair_of = {
        column: (pair, first, second) for pair, (first, second) in enumerate(pairs) for column in (first, second)
    }

    def formula(i: int, j: int) -> str:
        if j not in pair_of:
            return block.at(i, j)
        pair, first, second = pair_of[j]
        x, y, angle = block.at(i, first), block.at(i, second), angles.at(i, pair)
        return f"{x}*SIN({angle})+{y}*COS({angle})" if j == second else f"{x}*COS({angle})-{y}*SIN({angle})"

    return formula


def _angles(sheet: Sheet, n: int, width: int, base: float, cell: str) -> Block:
    """Return the angle of every position and every pair of columns."""
    array = np.arange(n)[:, None] * base ** (-2 * np.arange(width // 2) / width)
    heading = HEADINGS["angles"].format(shape=shape(array))
    rows, columns = tuple(map(str, range(n))), numbers(width // 2)
    return sheet.add(heading, array, lambda i, j: f"{i}*{cell}^(-{2 * j}/{width})", rows=rows, columns=columns)


def normed(sheet: Sheet, source: Block, epsilon: float) -> Formula:
    """Return each row of a block minus its mean, over its deviation; a block of both is added to the sheet."""
    X = source.array
    array = np.hstack([X.mean(axis=1, keepdims=True), np.sqrt(X.var(axis=1, keepdims=True) + epsilon)])
    added = np.format_float_positional(epsilon)
    kinds = ("AVERAGE({})", f"SQRT(VARP({{}})+{added})")
    both = sheet.add(
        HEADINGS["spread"].format(shape=shape(array), epsilon=added),
        array,
        lambda i, j: kinds[j].format(source.row(i)),
        rows=source.rows,
        columns=(translate(MEAN), translate(DEVIATION)),
    )
    return lambda i, j: f"({source.at(i, j)}-{both.at(i, 0)})/{both.at(i, 1)}"


def rms_normed(sheet: Sheet, source: Block, epsilon: float) -> Formula:
    """Return each row of a block over the root of its mean square, which is added to the sheet."""
    X = source.array
    array = np.sqrt((X**2).mean(axis=1, keepdims=True) + epsilon)
    added = np.format_float_positional(epsilon)
    root = sheet.add(
        HEADINGS["root"].format(shape=shape(array), epsilon=added),
        array,
        lambda i, j: f"SQRT(SUMSQ({source.row(i)})/{X.shape[1]}+{added})",
        rows=source.rows,
        columns=(translate(ROOT),),
    )
    return lambda i, j: f"{source.at(i, j)}/{root.at(i, 0)}"


def rms_normed_over_heads(sheet: Sheet, heads: Sequence[Block], at: int, epsilon: float) -> Formula:
    """Return each row of one head over the root of the mean square of that row in all heads, added to the sheet."""
    source = heads[at]
    array = np.sqrt((np.hstack([block.array for block in heads]) ** 2).mean(axis=1, keepdims=True) + epsilon)
    added, n = np.format_float_positional(epsilon), sum(block.array.shape[1] for block in heads)

    def squares(i: int) -> str:
        return "+".join(f"SUMSQ({block.row(i)})" for block in heads)

    root = sheet.add(
        HEADINGS["root_of_heads"].format(shape=shape(array), epsilon=added),
        array,
        lambda i, j: f"SQRT(({squares(i)})/{n}+{added})",
        rows=source.rows,
        columns=(translate(ROOT),),
    )
    return lambda i, j: f"{source.at(i, j)}/{root.at(i, 0)}"


def routed(sheet: Sheet, scores: Block, shares: Array, *, n_chosen: int, adds_up: bool) -> Formula:
    """Return the shares of the experts, from a block that is 1 where one is chosen: of equal ones the earlier."""

    def is_chosen(i: int, j: int) -> str:
        x, row = scores.at(i, j), scores.row(i)
        before = [f"({scores.at(i, k)}={x})" for k in range(j)]
        return f"IF({'+'.join([f'SUMPRODUCT(({row}>{x})*1)', *before])}<{n_chosen},1,0)"

    heading = HEADINGS["experts"].format(shape=shape(shares), n=n_chosen)
    chosen = sheet.add(heading, (shares > 0) * 1.0, is_chosen, rows=scores.rows, columns=scores.columns)

    def share(i: int, j: int) -> str:
        row = scores.row(i)
        each = f"EXP({row}-MAX({row}))"
        total = f"SUMPRODUCT({chosen.row(i)}*{each})" if adds_up else f"SUMPRODUCT({each})"
        return f"{chosen.at(i, j)}*EXP({scores.at(i, j)}-MAX({row}))/{total}"

    return share


NORMS = {"pre": normed, "post": normed, "rms": rms_normed}

FEED_FORWARDS: dict[str, Callable[[str], str]] = {
    "relu": lambda x: f"MAX({x},0)",
    "gelu": lambda x: f"{x}*NORMSDIST({x})",
    "gelu_tanh": lambda x: f"0.5*{x}*(1+TANH(0.7978845608028654*({x}+0.044715*{x}^3)))",
    "swiglu": lambda x: f"0.5*{x}*(1+TANH({x}/2))",
    "geglu": lambda x: f"{x}*NORMSDIST({x})",
}
"""The activation of the feed-forward block as a formula; NORMSDIST is the normal distribution function itself."""

FEED_FORWARDS_OF_MODELS = FEED_FORWARDS | {
    "clamped_swiglu": lambda x: f"0.5*MIN({x},{LIMIT:g})*(1+TANH({ALPHA / 2:g}*MIN({x},{LIMIT:g})))"
}
