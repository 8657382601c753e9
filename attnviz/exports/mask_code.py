"""A mask as code to copy: every cell while it can be read, beyond that an expression or a picture of rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from attnviz.analysis.mask_forms import FORMS, combined
from attnviz.arrays import Array
from attnviz.engine.records.config import Config
from attnviz.engine.tables.masks import MASKS, padding
from attnviz.engine.tables.tokenisers import PAD
from attnviz.exports.script import rows
from attnviz.settings.language import translate

LEGIBLE = 16
"""Tokens up to which every cell is written."""

PADDING = "(i >= 0) & (j < {n_real})"

NAMES = {"allowed": "allowed", "key_padding": "key_padding_mask"}
PLACES = ("n_query, n_key = {0}, {1}", "i, j = {2}.arange(n_query)[:, None], {2}.arange(n_key)[None]")
READ = '{make}([[cell == "x" for cell in row] for row in rows])'
NOT_THE_SAME = "# The queries do not all see the\n# same keys: no such mask."


def expression(config: Config, allowed: Array, key_tokens: Sequence[str]) -> str | None:
    """Return the mask of a setting in i and j; None if it has none, or if it is not exactly this mask.

    >>> expression(Config(mask="causal"), np.tri(3, dtype=bool), ("a", "b", "c"))
    'j <= i'
    """
    n_real = next((at for at, token in enumerate(key_tokens) if token == PAD), len(key_tokens))
    if any(not MASKS[name].line for name in config.mask) or any(token != PAD for token in key_tokens[n_real:]):
        return None
    if not np.array_equal(combined(config, config.mask, allowed.shape[-2], key_tokens), allowed):
        return None
    terms = [_term(name, config, n_real) for name in config.mask]
    return terms[0] if len(terms) == 1 else " & ".join(f"({term})" for term in terms)


def _term(name: str, config: Config, n_real: int) -> str:
    """Return one mask with the numbers of the setting in it."""
    if MASKS[name].fn is padding:
        return PADDING.format(n_real=n_real)
    term = rows.mask(name)
    for setting, value in MASKS[name].settings(config).items():
        term = re.sub(rf"\b{setting}\b", str(value), term)
    return term[1:-1] if term.startswith("((") or "&" not in term else term


def code(name: str, allowed: Array, term: str | None = None) -> str:
    """Return a form of the mask as code that makes it.

    `term` is its expression, used where not every cell can be read.
    """
    form = FORMS[name].fn(allowed)
    if form is None:
        return translate(NOT_THE_SAME)
    numpy = name == "allowed"
    make, target = ("np.array" if numpy else "torch.tensor"), NAMES.get(name, "attn_mask")
    if form.ndim == 1 or (max(form.shape) <= LEGIBLE and form.size <= LEGIBLE**2):
        lines = _literal(form, target, make)
    elif term is None:
        heads = f".reshape{allowed.shape}" if allowed.ndim > 2 else ""
        lines = [*_picture(allowed), *_assignment_lines(name, target, READ.format(make=make) + heads)]
    else:
        lines = [line.format(*allowed.shape, "np" if numpy else "torch") for line in PLACES]
        lines += _assignment_lines(name, target, term)
    return "\n".join(["import numpy as np" if numpy else "import torch", "", *lines])


def _literal(form: Array, target: str, make: str) -> list[str]:
    """Return every cell of a form, in letters short enough for a row to stay on its line."""
    lines = form.reshape(-1, form.shape[-1])
    if form.dtype == bool:
        rows = [", ".join("FT"[int(cell)] for cell in row) for row in lines]
        letters, kind = "T, F = True, False", ""
    else:
        rows = [", ".join("0" if cell == 0 else "N" for cell in row) for row in lines]
        letters, kind = 'N = float("-inf")', ", dtype=torch.float32"
    if form.ndim == 1:
        return [letters, f"{target} = {make}([{rows[0]}])"]
    if form.ndim == 3:
        heads = [rows[first : first + form.shape[1]] for first in range(0, len(rows), form.shape[1])]
        rows = ["".join(f"\n        [{row}]," for row in head) + "\n    " for head in heads]
    return [letters, f"{target} = {make}([", *(f"    [{row}]," for row in rows), f"]{kind})"]


def _picture(allowed: Array) -> list[str]:
    """Return the rows as text, one mark a cell; those of heads under each other."""
    rows = allowed.reshape(-1, allowed.shape[-1])
    return ['rows = """', *("".join(".x"[int(cell)] for cell in row) for row in rows), '""".split()']


def _assignment_lines(name: str, target: str, term: str) -> list[str]:
    """Return the lines that make a form from an expression of where a query may attend."""
    if name == "multi_head":
        return [f"{target} = ~({term})"]
    if name == "additive":
        return [f"allowed = {term}", f'{target} = torch.zeros(allowed.shape).masked_fill(~allowed, float("-inf"))']
    return [f"{target} = {term}"]
