"""The weights of one query laid over the image whose patches are the tokens: an SVG for notebooks, pages and print."""

from __future__ import annotations

import math
import operator
import os
import re
import struct
import zlib
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.engine.records.trace import Trace
from attnviz.models.images.reader import checked
from attnviz.models.images.resizing import resized
from attnviz.pictures.colours import MASKED, OVER_IMAGE, PAPER
from attnviz.pictures.static import fonts, png
from attnviz.pictures.static.svg_elements import Element, group, shown, text
from attnviz.pictures.static.text_metrics import drawable, wrapped
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words
from attnviz.text.format.number_format import localised, short

WORDS = Words(
    {
        "title": "Layer {layer}, head {head}: what {query} attends to",
        "key": "{key}: {weight}",
        "about": "The largest weight, {most}, is clear and framed; 0 is under a veil. All patches together have {sum}.",
    }
)
FAULTS = Words(
    {
        "trace": "over_image takes a Trace, not {given}; call over_image(model(image))",
        "image": "this run has no image; load(folder)(image) keeps the one that it reads, and for a run of of_model "
        "give it as over_image(trace, image=...)",
        "tokens": "the tokens of this run are no patches by row and column, as [CLS], 1,1 and 1,2 are",
        "beyond": "{name} is {given}; choose {low} to {last}",
        "query": "query is {given}; give its index, 0 to {last}, or its name, as in '2,3'",
        "file": "{given} is neither an .svg nor a .png file; choose a name that ends in one of these",
    }
)
SIDE, MARGIN, GAP, MOST_BESIDE = 480, 24, 12, 64
MOST_PIXELS = 640
"""The pixels of an image that are drawn along its longer side, at most."""
SEEN = 6  # units from which on a pixel is seen as one of those that the model reads
VEIL, VEILED = PAPER["ink"][0], 0.82
"""The colour that lies over a patch, and how much of it where the weight is 0."""
FRAME = OVER_IMAGE
TITLE, SMALL, LINE = 16, 12, 1.35


class Drawing(str):
    """An SVG as text, which a notebook draws, and which `save` writes to a file."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an .svg, or a .png where resvg-py is installed. Raises ConfigError for another name or without it."""
        ending = Path(path).suffix.lower()
        if ending not in (".svg", ".png"):
            raise ConfigError(FAULTS["file"].format(given=shorten(os.fspath(path), 120)))
        try:
            whole = png.drawn(self) if ending == ".png" else self.encode()
        except RuntimeError as error:
            raise ConfigError(str(error)) from None
        Path(path).write_bytes(whole)


def over_image(trace: Trace, *, layer: int = -1, head: int = 0, query: int | str = 0, image: Any = None) -> Drawing:
    """Return the weights of one query of a model of images, drawn over the image: an SVG.

    layer, head  counted from 0, or from the end if negative
    query        an index, from 0, or the name of a token: '[CLS]', or a patch by row and column, as in '2,3'
    image        (height, width, 3), uint8 or floats from 0 to 1; None is the one that the model read

    A patch is the clearer, and its frame the stronger, the more of the weight it has, as a share of the largest; where
    the weight is 0 it lies under a veil. What stands before the patches, such as [CLS], stands beside them. The query
    is dashed. Each square says its number where it is pointed at.

    Raises ConfigError, a ValueError, for a run without an image, and for a layer, a head or a query that there is not.
    """
    if not isinstance(trace, Trace):
        raise ConfigError(FAULTS["trace"].format(given=type(trace).__name__))
    tokens = trace.key_tokens
    before, rows, columns = _grid(tokens)
    layer, head = (
        _index(name, given, n)
        for name, given, n in (("layer", layer, len(trace.layers)), ("head", head, trace.config.n_heads))
    )
    at = _query(query, trace.query_tokens)
    weights = trace.layers[layer]["weights"].array[head, at]
    pixels = _pixels(trace, image)
    scale = SIDE / max(pixels.shape[:2])
    height, width = (n * scale for n in pixels.shape[:2])
    side = min(height / rows, width / columns, MOST_BESIDE)
    left, top = MARGIN + (side + GAP if before else 0.0), MARGIN + TITLE * LINE + 6
    boxes = [(float(MARGIN), top + n * (side + GAP), side, side) for n in range(before)]
    boxes += [
        (left + c * width / columns, top + r * height / rows, width / columns, height / rows)
        for r in range(rows)
        for c in range(columns)
    ]
    most = float(weights.max())
    names = {"layer": ordinal(layer), "head": ordinal(head), "query": drawable(trace.query_tokens[at])}
    said = {"most": short(most), "sum": short(float(weights[before:].sum()))}
    about = localised(WORDS["about"].format(**said))
    drawn = _image(pixels, left, top, width, height)
    facts = {"data_head": head, "data_query": at, "data_rows": rows, "data_columns": columns}
    squares = group("weights", _squares(boxes, weights, most, tokens, before), data_map="weights", **facts)
    return _written(WORDS["title"].format(**names), about, [drawn, squares, _dashed(boxes[at])], left + width, boxes)


def without_text(drawing: str) -> str:
    """Return a drawing of `over_image` without what is written over and under it, to be shown small.

    >>> without_text('<svg width="9" height="9" viewBox="0 0 9 9"><image x="4" y="2" width="5" height="4"/></svg>')
    '<svg width="9" height="4" viewBox="0 2 9 4"><image x="4" y="2" width="5" height="4"/></svg>'
    """
    found = re.search(r'<image [^>]*\by="([\d.]+)"[^>]* height="([\d.]+)"', drawing)
    if found is None:
        return drawing
    top, height = found.groups()
    cut = rf'height="{height}" viewBox="0 {top} \1 {height}"'
    return re.sub(r'height="\d+" viewBox="0 0 (\d+) \d+"', cut, drawing, count=1)


def _grid(tokens: Sequence[str]) -> tuple[int, int, int]:
    """Return how many tokens stand before the patches, and the rows and columns of these. Raises ConfigError."""
    *_, last = tokens
    found = re.fullmatch(r"(\d{1,4}),(\d{1,4})", last)
    rows, columns = (int(found[1]), int(found[2])) if found else (0, 0)
    if rows * columns > len(tokens):
        raise ConfigError(FAULTS["tokens"])
    patches = [f"{row},{column}" for row in range(1, rows + 1) for column in range(1, columns + 1)]
    before = len(tokens) - len(patches)
    if not patches or list(tokens[max(before, 0) :]) != patches:
        raise ConfigError(FAULTS["tokens"])
    return before, rows, columns


def _index(name: str, given: Any, n: int) -> int:
    index = operator.index(given) if hasattr(given, "__index__") else n
    if not -n <= index < n:
        raise ConfigError(FAULTS["beyond"].format(name=name, given=shorten(given), low=0, last=n - 1))
    return index % n


def _query(given: int | str, tokens: Sequence[str]) -> int:
    if isinstance(given, str) and given in tokens:
        return tokens.index(given)
    index = operator.index(given) if hasattr(given, "__index__") else len(tokens)
    if not -len(tokens) <= index < len(tokens):
        raise ConfigError(FAULTS["query"].format(given=shorten(given), last=len(tokens) - 1))
    return index % len(tokens)


def _pixels(trace: Trace, image: Any) -> Array:
    """Return what is drawn, as uint8: the image that is given or was read, made smaller where it is large."""
    if image is None:
        read = trace.config.image if isinstance(trace.config, PretrainedConfig) else None
        if read is None:
            raise ConfigError(FAULTS["image"])
        array = read.array
    else:
        array = checked(image)
    if array.dtype != np.uint8:
        array = np.round(array * 255.0).astype(np.uint8)
    by = MOST_PIXELS / max(array.shape[:2])
    if by >= 1:
        return array
    height, width = (max(round(n * by), 1) for n in array.shape[:2])
    return resized(array, height, width, 2)


def _image(pixels: Array, x: float, y: float, width: float, height: float) -> Element:
    """Return the image as an element that holds all of its pixels."""
    data = b64encode(_png(pixels)).decode("ascii")
    size = {"x": shown(x), "y": shown(y), "width": shown(width), "height": shown(height)}
    more = {"preserveAspectRatio": "none"}
    if width >= SEEN * pixels.shape[1]:  # else a photograph would be drawn in blocks
        more["style"] = "image-rendering:pixelated"
    return ET.Element("image", size | more | {"href": f"data:image/png;base64,{data}"})


def _png(pixels: Array) -> bytes:
    """Return uint8 pixels (height, width, 3) as a PNG file. Source: W3C, Portable Network Graphics, third edition."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each begins with 0: no filter
    rows[:, 1:] = pixels.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # of 8 bits, red, green and blue
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 9))
    chunks = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in (*parts, (b"IEND", b""))
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _squares(
    boxes: Sequence[tuple[float, float, float, float]], weights: Array, most: float, tokens: Sequence[str], before: int
) -> Iterator[Element]:
    """Yield a square for each key: a veil and a frame inside it, and its number in words."""
    for key, ((x, y, w, h), weight, token) in enumerate(zip(boxes, weights.tolist(), tokens)):
        part = weight / most if most else 0.0
        square = group("key", (), data_key=key)
        words = WORDS["key"].format(key=drawable(token), weight=localised(short(weight)))
        ET.SubElement(square, "title").text = words
        if key < before:
            ground = {"fill": MASKED[0], "stroke": PAPER["quiet"][0], "stroke-width": "1"}
            square.append(_box(x, y, w, h, ground))
        square.append(_box(x, y, w, h, {"fill": VEIL, "fill-opacity": f"{VEILED * (1 - part):.4f}"}))
        line = min(max(min(w, h) / 24, 0.75), 2.5)
        frame = {"fill": "none", "stroke": FRAME, "stroke-width": shown(line), "stroke-opacity": f"{part:.4f}"}
        square.append(_box(x + line / 2, y + line / 2, w - line, h - line, frame))
        if key < before:
            size = min(SMALL, w / 3.2)
            label = {"text-anchor": "middle", "paint-order": "stroke", "stroke": PAPER["ground"][0], "stroke-width": 2}
            square.append(text(drawable(token), x + w / 2, y + h / 2 + size / 3, **label, **{"font-size": shown(size)}))
        yield square


def _box(x: float, y: float, w: float, h: float, more: Mapping[str, str]) -> Element:
    return ET.Element("rect", {"x": shown(x), "y": shown(y), "width": shown(w), "height": shown(h), **more})


def _dashed(box: tuple[float, float, float, float]) -> Element:
    """Return the frame of the query: light under dark, so that it is seen on any image."""
    under = {"fill": "none", "stroke": PAPER["ground"][0], "stroke-width": "3"}
    over = under | {"stroke": PAPER["ink"][0], "stroke-dasharray": "5 5"}
    return group("query", (_box(*box, under), _box(*box, over)))


def _written(
    title: str, about: str, body: Sequence[Element], right: float, boxes: Sequence[tuple[float, ...]]
) -> Drawing:
    """Return the whole: title, image and squares, and what they say."""
    wide, low = math.ceil(right + MARGIN), max(y + h for _, y, _, h in boxes)
    lines = wrapped(about, SMALL, wide - 2 * MARGIN, most=4)
    tall = math.ceil(low + 8 + len(lines) * SMALL * LINE + MARGIN)
    size = {"width": str(wide), "height": str(tall), "viewBox": f"0 0 {wide} {tall}"}
    root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, "role": "img"})
    root.attrib |= {"font-family": fonts.FAMILY, "fill": PAPER["ink"][0]}
    for kind, words in (("title", title), ("desc", about)):
        ET.SubElement(root, kind).text = words
    root.append(_box(0, 0, wide, tall, {"fill": PAPER["ground"][0]}))
    root.append(text(title, MARGIN, MARGIN + TITLE, **{"font-size": TITLE, "font-weight": 600}))
    root.extend(body)
    for n, line in enumerate(lines, 1):
        root.append(text(line, MARGIN, low + 8 + n * SMALL * LINE, **{"font-size": SMALL, "fill": PAPER["quiet"][0]}))
    return Drawing('<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n")
