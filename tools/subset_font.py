"""Make the fonts in attnviz/fonts: those glyphs of DejaVu Sans that the pictures and most European scripts use.

    python tools/subset_font.py /usr/share/fonts/truetype/dejavu

The files in the package were made by this from DejaVu 2.37 (Debian's fonts-dejavu-core) with fonttools of the version
in requirements-dev.txt. The same input gives the same bytes. The license of DejaVu allows subsets under its own name;
it stands beside the fonts.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset

sys.path.insert(0, str(Path(__file__).parent.parent))
from attnviz.pictures.static.fonts import FACES, FOLDER, RANGES

FEATURES = ["kern", "mark", "mkmk", "ccmp", "locl"]


def made(source: Path) -> bytes:
    """Return a font with the glyphs of RANGES, without hints, which nothing that draws these pictures uses."""
    options = subset.Options()
    options.layout_features = FEATURES
    options.hinting = False
    options.drop_tables += ["FFTM", "MATH"]
    options.notdef_outline = True  # the box that stands for a character that is not in the font
    options.recalc_timestamp = False
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    font = subset.load_font(str(source), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for low, high in RANGES for code in range(low, high + 1)])
    subsetter.subset(font)
    target = FOLDER / source.name
    subset.save_font(font, str(target), options)
    return target.read_bytes()


if __name__ == "__main__":
    for face in FACES:
        print(f"{face}: {len(made(Path(sys.argv[1]) / face)):,} bytes")
