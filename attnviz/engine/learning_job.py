"""Learning in a browser: the job packed as bytes, and checks of the film that comes back, which may be anything.

A browser does so with the same arithmetic, and so with the same bits. It gets numbers and the token ids of sentences;
it need not know what a task is, or how its sentences are drawn.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.learning.frames import LearnedFrames
from attnviz.engine.learning.learnable import kept_steps, what_is_learned
from attnviz.engine.learning.network import WRITTEN, Network
from attnviz.engine.learning.operations import array_axes
from attnviz.engine.learning.trainer import AT_ONCE, HELD_OUT, Measured
from attnviz.engine.numerics.exact import BITS
from attnviz.engine.plan.lengths import axes_of
from attnviz.engine.plan.values import Value
from attnviz.engine.records.config import Config
from attnviz.engine.run import run
from attnviz.engine.tasks.game import Answers, Game
from attnviz.engine.tasks.games import GAMES

MOST_SENT, MOST_BACK = 2_000_000, 640_000
"""Bytes of a job, and of the numbers of its frames: as text these are a third more, and a message may hold 1 MB."""

BYTES = 3
"""Of a number of a frame: whole numbers of 20 bits, with 2**20 added."""

MOST_EXPONENT = 60
MOST_LOSS = 1e300


@dataclass(frozen=True)
class Job:
    """A setting that is to be learned elsewhere.

    key    names what is to be learned; it comes back with the film
    steps  those whose frames are to come back; 0 is not among them, for it is drawn
    sizes  how many numbers each parameter of a frame has
    start  the parameters before anything is learned, as one vector
    """

    key: str
    config: Config
    steps: tuple[int, ...]
    sizes: tuple[int, ...]
    start: Array
    learned: LearnedFrames

    def packed(self, shown: tuple[Sequence[str], Sequence[str]], **more: Any) -> bytes:
        """Pack everything that learning needs.

        shown  queries and keys of a sentence whose weights are to be seen meanwhile, if it fits the task
        more   more entries of the header
        """
        config, game, trainer = self.config, GAMES[self.config.task], self.learned.trainer
        network = trainer.network
        ids = _token_ids(config, game, self.steps[-1], shown, network.given["allowed"].shape)
        constants = _constants(network, self.start)
        layers = trainer.layout.layers(self.start)
        n, m = network.given["allowed"].shape
        header = {
            **more,
            "plan": [_as_data(value, is_made=True) for value in network.plan.values()],
            "settings": {name: getattr(network.chosen, name) for name in ("temperature", *network.plan.settings)},
            **{"score": config.score, "normaliser": config.normaliser, "sizes": axes_of(config, n, m)},
            **{"cross": network.is_cross, "written": WRITTEN, "rate": config.learn_rate, "batch": config.learn_batch},
            **{"key": self.key, "steps": self.steps, "last": self.steps[-1]},
            **{"held_out": HELD_OUT, "at_once": AT_ONCE},
            "parameters": [[(name, array.size) for name, array in layer.items()] for layer in layers],
            "constants": [(name, array.size) for name, array in constants.items()],
            "ids": [(name, array.size) for name, array in ids.items()],
        }
        numbers = b"".join(array.astype("<f8").tobytes() for array in constants.values())
        head = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
        return head + b"\0" + numbers + b"".join(array.astype(np.uint8).tobytes() for array in ids.values())


def job(config: Config, last: int, *also: int) -> Job | None:
    """Return the job of learning a setting until a step; None where it is too much to be sent.

    also  further steps whose frames are wanted

    Of a large setting not every frame comes back that the server would keep.
    """
    key = what_is_learned(config)
    learned = LearnedFrames(key, run)
    sizes, start = tuple(learned.trainer.layout.sizes), learned.frames[0]
    room = MOST_BACK // (BYTES * sum(sizes))
    wanted = [step for step in (last, *also) if step]
    others = sorted({*kept_steps(last)} - {0, *wanted})
    n = min(room - len({*wanted}), len(others))
    n_ids = last * config.learn_batch * 4 * max(learned.trainer.network.given["allowed"].shape)
    if n < 0 or 8 * sum(sizes) + n_ids > MOST_SENT:
        return None
    spread = {others[(2 * i + 1) * len(others) // (2 * n)] for i in range(n)}
    steps = tuple(sorted({*wanted, *spread}))
    name = hashlib.sha256(repr((key, steps)).encode("utf-8", "surrogatepass")).hexdigest()
    return Job(name[:32], key, steps, sizes, start, learned)


@dataclass(frozen=True)
class Received:
    """The frames that came back: as bytes, which take a third of the memory of numbers."""

    key: str
    config: Config
    steps: tuple[int, ...]
    figures: tuple[Measured, ...]
    is_whole: bool
    exponents: tuple[tuple[int, ...], ...]
    numbers: bytes


class ReceivedFrames:
    """The frames of a film that came back, as a `Film` asks for them."""

    def __init__(self, film: Received, job: Job) -> None:
        self._found, self._start, self._layout = film, job.start, job.learned.trainer.layout

    @property
    def n_bytes(self) -> int:
        """The bytes that it holds in memory."""
        return len(self._found.numbers) + self._start.nbytes

    def reaches(self, step: int) -> bool:
        """Return whether there is a frame of this step, or learning ended before it."""
        return step in self._steps or (not self._found.is_whole and step > self._steps[-1])

    def until(self, step: int) -> int:
        """Return the last step that there is up to this one."""
        return self.kept(step)[-1]

    def kept(self, last: int) -> tuple[int, ...]:
        """Return the steps with a frame, up to a last one."""
        return tuple(step for step in self._steps if step <= last)

    def layers(self, step: int) -> list[dict[str, Array]]:
        """Return the parameters of a frame, which are not to be changed."""
        vector = self.vector(step).view()
        vector.flags.writeable = False
        return self._layout.layers(vector)

    def vector(self, step: int) -> Array:
        """Return the parameters of a step as one vector."""
        if not step:
            return self._start
        at, sizes = self._found.steps.index(step), self._layout.sizes
        size = BYTES * sum(sizes)
        whole = _whole(self._found.numbers[at * size : (at + 1) * size]).astype(float)
        return np.ldexp(whole, np.repeat(self._found.exponents[at], sizes).astype(np.int32) - BITS)

    def evaluate_frame(self, step: int) -> Measured:
        """Return loss and accuracy of a frame, as they were measured elsewhere."""
        return self._found.figures[self._steps.index(step)]

    @property
    def _steps(self) -> tuple[int, ...]:
        return 0, *self._found.steps


def received(answer: Any, wanted: Job) -> Received | None:
    """Return the film that came back for a job, or None if it is not one: browsers can send anything.

    Whether its numbers are right cannot be checked without learning, so only the visitor who sent it sees it.
    """
    if not isinstance(answer, Mapping) or answer.get("key") != wanted.key:
        return None
    steps, figures = answer.get("steps"), _figures(answer.get("figures"))
    if figures is None or not _are_whole(steps, 0, wanted.steps[-1]) or len(figures) != len(steps) + 1:
        return None
    exponents, numbers = answer.get("exponents"), _decoded(answer.get("numbers"), len(steps) * sum(wanted.sizes))
    is_whole = (*steps,) == wanted.steps
    if not is_whole and not _ends_early(steps, wanted.steps):
        return None
    if numbers is None or not isinstance(exponents, list) or len(exponents) != len(steps):
        return None
    if not all(_are_whole(row, -MOST_EXPONENT, MOST_EXPONENT) and len(row) == len(wanted.sizes) for row in exponents):
        return None
    scales = tuple(map(tuple, exponents))
    return Received(wanted.key, wanted.config, (*steps,), figures, is_whole, scales, numbers)


def _ends_early(steps: list[int], wanted: tuple[int, ...]) -> bool:
    """Return whether these are the expected steps, up to one at which a number overflowed."""
    *before, end = steps or [0]
    return [step for step in wanted if step < end] == before and end < wanted[-1]


def _are_whole(numbers: Any, least: int, most: int) -> TypeGuard[list[int]]:
    """Return whether a value is a list of integers within bounds."""
    return isinstance(numbers, list) and all(type(number) is int and least <= number <= most for number in numbers)


def _figures(rows: Any) -> tuple[Measured, ...] | None:
    """Return loss, right and crisp of each frame, or None if they are out of range."""
    figures = []
    for row in rows if isinstance(rows, list) else [None]:
        if not isinstance(row, list) or len(row) != 3 or not all(type(x) in (int, float) for x in row):
            return None
        loss, right, crisp = map(float, row)
        if not (0 <= loss < MOST_LOSS and 0 <= right <= 1 and crisp >= 0 and math.isfinite(crisp)):
            return None
        figures.append(Measured(loss, right, crisp))
    return tuple(figures)


def _decoded(text: Any, n: int) -> bytes | None:
    """Return the bytes of n numbers, or None if their count or size is wrong."""
    if not isinstance(text, str) or len(text) != 4 * -(-BYTES * n // 3) or BYTES * n > MOST_BACK:
        return None
    try:
        numbers = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    good = len(numbers) == BYTES * n and (np.abs(_whole(numbers)) <= 2**BITS).all()
    return numbers if good else None


def _whole(numbers: bytes) -> Array:
    planes = np.frombuffer(numbers, np.uint8).reshape(-1, BYTES).astype(np.int32)
    return planes[:, 0] + (planes[:, 1] << 8) + (planes[:, 2] << 16) - 2**BITS


def _as_data(value: Value, *, is_made: bool = False) -> dict[str, Any]:
    """Return a value of a plan as the worker reads it: what has a name is spelled out once, where it is made."""
    args = [] if value.name and not is_made else [_as_data(arg) for arg in value.args]
    return {"op": value.op, "name": value.name, "axes": array_axes(value), "number": value.number, "args": args}


def _constants(network: Network, start: Array) -> dict[str, Array]:
    """Return the constants of learning, and the parameters to start from."""
    n, m = network.given["allowed"].shape
    arrays = {"embeddings": network.embeddings, **network.given}
    arrays |= {"positions_q": network.positions[0][:n], "positions_k": network.positions[1][:m]}
    if network.rotations:
        parts = (part for rotation in network.rotations for part in rotation)
        arrays |= dict(zip(("cos_q", "sin_q", "cos_k", "sin_k"), parts, strict=True))
    return arrays | {"start": start}


def _token_ids(
    config: Config, game: Game, last: int, shown: tuple[Sequence[str], Sequence[str]], shape: tuple[int, ...]
) -> dict[str, Array]:
    """Return the sentences: of every batch, of those that are measured, and the one that is shown."""
    steps = [_judged(game, *game.examples(config.seed, "batch", config.learn_batch, step)) for step in range(last)]
    arrays = {f"batch_{name}": np.stack([each[name] for each in steps]) for name in steps[0] if name != "where"}
    held_out = _judged(game, *game.examples(config.seed, "held_out", HELD_OUT))
    arrays |= {f"held_{name}": positions for name, positions in held_out.items()}
    queries, keys = (game.positions(words) for words in shown)
    if queries is None or keys is None or (len(queries), len(keys)) != shape:
        queries, keys = (each[0] for each in game.examples(config.seed, "shown", 1))
    one = _judged(game, queries[None], keys[None])
    return arrays | {f"shown_{name}": positions for name, positions in one.items()}


def _judged(game: Game, queries: Array, keys: Array) -> dict[str, Array]:
    right: Answers = game.judge(queries, keys)
    return {"queries": queries, "keys": keys, "words": right.words, "counts": right.counts, "where": right.where}
