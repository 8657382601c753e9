"""The facts of a TrueType font that a PDF holds: the glyph of each character, and how wide it is.

Only what the fonts of this package have is read: a table of characters in format 4. Source: ISO/IEC 14496-22.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPLACEMENT = 0xFFFD
"""The character that stands for one that the font lacks."""


@dataclass(frozen=True)
class Face:
    """A font: its file, the glyph of each code point, the width of each glyph in thousandths of the size, its box."""

    data: bytes
    glyphs: dict[int, int]
    widths: list[int]
    box: tuple[int, int, int, int]
    ascent: int
    descent: int

    def has(self, character: str) -> bool:
        """Return whether the font has a glyph for a character."""
        return ord(character) in self.glyphs

    def glyph(self, character: str) -> int:
        """Return the glyph of a character, or that of the replacement character."""
        return self.glyphs.get(ord(character)) or self.glyphs[REPLACEMENT]

    def width(self, text: str) -> float:
        """Return the width of a text of size 1."""
        return sum(self.widths[self.glyph(character)] for character in text) / 1000


@cache
def face(path: Path) -> Face:
    """Read a font."""
    data = path.read_bytes()
    tables = {}
    for at in range(struct.unpack_from(">H", data, 4)[0]):
        name, _, start, _ = struct.unpack_from(">4sIII", data, 12 + 16 * at)
        tables[name.decode()] = start
    unit = 1000 / struct.unpack_from(">H", data, tables["head"] + 18)[0]
    box = [round(unit * x) for x in struct.unpack_from(">4h", data, tables["head"] + 36)]
    ascent, descent = (round(unit * x) for x in struct.unpack_from(">2h", data, tables["hhea"] + 4))
    [n_widths] = struct.unpack_from(">H", data, tables["hhea"] + 34)
    [n_glyphs] = struct.unpack_from(">H", data, tables["maxp"] + 4)
    wide = [round(unit * struct.unpack_from(">H", data, tables["hmtx"] + 4 * at)[0]) for at in range(n_widths)]
    wide += wide[-1:] * (n_glyphs - n_widths)
    return Face(data, _glyphs(data, tables["cmap"]), wide, (box[0], box[1], box[2], box[3]), ascent, descent)


def _glyphs(data: bytes, cmap: int) -> dict[int, int]:
    """Return the glyph of each code point up to U+FFFF."""
    records = [struct.unpack_from(">HHI", data, cmap + 4 + 8 * at) for at in range(_u16(data, cmap + 2))]
    start = next(cmap + offset for _, _, offset in records if _u16(data, cmap + offset) == 4)
    double = _u16(data, start + 6)
    ends, starts = start + 14, start + 16 + double
    found = {}
    for at in range(0, double, 2):
        first, last = _u16(data, starts + at), _u16(data, ends + at)
        shift, place = _u16(data, starts + double + at), starts + 2 * double + at
        reach = _u16(data, place)
        for code in range(first, last + 1):
            glyph = code if not reach else _u16(data, place + reach + 2 * (code - first))
            if glyph and code != 0xFFFF:
                found[code] = (glyph + shift) % 65536
    return found


def _u16(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2])
