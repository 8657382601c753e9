"""Pages without a browser: none is there to learn, so that the server does; and what fails is seen."""

from __future__ import annotations

import pytest

from attnviz.ui.hosting import recent_runs
from attnviz.ui.panels import stage_of_run
from attnviz.ui.session import browser_learner, failures


@pytest.fixture(autouse=True)
def no_browser_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_learner, "is_offered", False)


@pytest.fixture(autouse=True)
def exceptions_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "are_contained", False)


@pytest.fixture(autouse=True)
def no_run_was_made_before() -> None:
    recent_runs.forget()
    stage_of_run.forget()
