"""Scores of a query and a key: one number for every pair.

Every score function takes queries Q (..., n_query, d_q) and keys K (..., n_key, d_k) and returns (..., n_query, n_key);
the leading axes, heads among them, are carried along. Parameters come as keywords, shaped as if there were one head or
with an axis for the heads in front; `None` means the plainest one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from attnviz.engine.numerics import scratch
from attnviz.engine.rows import line_rows
from attnviz.engine.slopes import scores as slopes
from attnviz.formula.functions import score_function, score_slopes
from attnviz.formula.graph import Formula
from attnviz.formula.patterns import is_dot
from attnviz.formula.reader import parse
from attnviz.readings.latex import latex
from attnviz.settings.rows import Choice, LineRow, table

Array = np.ndarray


def swap(x: Array) -> Array:
    """Return the transpose of each matrix of a stack."""
    return np.swapaxes(x, -1, -2)


def dot(Q: Array, K: Array) -> Array:
    r"""$S_{ij} = q_i \cdot k_j$

    >>> dot(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[11.,  2.]])
    """
    return scratch.product(Q, swap(K))


def general(Q: Array, K: Array, *, W: Array | None = None) -> Array:
    r"""$S_{ij} = q_i W k_j^\top$, with W (d_q, d_k) the identity if not given.

    >>> general(np.array([[1.0, 2.0]]), np.array([[3.0]]), W=np.array([[1.0], [10.0]]))
    array([[63.]])
    """
    if W is None:
        W = np.eye(Q.shape[-1], K.shape[-1])
    return scratch.product(scratch.product(Q, W), swap(K))


def additive(
    Q: Array,
    K: Array,
    *,
    W_q: Array | None = None,
    W_k: Array | None = None,
    v: Array | None = None,
    b: Array | None = None,
) -> Array:
    r"""$S_{ij} = v \cdot \tanh(q_i W_q + k_j W_k + b)$

    W_q (d_q, d_a), W_k (d_k, d_a), v (d_a,), b (d_a,); if not given: identity, identity, ones, zeros.

    >>> additive(np.array([[0.5]]), np.array([[0.5], [-0.5]])).round(4)
    array([[0.7616, 0.    ]])
    """
    width = next((p.shape[-1] for p in (W_q, W_k, v, b) if p is not None), max(Q.shape[-1], K.shape[-1]))
    left = scratch.product(Q, np.eye(Q.shape[-1], width) if W_q is None else W_q)
    right = scratch.product(K, np.eye(K.shape[-1], width) if W_k is None else W_k)
    if b is not None:
        left = left + b[..., None, :]
    v = np.ones(width) if v is None else v
    return _tanh_sum(left, right, v)


REACH = 150.0
"""Sizes up to which e^2x and e^-2x, and their sums and products, are far from overflow and underflow."""


def _tanh_sum(left: Array, right: Array, v: Array) -> Array:
    """Sum over a of v_a tanh(left_ia + right_ja), one query at a time: no (n_query, n_key, d_a) array is ever held.

    tanh(x + y) = (e^2y - e^-2x) / (e^2y + e^-2x): the exponentials are taken once a query and once a key, and what is
    left for each pair is a subtraction, an addition and a division, each exact to the last bits. Hidden units with an
    entry beyond REACH, where the exponentials could overflow, take the plain tanh.
    """
    left, right = left[..., None], np.ascontiguousarray(swap(right))
    far = ~((np.abs(left) <= REACH).all(axis=(-3, -1)) & (np.abs(right) <= REACH).all(axis=-1))[..., None]
    falling, rising = np.exp(-2.0 * np.clip(left, -REACH, REACH)), np.exp(2.0 * np.clip(right, -REACH, REACH))
    scores = np.empty((*left.shape[:-2], right.shape[-1]))
    for i in range(left.shape[-3]):
        f = falling[..., i, :, :]
        hidden = rising - f
        hidden /= rising + f
        if far.any():
            np.copyto(hidden, np.tanh(left[..., i, :, :] + right), where=far)
        scores[..., i, :] = scratch.product(v[..., None, :], hidden)[..., 0, :]
    return scores


def unit(x: Array) -> Array:
    """Return each row over its length; a row of zeros stays.

    Dividing by the largest entry first keeps the square in range.
    """
    largest = np.max(np.abs(x), axis=-1, keepdims=True, initial=0.0)
    x = x / np.where(largest > 0, largest, 1.0)
    length = np.sqrt(np.sum(x * x, axis=-1, keepdims=True))
    return x / np.where(largest > 0, length, 1.0)


def cosine(Q: Array, K: Array) -> Array:
    r"""$S_{ij} = q_i \cdot k_j / (|q_i|\,|k_j|)$, and 0 where either is zero.

    >>> cosine(np.array([[3.0, 4.0]]), np.array([[6.0, 8.0], [0.0, 0.0]])).round(12)
    array([[1., 0.]])
    """
    return scratch.product(unit(Q), swap(unit(K)))


def gaussian(Q: Array, K: Array) -> Array:
    r"""$S_{ij} = -\tfrac12 |q_i - k_j|^2$; the softmax of it is kernel regression with a Gaussian kernel.

    >>> gaussian(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[-12.5]])
    """
    squared = np.zeros((*Q.shape[:-1], K.shape[-2]))
    for d in range(Q.shape[-1]):  # differences, not |q|^2 + |k|^2 - 2 q.k, which cancels for neighbours far from 0
        squared += (Q[..., d, None] - K[..., None, :, d]) ** 2
    return -0.5 * squared


def negative_distance(Q: Array, K: Array) -> Array:
    r"""$S_{ij} = -|q_i - k_j|$

    >>> negative_distance(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[-5.]])
    """
    length = np.zeros((*Q.shape[:-1], K.shape[-2]))
    for d in range(Q.shape[-1]):
        length = np.hypot(length, Q[..., d, None] - K[..., None, :, d])
    return -length


def location(Q: Array, K: Array, *, W: Array | None = None) -> Array:
    r"""$S_{ij} = q_i \cdot w_j$: column j of W (d_q, n_key) belongs to position j; what stands there is not looked at.

    >>> location(np.array([[1.0, 2.0]]), np.zeros((3, 5)), W=np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]))
    array([[1., 2., 4.]])
    """
    if W is None:
        W = np.eye(Q.shape[-1], K.shape[-2])
    return scratch.product(Q, W)


FORMULA = "sum(tanh(q * k)) / sqrt(d_k)"
"""What stands in the field before anything is typed."""


@dataclass(frozen=True)
class Score(Choice):
    """`fn(Q, K, **parameters)`, and what the engine must know to call it.

    scale       the factor that belongs to the score, from the width of a key
    parameters  for each parameter of `fn` the axes that it has in one head
    biases      which of the parameters are biases: zero unless biases are on
    any_widths  whether queries and keys may differ in width
    typed       the formula that was typed, where it is one: then every reading comes from it
    unscaled    the line without the scale, where the row has one
    pairwise    seconds that `fn` takes for each pair of tokens and entry of the vectors, where it is no matrix product
    """

    scale: Callable[[int], float] = field(default=lambda d_k: 1.0)
    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    biases: tuple[str, ...] = ()
    any_widths: bool = False
    typed: Formula | None = None
    unscaled: str = ""
    pairwise: float = 0.0

    @property
    def is_dot(self) -> bool:
        """Whether the scores are Q K^T, times the scale."""
        return is_dot(self.definition)

    @property
    def is_over_root(self) -> bool:
        """Whether the score has a scale that follows from the width."""
        return self.scale(4) != 1.0

    @property
    def looks_at_keys(self) -> bool:
        """Whether it matters what a key holds, and not only where it stands."""
        return "k" in self.definition.variables()

    @property
    def definition(self) -> Formula:
        """The value of `fn` as a formula; the scale comes after it."""
        return self.typed or parse(self.unscaled or self.line)

    @property
    def by_position(self) -> bool:
        """True if a column of the scores belongs to a position, whatever key stands there."""
        return any("key" in axes for axes in self.parameters.values()) or self._names("j")

    @property
    def by_query_position(self) -> bool:
        """True if a row of the scores belongs to a position, whatever query stands there."""
        return self._names("i")

    def _names(self, variable: str) -> bool:
        return self.typed is not None and variable in self.typed.variables()


BIAS = "b"
"""The parameter of a line that is zero unless biases are on."""


def of_formula(row: Score, formula: Formula, widths: Sequence[int] = ()) -> Score:
    """Return the row with all that follows from its formula.

    widths  the true width of each head, where heads of different width ride padded with zeros
    """
    has_bias = BIAS in formula.parameters and formula.parameters[BIAS].role == "vector"
    return row.changed(
        fn=row.fast or score_function(formula, widths),
        back=score_slopes(formula, widths),
        formula=latex(formula),
        parameters={name: formula.axes_of(name) for name in formula.parameters},
        biases=(BIAS,) if has_bias else (),
        any_widths=formula.any_widths,
        typed=formula,
    )


def of_line(line: LineRow) -> Score:
    """Return the row of a score that is nothing but its line."""
    formula = parse(line.line, "score", {knob.name: knob.default for knob in line.knobs})
    row = Score(line.name, line.label, score_function(formula), "", line.note, line.source, plain=line.plain)
    return of_formula(row.changed(line=line.line, knobs=line.knobs, fast=line.fast), formula)


SCORES = table(
    Score(
        "scaled_dot",
        "Scaled dot product",
        dot,
        r"s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}}",
        "The products of the entries, added up; divided by √d_k so that width alone does not sharpen the softmax.",
        "Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1",
        scale=lambda d_k: 1.0 / math.sqrt(d_k),
        plain="q · k",
        line="sum(q * k) / sqrt(d_k)",
        unscaled="sum(q * k)",
        back=slopes.dot,
    ),
    Score(
        "dot",
        "Dot product",
        dot,
        r"s_{ij} = q_i \cdot k_j",
        "The products of the entries, added up, and nothing more: wide heads give large scores.",
        "Luong et al. 2015, arXiv:1508.04025, section 3.1",
        plain="q · k",
        line="sum(q * k)",
        back=slopes.dot,
    ),
    Score(
        "general",
        "General (bilinear)",
        general,
        r"s_{ij} = q_i\, W\, k_j^\top",
        "A matrix between query and key says which entry meets which.",
        "Luong et al. 2015, arXiv:1508.04025, section 3.1",
        parameters={"W": ("d_q", "d_k")},
        any_widths=True,
        plain="q W kᵀ",
        line="q @ W @ k",
        back=slopes.general,
    ),
    Score(
        "additive",
        "Additive (Bahdanau)",
        additive,
        r"s_{ij} = v \cdot \tanh(q_i W_q + k_j W_k + b)",
        "Query and key are added, not multiplied: a small network with one hidden layer scores the pair.",
        "Bahdanau et al. 2014, arXiv:1409.0473, appendix A.1.2",
        uses=("d_a",),
        parameters={
            "W_q": ("d_q", "d_a"),
            "W_k": ("d_k", "d_a"),
            "v": ("d_a",),
            "b": ("d_a",),
        },
        biases=("b",),
        any_widths=True,
        plain="v · tanh(q W_q + k W_k)",
        line="hidden = tanh(q @ W_q + b + k @ W_k); sum(hidden * v)",
        back=slopes.additive,
        pairwise=12e-9,
    ),
    Score(
        "cosine",
        "Cosine",
        cosine,
        r"s_{ij} = \frac{q_i \cdot k_j}{|q_i|\,|k_j|}",
        "Only the directions count; a larger scale (1 over the temperature) sharpens what lies between -1 and 1.",
        "Graves et al. 2014, arXiv:1410.5401, section 3.3.1",
        plain="q · k / (|q| |k|)",
        line="dot(unit(q), unit(k))",
        back=slopes.cosine,
    ),
    Score(
        "gaussian",
        "Gaussian (Nadaraya-Watson)",
        gaussian,
        r"s_{ij} = -\tfrac{1}{2}\,|q_i - k_j|^2",
        "Near keys count more: with the softmax this is kernel regression.",
        "Zhang et al., Dive into Deep Learning, section 11.2",
        plain="−½ |q − k|²",
        line="-0.5 * sum((q - k)**2)",
        back=slopes.gaussian,
        pairwise=4e-9,
    ),
    Score(
        "negative_distance",
        "Negative distance",
        negative_distance,
        r"s_{ij} = -|q_i - k_j|",
        "Near keys count more, and far ones are punished less than by the Gaussian.",
        "Gulcehre et al. 2018, arXiv:1805.09786, section 3.2 (there with hyperbolic distance)",
        plain="−|q − k|",
        line="-norm(q - k)",
        back=slopes.negative_distance,
        pairwise=18e-9,
    ),
    Score(
        "location",
        "Location-based",
        location,
        r"s_{ij} = q_i \cdot w_j",
        "The query alone decides which positions to read; what the keys say is not used.",
        "Luong et al. 2015, arXiv:1508.04025, section 3.1, eq. 8",
        parameters={"W": ("d_q", "key")},
        any_widths=True,
        plain="q · w of the position",
        line="sum(q * W[:, j])",
        back=slopes.location,
    ),
    *map(of_line, line_rows("score")),
    Score(
        "formula",
        "Your own formula",
        score_function(parse(FORMULA)),
        r"s_{ij} = f(q_i, k_j)",
        "A score that you type yourself; every number of it can be followed like those of the others.",
        "-",
        uses=("score_formula", "d_a"),
        plain="f(q, k)",
        back=score_slopes(parse(FORMULA)),
    ),
)
