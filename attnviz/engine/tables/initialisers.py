"""Initialisers of the parameters: W_Q, W_K, W_V, W_O and those of the score function.

Every initialiser gets the address of its matrix, the shape (d_in, d_out) of one head's matrix, and the input X that the
matrix will be applied to; those that set weights by hand are solved from X, the others leave it alone. A vector of
parameters is a shape with one axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics import noise
from attnviz.engine.numerics.noise import Address
from attnviz.settings.rows import Choice, table


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the numbers of inputs of one output, and of outputs of one input.

    A vector has one output.
    """
    return (shape[0], shape[1]) if len(shape) == 2 else (shape[0], 1)


def normal(address: Address, shape: tuple[int, ...], X: Array) -> Array:
    """Draw independent standard normal entries."""
    return noise.normal(address, shape)


def glorot(address: Address, shape: tuple[int, ...], X: Array) -> Array:
    """Draw uniformly from [-a, a) with a = sqrt(6 / (d_in + d_out)), the widths of one head."""
    return glorot_of(noise.uniform(address, shape), shape)


def glorot_of(U: Array, shape: tuple[int, ...]) -> Array:
    """Return numbers of [0, 1) as those of `glorot`; also of several matrices of a shape, stacked."""
    return math.sqrt(6.0 / sum(fans(shape))) * (2.0 * U - 1.0)


def uniform(address: Address, shape: tuple[int, ...], X: Array) -> Array:
    """Draw uniformly from [0, 1)."""
    return noise.uniform(address, shape)


def binary(address: Address, shape: tuple[int, ...], X: Array) -> Array:
    """Draw zeros and ones, equally likely."""
    return np.floor(2.0 * noise.uniform(address, shape))


def linear(address: Address, shape: tuple[int, ...], X: Array) -> Array:
    """Draw uniformly from [-a, a) with a = 1 / sqrt(d_in), as torch.nn.Linear starts."""
    return (2.0 * noise.uniform(address, shape) - 1.0) / math.sqrt(fans(shape)[0])


def identity(address: Address, shape: tuple[int, ...], X: Array) -> Array:
    """Return ones on the diagonal, also where it is not square; a vector of ones."""
    return np.eye(*shape) if len(shape) == 2 else np.ones(shape)


def orthogonal(address: Address, shape: tuple[int, ...], X: Array) -> Array:
    """Draw columns of length 1 at right angles (rows, if there are fewer), uniform among all such matrices."""
    G = noise.normal(address, (shape[0], fans(shape)[1]))
    Q, R = np.linalg.qr(G if G.shape[0] >= G.shape[1] else G.T)
    Q = Q * np.where(np.diagonal(R) < 0, -1.0, 1.0)  # QR leaves the signs open; this choice makes Q uniform
    return (Q if G.shape[0] >= G.shape[1] else Q.T).reshape(shape)


def no_bias(address: Address, width: int, d_in: int) -> Array:
    """Return zeros."""
    return np.zeros(width)


def linear_bias(address: Address, width: int, d_in: int) -> Array:
    """Draw uniformly from [-a, a) with a = 1 / sqrt(d_in)."""
    return (2.0 * noise.uniform(address, (width,)) - 1.0) / math.sqrt(d_in)


def normal_bias(address: Address, width: int, d_in: int) -> Array:
    """Draw independent standard normal entries."""
    return noise.normal(address, (width,))


def uniform_bias(address: Address, width: int, d_in: int) -> Array:
    """Draw uniformly from [0, 1)."""
    return noise.uniform(address, (width,))


def binary_bias(address: Address, width: int, d_in: int) -> Array:
    """Draw zeros and ones, equally likely."""
    return np.floor(2.0 * noise.uniform(address, (width,)))


@dataclass(frozen=True)
class Initialiser(Choice):
    """An initialiser: `fn(address, shape, X)` fills a matrix, `bias(address, width, d_in)` the bias that goes with it.

    by_head  whether W_O is filled a head's rows at a time, so that another head leaves them alone; not where the whole
             of it has a form
    origin   what the numbers are, in the word that the page prints: "random", "set by hand" or "learned"
    solved   whether W_Q and W_K are not filled by `fn` but solved from X for the patterns that are set: they are built
             for this one sentence, and the page says so
    learned  whether what `fn` fills is only the start, and the numbers are learned from there
    of_uniform  what `fn` makes of numbers that are uniform on [0, 1), entry by entry, and of a shape: with it, small
             matrices of several heads are drawn at once, and are the same
    """

    bias: Callable[[Address, int, int], Array] = no_bias
    by_head: bool = True
    origin: str = "random"
    solved: bool = False
    learned: bool = False
    of_uniform: Callable[[Array, tuple[int, ...]], Array] | None = None


INITIALISERS = table(
    Initialiser(
        "glorot",
        "Glorot (Xavier) uniform",
        glorot,
        r"W_{ij} \sim \mathcal{U}[-a, a),\quad a = \sqrt{6 / (d_{\mathrm{in}} + d_{\mathrm{out}})}",
        "Random, with a spread that keeps the size of the numbers about the same from layer to layer; biases are 0.",
        "Glorot and Bengio 2010, Understanding the difficulty of training deep feedforward neural networks, eq. 16",
        of_uniform=glorot_of,
    ),
    Initialiser(
        "normal",
        "Random, normal",
        normal,
        r"W_{ij} \sim \mathcal{N}(0, 1)",
        "Random numbers from the bell curve; wide matrices give large scores and so nearly all-or-nothing weights.",
        "NumPy documentation, numpy.random.Generator.standard_normal",
        bias=normal_bias,
    ),
    Initialiser(
        "uniform",
        "Random, 0 to 1",
        uniform,
        r"W_{ij} \sim \mathcal{U}[0, 1)",
        "Random numbers between 0 and 1; all scores come out positive where the embeddings are.",
        "NumPy documentation, numpy.random.Generator.random",
        bias=uniform_bias,
    ),
    Initialiser(
        "binary",
        "Random zeros and ones",
        binary,
        r"W_{ij} \in \{0, 1\}",
        "Zeros and ones by the toss of a coin: products that one can do in one's head.",
        "NumPy documentation, numpy.random.Generator.integers",
        bias=binary_bias,
    ),
    Initialiser(
        "linear",
        "PyTorch's nn.Linear",
        linear,
        r"W_{ij} \sim \mathcal{U}[-a, a),\quad a = 1 / \sqrt{d_{\mathrm{in}}}",
        "What a fresh nn.Linear holds; its bias is drawn from the same range, if biases are on.",
        "PyTorch documentation, torch.nn.Linear, Variables",
        bias=linear_bias,
    ),
    Initialiser(
        "identity",
        "Identity",
        identity,
        r"W_{ij} = [\, i = j \,]",
        "Passes the first columns on unchanged: queries and keys are then pieces of X itself.",
        "PyTorch documentation, torch.nn.init.eye_",
        by_head=False,
        origin="set by hand",
    ),
    Initialiser(
        "orthogonal",
        "Orthogonal",
        orthogonal,
        r"W^\top W = I \;\text{ or }\; W W^\top = I",
        "A random rotation or reflection (or part of one): lengths are kept where no column is lost.",
        "Saxe et al. 2013, arXiv:1312.6120, section 3; PyTorch documentation, torch.nn.init.orthogonal_",
        by_head=False,
    ),
    Initialiser(
        "by_hand",
        "Set by hand",
        glorot,
        r"X W_Q \approx Q^\ast,\quad X W_K \approx K^\ast \text{ (least squares)}",
        "Heads that do what they are told: W_Q and W_K are solved from this sentence for the patterns that are set; "
        "other matrices are Glorot uniform.",
        "-",
        uses=("patterns", "sharpness", "solved_anew"),
        origin="set by hand",
        solved=True,
    ),
    Initialiser(
        "learned",
        "Learned",
        glorot,
        r"W \leftarrow W - \eta\, \hat m / (\sqrt{\hat v} + \epsilon)",
        "Learned from made-up sentences of one task, from a Glorot uniform start, with Adam. Outside that task the "
        "numbers mean nothing.",
        "Kingma and Ba 2014, arXiv:1412.6980, algorithm 1",
        uses=("task", "learn_steps", "learn_rate", "learn_batch"),
        origin="learned",
        learned=True,
    ),
)
