r"""A step as a TikZ picture, to be read by `\input` into a LaTeX document of one's own, in its fonts.

Every LaTeX compiles it; the document loads the package tikz.
"""

from __future__ import annotations

from collections.abc import Iterator

from attnviz.exports.paper.layout import Box, Drawing, Text, batched, drawing
from attnviz.exports.worked_solution import escaped
from attnviz.pictures.stage_record import Stage
from attnviz.settings.language import Words
from attnviz.text.format.number_format import localised

WORDS = Words(
    {
        "where": r"\usepackage{{tikz}} in the preamble, and \input{{this file}} where the picture is to stand: {wide} "
        "by {high} cm.",
        "marks": "Darker is larger, a bar is a negative number, a slash is masked.",
    }
)
HEAD = r"""% WHERE
% MARKS
\providecommand{\letters}[2]{\ifdefined\directlua#1\else\ifdefined\XeTeXversion#1\else#2\fi\fi}
\begin{tikzpicture}[x=1cm, y=-1cm, inner sep=0pt, outer sep=0pt]
\def\cell#1#2#3#4#5#6{\fill[color={rgb,255:red,#4;green,#5;blue,#6}] (#1,#2) rectangle ++(#3,#3);}
\def\words#1#2#3#4#5{\node[#1, font=\fontsize{#2}{#2}\selectfont] at (#3,#4) {#5};}
\path[use as bounding box] (0,0) rectangle (WIDE,HIGH);
"""
ANCHORS = {"start": "anchor=base west", "middle": "anchor=base", "end": "anchor=base east"}


def tikz(stage: Stage) -> str:
    """Return a step, with its words, as a `tikzpicture`."""
    drawn = drawing(stage)
    wide, high = _cm(drawn.width), _cm(drawn.height)
    head = HEAD.replace("WHERE", localised(WORDS["where"].format(wide=wide, high=high))).replace(
        "MARKS", WORDS["marks"]
    )
    head = head.replace("WIDE", wide).replace("HIGH", high)
    return "".join([head, *_parts(_lines(drawn)), "\\end{tikzpicture}\n"])


def _parts(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines in larger parts, which take less memory than as many short texts."""
    for part in batched(lines):
        yield "".join(f"{line}\n" for line in part)


def _lines(drawn: Drawing) -> Iterator[str]:
    for box in drawn.boxes():
        red, green, blue = (int(box.fill[at : at + 2], 16) for at in (1, 3, 5))
        yield rf"\cell{{{_cm(box.x)}}}{{{_cm(box.y)}}}{{{_cm(box.size)}}}{{{red}}}{{{green}}}{{{blue}}}"
        yield from _mark(box)
    for x, y, size in drawn.slashes():
        yield rf"\draw[gray, line width=0.3pt] ({_cm(x)},{_cm(y + size)}) -- ({_cm(x + size)},{_cm(y)});"
    for x, y, w, h in drawn.frames:
        yield rf"\draw[line width=0.4pt] ({_cm(x)},{_cm(y)}) rectangle ++({_cm(w)},{_cm(h)});"
    for text in drawn.texts:
        yield _words(text)


def _mark(box: Box) -> Iterator[str]:
    """Yield the bar of a negative number, or the cross of what is none."""
    ink = "black" if box.ink == "#000000" else "white"
    left, right, middle = box.x + 0.3 * box.size, box.x + 0.7 * box.size, box.y + box.size / 2
    if box.mark == "minus":
        yield rf"\draw[{ink}, line width=0.5pt] ({_cm(left)},{_cm(middle)}) -- ({_cm(right)},{_cm(middle)});"
    if box.mark == "cross":
        side, low = _cm(box.size), _cm(box.y + box.size)
        yield rf"\draw[{ink}, line width=0.5pt] ({_cm(box.x)},{_cm(box.y)}) -- ++({side},{side});"
        yield rf"\draw[{ink}, line width=0.5pt] ({_cm(box.x)},{low}) -- ++({side},-{side});"


def _words(text: Text) -> str:
    turned = ", rotate=90" if text.turned else ""
    place = f"{{{ANCHORS[text.anchor]}{turned}}}{{{text.size:.4g}}}{{{_cm(text.x)}}}{{{_cm(text.y)}}}"
    return rf"\words{place}{{{escaped(text.text)}}}"


def _cm(length: float) -> str:
    """Return a length to a hundredth of a millimetre, without zeros at its end."""
    return f"{length:.3f}".rstrip("0").rstrip(".") if abs(length) >= 0.0005 else "0"
