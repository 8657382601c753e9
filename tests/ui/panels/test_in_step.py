"""What another window says of its slide: a place that there is, or nothing."""

from __future__ import annotations

import pytest

from attnviz import Config
from attnviz.ui.panels.lesson import in_step
from attnviz.ui.session.selection import Selection

SAID = {"why_root~3": ("why_root", 2), "padding~1": ("padding", 0)}
SAID |= dict.fromkeys(("why_root~0", "why_root~8", "why_root~x", "why_root", "none~1", "~", None, "why_root~-1"))


def test_a_place_that_there_is_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    went: list[Selection] = []
    shown = Selection(page="lessons", lesson="bits", presenter=True, notes=True)
    monkeypatch.setattr(in_step.session_state, "saved", lambda *_: (Config(), shown))
    monkeypatch.setattr(in_step.session_state, "adopt", lambda _, selection: went.append(selection))
    for said, place in SAID.items():
        monkeypatch.setattr(in_step.st, "session_state", {in_step.KEY: {"turned": said}})
        in_step._turned()
        assert [(each.lesson, each.slide) for each in went] == ([place] if place else []), said
        assert all((each.presenter, each.notes) == (True, True) for each in went)
        went.clear()
