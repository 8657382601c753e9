"""What a trained network knows, and what it no longer knows without one of its heads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from tools.corpus import documents
from tools.corpus.drawing import Question
from tools.corpus.words import NUMBER, VOCABULARY
from tools.training.network import Network

SHARP = 0.9
"""A row is sharp where one weight is above this."""

Figures = dict[str, float]


def exam(n: int, seed: int) -> dict[str, list[Question]]:
    """Return questions of every skill, and of unknown names."""
    found = {name: documents.questions(name, n, seed) for name in documents.SKILLS}
    return found | {"unknown names": documents.questions("indirect object", n, seed, unknown=True)}


def padded(asked: list[Question]) -> tuple[Tensor, Tensor]:
    """Return the numbers of questions, filled up behind, and where each ends."""
    numbers = [[0, *(NUMBER[word] for word in question.before)] for question in asked]
    longest = max(map(len, numbers))
    filled = torch.tensor([each + [0] * (longest - len(each)) for each in numbers])
    return filled, torch.tensor([len(each) - 1 for each in numbers])


@torch.no_grad()
def right(net: Network, asked: list[Question]) -> float:
    """Return the share of questions whose answer is the likeliest next word."""
    numbers, ends = padded(asked)
    best = net(numbers)[torch.arange(len(asked)), ends].argmax(-1).tolist()
    return sum(VOCABULARY[number] == question.answer for number, question in zip(best, asked)) / len(asked)


@contextmanager
def without(net: Network, layer: int, head: int) -> Iterator[None]:
    """Take a head away: what it writes is zero."""
    weight, d_head = net.layers[layer].o.weight, net.sizes.d_head
    columns = weight.data[:, head * d_head : (head + 1) * d_head]
    kept = columns.clone()
    columns.zero_()
    yield
    columns.copy_(kept)


def lost_without(net: Network, asked: dict[str, list[Question]]) -> dict[str, dict[str, float]]:
    """Return, for each skill, the share that is right without each head, by layer.head from 1."""
    found: dict[str, dict[str, float]] = {skill: {} for skill in asked}
    for layer in range(net.sizes.n_layers):
        for head in range(net.sizes.n_heads):
            with without(net, layer, head):
                for skill, each in asked.items():
                    found[skill][f"{layer + 1}.{head + 1}"] = round(right(net, each), 3)
    return found


@torch.no_grad()
def sharp(net: Network, n: int = 100) -> list[float]:
    """Return, for each layer, the share of rows with one weight above SHARP, on rows like those of training."""
    shares: list[float] = []

    def look(i: int, weights: Tensor, heads: Tensor) -> None:
        shares.append(round(float((weights.max(-1).values[:, :, 1:] > SHARP).float().mean()), 3))

    net(torch.from_numpy(documents.rows(n, 9)).long(), look)
    return shares
