"""The numbers of a formula, for all heads at once.

No array with an entry for every query, key and column is ever whole: such nodes live in blocks of a few queries, small
enough for the processor's cache, and are gone when the block is added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from attnviz.arrays import Array
from attnviz.formula.evaluation.arrays import Arrays
from attnviz.formula.graph import ALONG, AXES, REDUCTIONS, Formula, Node

BLOCK = 1 << 19
"""Bytes of one (heads, some queries, keys, columns) block."""

AXIS = {"i": -3, "j": -2, "d": -1}
MOST_FACTORS = 8
"""Names can double a product again and again: with more factors than this it is not taken apart."""


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + e^-x); the exponential of what is never positive cannot overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def ratio(x: Array, y: Array) -> Array:
    """Return x / y, and 0 where y is 0."""
    return np.where(y == 0, 0.0, np.divide(x, np.where(y == 0, 1.0, y)))


def norm(x: Array, axis: int) -> Array:
    """Return the length of vectors; dividing by the largest entry first keeps the squares in range."""
    largest = np.max(np.abs(x), axis=axis, keepdims=True, initial=0.0)
    safe = np.where((largest > 0) & (largest < np.inf), largest, 1.0)
    y = x / safe
    return safe * np.sqrt((y * y).sum(axis=axis, keepdims=True))


DIGITS = 53


def level(x: Array, power: float, axis: int = -1) -> Array:
    """Return the number t with sum(max(x - t, 0)**power) = 1 along an axis, binary digit by digit.

    >>> level(np.array([1.0, 0.5, -1.0]), 1.0)
    array([0.25])
    """
    t = np.max(x, axis=axis, keepdims=True) - 1.0
    for digit in range(1, DIGITS + 1):
        higher = t + 2.0**-digit
        total = (np.maximum(x - higher, 0.0) ** power).sum(axis=axis, keepdims=True)
        t = np.where(total >= 1.0, higher, t)
    return t


def top(x: Array, n: float, axis: int = -1) -> Array:
    """Return where the n largest along an axis are; of equal ones the earlier is larger, and NaN never is.

    >>> top(np.array([1.0, 3.0, 1.0, -2.0]), 2)
    array([ True,  True, False, False])
    """
    order = np.argsort(-x, axis=axis, kind="stable")
    return (np.argsort(order, axis=axis, kind="stable") < n) & ~np.isnan(x)


ONE: dict[str, Callable[..., Array]] = {
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "sign": np.sign,
    "sigmoid": sigmoid,
    "neg": np.negative,
    "not": np.logical_not,
    "truth_as_number": lambda x: x.astype(float),
}
MORE: dict[str, Callable[..., Array]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.mod,
    "**": np.power,
    "high": np.maximum,
    "low": np.minimum,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "ratio": ratio,
    "if": np.where,
    "@": np.matmul,
    "@T": lambda x, W: x @ np.swapaxes(W, -1, -2),
}


REDUCED: dict[str, Callable[..., Array]] = {"sum": np.sum, "max": np.max, "min": np.min}


class Numbers:
    """The values of the nodes of a formula; each is computed lazily, and kept."""

    def __init__(self, arrays: Arrays, block: int = BLOCK) -> None:
        self.arrays, self._block = arrays, block
        self._kept: dict[int, tuple[Node, Array]] = {}

    def __call__(self, node: Node) -> Array:
        """Return the array of a node, (heads or 1, queries or 1, keys or 1, columns or 1)."""
        with np.errstate(all="ignore"):
            return self._full(node)

    def _full(self, node: Node) -> Array:
        if id(node) not in self._kept:
            value = self._reduced(node) if node.op in (*REDUCTIONS, "outer") else self._entry(node, self._full)
            self._kept[id(node)] = (node, value)  # the node is held too: an id is unique only while it lives
        return self._kept[id(node)][1]

    def _entry(self, node: Node, of: Callable[[Node], Array]) -> Array:
        """Return a node that adds nothing up, from its arguments."""
        if node.op in ("number", "text"):
            return np.full((1, 1, 1, 1), node.value, dtype=object if node.op == "text" else float)
        if node.op in ("variable", "matrix"):
            return self.arrays.values[node.name]
        if node.op == "size":
            return self._size(node)
        args = [of(arg) for arg in node.args]
        if node.is_square:
            return args[0] * args[0]
        return ONE[node.name if node.op == "call" else node.op](*args) if len(args) == 1 else MORE[node.op](*args)

    def _size(self, node: Node) -> Array:
        if node.value == "j" and self.arrays.allowed is not None:
            return self.arrays.allowed.sum(axis=-2, keepdims=True).astype(float)
        return np.full((1, 1, 1, 1), float(self._length(node.name, node.width)))

    def _length(self, axis: str, width: int) -> int:
        if axis == "d":
            return self.arrays.widths[width]
        return self.arrays.n_query if axis == "i" else self.arrays.n_key

    def _reduced(self, node: Node) -> Array:
        if node.op == "outer":
            return self._outer(node)
        (x,) = node.args
        if node.op == "level":
            return self._level(node, self._full(x))
        if node.op in ALONG:
            return self._along(node, self._full(x))
        product = self._as_product(node, x) if node.op == "sum" else None
        if product is not None:
            return product
        if not x.is_big:
            return self._over(node, self._full(x))
        parts = (self._over(node, part) for part in self._blocks(x))
        return np.concatenate(list(parts), axis=-3) if node.over != "i" else sum(parts, np.zeros(()))

    def _over(self, node: Node, y: Array) -> Array:
        """Reduce a block along one axis: by its sum, or by its largest."""
        axis, length = AXIS[node.over], self._length(node.over, node.args[0].width)
        if y.shape[axis] != length and node.over != "i":
            y = np.broadcast_to(y, [length if at == y.ndim + axis else s for at, s in enumerate(y.shape)])
        if self.arrays.allowed is not None and node.over == "j":
            return self._over_allowed(node.op, *np.broadcast_arrays(y, self.arrays.allowed))
        if node.op == "norm":
            return norm(y, axis)
        return REDUCED[node.op](y, axis=axis, keepdims=True)

    def _level(self, node: Node, x: Array) -> Array:
        """Return the level of each row; a row without any key that takes part gives 0."""
        x = np.broadcast_to(x, (*x.shape[:-2], self.arrays.n_key, 1))
        may = np.ones((1, 1, 1, 1), bool) if self.arrays.allowed is None else self.arrays.allowed
        x, may = np.broadcast_arrays(x, may)
        threshold = level(np.where(may, x, -np.inf), node.number, AXIS["j"])
        return np.where(may.any(axis=AXIS["j"], keepdims=True), threshold, 0.0)

    def _along(self, node: Node, x: Array) -> Array:
        """Return a number, or a truth, for each key of a row, from those that take part."""
        x = np.broadcast_to(x, (*x.shape[:-2], self._length(node.over, 0), 1))
        may = np.ones((1, 1, 1, 1), bool) if self.arrays.allowed is None else self.arrays.allowed
        x, may = np.broadcast_arrays(x, may)
        if node.op == "cumsum":
            return np.cumsum(np.where(may, x, 0.0), axis=AXIS[node.over])
        return top(np.where(may, x, -np.inf), node.number, AXIS[node.over]) & may

    def _over_allowed(self, op: str, y: Array, may: Array) -> Array:
        """Return the same over the keys that take part; a row without any gives 0."""
        axis = AXIS["j"]
        if op == "norm":
            return norm(np.where(may, y, 0.0), axis)
        if op == "sum":
            return y.sum(axis=axis, keepdims=True, where=may)
        worst = -np.inf if op == "max" else np.inf
        value = REDUCED[op](y, axis=axis, keepdims=True, initial=worst, where=may)
        return np.where(may.any(axis=axis, keepdims=True), value, 0.0)

    def _rows(self, *nodes: Node) -> Iterator[slice]:
        """Yield the queries of each block, few enough for the widest of these nodes."""
        width = max(self._length("d", node.width) if "d" in node.axes else 1 for node in nodes)
        row = self.arrays.heads * 8 * self.arrays.n_key * width
        step = max(1, self._block // max(row, 1))
        return (slice(start, start + step) for start in range(0, self.arrays.n_query, step))

    def _blocks(self, x: Node) -> Iterator[Array]:
        return (self._part(x, rows, {}) for rows in self._rows(x))

    def _part(self, x: Node, rows: slice, done: dict[int, Array]) -> Array:
        """Return some queries of x: a big node anew, and forgotten after the block; any other from what is kept."""
        if not x.is_big:
            whole = self._full(x)
            return whole[..., rows, :, :] if "i" in x.axes and whole.shape[-3] > 1 else whole
        if id(x) not in done:
            done[id(x)] = self._entry(x, lambda arg: self._part(arg, rows, done))
        return done[id(x)]

    def _as_product(self, node: Node, x: Node) -> Array | None:
        """Return a sum of products as a product of matrices, where no factor has both of the axes that stay."""
        if self.arrays.allowed is not None and node.over == "j":
            return None
        inside = [f for f in factors(x) if node.over in f.axes]
        outside = [f for f in factors(x) if node.over not in f.axes]
        first, second = (axis for axis in AXES if axis != node.over)
        left = [f for f in inside if second not in f.axes]
        right = [f for f in inside if second in f.axes]
        if not left or not right or any(first in f.axes for f in right) or not any(first in f.axes for f in left):
            return None
        order = [axis % 4 for axis in (-4, AXIS[first], AXIS[node.over], AXIS[second])]
        length = self._length(node.over, x.width)
        L = _stretched(np.transpose(self._times(left), order), length)[..., 0]
        R = _stretched(np.transpose(self._times(right), order), length)[:, 0]
        value = np.transpose((L @ R)[:, :, None, :], np.argsort(order))
        return value * self._times(outside) if outside else value

    def _times(self, nodes: list[Node]) -> Array:
        value = self._full(nodes[0])
        for node in nodes[1:]:
            value = value * self._full(node)
        return value

    def _outer(self, node: Node) -> Array:
        """Return x^T g over all queries and keys: the gradient of a matrix."""
        x, g = node.args
        sizes = self._length("d", node.width), self._length("d", node.columns)
        if not x.is_big and not g.is_big:
            return _turned_product(self._full(x), self._full(g), *sizes)
        value = np.zeros(())
        for rows in self._rows(x, g):
            done: dict[int, Array] = {}
            value = value + _turned_product(self._part(x, rows, done), self._part(g, rows, done), *sizes)
        return value


def _stretched(a: Array, length: int) -> Array:
    """Return (heads, p, over, q) with the axis that is added up at its full length."""
    return np.broadcast_to(a, (*a.shape[:2], length, a.shape[3]))


def _turned_product(x: Array, g: Array, rows: int, columns: int) -> Array:
    shape = np.broadcast_shapes(x.shape[:-1], g.shape[:-1])
    flat = [np.broadcast_to(a, (*shape, w)).reshape(shape[0], -1, w) for a, w in ((x, rows), (g, columns))]
    return (np.swapaxes(flat[0], -1, -2) @ flat[1])[:, None]


def factors(x: Node) -> list[Node]:
    """Return the factors of x, left to right."""
    nodes: list[Node] = []
    left = [x]
    while left:
        node = left.pop()
        if node.op == "*" and len(nodes) + len(left) < MOST_FACTORS - 1:
            left += [node.args[1], node.args[0]]
        else:
            nodes.append(node)
    return nodes


def scores(formula: Formula, arrays: Arrays) -> Array:
    """Return the scores or biases (heads, queries, keys), or a mask (heads, queries, keys)."""
    values = Numbers(arrays)(formula.root)
    return np.broadcast_to(values, (arrays.heads, arrays.n_query, arrays.n_key, 1))[..., 0]


def weights(formula: Formula, arrays: Arrays) -> Array:
    """Return the weights (heads, queries, keys); what is forbidden is no part of a row, and comes out as 0."""
    values = scores(formula, arrays)
    return values if arrays.allowed is None else np.where(arrays.allowed[..., 0], values, 0.0)
