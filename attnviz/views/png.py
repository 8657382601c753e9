"""An SVG as a PNG for print, where the package that draws it is installed: resvg-py, which brings all it needs."""

from __future__ import annotations

import importlib
import importlib.util
import math
import re
import struct
import zlib
from functools import cache
from typing import Any

from attnviz.core.language import Words

FAULTS = Words(
    {
        "package": 'A PNG needs the package resvg-py: pip install "attnviz[png]", or save the SVG instead.',
        "font": "There is no font where this runs, so a PNG would have no words: install one, such as DejaVu, or save "
        "the SVG.",
        "dpi": "dpi is {dpi}; choose {low} to {high}",
        "svg": "this is no SVG with a width and a height; give one that attnviz.views.svg has drawn",
    }
)

LOWEST, HIGHEST = 24, 1200
PER_INCH = 96  # pixels of an SVG
MOST_PIXELS = 64_000_000
METRE = 39.37007874015748  # inches
_SIZE = re.compile(r'<svg [^>]*\bwidth="(\d+)" height="(\d+)"')
_LETTER = '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24">{}</svg>'
_M = '<text x="4" y="20" font-size="20" font-family="sans-serif">M</text>'


def missing() -> str:
    """What is missing for a PNG, and what to do, in a sentence; nothing where it can be drawn."""
    if importlib.util.find_spec("resvg_py") is None:
        return FAULTS["package"]
    return "" if _writes() else FAULTS["font"]


def drawn(svg: str, *, dpi: int = 300) -> bytes:
    """The PNG of an SVG that `views.svg` has drawn, with so many pixels for an inch of it, that is 96 of its own.

    A very large picture gets as many pixels an inch as 64 million in all allow; the file says how many.

    Raises RuntimeError, with a sentence that says what to do, where something is missing; ValueError for a dpi that
    is not 24 to 1200 and for a text that is no such SVG.
    """
    if not LOWEST <= dpi <= HIGHEST:
        raise ValueError(FAULTS["dpi"].format(dpi=dpi, low=LOWEST, high=HIGHEST))
    size = _SIZE.search(svg[:2000])
    if size is None:
        raise ValueError(FAULTS["svg"])
    if said := missing():
        raise RuntimeError(said)
    most = math.sqrt(MOST_PIXELS / (int(size[1]) * int(size[2])))
    zoom = min(dpi / PER_INCH, most)
    return _with_size(_render(svg, zoom=zoom), zoom * PER_INCH)


def _render(svg: str, **more: Any) -> bytes:
    return bytes(importlib.import_module("resvg_py").svg_to_bytes(svg_string=svg, **more))


@cache
def _writes() -> bool:
    """Whether there is a font: without one, words are left out of a picture without a word."""
    return _render(_LETTER.format(_M)) != _render(_LETTER.format(""))


def _with_size(png: bytes, dpi: float) -> bytes:
    """The PNG with a pHYs chunk, after its first, that says how large it is on paper."""
    first = 8 + 4 + 4 + 13 + 4  # signature; length, name, contents and checksum of IHDR
    per_metre = round(dpi * METRE)
    chunk = b"pHYs" + struct.pack(">IIB", per_metre, per_metre, 1)
    return png[:first] + struct.pack(">I", 9) + chunk + struct.pack(">I", zlib.crc32(chunk)) + png[first:]
