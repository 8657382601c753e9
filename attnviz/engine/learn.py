"""`learn`: the parameters of a setting from their random start to what was learned; and the tasks to learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attnviz.engine.learning.film import Film, film_of
from attnviz.engine.records.config import Config
from attnviz.engine.run import run
from attnviz.engine.tasks.game import Game
from attnviz.engine.tasks.tasks import GAMES


@dataclass(frozen=True)
class Task:
    """A task that a setting can learn."""

    game: Game

    @property
    def name(self) -> str:
        return self.game.name

    @property
    def label(self) -> str:
        return self.game.label

    @property
    def note(self) -> str:
        return self.game.note

    def config(self, **changes: Any) -> Config:
        """Return the setting in which the task is learned well, with changes.

        >>> TASKS["backwards"].config(position="none").position
        'none'
        """
        return Config(**{"initialiser": "learned", "task": self.name} | dict(self.game.recipe) | changes)


TASKS = {name: Task(game) for name, game in GAMES.items()}


def learn(config: Config) -> Film:
    """Learn the task of a setting for its `learn_steps`, and return a frame of every few steps.

    What is learned are the parameters that the setting has: W_Q, W_K, W_V, W_O, the score's own, and biases where they
    are on. They are learned by Adam so that what the last layer writes (its step "output") becomes the vector of the
    right word; embeddings and positions stay as they are. Every bit of every frame is the same on every machine, and
    `run(config)` has the frame of step `learn_steps`. The sentence of the setting makes no difference.

    Raises ConfigError for a setting that cannot be learned.

    >>> film = learn(TASKS["backwards"].config(learn_steps=20))
    >>> film.steps, sorted(film.at(20)[0])
    ((0, 10, 20), ['w_k', 'w_o', 'w_q', 'w_v'])
    """
    return film_of(config, run)
