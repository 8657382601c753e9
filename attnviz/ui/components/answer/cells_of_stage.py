"""The numbers of the layer that is shown, for the browser: from them it explains any cell at once, and asks nothing."""

from __future__ import annotations

from attnviz.engine.records.trace import Trace
from attnviz.pictures.answer import browser_facts
from attnviz.ui.session.browser.component import component

# It draws nothing; what it knows is for the answer, which stands on the page.
_component = component(__file__, is_isolated=False)


def send(trace: Trace, layer: int, *, key: str) -> None:
    """Send the numbers of a layer. A browser that has them is not sent them again, as long as no setting changes."""
    _component(key=key, data=browser_facts.cells_of(trace, layer) or b"", height="content")
