"""The parts of the layers of one model, as a config.json says them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attnviz.arrays import Array
from attnviz.engine.pretrained.pretrained_config import WITH_SINK
from attnviz.models.shapes.facts import GATED

CALLED = {"geglu_tanh": "geglu", "clamped_swiglu": "swiglu"}
"""The rows of FEED_FORWARDS that are nearest to blocks which only models have."""


@dataclass(frozen=True)
class Shape:
    """The parts of the layers of one model.

    d_ff         width of the feed-forward block, 0 for none; that of all its experts
    n_experts    the experts of which it is made, 0 where it is one block; a token takes `n_chosen` of them, and their
                 shares are divided by their sum where `shares_add_up`
    norm         layer or rms;  `norm_applied` before, after the sum, behind the block before the sum, or both: before
                 and behind
    windows      for each layer how many positions back it looks, None for all
    frequencies  for each layer the angle of RoPE a position for each pair of columns, None without RoPE; layers that
                 rotate alike have the same array
    rotated_by   for each layer what its rotated queries and keys are multiplied by, 1 but with YaRN
    sinks        whether each head has a score that takes a share of the weights and gives nothing
    gain         what is added to every stored gain
    parallel     whether the feed-forward block reads what attention read
    logits_softcap  what squeezes the logits of next words, 0 for nothing;  `logits_factor` what multiplies them
    buckets      the ranges of distance of which each head has a number that is added to the scores, 0 for none; all
                 from `max_distance` on share one
    """

    n_layers: int
    n_heads: int
    n_kv_heads: int
    d_model: int
    d_head: int
    d_ff: int
    feed_forward: str
    norm: str
    norm_applied: str
    eps: float
    causal: bool
    n_positions: int | None
    windows: tuple[int | None, ...]
    scale: float | None = None
    softcap: float = 0.0
    frequencies: tuple[Array | None, ...] = ()
    rotated_by: tuple[float, ...] = ()
    sinks: bool = False
    embedding_factor: float = 1.0
    first_position: int = 0
    gain: float = 0.0
    parallel: bool = False
    logits_softcap: float = 0.0
    logits_factor: float = 1.0
    n_experts: int = 0
    n_chosen: int = 0
    shares_add_up: bool = True
    buckets: int = 0
    max_distance: int = 128

    @property
    def units(self) -> int:
        """The hidden units of one expert."""
        return self.d_ff // max(self.n_experts, 1)

    @property
    def gated(self) -> bool:
        """True if the feed-forward block has a second matrix on the way in, whose product is a factor of the first."""
        return self.feed_forward in (*GATED.values(), "clamped_swiglu")

    def rotates(self, layer: int) -> bool:
        """Return whether a layer rotates queries and keys by their positions."""
        return bool(self.frequencies) and self.frequencies[layer] is not None

    def normaliser(self, chosen: str) -> str:
        """Return the normaliser of a run for which one was chosen: softmax is the model's own, with its sinks."""
        return WITH_SINK if self.sinks and chosen == "softmax" else chosen

    def setting(self) -> dict[str, Any]:
        """Return what of a setting the shape decides, by the names of `Config`."""
        return {
            "n_heads": self.n_heads, "n_kv_heads": self.n_kv_heads, "n_layers": self.n_layers, "d_model": self.d_model,
            "d_k": self.d_head, "d_v": self.d_head, "residual": True, "scale": self.scale, "softcap": self.softcap,
            "d_ff": self.d_ff or 1,  # a width that nothing has: there is no block
            "norm": "rms" if self.norm == "rms" else {"after": "post", "before": "pre"}[self.norm_applied],
            "feed_forward": CALLED.get(self.feed_forward, self.feed_forward),
            "own_normaliser": WITH_SINK if self.sinks else "",
            "position": "rope" if any(map(self.rotates, range(self.n_layers))) else "none",
            "bias": "t5" if self.buckets else "none", "t5_n_buckets": self.buckets or 32,
            "t5_max_distance": self.max_distance,
        }  # fmt: skip
