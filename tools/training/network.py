"""A decoder of Llama's shape, small enough to be taken apart, and the two models by name.

Sources: Touvron et al. 2023, arXiv:2302.13971; without a feed-forward block as in Elhage et al. 2021, "A Mathematical
Framework for Transformer Circuits".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

Look = Callable[[int, Tensor, Tensor], None]
"""What sees each layer's weights (batch, heads, n, n) and outputs of heads (batch, heads, n, d_head)."""

BASE, EPS = 10_000.0, 1e-6


@dataclass(frozen=True)
class Sizes:
    """What a model has.

    d_ff   hidden units of the feed-forward block, 0 for none
    tied   whether one table reads words in and out
    spread, outputs   the price, in the loss, of a nat of a row's entropy and of the length of a head's output
    """

    d_ff: int
    tied: bool
    spread: float = 0.0
    outputs: float = 0.0
    d_model: int = 64
    n_layers: int = 3
    n_heads: int = 4

    @property
    def d_head(self) -> int:
        return self.d_model // self.n_heads


# "plain" is small without the price: what of small's tidiness was asked for is what the two differ in.
SIZES = {
    "small": Sizes(d_ff=0, tied=False, spread=0.03, outputs=0.01),
    "plain": Sizes(d_ff=0, tied=False),
    "full": Sizes(d_ff=96, tied=True),
}


class Norm(nn.Module):
    """RMS norm with a gain."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * self.weight


def _matrix(n_in: int, n_out: int, scale: float) -> nn.Linear:
    linear = nn.Linear(n_in, n_out, bias=False)
    nn.init.normal_(linear.weight, std=scale * n_in**-0.5)
    return linear


class Layer(nn.Module):
    """Attention, then the feed-forward block if there is one; a norm before each, and what each reads added back."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        d, self.sizes = sizes.d_model, sizes
        self.norm_1 = Norm(d)
        self.q, self.k, self.v = (_matrix(d, d, 0.7) for _ in range(3))
        self.o = _matrix(d, d, 0.3)
        if sizes.d_ff:
            self.norm_2 = Norm(d)
            self.gate, self.up = _matrix(d, sizes.d_ff, 0.7), _matrix(d, sizes.d_ff, 0.7)
            self.down = _matrix(sizes.d_ff, d, 0.3)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, look: Callable[[Tensor, Tensor], None] | None) -> Tensor:
        x = x + self._attention(self.norm_1(x), cos, sin, look)
        if not self.sizes.d_ff:
            return x
        y = self.norm_2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))

    def _attention(self, y: Tensor, cos: Tensor, sin: Tensor, look: Callable[[Tensor, Tensor], None] | None) -> Tensor:
        batch, n, d = y.shape
        q, k, v = (part(y).view(batch, n, self.sizes.n_heads, -1).transpose(1, 2) for part in (self.q, self.k, self.v))
        q, k = _turned(q, cos, sin), _turned(k, cos, sin)
        if look is None:
            heads = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            ahead = torch.ones(n, n, dtype=torch.bool).triu(1)
            weights = (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).masked_fill(ahead, -1e30).softmax(-1)
            heads = weights @ v
            look(weights, heads)
        return self.o(heads.transpose(1, 2).reshape(batch, n, d))


def _turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class Network(nn.Module):
    """Words' numbers (batch, n) in, logits (batch, n, words) out."""

    def __init__(self, sizes: Sizes, n_words: int, longest: int) -> None:
        super().__init__()
        self.sizes = sizes
        self.words = nn.Embedding(n_words, sizes.d_model)
        self.out = self.words if sizes.tied else nn.Embedding(n_words, sizes.d_model)
        for table in {self.words, self.out}:
            nn.init.normal_(table.weight, std=0.02)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.n_layers))
        self.norm = Norm(sizes.d_model)
        turns = BASE ** (-torch.arange(0, sizes.d_head, 2) / sizes.d_head)
        angles = torch.arange(longest)[:, None] * torch.cat([turns, turns])
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, numbers: Tensor, look: Look | None = None) -> Tensor:
        n, x = numbers.shape[1], self.words(numbers)
        for i, layer in enumerate(self.layers):
            seen = None if look is None else lambda weights, heads, i=i: look(i, weights, heads)
            x = layer(x, self.cos[:n], self.sin[:n], seen)
        return self.norm(x) @ self.out.weight.T
