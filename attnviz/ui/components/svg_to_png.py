"""A button that saves a picture as PNG: the browser draws the SVG with its own fonts, and nothing is installed."""

from __future__ import annotations

from attnviz.settings.language import Words
from attnviz.ui.session.browser.component import component

WORDS = Words(
    {
        "save": "PNG, {dpi} dpi",
        "failed": "This browser could not draw the picture; save the SVG instead.",
    }
)
LOWEST, HIGHEST = 24, 1200

_component = component(__file__)


def button(svg: str, *, key: str, file_name: str = "attention.png", dpi: int = 300, label: str = "") -> None:
    """Draw the button; `svg` is what `pictures.static.svg` has drawn, and the file has `dpi` pixels for an inch of it.

    Raises ValueError for a dpi that is not 24 to 1200.
    """
    if not LOWEST <= dpi <= HIGHEST:
        raise ValueError(f"dpi is {dpi}; choose {LOWEST} to {HIGHEST}")
    data = {"svg": svg, "name": file_name, "dpi": dpi, "label": label or WORDS["save"].format(dpi=dpi)}
    _component(key=key, data=data | {"failed": WORDS["failed"]}, height="content")
