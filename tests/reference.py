"""Attention as nested loops over plain Python floats: the independent opinion.

Nothing here is fast and nothing is shared with the package: vectors are lists, matrices are lists of rows, and every
sum is a loop that can be followed with a pencil. Written from the definitions:

    A = normalise(mask(softcap(scale * score(Q, K)) + bias) / temperature),   Z = A V
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

Vector = list[float]
Matrix = list[Vector]
FORBIDDEN = -math.inf


# Small change --------------------------------------------------------------------------------------------------------


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    """The sum of the products, one coordinate after the other."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def column(matrix: Matrix, j: int) -> Vector:
    """Column j of a matrix."""
    return [row[j] for row in matrix]


def row_times(x: Sequence[float], matrix: Matrix) -> Vector:
    """The row vector x W."""
    return [dot(x, column(matrix, j)) for j in range(len(matrix[0]))]


def project(rows: Matrix, matrix: Matrix, bias: Vector | None = None) -> Matrix:
    """X W + b, one row after the other."""
    b = bias or [0.0] * len(matrix[0])
    return [[value + offset for value, offset in zip(row_times(x, matrix), b, strict=True)] for x in rows]


def identity(n: int) -> Matrix:
    """Ones on the diagonal."""
    return [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]


def distance(a: Vector, b: Vector) -> float:
    """The Euclidean distance |a - b|."""
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))


# Scores: one number for one query q and one key k at position j ---------------------------------------------------


def general(q: Vector, k: Vector, j: int, params: dict[str, Any]) -> float:
    """q W k."""
    return dot(row_times(q, params.get("W") or identity(len(q))), k)


def additive(q: Vector, k: Vector, j: int, params: dict[str, Any]) -> float:
    """v . tanh(q W_q + k W_k + b)."""
    from_query = row_times(q, params.get("W_q") or identity(len(q)))
    from_key = row_times(k, params.get("W_k") or identity(len(k)))
    b = params.get("b") or [0.0] * len(from_query)
    v = params.get("v") or [1.0] * len(from_query)
    return dot(v, [math.tanh(x + y + z) for x, y, z in zip(from_query, from_key, b, strict=True)])


def cosine(q: Vector, k: Vector, j: int, params: dict[str, Any]) -> float:
    """The cosine of the angle between q and k; 0 when either has no direction."""
    lengths = math.sqrt(dot(q, q)) * math.sqrt(dot(k, k))
    return dot(q, k) / lengths if lengths else 0.0


def qk_norm(q: Vector, k: Vector, j: int, params: dict[str, Any]) -> float:
    """Both over their root mean square and times their gains, then the product over the root of the width."""
    d = len(q)
    sides = []
    for x, name in ((q, "u"), (k, "w")):
        root = math.sqrt(dot(x, x) / d)
        gains = params.get(name, [1.0] * d)
        sides.append([entry / root * gain if root else 0.0 for entry, gain in zip(x, gains, strict=True)])
    return dot(*sides) / math.sqrt(d)


def first(number: Any) -> float:
    """A number of a head, which a run keeps as a list of one."""
    return float(number[0]) if isinstance(number, list) else float(number)


SCORES: dict[str, Callable[[Vector, Vector, int, dict[str, Any]], float]] = {
    "scaled_dot": lambda q, k, j, params: dot(q, k),
    "dot": lambda q, k, j, params: dot(q, k),
    "general": general,
    "additive": additive,
    "cosine": cosine,
    "gaussian": lambda q, k, j, params: -(distance(q, k) ** 2) / 2,
    "negative_distance": lambda q, k, j, params: -distance(q, k),
    "location": lambda q, k, j, params: row_times(q, params["W"])[j],
    "multiplicative_tanh": lambda q, k, j, params: math.tanh(general(q, k, j, params)),
    "qk_norm": qk_norm,
    "scaled_cosine": lambda q, k, j, params: cosine(q, k, j, params) / max(first(params.get("tau", 1.0)), 0.01),
    "formula": lambda q, k, j, params: sum(math.tanh(x * y) for x, y in zip(q, k, strict=True)) / math.sqrt(len(q)),
}


# Normalisers: the weights of one query over the keys that it may attend to -------------------------------------------


def root(excess: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function crosses zero, found by halving the interval sixty times."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return (low + high) / 2


def softmax(z: Vector) -> Vector:
    """e^z over its sum; the largest is taken off first, which changes nothing but keeps e^z finite."""
    top = max(z)
    powers = [math.exp(x - top) for x in z]
    return [power / sum(powers) for power in powers]


def sparsemax(z: Vector) -> Vector:
    """max(z - t, 0), with t chosen so that the weights sum to one."""
    t = root(lambda t: sum(max(x - t, 0.0) for x in z) - 1, max(z) - 1, max(z))
    return [max(x - t, 0.0) for x in z]


def entmax15(z: Vector) -> Vector:
    """max(z / 2 - t, 0)^2, with t chosen so that the weights sum to one."""
    t = root(lambda t: sum(max(x / 2 - t, 0.0) ** 2 for x in z) - 1, max(z) / 2 - 1, max(z) / 2)
    return [max(x / 2 - t, 0.0) ** 2 for x in z]


def entmax(z: Vector, alpha: float = 1.25) -> Vector:
    """max((alpha - 1) z - t, 0)^(1 / (alpha - 1)), with t chosen so that the weights sum to one."""
    small, power = [(alpha - 1) * (x - max(z)) for x in z], 1 / (alpha - 1)
    t = root(lambda t: sum(max(x - t, 0.0) ** power for x in small) - 1, -1.0, 0.0)
    return [max(x - t, 0.0) ** power for x in small]


def sigmoid(z: Vector) -> Vector:
    """1 / (1 + e^-z), each for itself."""
    return [1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x)) for x in z]


def hardmax(z: Vector) -> Vector:
    """All weight on the largest; those that are equal but for a billionth of the spread share it."""
    wins = [(max(z) - x) <= (max(z) - min(z)) / 1e9 for x in z]
    return [win / sum(wins) for win in wins]


def quiet_softmax(z: Vector) -> Vector:
    """e^z over one plus its sum, so that a query may leave weight unspent."""
    top = max(*z, 0.0)
    powers = [math.exp(x - top) for x in z]
    return [power / (math.exp(-top) + sum(powers)) for power in powers]


def linear(z: Vector) -> Vector:
    """max(z, 0) over its sum; nothing when there is nothing above zero."""
    positive = [max(x, 0.0) for x in z]
    return [x / sum(positive) if sum(positive) else 0.0 for x in positive]


NORMALISERS: dict[str, Callable[[Vector], Vector]] = {
    "softmax": softmax,
    "sparsemax": sparsemax,
    "entmax15": entmax15,
    "sigmoid": sigmoid,
    "hardmax": hardmax,
    "quiet_softmax": quiet_softmax,
    "linear": linear,
    "entmax": entmax,
    "relu_over_n": lambda z: [max(x, 0.0) / len(z) for x in z],
    "softmax_with_sink": quiet_softmax,
    "squared_relu_over_n": lambda z: [max(x, 0.0) ** 2 / len(z) for x in z],
    "formula": softmax,
}


# One head ------------------------------------------------------------------------------------------------------------


@dataclass
class Attention:
    """Every number on the way, each a list of rows: queries down, keys across."""

    scores: Any
    scaled: Any
    capped: Any
    masked: Any
    weights: Any
    output: Any


STEPS = tuple(field.name for field in fields(Attention))


def weigh(row: Vector, normaliser: str, temperature: float) -> Vector:
    """The weights of one query: zero where forbidden, and zero everywhere when nothing is allowed."""
    allowed = [j for j, x in enumerate(row) if x != FORBIDDEN]
    weights = [0.0] * len(row)
    if allowed:
        for j, weight in zip(allowed, NORMALISERS[normaliser]([row[j] / temperature for j in allowed]), strict=True):
            weights[j] = weight
    return weights


def mix(weights: Vector, masked: Vector, v: Matrix) -> Vector:
    """The weighted sum of the values that may be read; what is forbidden does not even enter the sum."""
    output = [0.0] * len(v[0])
    for weight, x, value in zip(weights, masked, v, strict=True):
        if x != FORBIDDEN:
            output = [total + weight * part for total, part in zip(output, value, strict=True)]
    return output


def attend(
    q: Matrix,
    k: Matrix,
    v: Matrix,
    *,
    score: str = "scaled_dot",
    params: dict[str, Any] | None = None,
    allowed: list[list[bool]] | None = None,
    bias: Matrix | None = None,
    causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    normaliser: str = "softmax",
    temperature: float = 1.0,
) -> Attention:
    """One head of attention, cell by cell."""
    if scale is None:
        scale = 1 / math.sqrt(len(k[0])) if score == "scaled_dot" else 1.0
    steps = Attention([], [], [], [], [], [])
    for i, query in enumerate(q):
        scores = [SCORES[score](query, key, j, params or {}) for j, key in enumerate(k)]
        scaled = [x * scale for x in scores]
        capped = [softcap * math.tanh(x / softcap) for x in scaled] if softcap else scaled
        masked = [x + bias[i][j] if bias else x for j, x in enumerate(capped)]
        for j in range(len(k)):
            if (allowed and not allowed[i][j]) or (causal and j > i):
                masked[j] = FORBIDDEN
        weights = weigh(masked, normaliser, temperature)
        steps.scores.append(scores)
        steps.scaled.append(scaled)
        steps.capped.append(capped)
        steps.masked.append(masked)
        steps.weights.append(weights)
        steps.output.append(mix(weights, masked, v))
    return steps


def concat(heads: list[Matrix]) -> Matrix:
    """The heads of each query laid end to end."""
    return [[value for head in heads for value in head[i]] for i in range(len(heads[0]))]


# Many heads: NumPy cuts arrays into heads and stacks what comes back; it does no arithmetic --------------------------

PARAMETER_AXES = {"W_q": 2, "W_k": 2, "W": 2, "v": 1, "b": 1, "u": 1, "w": 1, "tau": 0}


def attend_heads(q: np.ndarray, k: np.ndarray, v: np.ndarray, **options: Any) -> Attention:
    """`attend` for every head of every batch entry of (..., H, n, d) arrays, or once for plain (n, d) ones."""
    if q.ndim == 2:
        steps = attend_heads(q[None], k[None], v[None], **options)
        return Attention(*(getattr(steps, name)[0] for name in STEPS))
    batch, heads = q.shape[:-3], q.shape[-3]
    k, v = (np.broadcast_to(x, batch + x.shape[-3:]) for x in (k, v))
    cells = q.shape[:-1] + k.shape[-2:-1]
    indices = list(np.ndindex((*batch, heads)))
    results = []
    for *entry, h in indices:
        group = (*entry, h // (heads // k.shape[-3]))
        mine = _options_of_head(options, (*entry, h), cells)
        results.append(attend(q[(*entry, h)].tolist(), k[group].tolist(), v[group].tolist(), **mine))
    stacks = (np.array([getattr(one, name) for one in results]) for name in STEPS)
    return Attention(*(stack.reshape((*batch, heads, *stack.shape[1:])) for stack in stacks))


def _options_of_head(options: dict[str, Any], index: tuple[int, ...], cells: tuple[int, ...]) -> dict[str, Any]:
    """What one head of one batch entry gets of arrays that may belong to all of them."""
    mine = dict(options)
    for name in ("allowed", "bias"):
        if mine.get(name) is not None:
            mine[name] = np.broadcast_to(mine[name], cells)[index].tolist()
    if np.ndim(mine.get("scale")) == 1:
        mine["scale"] = float(mine["scale"][index[-1]])
    params = mine.get("params") or {}
    mine["params"] = {n: (p[index[-1]] if p.ndim > PARAMETER_AXES[n] else p).tolist() for n, p in params.items()}
    return mine
