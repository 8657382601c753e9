"""The cost of a run through a trained model: its own numbers stay in their file, so only the steps count."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelSizes:
    """The sizes of a model.

    gated       whether the feed-forward block has two matrices on the way in
    n_weights   numbers of all of its layers
    sinks       whether each head has one
    n_experts   the experts of which a feed-forward block is made, 0 where it is one;  `n_chosen` those of a token
    """

    n_layers: int
    n_heads: int
    n_kv_heads: int
    d_model: int
    d_head: int
    d_ff: int
    gated: bool
    n_weights: int
    n_experts: int = 0
    n_chosen: int = 0
    sinks: bool = False

    def of_layer(self, n: int) -> int:
        """Count the numbers in the steps of one layer for n tokens."""
        joined = self.n_heads * self.d_head
        projected = 3 * joined + 4 * self.n_kv_heads * self.d_head  # queries and keys before they are rotated, too
        cells = (5 + self.sinks) * self.n_heads * n * n + n * n
        return n * (projected + 2 * joined + 9 * self.d_model + (3 if self.gated else 1) * self.d_ff) + cells

    def largest(self, n: int) -> int:
        """Count the numbers of the largest temporary array."""
        return max(self.d_model * max(self.d_ff, self.n_heads * self.d_head), self.n_heads * n * n, n * self.d_ff)

    def drawn(self, n: int) -> int:
        """Count the numbers in the pictures of one layer."""
        return self.n_heads * n * (2 * n + self.d_head)

    def seconds(self, n: int) -> float:
        """Return the seconds of an ordinary processor: weights are made float64 as they are used."""
        cells = self.n_heads * n * n
        return self.n_weights * (3e-9 + 0.2e-9 * n) + self.n_layers * (60e-9 * cells + 20e-9 * self.of_layer(n) + 1e-3)
