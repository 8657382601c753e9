"""A step as a page of PDF as large as the picture, its letters in fonts that are in the file.

A character that the fonts lack, such as a Japanese one, is drawn as U+FFFD; an SVG of the step has it. Source: ISO
32000-1, sections 7.5 (files), 8.5 (paths), 9.7 (fonts of many characters) and 9.10.3 (what can be copied from them).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby

from attnviz.exports.paper.layout import POINT, Box, Drawing, Text, drawing
from attnviz.exports.paper.truetype import Face, face
from attnviz.pictures.stage_record import Stage
from attnviz.pictures.static import fonts

FIRST = 5
"""The number of the first object of the fonts."""
TO_UNICODE = """/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CMapName /attnviz def
/CMapType 2 def
1 begincodespacerange
<0000> <FFFF>
endcodespacerange
{ranges}
endcmap
end
end
"""


@dataclass
class Font:
    """A font of the file: its name in what is drawn, and the letters that are drawn with it, by their glyphs."""

    name: str
    file: str
    face: Face
    used: dict[int, str] = field(default_factory=dict)

    def glyphs(self, letters: str) -> str:
        """Return letters as a string of PDF, and count them as used."""
        numbers = [self.face.glyph(letter) for letter in letters]
        self.used |= zip(numbers, letters)
        return "".join(f"{number:04X}" for number in numbers)

    def objects(self, first: int) -> list[str | bytes]:
        """Return the five objects of the font, of which the first has this number."""
        name, face = self.file.removesuffix(".ttf"), self.face
        descendant, descriptor, program, unicode = range(first + 5)[-4:]
        return [
            f"<< /Type /Font /Subtype /Type0 /BaseFont /{name} /Encoding /Identity-H "
            f"/DescendantFonts [{descendant} 0 R] /ToUnicode {unicode} 0 R >>",
            f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /{name} /CIDToGIDMap /Identity "
            f"/FontDescriptor {descriptor} 0 R "
            f"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> {_widths(face, self.used)} >>",
            f"<< /Type /FontDescriptor /FontName /{name} /Flags 4 /ItalicAngle 0 /StemV 80 /FontBBox "
            f"[{' '.join(map(str, face.box))}] /Ascent {face.ascent} /Descent {face.descent} /CapHeight "
            f"{face.ascent} /FontFile2 {program} 0 R >>",
            _stream([face.data], f" /Length1 {len(face.data)}"),
            _stream([_to_unicode(self.used)]),
        ]


def pdf(stage: Stage) -> bytes:
    """Return a step, with its words, as a file of one page; the same step gives the same bytes."""
    drawn = drawing(stage)
    files = fonts.files("".join(text.text for text in drawn.texts))
    used = [Font(name, file, face(fonts.FOLDER / file)) for name, file in zip("FH", files)]
    content = _stream(_content(drawn, used))
    size = f"[0 0 {_points(drawn.width)} {_points(drawn.height)}]"
    named = " ".join(f"/{font.name} {FIRST + 5 * at} 0 R" for at, font in enumerate(used))
    return _file(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            f"<< /Type /Page /Parent 2 0 R /MediaBox {size} /Contents 4 0 R /Resources << /Font << {named} >> >> >>",
            content,
            *chain.from_iterable(font.objects(FIRST + 5 * at) for at, font in enumerate(used)),
        ]
    )


def _file(objects: Sequence[str | bytes]) -> bytes:
    """Return the objects, numbered from 1, with the table of where each begins."""
    whole, starts = b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n", []
    for number, each in enumerate(objects, 1):
        starts.append(len(whole))
        whole += b"%d 0 obj\n%s\nendobj\n" % (number, each.encode() if isinstance(each, str) else each)
    table = "".join(f"{start:010} 00000 n \n" for start in starts)
    n = len(objects) + 1
    end = f"xref\n0 {n}\n0000000000 65535 f \n{table}trailer\n<< /Size {n} /Root 1 0 R >>\n"
    return whole + f"{end}startxref\n{len(whole)}\n%%EOF\n".encode()


def _stream(lines: Iterable[str | bytes], more: str = "") -> bytes:
    packing = zlib.compressobj(9)
    each = (line if isinstance(line, bytes) else f"{line}\n".encode() for line in lines)
    packed = b"".join([*map(packing.compress, each), packing.flush()])
    head = f"<< /Length {len(packed)} /Filter /FlateDecode{more} >>\nstream\n"
    return head.encode() + packed + b"\nendstream"


def _content(drawn: Drawing, used: Sequence[Font]) -> Iterator[str]:
    """Yield what is drawn, in points from the lower left corner."""
    high = drawn.height
    for box in drawn.boxes():
        side = _points(box.size)
        yield f"{_rgb(box.fill)} rg {_place(box.x, high - box.y - box.size)} {side} {side} re f"
        yield from _mark(box, high)
    yield "0.6 G 0.3 w"
    for x, y, size in drawn.slashes():
        yield f"{_place(x, high - y - size)} m {_place(x + size, high - y)} l S"
    yield "0 G 0.4 w"
    for x, y, w, h in drawn.frames:
        yield f"{_place(x, high - y - h)} {_points(w)} {_points(h)} re S"
    yield "0 g"
    for text in drawn.texts:
        yield _words(text, high, used)


def _mark(box: Box, high: float) -> Iterator[str]:
    """Yield the bar of a negative number, or the cross of what is none."""
    middle, low = high - box.y - box.size / 2, high - box.y - box.size
    right, top = box.x + box.size, high - box.y
    ink = f"{_rgb(box.ink)} RG 0.5 w"
    if box.mark == "minus":
        yield f"{ink} {_place(box.x + 0.3 * box.size, middle)} m {_place(box.x + 0.7 * box.size, middle)} l S"
    if box.mark == "cross":
        yield f"{ink} {_place(box.x, low)} m {_place(right, top)} l {_place(box.x, top)} m {_place(right, low)} l S"


def _words(text: Text, high: float, used: Sequence[Font]) -> str:
    parts = _parts(text.text, used)
    width = sum(font.face.width(letters) for font, letters in parts)
    back = {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor] * width * text.size * POINT
    x, y = (text.x, high - text.y - back) if text.turned else (text.x - back, high - text.y)
    turn = "0 1 -1 0" if text.turned else "1 0 0 1"
    drawn = [f"/{font.name} {text.size:.4g} Tf <{font.glyphs(letters)}> Tj" for font, letters in parts]
    return f"BT {turn} {_place(x, y)} Tm {' '.join(drawn)} ET"


def _parts(text: str, used: Sequence[Font]) -> list[tuple[Font, str]]:
    """Return a text in parts of one font each: the first that has a letter, or the first of all where none has it."""
    places = {letter: next((at for at, font in enumerate(used) if font.face.has(letter)), 0) for letter in set(text)}
    return [(used[at], "".join(letters)) for at, letters in groupby(text, places.__getitem__)]


def _widths(font: Face, used: dict[int, str]) -> str:
    return "/W [" + " ".join(f"{glyph} [{font.widths[glyph]}]" for glyph in sorted(used)) + "]"


def _to_unicode(used: dict[int, str]) -> str:
    """Return the characters of the glyphs, at most 100 in a range, as the format has it."""
    lines = [f"<{glyph:04X}> <{letter.encode('utf-16-be').hex().upper()}>" for glyph, letter in sorted(used.items())]
    parts = [lines[at : at + 100] for at in range(0, len(lines), 100)]
    ranges = "\n".join(f"{len(part)} beginbfchar\n" + "\n".join(part) + "\nendbfchar" for part in parts)
    return TO_UNICODE.format(ranges=ranges)


def _rgb(fill: str) -> str:
    return " ".join(f"{int(fill[at : at + 2], 16) / 255:.4g}" for at in (1, 3, 5))


def _place(x: float, y: float) -> str:
    return f"{_points(x)} {_points(y)}"


def _points(length: float) -> str:
    return f"{length / POINT:.2f}"
