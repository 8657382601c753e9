"""Text metrics for SVG, which no layout engine follows: drawable characters, widths, and cuts.

Widths are at least those of the font that comes with the package, which is a wide one: a word that fits by them fits
also where an SVG is opened without that font.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from attnviz.engine.tables.tokenisers import graphemes
from attnviz.settings.plain_text import clean
from attnviz.text.query_sentences import visible_token

ELLIPSIS = "…"
MOST_MARKS = 3
"""Combining marks on one character that are drawn: a hundred of them would cover the rows above."""

WIDTHS = (
    ("ijl.,:;'|", 0.36),
    (" ftrI()[]-/\\!ľ", 0.46),
    ('"`˘˙˚˛˜˝‗‾', 0.52),
    ("mwMW@%—…ƯƢƣĦŉ", 1.02),
    ("ABCDEFGHJKLNOPQRSTUVXYZ&#~+<>=−×^¬±÷ÐØÞĐħĲŊƤƦµ", 0.84),
    ("©®¼½¾ÆæŒœƠ", 1.1),
    ("ЉЖШЩЮ", 1.2),
    ("‰", 1.4),
    ("‱", 1.8),
    ("\ufdfd", 11.0),  # a whole sentence
)
"""Widths of characters in ems."""

USUAL, FOREIGN, PICTOGRAPH, BOLD = 0.65, 1.05, 1.3, 1.12
_PLAIN = 0x250
_OF = {character: width for characters, width in WIDTHS for character in characters}
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_IDEOGRAPH = re.compile(f"[{_IDEOGRAPHS}]")
_HAN, _OPENING, _CLOSING = f"\u3005-\u3007\u3040-\u30ff{_IDEOGRAPHS}", "“《（", "”》），。、；：？！"
_PIECE = re.compile(
    rf"[{_OPENING}]*(?:[{_HAN}]|[^\s{_HAN}{_OPENING}{_CLOSING}]+|[{_CLOSING}])[{_CLOSING}]*\s*|[{_OPENING}]+\s*|\s+"
)
"""What stays together on a line: a word, or one Chinese character, with the signs that open and end it."""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def drawable(text: str) -> str:
    """Return the text in one line and without what XML cannot hold, what turns the text around it, and towers of marks.

    >>> drawable("a\\x00b\\ufffe\\ud800\\u202ec") == "ab\\ufffdc"
    True
    """
    marks, kept = 0, []
    for character in _NOT_XML.sub("", clean(text)):
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if marks <= MOST_MARKS:
            kept.append(character)
    return re.sub(r"\s", " ", "".join(kept))


def word(token: str) -> str:
    """Return a token as it can be seen in a picture; none is blank.

    >>> word(""), word("  "), word("\\x01"), word("cat")
    ('(empty)', '··', 'U+0001', 'cat')
    """
    return drawable(visible_token(token)) or " ".join(f"U+{ord(character):04X}" for character in token)


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return an upper bound of the width of a text, in the unit of its size.

    >>> width("il", 10) < width("mw", 10) < width("\u732b\u732b", 10)
    True
    """
    return sum(map(_width, text)) * size * (BOLD if bold else 1.0)


def _width(character: str) -> float:
    if character in _OF:
        return _OF[character]
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0.0
    if ord(character) < _PLAIN:
        return _OF.get(unicodedata.normalize("NFD", character)[0], USUAL)  # a letter is as wide as without its mark
    spelled = unicodedata.normalize("NFKC", character)  # a ligature can be a whole sentence
    if len(spelled) > 1:
        return sum(map(_width, spelled))
    return PICTOGRAPH if unicodedata.category(character) == "So" else FOREIGN


def stands(label: str) -> bool:
    """Return whether a word is one picture or Chinese character, which is read standing, also below a column.

    >>> stands("猫"), stands("🐈"), stands("猫追"), stands("a")
    (True, True, False, False)
    """
    is_one = bool(_IDEOGRAPH.match(label)) or unicodedata.category(label[:1] or " ") == "So"
    return is_one and len(graphemes(label)) == 1


def fitted(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """Return the text, or as many of its first graphemes as fit into `room` before an ellipsis.

    >>> fitted("attention", 10, 100), fitted("attention", 10, 40)
    ('attention', 'atten…')
    """
    if width(text, size, bold=bold) <= room:
        return text
    kept = ""
    for cluster in graphemes(text[:400]):
        if width(kept + cluster + ELLIPSIS, size, bold=bold) > room:
            break
        kept += cluster
    return kept + ELLIPSIS


def wrapped(text: str, size: float, room: float, *, most: int, bold: bool = False) -> list[str]:
    """Return the text in lines of `room`; what does not fit into `most` of them ends in an ellipsis.

    >>> wrapped("one two three", 10, 50, most=2)
    ['one two', 'three']
    """
    lines: list[str] = []
    rest = text.strip()
    while rest and len(lines) < most - 1:
        line = _first_line(rest, size, room, bold)
        lines.append(line.rstrip())
        rest = rest[len(line) :].lstrip()
    return [*lines, fitted(rest, size, room, bold=bold)] if rest else lines


def _first_line(text: str, size: float, room: float, bold: bool) -> str:
    """Return as many whole words as fit on a line; a word that is longer than a line is cut."""
    if width(text, size, bold=bold) <= room:
        return text
    line, used = "", 0.0
    for piece in _PIECE.findall(text):
        used += width(piece, size, bold=bold)
        if used > room and line:
            return line
        if used > room:
            return _cut(piece, size, room, bold)
        line += piece
    return line


def _cut(piece: str, size: float, room: float, bold: bool) -> str:
    clusters: Sequence[str] = graphemes(piece[:1000])
    line = clusters[0]
    for cluster in clusters[1:]:
        if width(line + cluster, size, bold=bold) > room:
            break
        line += cluster
    return line
