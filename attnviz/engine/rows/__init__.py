"""Rows that are nothing but a line: each file holds one as ROW, and is in its table by being here."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from attnviz.settings.rows import LineRow


def line_rows(kind: str) -> list[LineRow]:
    """Return the rows of the files in this folder that belong to a table, by the names of their files.

    >>> [row.name for row in line_rows("score")]
    ['multiplicative_tanh', 'qk_norm', 'scaled_cosine']
    """
    names = sorted(found.name for found in iter_modules(__path__))
    rows: list[LineRow] = [import_module(f"{__name__}.{name}").ROW for name in names]
    return [row for row in rows if row.kind == kind]
