"""The trained models that this process offers, by name. A setting only ever names one; nothing that it says is opened.

A name stands in a link together with the first digits of the weights' hash, `minilm~53aa5117`: so a link shows the
same numbers wherever it works.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

from attnviz.engine.pretrained.model_sizes import ModelSizes
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.offered_models import OFFERED, Offered
from attnviz.engine.records.trace import Trace
from attnviz.settings.language import Words

NOTES = Words(
    {
        "missing": "This setting names the model {name}, which is not offered here. The numbers are those of the "
        "setting without it; the link keeps the name.",
        "other": "This setting names {name} with other weights ({wanted}) than are offered here ({here}). The numbers "
        "are those of the setting without it; the link keeps the name.",
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


MODELS = cast(dict[str, HostedModel], OFFERED)  # the same models, with all that they can do


def find(written: str) -> HostedModel | None:
    """Return the model that a setting names; None if it is not offered, or has other weights.

    >>> find("../../etc/passwd") is None
    True
    """
    name = written.partition("~")[0]
    model = MODELS.get(name)
    return model if model is not None and written in (name, f"{name}~{model.digest}") else None


def unavailable(written: str) -> str:
    """Return the sentence on a model that is not offered."""
    name, _, digest = written.partition("~")
    if name in MODELS:
        return NOTES["other"].format(name=name, wanted=digest, here=MODELS[name].digest)
    return NOTES["missing"].format(name=name)
