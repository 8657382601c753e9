"""Learning itself: gradients of a batch of sentences, and Adam's step, the same to the last bit on every machine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.learning.network import Network
from attnviz.engine.numerics import cancellation
from attnviz.engine.numerics.exact import product, rounded, total
from attnviz.engine.tasks.game import Answers, Game

HELD_OUT = 200
"""Sentences that a frame is measured on; none of the batches is drawn from their addresses."""

AT_ONCE = 50
"""Of which so many are in memory together."""

FIRST_DECAY, SECOND_DECAY, EPSILON = 0.9, 0.99, 1e-8
"""Adam's: how much of the means of gradients and of their squares is kept in a step, and what is added to the root."""

HALF_LIFE = 150.0


def rate(start: float, step: int) -> float:
    """Return the learning rate at a step: flat at first, then falling as 1/t^2, so that what is learned stays.

    It depends on the step alone and not on how many there will be: a longer film begins as a shorter one.

    >>> rate(0.01, 0), round(rate(0.01, 150), 5), round(rate(0.01, 700), 5)
    (0.01, 0.00707, 0.00046)
    """
    t = step / HALF_LIFE
    return start / math.sqrt(1.0 + t * t * t * t)


@dataclass(frozen=True)
class Measured:
    """The scores of a frame on sentences that are drawn anew.

    loss   mean squared distance of what the last layer writes from the vector of the right word
    right  the share of rows in which the right word is the nearest of all
    crisp  the weight of the row that lies where it should look, on average, in the last layer's best head
    """

    loss: float
    right: float
    crisp: float


class Layout:
    """The positions of all parameters in one long vector."""

    def __init__(self, layers: Sequence[Mapping[str, Array]]) -> None:
        self._shapes = [{name: array.shape for name, array in sorted(layer.items())} for layer in layers]
        self.size = sum(math.prod(shape) for layer in self._shapes for shape in layer.values())

    @property
    def sizes(self) -> list[int]:
        """The number of entries of each parameter, in their order."""
        return [math.prod(shape) for layer in self._shapes for shape in layer.values()]

    def joined(self, layers: Sequence[Mapping[str, Array]]) -> Array:
        """Return the parameters as one vector."""
        return np.concatenate([layer[name].ravel() for layer, shapes in zip(layers, self._shapes) for name in shapes])

    def layers(self, vector: Array) -> list[dict[str, Array]]:
        """Return the parameters of each layer by name, as views into the vector."""
        layers, at = [], 0
        for shapes in self._shapes:
            layer = {}
            for name, shape in shapes.items():
                size = math.prod(shape)
                layer[name] = vector[at : at + size].reshape(shape)
                at += size
            layers.append(layer)
        return layers


class Trainer:
    """Parameters on their way, from what they start with; the batch of step t comes from the seed and t alone."""

    def __init__(
        self,
        network: Network,
        start: Sequence[Mapping[str, Array]],
        game: Game,
        *,
        seed: int,
        start_rate: float,
        batch: int,
    ) -> None:
        self.network, self.game, self.layout = network, game, Layout(start)
        self._seed, self._rate, self._batch = seed, start_rate, batch
        self.vector = self.layout.joined(start)
        self._first, self._second = np.zeros_like(self.vector), np.zeros_like(self.vector)
        self._powers = 1.0, 1.0
        self.step = 0

    @property
    def state(self) -> tuple[Any, ...]:
        """All that learning has changed: another trainer of the same setting goes on from it in the same way."""
        return self.vector, self._first, self._second, self._powers, self.step

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        self.vector, self._first, self._second, self._powers, self.step = state

    def frame(self) -> Array:
        """Return the parameters to keep: those of the start as they are, later ones rounded to what products use."""
        if not self.step:
            return self.vector
        layers = self.layout.layers(self.vector)
        return self.layout.joined([{name: rounded(W) for name, W in layer.items()} for layer in layers])

    def advance(self) -> bool:
        """Learn from one batch; return False, and leave everything as it is, where a number is no longer finite."""
        queries, keys = self.game.examples(self._seed, "batch", self._batch, self.step)
        with np.errstate(all="ignore"):
            g = self._gradient(queries, keys)
            moved = self._moved(g)
        if not np.isfinite(moved).all():
            return False
        self.vector = moved
        self.step += 1
        return True

    def _gradient(self, queries: Array, keys: Array) -> Array:
        """Return the gradient of the loss, as one vector."""
        layers, answers = self.layout.layers(self.vector), self.game.judge(queries, keys)
        Y, computed = self.network.forward(layers, queries, keys)
        n = int(np.count_nonzero(answers.counts))
        G = (Y - self.network.embeddings[answers.words]) * answers.counts[..., None] * (2.0 / n)
        return self.layout.joined(self.network.backward(computed, G))

    def _moved(self, g: Array) -> Array:
        """Return the parameters after one step of Adam (Kingma and Ba 2014, arXiv:1412.6980, algorithm 1)."""
        self._first = self._first + (1.0 - FIRST_DECAY) * (g - self._first)
        self._second = self._second + (1.0 - SECOND_DECAY) * (g * g - self._second)
        one, two = self._powers = self._powers[0] * FIRST_DECAY, self._powers[1] * SECOND_DECAY
        root = np.sqrt(self._second / (1.0 - two)) + EPSILON
        return self.vector - rate(self._rate, self.step) * ((self._first / (1.0 - one)) / root)

    def evaluate(self, vector: Array) -> Measured:
        """Measure parameters on sentences that are drawn anew."""
        queries, keys = self.game.examples(self._seed, "held_out", HELD_OUT)
        answers, layers = self.game.judge(queries, keys), self.layout.layers(vector)
        loss = right = 0.0
        looked: Array | float = 0.0
        for at in range(0, HELD_OUT, AT_ONCE):
            cancellation.check()
            part = slice(at, at + AT_ONCE)
            Y, computed = self.network.forward(layers, queries[part], keys[part])
            judged = Answers(answers.words[part], answers.counts[part], answers.where[part])
            away = (Y - self.network.embeddings[judged.words]) * judged.counts[..., None]
            loss += float(total(away * away, (0, 1, 2)))
            right += float(np.count_nonzero((self.nearest(Y) == judged.words) & judged.counts))
            looked = looked + total(
                computed[-1].known["weights"] * (judged.where & judged.counts[..., None])[:, None], (0, 2, 3)
            )
        n = int(np.count_nonzero(answers.counts))
        return Measured(loss / n, right / n, float(np.max(looked)) / n)

    def nearest(self, Y: Array) -> Array:
        """Return the position of the word whose vector lies nearest to each row."""
        E = self.network.embeddings
        return np.argmax(2.0 * product(Y, E.T) - total(E * E, -1), axis=-1)
