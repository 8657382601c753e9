"""A config.json, asked for what is needed of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

FAULTS = Words(
    {
        "missing": "config.json does not say {name}, which a {family} model needs",
        "value": "config.json says {name} is {given}; what is read here: {known}",
        "size": "config.json says {name} is {given}; a model has {least} to {most}",
    }
)
MAX_SIZES = {"layers": 256, "heads": 256, "width": 65_536, "experts": 1024}

ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "relu": "relu",
}
GATED = {"silu": "swiglu", "swish": "swiglu", "gelu": "geglu", "gelu_pytorch_tanh": "geglu_tanh"}
"""The rows of feed-forward blocks by what a config.json calls their activation."""


def _shown(value: Any) -> str:
    """Return a value of a config.json in a sentence: numbers as they are, everything else in quotes and cut."""
    return repr(value) if isinstance(value, (int, float)) and abs(value) < 1e15 else shorten(str(value))


class NotReadError(ConfigError):
    """A config.json says what is not read here."""


class Facts:
    """A config.json, asked for what is needed of it. Each question raises ConfigError for what cannot be."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config
        self.family = str(config.get("model_type"))

    def get(self, name: str, otherwise: Any = None) -> Any:
        """Return the value of a name, or a default where there is none."""
        value = self._config.get(name)
        return otherwise if value is None else value

    def size(self, name: str, most: str = "width", otherwise: int | None = None, least: int = 1) -> int:
        """Return a whole number from `least` on."""
        value = self.get(name, otherwise)
        if value is None:
            raise ConfigError(FAULTS["missing"].format(name=name, family=self.family))
        if type(value) is not int or not least <= value <= MAX_SIZES[most]:
            raise ConfigError(FAULTS["size"].format(name=name, given=_shown(value), least=least, most=MAX_SIZES[most]))
        return value

    def number(self, name: str, otherwise: float | None = None) -> float:
        """Return a number above 0."""
        value = self.get(name, otherwise)
        if value is None:
            raise ConfigError(FAULTS["missing"].format(name=name, family=self.family))
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
            raise self.odd(name, value, "a number above 0")
        return float(value)

    def one_of(self, name: str, rows: Mapping[str, str], otherwise: str | None = None) -> str:
        """Return a row by what the file calls it."""
        value = self.get(name, otherwise)
        if not isinstance(value, str) or value not in rows:
            raise self.odd(name, value, ", ".join(rows))
        return rows[value]

    def only(self, name: str, *usual: Any) -> None:
        """Hold what is said, if anything is, to the values that are read here."""
        if name in self._config and self._config[name] not in usual:
            raise self.odd(name, self._config[name], ", ".join(map(repr, usual)))

    @staticmethod
    def odd(name: str, value: Any, known: str) -> ConfigError:
        return NotReadError(FAULTS["value"].format(name=name, given=_shown(value), known=known))


def divided(facts: Facts, d: int, n: int, name: str) -> int:
    """Return the width of each of n heads that share d columns."""
    if d % n:
        raise facts.odd(name, d, f"a multiple of {n}, the number of heads")
    return d // n
