"""The parts of the layers of one model, as a config.json says them."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.arrays import Array


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
    logits_softcap  what squeezes the logits of next words, 0 for nothing
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
    n_experts: int = 0
    n_chosen: int = 0
    shares_add_up: bool = True

    @property
    def units(self) -> int:
        """The hidden units of one expert."""
        return self.d_ff // max(self.n_experts, 1)

    def rotates(self, layer: int) -> bool:
        """Return whether a layer rotates queries and keys by their positions."""
        return bool(self.frequencies) and self.frequencies[layer] is not None
