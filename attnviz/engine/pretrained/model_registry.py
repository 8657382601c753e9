"""The trained models that this process offers, by name. A setting only ever names one; nothing that it says is opened.

A name stands in a link together with the first digits of the weights' hash, `minilm~53aa5117`: so a link shows the
same numbers wherever it works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

from attnviz.arrays import Array
from attnviz.engine.pretrained.model_sizes import ModelSizes
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.offered_models import OFFERED, Offered
from attnviz.engine.records.trace import Trace
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

NOTES = Words(
    {
        "missing": "This setting names the model {name}, which is not offered here. The numbers are those of the "
        "setting without it; the link keeps the name.",
        "other": "This setting names {name} with other weights ({wanted}) than are offered here ({here}). The numbers "
        "are those of the setting without it; the link keeps the name.",
        "read": "this run was read from a file, which leaves the matrices of the trained model out; run the model anew",
        "memory": "a script holds up to {most:,} numbers of a model, and this one in memory has {n:,}; save the model "
        "to a folder and load it from there",
    }
)


class HostedModel(Offered, Protocol):
    """A model that a host offers."""

    def run(self, config: Config, edits: Sequence[Edit] = ()) -> Trace:
        """Return the Trace of a setting, of which the model uses what applies to it."""
        ...

    def logit_lens(self, trace: Trace, row: int = -1, most: int = 5) -> list[list[tuple[str, float]]]:
        """Return the likeliest next words after a token, before the first layer and after each."""
        ...

    @property
    def writes_on(self) -> bool:
        """True if the model predicts next words."""
        ...

    @property
    def images(self) -> Any:
        """The reader of images, None of a model that reads words."""
        ...

    @property
    def n_patches(self) -> int:
        """The patches of an image, 0 for a model that reads words."""
        ...

    @property
    def own_masks(self) -> tuple[str, ...]:
        """The masks that are the model's own, and apply in every run."""
        ...

    def tokens(self, config: Config) -> tuple[str, ...]:
        """Return the tokens of the setting's sentence, as the run has them."""
        ...

    @property
    def sizes(self) -> ModelSizes:
        """The sizes that the cost of a run depends on."""
        ...

    @property
    def family(self) -> str:
        """The type that its config.json says."""
        ...

    @property
    def folder(self) -> Path | None:
        """The folder of its files, None for a model in memory."""
        ...

    def parameters(self, i: int | None) -> Mapping[str, Array]:
        """Return the parameters of a layer by their names in a trace; None is what its first layer reads."""
        ...


MODELS = cast(dict[str, HostedModel], OFFERED)  # the same models, with all that they can do


def find(written: str) -> HostedModel | None:
    """Return the model that a setting names; None if it is not offered, or has other weights.

    >>> find("../../etc/passwd") is None
    True
    """
    name = written.partition("~")[0]
    model = MODELS.get(name)
    return model if model is not None and written in (name, f"{name}~{model.digest}") else None


def model_of(trace: Trace) -> HostedModel:
    """Return the model of a run through one. Raises ConfigError for a run that was read from a file without it."""
    if trace.model is None:
        raise ConfigError(NOTES["read"])
    return cast(HostedModel, trace.model)


def unavailable(written: str) -> str:
    """Return the sentence on a model that is not offered."""
    name, _, digest = written.partition("~")
    if name in MODELS:
        return NOTES["other"].format(name=name, wanted=digest, here=MODELS[name].digest)
    return NOTES["missing"].format(name=name)
