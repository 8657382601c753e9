"""Masked cells in a drawing: thin lines on its ground, which are never stronger than a small number."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np

from attnviz.pictures.colours import HATCH, MASKED_EDGE
from attnviz.pictures.layout.mosaic import Grid
from attnviz.pictures.stage_record import Stage
from attnviz.pictures.static.svg_elements import Element, box, corner, group, shown

HATCHED = "url(#hatch)"


def masked(stage: Stage, grid: Grid) -> Element:
    """Draw lines in the masked cells of every head, and an edge around each region of them.

    The lines are a piece for each run of cells in a row. They are there for the legend of any stage with such cells.
    """
    if stage.hidden is None:
        return group("hidden", ())
    pieces, edges = [], []
    for head, top, left in grid.corners():
        hidden = np.pad(stage.hidden[head, : grid.rows, : grid.widths[head]].astype(np.int8), 1)
        for row, line in enumerate(np.diff(hidden[1:-1])):
            for start, stop in np.flatnonzero(line).reshape(-1, 2).tolist():
                x, y = corner(grid, top + row, left + start)
                pieces.append(box(x, y, (stop - start) * grid.cell_w, grid.cell_h))
        for row, column in np.argwhere(np.diff(hidden[:, 1:-1], axis=0)).tolist():
            x, y = corner(grid, top + row, left + column)
            edges.append(f"M{shown(x)} {shown(y)}h{shown(grid.cell_w)}")
        for row, column in np.argwhere(np.diff(hidden[1:-1])).tolist():
            x, y = corner(grid, top + row, left + column)
            edges.append(f"M{shown(x)} {shown(y)}v{shown(grid.cell_h)}")
    cells = ET.Element("path", {"class": "masked", "fill": HATCHED, "d": "".join(pieces)})
    return group("hidden", [hatch(), cells, ET.Element("path", {"stroke": MASKED_EDGE[0], "d": "".join(edges)})])


def hatch() -> Element:
    """Return the pattern that `HATCHED` names."""
    turned = {"patternUnits": "userSpaceOnUse", "patternTransform": "rotate(-45)"}
    pattern = ET.Element("pattern", {"id": "hatch", "width": "6", "height": "6", **turned})
    pattern.append(ET.Element("rect", {"width": "6", "height": "1.2", "fill": HATCH[0]}))
    return pattern
