"""The panels below the pictures, by the names that stand in links, each with what it takes beside the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attnviz.engine.cost.need import MB, Need
from attnviz.engine.records.trace import Trace
from attnviz.ui.panels import backward, cell, explore_panels, mask_builder, what_if
from attnviz.ui.panels.depth import layers, many_sentences, next_word, owed_to, products, twin
from attnviz.ui.session import admission
from attnviz.ui.session.failures import contained
from attnviz.ui.session.selection import Selection


@dataclass(frozen=True)
class Panel:
    """A panel, or an experiment: `body(trace, selection)` draws it and returns the selection as the visitor leaves it.

    need        what it takes beside the run
    asks_first  whether it asks for admission itself, for less or more than the run that is shown
    """

    body: Callable[..., Selection]
    need: Need = Need()
    asks_first: bool = False

    def draw(self, trace: Trace, selection: Selection, *further: Any) -> Selection:
        """Draw it and return the selection; where it fails, that is said in its place."""
        return contained(self.body, trace, selection, *further)

    def has_room(self, trace: Trace) -> bool:
        """Return whether it can be computed here, or decides that for itself; says why, if not."""
        return self.asks_first or admission.admitted(self.need, trace)


PANELS = {
    "cell": Panel(cell.panel, Need(any_length=True)),
    "products": Panel(products.panel),
    "word": Panel(explore_panels.sentence_panel),
    "flow": Panel(explore_panels.steps_panel, Need(largest=24)),
    "layers": Panel(layers.panel, Need(fixed=24 * MB)),
    "next_word": Panel(next_word.panel, Need(fixed=24 * MB)),
    "owed_to": Panel(owed_to.panel, owed_to.NEED, asks_first=True),
    "statistics": Panel(explore_panels.statistics_panel, Need(any_length=True)),
    "many": Panel(many_sentences.panel, many_sentences.NEED, asks_first=True),
    "twin": Panel(twin.panel, Need(drawn=48, held=1, made=1)),
    "redeal": Panel(explore_panels.seed_average_panel, explore_panels.SEED_AVERAGE, asks_first=True),
    "table": Panel(explore_panels.table, Need(largest=130)),
    "what_if": Panel(what_if.panel, Need(held=1, made=2, largest=130)),
    "mask": Panel(mask_builder.panel),
    "backward": Panel(backward.panel, Need(held=2, made=5, drawn=48, weight=9)),
}
