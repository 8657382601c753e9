"""Muon: momentum whose steps are turned into matrices of equal singular values.

Source: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks".
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

MOMENTUM, DECAY = 0.95, 0.02


def turned(gradient: Tensor, steps: int = 5) -> Tensor:
    """Return about the orthogonal matrix that is nearest to one, by Newton-Schulz steps."""
    x = gradient / (gradient.norm() + 1e-7)
    is_tall = x.shape[0] > x.shape[1]
    x = x.T if is_tall else x
    for _ in range(steps):
        square = x @ x.T
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return x.T if is_tall else x


class Muon:
    """Steps for matrices, by their gradients."""

    def __init__(self, parameters: Iterable[Tensor]) -> None:
        self.parameters = list(parameters)
        self.momenta = [torch.zeros_like(each) for each in self.parameters]

    @torch.no_grad()
    def step(self, rate: float) -> None:
        for parameter, momentum in zip(self.parameters, self.momenta):
            if parameter.grad is None:
                continue
            momentum.mul_(MOMENTUM).add_(parameter.grad)
            change = turned(parameter.grad + MOMENTUM * momentum)
            parameter.mul_(1 - rate * DECAY)
            parameter.add_(change, alpha=-rate * max(1, parameter.shape[0] / parameter.shape[1]) ** 0.5)
