"""Functions of one argument and comparisons of words as NumPy or PyTorch."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.codegen.plain_numbers import is_careful, may_fail
from attnviz.codegen.precedence import ATOM, TIMES, Text
from attnviz.codegen.words import Words
from attnviz.formula.graph import Node
from attnviz.formula.names import place_of


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
    sides = [repr(arg.value) if arg.op == "text" else name for arg, name in zip(node.args, _sides(node))]
    code = f" {node.op} ".join(sides)
    lists = {name: _listed(arg, named) for arg, name in zip(node.args, _sides(node)) if arg.op != "text"}
    if len(lists) == 2 and node.args[0].axes == node.args[1].axes:
        code = f"[{code} for a, b in zip({', '.join(lists.values())})]"
        return f"{words.array}({code})"
    for name, listed in sorted(lists.items(), reverse=True):
        code = f"[{code} for {name} in {listed}]"
    return f"{words.array}({code})" if lists else f"({code})"


def _sides(node: Node) -> tuple[str, str]:
    """Return what the words of both sides are called; two of one list are both asked for at once."""
    one, other = (arg.axes for arg in node.args)
    if one == other and node.args[0] is not node.args[1]:
        return "a", "b"
    return ("b" if one == "j" else "a"), ("b" if other == "j" else "a")


def _listed(token: Node, named: Mapping[str, str]) -> str:
    """Return the list of tokens of queries or of keys; that of their neighbours has empty words at its ends."""
    axis, after = place_of(token.name)
    tokens = named.get("tokens" if axis == "i" else "tokens_kv", "tokens")
    if not after:
        return tokens
    empty = f'[""] * {abs(after)}' if abs(after) > 1 else '[""]'
    return f"({empty} + {tokens})[: len({tokens})]" if after < 0 else f"({tokens} + {empty})[{after}:]"
