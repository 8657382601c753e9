"""Functions of one argument and comparisons of words as NumPy or PyTorch."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.codegen.plain_numbers import is_careful, may_fail
from attnviz.codegen.precedence import ATOM, TIMES, Text
from attnviz.codegen.words import Words
from attnviz.formula.graph import Node


def call(node: Node, of: str, words: Words, *, is_array: bool) -> Text:
    """Return the call of a function of one argument, whose code is `of`: an array, or a number."""
    if node.value == "abs":
        return f"abs({of})", ATOM
    if not is_array and (may_fail(node) or (node.value == "sign" and is_careful(node))):
        of, is_array = words.number.format(of), True
    if is_array:
        return (
            f"{words.sigmoid if node.value == 'sigmoid' else f'{words.np}.{node.value}'}({of})",
            ATOM,
        )
    if node.value == "sigmoid":
        return f"1 / (1 + math.exp(-({of})))", TIMES
    if node.value == "sign":
        return f"((({of}) > 0) - (({of}) < 0))", ATOM
    return f"math.{node.value}({of})", ATOM


def compared_words(node: Node, named: Mapping[str, str], words: Words) -> str:
    """Return a comparison of words: lists decide it, for arrays of words are not everywhere."""
    sides, loops = [], []
    for arg in node.args:
        if arg.op == "text":
            sides.append(repr(arg.value))
        else:
            sides.append("a" if arg.axes == "i" else "b")
            listed = named.get("tokens" if arg.axes == "i" else "tokens_kv", "tokens")
            loops.append((sides[-1], listed))
    code = f" {node.op} ".join(sides)
    for name, listed in sorted(dict(loops).items(), reverse=True):
        code = f"[{code} for {name} in {listed}]"
    return f"{words.array}({code})" if loops else f"({code})"
