"""The record of one run through a model: where its steps are written, and the numbers that are changed as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.engine.records import edits as edits_of
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.trace import Steps
from attnviz.settings.language import translate


@dataclass(frozen=True)
class RunRecord:
    """A run that is being made, or a layer of it that is made later; `edits` are the caller's beside the setting's."""

    config: PretrainedConfig
    tokens: tuple[str, ...]
    edits: tuple[Edit, ...]
    _sizes: dict[str, int] = field(default_factory=dict)

    def steps(self, layer: int | None) -> Steps:
        """Return an empty record of a layer, or of the steps around them."""
        where = translate("the steps around the layers") if layer is None else translate("layer {n}", n=layer)
        edits = ([edit for edit in each if edit[0] == layer] for each in self._edits)
        return Steps(where, self._sizes, *edits, words=(self.tokens, self.tokens))

    @property
    def _edits(self) -> tuple[Sequence[Edit], Sequence[Edit]]:
        return self.edits, [edits_of.checked(edit) for edit in self.config.edits]

    def beyond(self, n_layers: int) -> list[Edit]:
        """Return the edits of the setting that name a layer which there is not."""
        return [edit for edit in self._edits[1] if edit[0] is not None and not 0 <= edit[0] < n_layers]
