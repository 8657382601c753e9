"""What stands around attention in a Transformer layer: normalisation and the feed-forward block."""

from __future__ import annotations

import math

import numpy as np

from attnviz.core.choice import Choice, table

EPSILON = 1e-5

_erf = np.frompyfunc(math.erf, 1, 1)


def layer_norm(X: np.ndarray) -> np.ndarray:
    r"""Each row minus its mean, over its standard deviation. Shape of X.

    $\hat x_i = (x_i - \mu_i) / \sqrt{\sigma_i^2 + 10^{-5}}$, with gain 1 and bias 0 as before training

    >>> layer_norm(np.array([[1.0, 3.0]])).round(3)
    array([[-1.,  1.]])
    """
    centred = X - X.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)


def relu(X: np.ndarray) -> np.ndarray:
    r"""$\max(x, 0)$"""
    return np.maximum(X, 0.0)


def gelu(X: np.ndarray) -> np.ndarray:
    r"""$x\,\Phi(x)$ with the normal distribution function itself, not the tanh approximation.

    >>> gelu(np.array([-1.0, 0.0, 1.0])).round(4)
    array([-0.1587,  0.    ,  0.8413])
    """
    return X * 0.5 * (1.0 + np.asarray(_erf(X / math.sqrt(2.0)), dtype=float))


def _unchanged(X: np.ndarray) -> np.ndarray:
    return X


NORMS = table(
    Choice("none", "None", _unchanged, r"x", "No normalisation.", "-"),
    Choice(
        "pre",
        "Before each block",
        layer_norm,
        r"x + f(\mathrm{LN}(x))",
        "Layer norm on the way into attention and into the feed-forward block.",
        "Ba et al. 2016, arXiv:1607.06450; Xiong et al. 2020, arXiv:2002.04745, section 3 (pre-LN)",
    ),
    Choice(
        "post",
        "After each block",
        layer_norm,
        r"\mathrm{LN}(x + f(x))",
        "Layer norm on the way out, as in the first Transformer.",
        "Ba et al. 2016, arXiv:1607.06450; Vaswani et al. 2017, arXiv:1706.03762, section 3.1",
    ),
)

FEED_FORWARDS = table(
    Choice("none", "None", _unchanged, r"x", "Attention alone.", "-"),
    Choice(
        "relu",
        "With ReLU",
        relu,
        r"\max(x W_1 + b_1, 0)\, W_2 + b_2",
        "Two matrices with a kink between them, applied to every position alike.",
        "Vaswani et al. 2017, arXiv:1706.03762, section 3.3",
        uses=("d_ff",),
    ),
    Choice(
        "gelu",
        "With GELU",
        gelu,
        r"\mathrm{GELU}(x W_1 + b_1)\, W_2 + b_2",
        "The same with a smooth kink.",
        "Hendrycks and Gimpel 2016, arXiv:1606.08415, section 2",
        uses=("d_ff",),
    ),
)
