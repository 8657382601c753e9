"""Elements of a drawing: pieces of text, groups, and boxes where the cells of a grid stand."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from attnviz.pictures.layout.mosaic import TOP, Grid

Element = ET.Element


def text(words: str, x: float, y: float, **more: object) -> Element:
    """Return a piece of text whose letters stand on y."""
    element = ET.Element("text", {"x": shown(x), "y": shown(y), **{name: str(value) for name, value in more.items()}})
    element.text = words
    return element


def shown(length: float) -> str:
    """Return a length in as few characters as a hundredth of a pixel takes."""
    return f"{length:.2f}".rstrip("0").rstrip(".") if length else "0"


def group(kind: str, children: Iterable[Element], **more: object) -> Element:
    """Return elements of one kind together."""
    attributes = {name.replace("_", "-"): str(value) for name, value in more.items()}
    element = ET.Element("g", {"class": kind, **attributes})
    element.extend(children)
    return element


def corner(grid: Grid, top: int, left: int) -> tuple[float, float]:
    """Return the pixel at the upper left of a cell."""
    return grid.left + left * grid.cell_w, TOP + top * grid.cell_h


def box(x: float, y: float, w: float, h: float) -> str:
    return f"M{shown(x)} {shown(y)}h{shown(w)}v{shown(h)}h{shown(-w)}z"
