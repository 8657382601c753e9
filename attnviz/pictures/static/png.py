"""An SVG as a PNG for print, where the package that draws it is installed: resvg-py.

The letters are those of the fonts that come with this package, so a picture has the same pixels on a machine with any
fonts and on one with none. Only a picture with a character that these fonts lack, such as a Japanese one, looks for
it among the fonts of the machine; what none of them has is drawn as an empty box.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import re
import struct
import zlib

from attnviz.pictures.static import fonts
from attnviz.settings.language import Words

FAULTS = Words(
    {
        "package": 'A PNG needs the package resvg-py: pip install "attnviz[png]", or save the SVG instead.',
        "dpi": "dpi is {dpi}; choose {low} to {high}",
        "svg": "this is not an SVG with a width and a height; give one that attnviz.pictures.static.svg has drawn",
    }
)

LOWEST, HIGHEST = 24, 1200
PER_INCH = 96  # pixels of an SVG
MOST_PIXELS = 24_000_000
"""About 4,900 by 4,900; each takes eight bytes while it is drawn."""
METRE = 39.37007874015748  # inches
_SIZE = re.compile(r'<svg [^>]*\bwidth="(\d+)" height="(\d+)"')


def missing() -> str:
    """Return a sentence on whatever is missing for a PNG, and the remedy; nothing where it can be drawn."""
    return FAULTS["package"] if importlib.util.find_spec("resvg_py") is None else ""


def drawn(svg: str, *, dpi: int = 300) -> bytes:
    """Return the PNG of an SVG that `pictures.static.svg` has drawn, at `dpi` pixels an inch; an inch is 96 of its own.

    A very large picture gets as many pixels an inch as 24 million in all allow; the file says how many.

    Raises RuntimeError, with install instructions, if a dependency is missing; ValueError for a dpi that
    is not 24 to 1200 and for a text that is no such SVG.
    """
    if not LOWEST <= dpi <= HIGHEST:
        raise ValueError(FAULTS["dpi"].format(dpi=dpi, low=LOWEST, high=HIGHEST))
    width, height = size(svg)
    if problem := missing():
        raise RuntimeError(problem)
    most = math.sqrt(MOST_PIXELS / (width * height))
    zoom = min(dpi / PER_INCH, most)
    return _with_size(_render(svg, zoom=zoom), zoom * PER_INCH)


def size(svg: str) -> tuple[int, int]:
    """Return the width and the height of an SVG that `pictures.static.svg` has drawn. Raises ValueError for another."""
    found = _SIZE.search(svg[:2000])
    if found is None:
        raise ValueError(FAULTS["svg"])
    return int(found[1]), int(found[2])


def _render(svg: str, zoom: float) -> bytes:
    return bytes(
        importlib.import_module("resvg_py").svg_to_bytes(
            svg_string=svg,
            zoom=zoom,
            font_files=[str(fonts.FOLDER / face) for face in dict.fromkeys((*fonts.FACES, *fonts.files(svg)))],
            sans_serif_family="DejaVu Sans",
            skip_system_fonts=fonts.has(svg),
        )
    )


def _with_size(png: bytes, dpi: float) -> bytes:
    """Return the PNG with a pHYs chunk, after its first, that says how large it is on paper."""
    first = 8 + 4 + 4 + 13 + 4  # signature; length, name, contents and checksum of IHDR
    per_metre = round(dpi * METRE)
    chunk = b"pHYs" + struct.pack(">IIB", per_metre, per_metre, 1)
    return png[:first] + struct.pack(">I", 9) + chunk + struct.pack(">I", zlib.crc32(chunk)) + png[first:]
