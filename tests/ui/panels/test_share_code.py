"""A code is handed to the phone with its title, and the words for both ends."""

from __future__ import annotations

from typing import Any

import pytest

from attnviz.ui.panels.classroom import share_code


def test_a_code_is_sent_to_be_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, Any] = {}
    monkeypatch.setattr(share_code, "_component", lambda **more: sent.update(more))
    share_code.draw("6333-3ATN", title="Week 3")
    words = {"label": share_code.WORDS["share"], "failed": share_code.WORDS["failed"]}
    assert sent["data"] == {"text": "6333-3ATN", "title": "Week 3", **words}
