"""Pages without a browser: none is there to learn, so that the server does."""

from __future__ import annotations

import pytest

from attnviz.ui.session import browser_learner


@pytest.fixture(autouse=True)
def no_browser_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_learner, "is_offered", False)
