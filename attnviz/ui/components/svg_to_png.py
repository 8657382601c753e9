"""A button that saves a picture as PNG, or copies it with its link: the browser draws the SVG, nothing is installed."""

from __future__ import annotations

from attnviz.settings.language import Words
from attnviz.ui.session.browser.component import component

WORDS = Words(
    {
        "save": "PNG, {dpi} dpi",
        "failed": "This browser could not draw the picture; save the SVG instead.",
        "copy": "Copy picture and link",
        "copied": "Copied",
        "uncopied": "This browser let nothing be copied; save the picture, and copy the link above.",
    }
)
LOWEST, HIGHEST = 24, 1200

_component = component(__file__)


def button(
    svg: str, *, key: str, file_name: str = "attention.png", dpi: int = 300, label: str = "", link: str = ""
) -> None:
    """Draw the button; `svg` is what `pictures.static.svg` has drawn, and the file has `dpi` pixels for an inch of it.

    link  what is copied with the picture, as text for where no picture can be pasted; without one, a file is saved

    Raises ValueError for a dpi that is not 24 to 1200.
    """
    if not LOWEST <= dpi <= HIGHEST:
        raise ValueError(f"dpi is {dpi}; choose {LOWEST} to {HIGHEST}")
    words = {"label": WORDS["copy"], "done": WORDS["copied"], "failed": WORDS["uncopied"]}
    if not link:
        label = label or WORDS["save"].format(dpi=dpi)
        words = {"label": label, "done": label, "failed": WORDS["failed"]}
    _component(key=key, data={"svg": svg, "name": file_name, "dpi": dpi, "link": link, **words}, height="content")
