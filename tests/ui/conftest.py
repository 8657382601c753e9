"""Pages without a browser: none is there to learn, so that the server does."""

from __future__ import annotations

import pytest

from attnviz.ui.session import learner


@pytest.fixture(autouse=True)
def no_browser_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learner, "is_offered", False)
