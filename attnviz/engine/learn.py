"""Learning the parameters of a setting from a random start, and the tasks that can be learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attnviz.engine.learning.film import Film, film_of
from attnviz.engine.records.config import Config
from attnviz.engine.run import run
from attnviz.engine.tasks.game import Game
from attnviz.engine.tasks.games import GAMES
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words


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
        """Return a setting that learns the task well, with `changes` applied.

        >>> TASKS["backwards"].config(position="none").position
        'none'
        """
        return Config(**{"initialiser": "learned", "task": self.name} | dict(self.game.recipe) | changes)


FAULTS = Words({"config": "learn takes a Config, not {given}; call learn(TASKS[{name}].config())"})

TASKS = {name: Task(game) for name, game in GAMES.items()}


def learn(config: Config) -> Film:
    """Train a setting on its task for `learn_steps` steps; return the film, with a frame of the parameters every few.

    Every parameter of the setting is trained: W_Q, W_K, W_V, W_O, those of the score, and biases where they are
    on. Adam moves the output of the last layer (its step "output") towards the vector of the right word; embeddings and
    positions stay fixed. Every bit of every frame is the same on every machine, and
    `run(config)` has the frame of step `learn_steps`. The sentence of the setting makes no difference.

    Raises ConfigError for a setting that cannot be learned.

    >>> film = learn(TASKS["backwards"].config(learn_steps=20))
    >>> film.steps, sorted(film.at(20)[0])
    ((0, 10, 20), ['w_k', 'w_o', 'w_q', 'w_v'])
    """
    if not isinstance(config, Config):
        name = config if isinstance(config, str) and config in TASKS else "backwards"
        raise ConfigError(FAULTS["config"].format(given=f"{config!r:.60}", name=repr(name)))
    return film_of(config, run)
