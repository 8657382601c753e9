"""A page stands in three tables: its function and its need, its name, and the button that leads to it."""

from __future__ import annotations

from attnviz.ui.pages.explore import GONE
from attnviz.ui.pages.panels import PANELS
from attnviz.ui.pages.registry import PAGES
from attnviz.ui.session import places
from attnviz.ui.session.selection import DESK_NAMES, PAGE_NAMES, PANEL_NAMES

DESKS = {f"assign/{name}" for name in DESK_NAMES}


def test_every_page_has_a_function() -> None:
    names = {*PAGE_NAMES, *DESKS} - {"assign"}
    assert names == {*PAGES}, "PAGES in attnviz/ui/pages/registry.py, PAGE_NAMES in attnviz/ui/session/selection.py"


def test_every_page_and_panel_stands_in_one_place() -> None:
    parts = [part for found in places.PLACES.values() for part in found]
    assert sorted(parts) == sorted([*PAGE_NAMES, *places.CHANGING]), "PLACES in attnviz/ui/session/places.py"
    assert {*PANELS} == {*PANEL_NAMES}, "PANELS in attnviz/ui/pages/panels.py, PANEL_NAMES in selection.py"
    panels = [panel for found in places.PANELS.values() for panel in found]
    assert sorted([*panels, *places.CHANGING, *GONE]) == sorted(PANEL_NAMES), "PANELS in attnviz/ui/session/places.py"
    assert len(places.PLACES) <= 6
    assert len(places.PANELS) <= 4
