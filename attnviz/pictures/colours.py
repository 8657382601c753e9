"""The colours of all pictures, and those of the page around them."""

from __future__ import annotations

SIGNED: tuple[str, ...] = ("#2a5ea8", "#8fb4dc", "#fbfaf7", "#eea47c", "#b8402a")
"""From the most negative number by way of 0 to the most positive."""

QUIET: tuple[str, ...] = ("#7395c4", "#b5cde5", "#fbfaf7", "#f3c2a7", "#cf8172")
"""`SIGNED` in maps that stand beside weights or lead to them: paler by a third, so that the eye goes to the weights."""

SHARE = ("#fbfaf7", "#c9dcef", "#86b2da", "#3d7ab8", "#12355f")
"""From 0 to 1."""

DARK: dict[tuple[str, ...], tuple[str, ...]] = {
    SIGNED: ("#a9d0ff", "#3b6ea8", "#151a23", "#a0583c", "#ffc3a3"),
    QUIET: ("#93b5de", "#3b6ea8", "#151a23", "#a0583c", "#dcaa90"),
    SHARE: ("#151a23", "#27527f", "#3d7dbd", "#86baea", "#eef6ff"),
}
"""The same on a dark page: zero is the ground, and what is large is light, so that the eye goes there.

Pale is dim there, so that quiet colours give way to weights at their ends alone, and by less.
"""

BELOW, ABOVE = slice(3), slice(2, None)
"""The colours of a signed scale that are left of numbers of one sign, from the lowest up to 0 or from 0 up."""

_ABOUT_ZERO: tuple[tuple[str, ...], ...] = (SIGNED, QUIET)
DARK |= {whole[half]: DARK[whole][half] for whole in _ABOUT_ZERO for half in (BELOW, ABOVE)}

MASKED, HATCH, MASKED_EDGE = ("#f3f4f6", "#12161e"), ("#e3e5ea", "#222833"), ("#b4bac4", "#4a5260")
"""A masked cell on a light page and on a dark one: the whole of it where it is a pixel; else lines on the ground of the
page, and the edge of a region. A cell without a number must not be stronger than one with a small number.
"""

MASKED_COLOUR = "rgba(128,128,128,.38)"
"""The same in figures of a notebook, which know no lines."""

EDITED = "#0f8a5f"
WANTED = "#c8641b"
"""The frame of a cell that a head is meant to attend to."""
NOT_A_NUMBER = "#f5c518"
"""On neither scale."""
OVER_IMAGE = "#ffb000"
"""The frame of a patch that gets weight, over an image of any colours."""

PAGE = {
    "accent": (SIGNED[0], "#8fc1ff"),
    "on-accent": ("#ffffff", "#0e1117"),
    "ink": ("#1b1f27", "#eceff4"),
    "muted": ("#59606c", "#a9b1be"),
    "border": ("#dcdfe5", "#2a303b"),
    "ground": ("#fbfbfa", "#141922"),
    "rail": ("#f6f6f3", "#161a22"),
    "negative": (SIGNED[0], DARK[SIGNED][0]),
    "positive": (SIGNED[-1], DARK[SIGNED][-1]),
    "others": ("#c3ccd8", "#3a4658"),
    "sums": ("#858f9f", "#8a93a3"),
    "fault": (SIGNED[-1], SIGNED[-1]),
    "wanted": (WANTED, WANTED),
    "edited": (EDITED, EDITED),
    "hatch": HATCH,
    "masked-edge": MASKED_EDGE,
    "band": ("#e8eef7", "#1d2a3d"),
    "outline": 2 * ("rgba(128, 128, 128, 0.35)",),
    "rule": 2 * ("rgba(128, 128, 128, 0.25)",),
}
"""The colours around the pictures, on a light page and on a dark one: `var(--page-accent)` in a style sheet.

ground    of a panel beside the maps, and rail of the narrow one beside it
negative  a bar of a negative number, and positive of a positive one
others    the bars of those that are not explained
sums      the bars beside a map
hatch     lines in a masked cell, and masked-edge around a region of them
band      of what a place adds over the maps
outline   of a picture, and the line between two columns
rule      the line between two rows
"""

CLEAR = "rgba(0,0,0,0)"
"""The ground of a chart: that of the page shows through."""

CHARTS = {
    "grid": "rgba(128,128,128,.22)",
    "zero": "rgba(128,128,128,.6)",
    "reference": "rgba(128,128,128,.7)",
    "one": "#cf6040",
    "root": "#4a8bcb",
    "width": "#8f8f8f",
    "loss": "#b23a2e",
    "right": "#1f5fa8",
    "crisp": EDITED,
}
"""The lines of charts, on a light page and on a dark one.

reference         what is to be compared with
one, root, width  scores divided by 1, by the root of d_k and by d_k
loss, right       of a head that learns, and the answers that are right
crisp             the weights on what it is meant to attend to
"""

PAPER = {
    "ground": ("#fff", "#12151b"),
    "ink": ("#16181d", "#e8eaee"),
    "quiet": ("#5b606b", "#a0a6b2"),
    "accent": ("#0f62c4", "#8ab8f5"),
    "edited": (EDITED, EDITED),
}
"""The colours around the pictures in a file: in an SVG the first of the two, in an interactive page as it is read."""

WORKBOOK = {"masked": "#c9c9c9", "input": "#fff8dc", "typed": "#1f3fbf", "quiet": "#555555", "masked_text": "#666666"}
"""The cells of a workbook: `input` and `typed` are the ground and the text of numbers that may be changed."""
