"""The blocks around attention in a Transformer layer: normalisation and the feed-forward network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.tables import block_slopes as slopes
from attnviz.settings.rows import Choice, table

EPSILON = 1e-5

_erf = np.frompyfunc(math.erf, 1, 1)


def layer_norm(X: Array, *, epsilon: float = EPSILON) -> Array:
    r"""Return each row minus its mean, over its standard deviation. Shape of X.

    $\hat x_i = (x_i - \mu_i) / \sqrt{\sigma_i^2 + 10^{-5}}$, with gain 1 and bias 0 as before training

    >>> layer_norm(np.array([[1.0, 3.0]])).round(3)
    array([[-1.,  1.]])
    """
    centred = X - X.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)


def rms_norm(X: Array, *, epsilon: float = EPSILON) -> Array:
    r"""Return each row over the root of its mean square; its mean stays. Shape of X.

    $\hat x_i = x_i / \sqrt{\overline{x_i^2} + 10^{-5}}$, with gain 1 as before training

    >>> rms_norm(np.array([[1.0, 7.0]])).round(3)
    array([[0.2, 1.4]])
    """
    return X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + epsilon)


def relu(X: Array) -> Array:
    r"""$\max(x, 0)$"""
    return np.maximum(X, 0.0)


def gelu(X: Array) -> Array:
    r"""$x\,\Phi(x)$ with the normal distribution function itself, not the tanh approximation.

    >>> gelu(np.array([-1.0, 0.0, 1.0])).round(4)
    array([-0.1587,  0.    ,  0.8413])
    """
    return X * 0.5 * (1.0 + np.asarray(_erf(X / math.sqrt(2.0)), dtype=float))


def gelu_tanh(X: Array) -> Array:
    r"""$\frac{x}{2}\,(1 + \tanh(\sqrt{2 / \pi}\,(x + 0.044715\,x^3)))$, which is near to GELU.

    >>> gelu_tanh(np.array([-1.0, 0.0, 1.0])).round(4)
    array([-0.1588,  0.    ,  0.8412])
    """
    return 0.5 * X * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (X + 0.044715 * X**3)))


def silu(X: Array) -> Array:
    r"""$x\,\sigma(x)$, with the sigmoid as $(1 + \tanh(x / 2)) / 2$, which cannot overflow.

    >>> silu(np.array([-1.0, 0.0, 1.0])).round(4)
    array([-0.2689,  0.    ,  0.7311])
    """
    return 0.5 * X * (1.0 + np.tanh(0.5 * X))


ALPHA, LIMIT = 1.702, 7.0
"""What GPT-OSS multiplies a gate by within the sigmoid, and the largest size of a gate's numbers."""


def clamped_silu(X: Array) -> Array:
    r"""$x\,\sigma(1.702\,x)$ of $\min(x, 7)$, the gates of GPT-OSS.

    Source: OpenAI 2025, gpt-oss model card, arXiv:2508.10925; numbers of gpt-oss/gpt_oss/torch/model.py.

    >>> clamped_silu(np.array([-1.0, 0.0, 1.0, 9.0])).round(4)
    array([-0.1542,  0.    ,  0.8458,  7.    ])
    """
    x = np.minimum(X, LIMIT)
    return 0.5 * x * (1.0 + np.tanh(0.5 * ALPHA * x))


def clipped(X: Array) -> Array:
    r"""$\max(-7, \min(x, 7)) + 1$, what the gates of GPT-OSS let through.

    >>> clipped(np.array([-9.0, 0.0, 9.0]))
    array([-6.,  1.,  8.])
    """
    return np.clip(X, -LIMIT, LIMIT) + 1.0


def _unchanged(X: Array) -> Array:
    return X


@dataclass(frozen=True)
class Norm(Choice):
    """A normalisation, and where it stands in a block.

    applied before the block, after it, or nowhere
    symbol  its name in a formula
    epsilon what is added to the mean square
    """

    applied: str = ""
    symbol: str = "LN"
    epsilon: float = EPSILON

    @property
    def centred(self) -> bool:
        """Return whether it takes the mean away first."""
        return self.symbol == "LN"


@dataclass(frozen=True)
class FeedForward(Choice):
    """A feed-forward block by the activation of its hidden units.

    gated  whether a second matrix, W_3, makes what the activated units are multiplied by
    """

    gated: bool = False


NORMS = table(
    Norm("none", "None", _unchanged, r"x", "No normalisation.", "-"),
    Norm(
        "pre",
        "Before each block",
        layer_norm,
        r"x + f(\mathrm{LN}(x))",
        "Layer norm on the way into attention and into the feed-forward block.",
        "Ba et al. 2016, arXiv:1607.06450; Xiong et al. 2020, arXiv:2002.04745, section 3 (pre-LN)",
        applied="before",
        back=partial(slopes.layer_norm, epsilon=EPSILON),
    ),
    Norm(
        "post",
        "After each block",
        layer_norm,
        r"\mathrm{LN}(x + f(x))",
        "Layer norm on the way out, as in the first Transformer.",
        "Ba et al. 2016, arXiv:1607.06450; Vaswani et al. 2017, arXiv:1706.03762, section 3.1",
        applied="after",
        back=partial(slopes.layer_norm, epsilon=EPSILON),
    ),
    Norm(
        "rms",
        "RMS before each block",
        rms_norm,
        r"x + f(\mathrm{RMS}(x))",
        "Each row divided by the root of its mean square before each block, as in Llama and similar models.",
        "Zhang and Sennrich 2019, arXiv:1910.07467, section 4; Touvron et al. 2023, arXiv:2302.13971, section 2.2",
        applied="before",
        symbol="RMS",
        back=partial(slopes.rms_norm, epsilon=EPSILON),
    ),
)

FEED_FORWARDS = table(
    FeedForward("none", "None", _unchanged, r"x", "Attention alone.", "-"),
    FeedForward(
        "relu",
        "With ReLU",
        relu,
        r"\max(x W_1 + b_1, 0)\, W_2 + b_2",
        "Two matrices with a ReLU between them, applied to every position alike.",
        "Vaswani et al. 2017, arXiv:1706.03762, section 3.3",
        uses=("d_ff",),
        back=slopes.relu,
    ),
    FeedForward(
        "gelu",
        "With GELU",
        gelu,
        r"\mathrm{GELU}(x W_1 + b_1)\, W_2 + b_2",
        "The same with GELU, which is smooth, in place of ReLU.",
        "Hendrycks and Gimpel 2016, arXiv:1606.08415, section 2",
        uses=("d_ff",),
        back=slopes.gelu,
    ),
    FeedForward(
        "gelu_tanh",
        "With GELU by tanh",
        gelu_tanh,
        r"\mathrm{GELU}_{\tanh}(x W_1 + b_1)\, W_2 + b_2",
        "GELU as GPT-2 computes it, with a tanh for the normal distribution function.",
        "Hendrycks and Gimpel 2016, arXiv:1606.08415, section 2; Radford et al. 2019 (GPT-2), gpt-2/src/model.py",
        uses=("d_ff",),
        back=slopes.gelu_tanh,
    ),
    FeedForward(
        "swiglu",
        "SwiGLU",
        silu,
        r"(\mathrm{SiLU}(x W_1 + b_1) \odot (x W_3 + b_3))\, W_2 + b_2",
        "A third matrix, whose output is multiplied by the activated units (the gates), as in Llama and similar "
        "models.",
        "Shazeer 2020, arXiv:2002.05202, section 2; Touvron et al. 2023, arXiv:2302.13971, section 2.2",
        uses=("d_ff",),
        gated=True,
        back=slopes.silu,
    ),
    FeedForward(
        "geglu",
        "GeGLU",
        gelu,
        r"(\mathrm{GELU}(x W_1 + b_1) \odot (x W_3 + b_3))\, W_2 + b_2",
        "The same with GELU for the gates.",
        "Shazeer 2020, arXiv:2002.05202, section 2",
        uses=("d_ff",),
        gated=True,
        back=slopes.gelu,
    ),
)

FEED_FORWARDS_OF_MODELS = FEED_FORWARDS | table(
    FeedForward(
        "clamped_swiglu",
        "SwiGLU with limits",
        clamped_silu,
        r"(f(x W_1 + b_1) \odot (\mathrm{clip}(x W_3 + b_3) + 1))\, W_2 + b_2",
        "SwiGLU whose gates and gated units are kept within ±7, as in GPT-OSS.",
        "OpenAI 2025, gpt-oss model card, arXiv:2508.10925, section 2.2",
        gated=True,
        back=partial(slopes.clamped_silu, alpha=ALPHA, limit=LIMIT),
    )
)
"""Those of the page's settings, and those that trained models alone have."""
