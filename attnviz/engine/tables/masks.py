"""Masks of attention. A mask is a boolean array; True means MAY attend.

Every mask is written for the cell in row i, column j: `i` has shape (queries, 1) and `j` (1, keys), so that an
expression such as `j <= i` is the whole mask. `pad` (1, keys) is True where a key is a <pad> token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from attnviz.arrays import Allowed, Array
from attnviz.engine.rows.pair_row import PairRow
from attnviz.formula.evaluation.functions import mask_table
from attnviz.formula.reader import parse as read_formula
from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import translate
from attnviz.settings.rows import table

Index = Array


def none(i: Index, j: Index, pad: Array) -> Allowed:
    """Return True everywhere: every query may attend to every key."""
    return (i >= 0) & (j >= 0)


def causal(i: Index, j: Index, pad: Array) -> Allowed:
    """Return True where j <= i: no query may attend to a later position.

    >>> causal(np.arange(3)[:, None], np.arange(3)[None], None).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    return j <= i


def padding(i: Index, j: Index, pad: Array) -> Allowed:
    """Return False at every <pad> key; the <pad> queries themselves still attend."""
    return ~pad & (i >= 0)


def window(i: Index, j: Index, pad: Array, *, reach: int) -> Allowed:
    """Return True up to `reach` positions to either side of the query."""
    return abs(i - j) <= reach


def dilated(i: Index, j: Index, pad: Array, *, reach: int, dilation: int) -> Allowed:
    """Return True at every `dilation`-th position, `reach` of them to either side of the query."""
    return (abs(i - j) <= reach * dilation) & ((i - j) % dilation == 0)


def block(i: Index, j: Index, pad: Array, *, block_size: int) -> Allowed:
    """Return True inside the query's own block of `block_size` positions."""
    return i // block_size == j // block_size


def prefix(i: Index, j: Index, pad: Array, *, prefix_length: int) -> Allowed:
    """Return a causal mask under which the first `prefix_length` keys are open to all."""
    return (j <= i) | (j < prefix_length)


def global_window(i: Index, j: Index, pad: Array, *, reach: int, n_global: int) -> Allowed:
    """Return a window in which the first `n_global` tokens attend to all and all attend to them."""
    return (abs(i - j) <= reach) | (i < n_global) | (j < n_global)


def no_self(i: Index, j: Index, pad: Array) -> Allowed:
    """Return True anywhere but at the query's own position."""
    return i != j


def custom(i: Index, j: Index, pad: Array, *, custom_cells: str) -> Allowed:
    """Return True at the listed cells, and no others.

    >>> custom(np.arange(2)[:, None], np.arange(3)[None], None, custom_cells="1: 1-2, 2: 3").astype(int)
    array([[1, 1, 0],
           [0, 0, 1]])
    """
    n_query, n_key = len(i), len(j[0])
    may = np.zeros((n_query, n_key), dtype=bool)
    for query, key in parse(custom_cells):
        if query < n_query and key < n_key:
            may[query, key] = True
    return may


FORMULA = "j <= i and (i - j) % 3 == 0"
"""The formula in the field before anything is typed."""

Tokens = tuple[tuple[str, ...], tuple[str, ...]]


class ChosenMasks(Protocol):
    """The field of a Config that a mask reads beside those that its row names."""

    @property
    def n_heads(self) -> int: ...


def formula(
    i: Index, j: Index, pad: Array, *, mask_formula: str = FORMULA, words: Tokens = ((), ()), n_heads: int = 1
) -> Allowed:
    """Return where the typed line is true, of each head if it looks at it; `words` are those of queries and keys."""
    return mask_table(read_formula(mask_formula, "mask"), *words, (len(i), len(j[0])), n_heads)


def parse(text: str) -> list[tuple[int, int]]:
    """Return the (query, key) pairs, counted from 0, of a list such as "1: 1, 2: 1-2", which counts from 1.

    Each is there once, row by row.
    `QUERY:` names a row; the keys that it may attend to follow, singly or as a range, up to the next `QUERY:`.
    Raises ConfigError that shows the part that cannot be read.

    >>> parse("1: 1, 3: 1-2")
    [(0, 0), (2, 0), (2, 1)]
    """
    rows: dict[int, bytearray] = {}  # which keys each may attend to: a cell that is named a thousand times is one
    row: int | None = None
    for part in text.replace(":", ": ").replace(",", " ").split():
        numbers = part.rstrip(":").split("-")
        if not all(number.isascii() and number.isdigit() and 1 <= int(number[:5]) <= LAST for number in numbers):
            row = None
        elif part.endswith(":") and len(numbers) == 1:
            row = int(numbers[0])
            continue
        if row is None or len(numbers) > 2:
            raise ConfigError(
                translate(
                    'allowed cells: {part} cannot be read; write for example "1: 1, 2: 1-2, 3: 1 3"', part=shorten(part)
                )
            )
        first, n = index_of(int(numbers[0])), int(numbers[-1]) + 1 - int(numbers[0])
        if n > 0:
            rows.setdefault(index_of(row), bytearray(LAST))[first : first + n] = b"\1" * n
    return [(row, key) for row, keys in rows.items() for key, may in enumerate(keys) if may]


def padding_script(inputs: Any) -> list[str]:
    """Return which keys are <pad>."""
    return [f'pad = {inputs.words.array}([token == "<pad>" for token in tokens{inputs.kv}])']


def custom_script(inputs: Any) -> list[str]:
    """Return the cells of the visitor's list that are there, a row of keys for each query."""
    rows: dict[int, list[int]] = {}
    for i, j in sorted(set(parse(inputs.config.custom_cells))):
        if i < inputs.n_query and j < inputs.n_key:
            rows.setdefault(i, []).append(j)
    items = inputs.listed([f"{i}: {keys}" for i, keys in rows.items()])
    return [
        f"cells = {{{items[1:-1]}}}  # for each query the keys that it may attend to",
        f"listed = {inputs.words.np}.zeros((len(tokens), len(tokens{inputs.kv})), dtype={inputs.words.boolean})",
        "for query, keys in cells.items():",
        "    listed[query, keys] = True",
    ]


LAST = 999
"""The highest row or column that a list may name: far beyond any sentence, and no range can fill the memory."""


def written(cells: object) -> str:
    """Return pairs (query, key), counted from 0, as the text that `parse` reads back; a text is returned as it is.

    Raises ConfigError for anything else.

    >>> written([(0, 0), (2, 1), (2, 0)])
    '1: 1, 3: 1 2'
    """
    if isinstance(cells, str):
        return cells
    rows: dict[int, list[int]] = {}
    try:
        pairs = sorted({(int(i), int(j)) for i, j in cells})  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(
            translate("allowed cells are {given}; give pairs (query, key), counted from 0", given=shorten(cells))
        ) from None
    for query, key in pairs:
        rows.setdefault(query, []).append(key)
    return ", ".join(f"{ordinal(i)}: " + " ".join(str(ordinal(j)) for j in keys) for i, keys in rows.items())


def allowed(names: tuple[str, ...], n_query: int, pad: Array, settings: Mapping[str, Mapping[str, Any]]) -> Allowed:
    """Combine the named masks: True where every one allows the cell.

    Shape (queries, keys), or (heads, queries, keys) where a typed line looks at the head.

    pad       (keys,), True where a key is a <pad>
    settings  for each name the keywords of its row
    """
    i, j = np.arange(n_query)[:, None], np.arange(pad.shape[0])[None, :]
    may = none(i, j, pad)
    for name in names:
        may = may & MASKS[name].fn(i, j, pad[None, :], **settings[name])
    return may


def settings_of(config: ChosenMasks, name: str, words: Tokens) -> dict[str, Any]:
    """Return the keywords of a row: settings, and the words and the number of heads where the row looks at them."""
    typed = {"words": words, "n_heads": config.n_heads} if name == "formula" else {}
    return MASKS[name].settings(config) | typed


MASKS = table(
    PairRow(
        "none",
        "No mask",
        none,
        r"M_{ij} = 0",
        "Every query attends to every key.",
        "Vaswani et al. 2017, arXiv:1706.03762, section 3.2.3 (encoder self-attention)",
        line="i >= 0 and j >= 0",
    ),
    PairRow(
        "causal",
        "Causal",
        causal,
        r"j \le i",
        "Look-ahead mask: no token attends to a later one, as a model that writes from left to right needs.",
        "Vaswani et al. 2017, arXiv:1706.03762, section 3.2.3 (decoder self-attention)",
        line="j <= i",
    ),
    PairRow(
        "padding",
        "Padding",
        padding,
        r"k_j \ne \texttt{<pad>}",
        "Hides the <pad> keys, which only fill a sentence up to a length.",
        "PyTorch documentation, torch.nn.MultiheadAttention, key_padding_mask",
        line='token[j] != "<pad>"',
        script=("(~pad & (i >= 0))",),
        script_before=padding_script,
    ),
    PairRow(
        "window",
        "Sliding window",
        window,
        r"|i - j| \le r",
        "Each token attends only to itself and its near neighbours.",
        "Beltagy et al. 2020, arXiv:2004.05150, section 3.1",
        uses=("reach",),
        line="abs(i - j) <= reach",
    ),
    PairRow(
        "dilated",
        "Dilated window",
        dilated,
        r"|i - j| \le r\,\delta,\quad \delta \mid i - j",
        "A window with gaps: it reaches further for the same number of keys.",
        "Beltagy et al. 2020, arXiv:2004.05150, section 3.1",
        uses=("reach", "dilation"),
        line="abs(i - j) <= reach*dilation and (i - j) % dilation == 0",
    ),
    PairRow(
        "block",
        "Blocks",
        block,
        r"\lfloor i / b \rfloor = \lfloor j / b \rfloor",
        "The sentence is cut into blocks; each token attends within its own block.",
        "Qiu et al. 2019, arXiv:1911.02972, section 3",
        uses=("block_size",),
        line="i // block_size == j // block_size",
    ),
    PairRow(
        "prefix",
        "Prefix, then causal",
        prefix,
        r"j \le i \;\text{ or }\; j < p",
        "The first tokens attend to each other both ways, the rest is causal: a prompt and its continuation.",
        "Raffel et al. 2019, arXiv:1910.10683, section 3.2.1",
        uses=("prefix_length",),
        line="j <= i or j < prefix_length",
    ),
    PairRow(
        "global_window",
        "Window and global tokens",
        global_window,
        r"|i - j| \le r \;\text{ or }\; i < g \;\text{ or }\; j < g",
        "A sliding window, plus a few tokens that attend to all and are attended to by all.",
        "Beltagy et al. 2020, arXiv:2004.05150, section 3.1",
        uses=("reach", "n_global"),
        line="abs(i - j) <= reach or i < n_global or j < n_global",
    ),
    PairRow(
        "no_self",
        "Not itself",
        no_self,
        r"j \ne i",
        "No token attends to its own position.",
        "Kitaev et al. 2020, arXiv:2001.04451, section 2 (shared-QK attention)",
        line="i != j",
    ),
    PairRow(
        "custom",
        "A list of cells",
        custom,
        r"(i, j) \in \text{your list}",
        "Only the cells that you list are open.",
        "-",
        uses=("custom_cells",),
        script=("listed",),
        script_before=custom_script,
    ),
    PairRow(
        "formula",
        "Your own formula",
        formula,
        r"f(h, i, j)",
        "A mask that you type yourself: who may attend to what, from the positions i and j, the words and the head h.",
        "-",
        uses=("mask_formula",),
        script=("",),
    ),
)
