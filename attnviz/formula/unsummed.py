"""The part of a score that lacks its sum."""

from __future__ import annotations

import ast
from collections.abc import Callable


def unsummed(n: ast.expr, has_entries: Callable[[ast.expr], bool]) -> ast.expr:
    """Return the first part that lacks its sum: beside a number the vector alone, as sum(q + 1) adds 1 d_k times.

    n  a part that has an entry for each number of a vector;  has_entries  whether a part has

    >>> line = ast.parse("a - 2*q", mode="eval").body
    >>> ast.unparse(unsummed(line, lambda part: "q" in ast.unparse(part)))
    '2 * q'
    """
    match n:
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            parts, are_summands = [n.left, n.right], True
        case ast.IfExp() if not has_entries(n.test):
            parts, are_summands = [n.body, n.orelse], True
        case ast.BinOp(op=ast.Mult()) if not (has_entries(n.left) and has_entries(n.right)):
            parts, are_summands = [n.left, n.right], False
        case ast.BinOp(op=ast.Div()) if not has_entries(n.right):
            parts, are_summands = [n.left], False
        case ast.UnaryOp():
            parts, are_summands = [n.operand], False
        case _:
            return n
    found = {part: unsummed(part, has_entries) for part in parts if has_entries(part)}
    if are_summands and len(found) < len(parts):
        return next(iter(found.values()))
    return next((within for part, within in found.items() if within is not part), n)
