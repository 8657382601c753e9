"""The facts of the layer that is shown, for the browser: with the numbers of the maps it explains any cell at once."""

from __future__ import annotations

from attnviz.pictures.answer.browser_facts import CellFacts
from attnviz.ui.session.browser.component import component

# It draws nothing; what it knows is for the answer, which stands on the page.
_component = component(__file__, is_isolated=False)


def send(cells: CellFacts | None, *, key: str) -> None:
    """Send the facts of a layer; its numbers go with the maps, so that a browser is not sent the facts again."""
    _component(key=key, data=b"" if cells is None else cells.packed, height="content")
