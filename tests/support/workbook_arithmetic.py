"""A spreadsheet's arithmetic, as far as the workbooks use it: every formula computed anew from the inputs alone.

It stands in for LibreOffice where a test has many workbooks or a machine has none. A formula becomes an expression of
Python in which IF looks only at the side that it takes; a range is an array whose texts are NaN, which SUM, MAX, MIN
and COUNT pass over as a spreadsheet does.
"""

from __future__ import annotations

import ast
import copy
import math
import re
from collections.abc import Callable
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from tests.support.spreadsheets import Cell, Spreadsheet, index, letters

_TOKEN = re.compile(
    r"""(?P<text>"(?:[^"]|"")*")"""
    r"""|(?:(?:'(?P<quoted>[^']+)'|(?P<plain>[A-Za-z]\w*))!)?\$?(?P<left>[A-Z]{1,3})\$?(?P<top>\d+)(?![\w(])"""
    r"""(?::\$?(?P<right>[A-Z]{1,3})\$?(?P<bottom>\d+))?"""
    r"""|(?P<sign><>|<=|>=|=|\^)|(?P<other>\d+\.?\d*(?:[eE][+-]?\d+)?|[A-Z]+(?=\()|.)"""
)
_SIGNS = {"<>": "!=", "=": "==", "^": "**"}


class Text(str):
    """A text, which a spreadsheet takes for larger than any number."""

    __slots__ = ()

    def __lt__(self, other: object) -> bool:
        return False

    def __le__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return True

    def __ge__(self, other: object) -> bool:
        return True


def _numbers(*values: Any) -> np.ndarray:
    """All numbers of some ranges and cells, without texts."""
    flat = np.concatenate([np.ravel(np.nan if isinstance(each, str) else each) for each in values]).astype(float)
    return flat[~np.isnan(flat)]


def _each(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: function(*(np.asarray(each, dtype=float) for each in values))


def _counted(values: Any, criterion: str) -> int:
    sign, limit = re.fullmatch(r"([<>]=?)(.+)", criterion).groups()  # type: ignore[union-attr]
    found = _numbers(values)
    compared = {">": found > float(limit), ">=": found >= float(limit), "<": found < float(limit)}
    return int(compared[sign].sum())


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "SUM": lambda *xs: _numbers(*xs).sum(),
    "MAX": lambda *xs: max(_numbers(*xs), default=0.0),
    "MIN": lambda *xs: min(_numbers(*xs), default=0.0),
    "COUNT": lambda *xs: len(_numbers(*xs)),
    "SUMSQ": lambda *xs: (_numbers(*xs) ** 2).sum(),
    "AVERAGE": lambda *xs: _numbers(*xs).mean(),
    "VARP": lambda *xs: _numbers(*xs).var(),
    "DEVSQ": lambda *xs: _numbers(*xs).var() * len(_numbers(*xs)),
    "LARGE": lambda xs, n: np.sort(_numbers(xs))[-int(n)],
    "COUNTIF": _counted,
    "SUMPRODUCT": lambda x: np.nansum(np.asarray(x, dtype=float)),
    "MMULT": lambda x, y: np.atleast_2d(x) @ np.atleast_2d(y),
    "ISNUMBER": lambda x: not isinstance(x, str) if np.ndim(x) == 0 else ~np.isnan(x),
    "AND": lambda *xs: all(bool(x) for x in xs),
    "POWER": _each(np.power),
    "INT": _each(np.floor),
    "MOD": _each(lambda a, b: a - b * np.floor(a / b)),
    "NORMSDIST": lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2))),
    **{name: _each(getattr(np, name.lower())) for name in ("TANH", "EXP", "ABS", "SQRT", "SIN", "COS", "SIGN")},
    "LN": _each(np.log),
}


class _Lazy(ast.NodeTransformer):
    """IF(a, b, c) as an expression that computes one of both sides."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "IF":
            test, yes, no = node.args
            return ast.IfExp(test, yes, no)
        return node


@lru_cache(maxsize=4096)
def _compiled(formula: str) -> CodeType:
    tree = ast.fix_missing_locations(_Lazy().visit(ast.parse(_TOKEN.sub(_translated, formula), mode="eval")))
    return compile(tree, formula, "eval")


def _translated(token: re.Match[str]) -> str:
    found = token.groupdict()
    if found["text"]:
        return repr(found["text"][1:-1].replace('""', '"'))
    if found["left"]:
        corners = [found["left"], int(found["top"]), found["right"] or "", int(found["bottom"] or 0)]
        return f"cells({(found['quoted'] or found['plain'])!r}, {', '.join(map(repr, corners))})"
    return _SIGNS.get(found["sign"], found["sign"]) if found["sign"] else found["other"]


class _Computed:
    """The values of one workbook, each computed when it is asked for."""

    def __init__(self, sheet: Spreadsheet) -> None:
        self._formulas = sheet.formulas
        self.values: dict[Cell, float | str] = {at: x for at, x in sheet.cells.items() if at not in sheet.formulas}

    def value(self, at: Cell) -> float | str:
        if at not in self.values and at in self._formulas:
            sheet = at[0]

            def cells(other: str | None, left: str, top: int, right: str, bottom: int) -> Any:
                return self._cells(other or sheet, left, top, right, bottom)

            found = eval(_compiled(self._formulas[at]), {"__builtins__": {}, "cells": cells, **FUNCTIONS})  # noqa: S307
            self.values[at] = found if isinstance(found, str) else float(found)
        found = self.values.get(at, 0.0)
        return Text(found) if isinstance(found, str) else found

    def _cells(self, sheet: str, left: str, top: int, right: str, bottom: int) -> Any:
        if not right:
            return self.value((sheet, f"{left}{top}"))
        columns, rows = range(index(left), index(right) + 1), range(top, bottom + 1)
        found = [[self.value((sheet, f"{letters(j)}{i}")) for j in columns] for i in rows]
        return np.array([[np.nan if isinstance(x, str) else x for x in row] for row in found])


def computed(sheet: Spreadsheet) -> Spreadsheet:
    """The workbook with every formula computed anew, whatever value was stored beside it."""
    values = _Computed(sheet)
    again = copy.copy(sheet)
    with np.errstate(all="ignore"):
        again.cells = sheet.cells | {at: values.value(at) for at in sheet.formulas}
    return again
