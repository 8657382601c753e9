"""The axes that the array of each node of a formula has in a script, and the order that they stand in."""

from __future__ import annotations

from attnviz.formula.graph import Node

_CONSTANTS = ("d_q", "d_k", "n", "n_query", "n_key", "n_heads")
_INTEGERS = (*_CONSTANTS, "i", "j", "h")
_KEPT = ("+", "-", "*", "//", "%", "**", "neg", "high", "low")
"""What makes whole numbers of whole numbers."""


class Layouts:
    """The layouts of the nodes of one formula.

    axes      all that there are, out of h, i, j and d in this order
    has_mask  whether only some keys of a row take part
    """

    def __init__(self, axes: str, *, has_mask: bool) -> None:
        self._axes, self._frame, self._is_row = axes, axes[:-1], has_mask
        self._layouts: dict[int, str] = {}

    def of(self, node: Node) -> str:
        """Return the axes of a node's array, out of h, i, j and d in this order."""
        if id(node) not in self._layouts:
            self._layouts[id(node)] = self._laid_out(node)
        return self._layouts[id(node)]

    def _laid_out(self, node: Node) -> str:
        if node.op in ("number", "text", "matrix"):
            return ""
        if node.op == "size":
            return self._frame if self._is_row else ""
        if node.op == "variable":
            return self._variable_layout(node)
        if node.op in ("==", "!=") and node.args[0].is_token:
            return "".join(sorted({axis for arg in node.args for axis in arg.axes}))
        kept = {axis for arg in node.args for axis in self.of(arg)}
        if node.over == "d":
            kept.discard("d")
        return "".join(axis for axis in self._axes if axis in kept)

    def _variable_layout(self, node: Node) -> str:
        if node.value == "x":
            return self._frame
        if node.name in ("i", "j"):
            return "ij"
        if node.name in _CONSTANTS:
            return ""
        return ("h" if "h" in self._axes else "") + node.axes


def broadcasts(layout: str, frame: str) -> bool:
    """Return whether an array of this layout lies right over one of that frame by NumPy's own rule."""
    return frame.endswith(layout)


def is_integral(node: Node) -> bool:
    """Return whether a node is made of whole numbers only, whose powers and remainders are not those of fractions."""
    if node.op == "number":
        return node.number == int(node.number)
    if node.op == "variable":
        return node.name in _INTEGERS
    if node.op == "size":
        return True
    return node.op in _KEPT and all(map(is_integral, node.args))


def stays_integral(node: Node) -> bool:
    """Return whether a library holds a node as whole numbers, of which PyTorch takes no exponential.

    >>> from attnviz.formula.reader import parse
    >>> [stays_integral(parse(line, "score").root) for line in ("abs(i - j)", "1 if q@k > 0 else i", "i / 2", "q@k")]
    [True, True, False, False]
    """
    if node.op == "if":
        return all(map(stays_integral, node.args[1:]))
    if node.args and (node.op in (*_KEPT, "sum", "max", "min", "cumsum") or node.name == "abs"):
        return all(map(stays_integral, node.args))
    return is_integral(node)
