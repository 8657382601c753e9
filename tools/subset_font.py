"""Make the fonts in attnviz/fonts: those glyphs that the pictures, most European scripts and Chinese use.

    python tools/subset_font.py /usr/share/fonts/truetype

The files in the package were made by this from DejaVu 2.37 and Droid Sans Fallback 1.00c (Debian's fonts-dejavu-core
and fonts-droid-fallback) with fonttools of the version in requirements-dev.txt. The same input gives the same bytes.
The licenses allow subsets under the fonts' own names; they stand beside the fonts.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset

sys.path.insert(0, str(Path(__file__).parent.parent))
from attnviz.pictures.static.fonts import CHINESE, FACES, FOLDER, RANGES, chinese

FEATURES = ["kern", "mark", "mkmk", "ccmp", "locl"]


EUROPEAN = [code for low, high in RANGES for code in range(low, high + 1)]
SOURCES = {
    **{face: (f"dejavu/{face}", EUROPEAN) for face in FACES},
    CHINESE: ("droid/DroidSansFallbackFull.ttf", [*map(ord, sorted(chinese()))]),
}
"""Where each font comes from, and the characters that are taken."""


def made(source: Path, face: str) -> bytes:
    """Return a font with the glyphs it is to have, without hints, which nothing that draws these pictures uses."""
    options = subset.Options()
    options.layout_features = FEATURES
    options.hinting = False
    options.drop_tables += ["FFTM", "MATH", "vhea", "vmtx"]
    options.notdef_outline = True  # the box that stands for a character that is not in the font
    options.recalc_timestamp = False
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    file, codes = SOURCES[face]
    font = subset.load_font(str(source / file), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    target = FOLDER / face
    subset.save_font(font, str(target), options)
    return target.read_bytes()


if __name__ == "__main__":
    for face in SOURCES:
        print(f"{face}: {len(made(Path(sys.argv[1]), face)):,} bytes")
