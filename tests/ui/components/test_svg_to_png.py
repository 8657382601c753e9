"""The button that saves a PNG gets the picture as it is, and refuses what a file could not be."""

from __future__ import annotations

from typing import Any

import pytest

from attnviz.ui.components import svg_to_png


def test_the_browser_gets_the_picture_and_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, Any] = {}
    monkeypatch.setattr(svg_to_png, "_component", lambda **more: sent.update(more))
    svg_to_png.button("<svg>猫</svg>", key="here", file_name="mine.png", dpi=150)
    assert sent["key"] == "here"
    assert sent["data"] == {
        "svg": "<svg>猫</svg>",
        "name": "mine.png",
        "dpi": 150,
        "link": "",
        "label": "PNG, 150 dpi",
        "done": "PNG, 150 dpi",
        "failed": svg_to_png.WORDS["failed"],
    }
    svg_to_png.button("<svg>猫</svg>", key="here", link="https://x.org/s/1")
    assert (sent["data"]["link"], sent["data"]["label"]) == ("https://x.org/s/1", "Copy picture and link")


@pytest.mark.parametrize("dpi", [23, 1201])
def test_a_dpi_outside_the_range_is_refused(dpi: int) -> None:
    with pytest.raises(ValueError, match="24 to 1200"):
        svg_to_png.button("<svg/>", key="here", dpi=dpi)
