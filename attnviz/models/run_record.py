"""The record of one run through a model: where its steps are written, and the numbers that are changed as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.engine.records import edits as edits_of
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.trace import Step, Steps, result_of
from attnviz.engine.run_notes import note_empty_rows
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words, translate

NOTES = Words({"left_out": "Changed numbers that have no place in this model are left out: {listed}."})
FAULTS = Words(
    {"infinite": "the model's numbers go beyond what can be computed in layer {layer}; its file may be damaged"}
)


@dataclass(frozen=True)
class RunRecord:
    """A run that is being made, or a layer of it that is made later; `edits` are the caller's beside the setting's.

    Raises ConfigError for one of the caller's that names a layer which there is not.

    columns  the tokens that are attended to, where they are others than those that attend
    """

    config: PretrainedConfig
    tokens: tuple[str, ...]
    edits: tuple[Edit, ...]
    columns: tuple[str, ...] = ()
    _sizes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        edits_of.by_layer(self.edits, self.config.n_layers)

    def steps(self, layer: int | None) -> Steps:
        """Return an empty record of a layer, or of the steps around them."""
        where = translate("the steps around the layers") if layer is None else translate("layer {n}", n=layer)
        edits = ([edit for edit in each if edit[0] == layer] for each in self._edits)
        return Steps(where, self._sizes, *edits, words=(self.tokens, self.columns or self.tokens))

    @property
    def _edits(self) -> tuple[Sequence[Edit], Sequence[Edit]]:
        return self.edits, [edits_of.checked(edit) for edit in self.config.edits]

    def beyond(self, n_layers: int) -> list[Edit]:
        """Return the edits of the setting that name a layer which there is not."""
        return [edit for edit in self._edits[1] if edit[0] is not None and not 0 <= edit[0] < n_layers]


def layers_of(
    run: RunRecord, around: Steps, X: Array, notes: list[str], n_layers: int, layer: Callable[[int, Array], Steps]
) -> tuple[tuple[Mapping[str, Step], ...], tuple[Edit, ...]]:
    """Return every layer of a run and the edits that were made; what is to be said of it is added to the notes.

    layer  computes one from its number and what it reads;  X is what the first one reads
    """
    layers = []
    for i in range(n_layers):
        steps = layer(i, X)
        X = result_of(steps).array
        if not np.isfinite(X).all():
            raise ConfigError(FAULTS["infinite"].format(layer=ordinal(i)))
        note_empty_rows(steps, run.config, translate("layer {n}, ", n=ordinal(i)), notes)
        steps.check_edits()
        layers.append(steps)
    left_out = [edit for steps in (around, *layers) for edit in steps.left_out]
    left_out += run.beyond(n_layers)
    if left_out:
        notes.append(NOTES["left_out"].format(listed=", ".join(map(edits_of.position, left_out[:3]))))
    return tuple(layers), tuple(edit for steps in (around, *layers) for edit in steps.edits)
