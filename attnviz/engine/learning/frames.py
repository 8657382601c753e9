"""The frames of one setting, learned as far as anybody has asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from attnviz.arrays import Array
from attnviz.engine.learning import shipped_films
from attnviz.engine.learning.constants import network_of
from attnviz.engine.learning.learnable import is_shipped, kept_steps
from attnviz.engine.learning.trainer import Measured, Trainer
from attnviz.engine.numerics import cancellation
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.tasks.games import GAMES

Run = Callable[[Config], Trace]


class Frames(Protocol):
    """Frames of a setting, wherever they were learned."""

    def kept(self, last: int) -> tuple[int, ...]:
        """Return the steps up to `last` that have a frame."""

    def layers(self, step: int) -> list[dict[str, Array]]:
        """Return the parameters of a frame, which are not to be changed."""

    def evaluate_frame(self, step: int) -> Measured:
        """Return loss and accuracy of a frame."""


class FramesElsewhere(Frames, Protocol):
    """Frames that were learned elsewhere, as many as there are."""

    def reaches(self, step: int) -> bool:
        """Return whether there is a frame of this step, or learning ended before it."""

    def until(self, step: int) -> int:
        """Return the last step that there is up to this one."""


class LearnedFrames:
    """The frames of one setting, learned as far as anybody has asked for."""

    def __init__(self, config: Config, run: Run) -> None:
        self._config, self._run = config, run
        self.trainer = self._begun()
        self.frames: dict[int, Array] = {0: self.trainer.vector}
        self._found: dict[int, Measured] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to another process as what was learned; all else follows from the setting, and is made there."""
        return _resumed, (self._config, self._run, self.frames, self._found, self.trainer.state)

    def with_shipped(self) -> LearnedFrames:
        """Take the frames that come with the package, where it has the film of this very setting."""
        if is_shipped(self._config):
            layout = self.trainer.layout
            frames = shipped_films.read(self._config.task, self.frames[0], layout.sizes)
            if frames is not None:
                self.frames = frames[0]
                self._found = {step: Measured(*figures) for step, figures in frames[1].items()}
        return self

    def _begun(self) -> Trainer:
        config, game = self._config, GAMES[self._config.task]
        trace = self._run(replace(config, learn_steps=0))
        start = [_learned_parts(layer) for layer in trace.layers]
        network = network_of(config, trace, game)
        return Trainer(network, start, game, seed=config.seed, start_rate=config.learn_rate, batch=config.learn_batch)

    def until(self, step: int) -> int:
        """Learn until a step, and return the last step that there is: less where a number became too large."""
        if step in self.frames:
            return step
        if step < self.trainer.step:
            self.trainer = self._begun()  # the frame between two that are kept
        stops = {*kept_steps(step)}
        while self.trainer.step < step and self.trainer.advance():
            if self.trainer.step in stops:
                self.frames[self.trainer.step] = self.trainer.frame()
            cancellation.check()  # not before: whoever goes on from here finds every frame up to this step
        last = min(self.trainer.step, step)
        if last not in self.frames:
            self.frames[last] = self.trainer.frame()
        return last

    def kept(self, last: int) -> tuple[int, ...]:
        """Return the steps up to `last` that have a frame."""
        return kept_steps(last)

    def layers(self, step: int) -> list[dict[str, Array]]:
        """Return the parameters of a frame, which are not to be changed."""
        vector = self.frames[step].view()
        vector.flags.writeable = False
        return self.trainer.layout.layers(vector)

    def evaluate_frame(self, step: int) -> Measured:
        """Return loss and accuracy of a frame, computed once."""
        if step not in self._found:
            self._found[step] = self.trainer.evaluate(self.frames[step])
        return self._found[step]

    @property
    def n_bytes(self) -> int:
        """Return the bytes that it holds in memory."""
        return self.trainer.vector.nbytes * (len(self.frames) + 3) + self.trainer.network.embeddings.nbytes


def _resumed(
    config: Config, run: Run, frames: dict[int, Array], found: dict[int, Measured], state: Any
) -> LearnedFrames:
    learned = LearnedFrames(config, run)
    learned.frames, learned._found, learned.trainer.state = frames, found, state
    return learned


def _learned_parts(layer: Mapping[str, Any]) -> dict[str, Array]:
    """Return the parameters among the steps of a layer."""
    return {name: step.array for name, step in layer.items() if name.startswith(("w_", "b_", "score_"))}
