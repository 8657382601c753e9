"""A moving picture of a run as a GIF, for slides: a query after the other, or a head that learns, frame by frame.

Each frame is the picture for print in pixels. Of more queries or kept steps than there are frames, some stand for all;
of a large run there are few frames, as each of them takes long to draw.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from PIL import Image

from attnviz.engine.learning import learnable
from attnviz.engine.numerics import cancellation
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.pictures.static import png, svg
from attnviz.pictures.static.svg import View
from attnviz.settings.language import Words
from attnviz.text import opening_sentence

WORDS = Words({"step": "after {n} of {all} steps"})
MOST_FRAMES, FEWEST_FRAMES = 16, 2
MOST_CELLS = 48_000  # of all frames together, but for those that there are at least
WIDTHS = (960, 1280, 1600, 2000, 2600)
"""Pixels of the picture, in which maps stand beside each other or below: the letters are to be as large as can be."""
ROOM = (1280, 1280)
"""Pixels of a frame at most, across and down."""
SECONDS, LAST = 1.2, 3.0  # that a frame is seen, and the last
COLOURS = 128


def of_run(trace: Trace, layer: int, view: View) -> bytes:
    """Return the GIF of a layer, counted from 0: of a setting that learns its film, else a frame for each query.

    Raises RuntimeError, with install instructions, if what draws a PNG is missing.
    """
    head, query, _ = opening_sentence.telling(trace, layer, view.head if view.focus is None else view.focus)
    view = replace(view, head=head if view.head is None else view.head, key=None)
    if learnable.learns(trace.config) and trace.config.learn_steps > 0:
        view = replace(view, query=query if view.query is None else view.query)  # the same row in all of them
        drawn = _film(trace, layer, view)
    else:
        drawn = _queries(trace, layer, view)
    return _joined([_pixels(each) for each in drawn])


def _queries(trace: Trace, layer: int, view: View) -> Iterator[str]:
    """Return the picture with each query's row in it framed, and its arcs in the sentence."""
    width = _width(trace, layer, view)
    for query in chosen(range(len(trace.query_tokens)), _frames(trace)):
        yield svg.page(trace, layer, replace(view, query=query), width=width)


def _film(trace: Trace, layer: int, view: View) -> Iterator[str]:
    """Return the picture after each kept step of learning."""
    last, width = trace.config.learn_steps, _width(trace, layer, view)
    for step in chosen(learnable.kept_steps(last), _frames(trace)):
        then = trace if step == last else run(replace(trace.config, learn_steps=step))
        yield svg.page(then, layer, view, width=width, foot=WORDS["step"].format(n=step, all=last))


def _cells(trace: Trace) -> int:
    """Return the number of cells of a picture, about."""
    n, m, config = len(trace.query_tokens), len(trace.key_tokens), trace.config
    return int(config.n_heads * n * (2 * m + int(np.max(config.d_v))))


def _frames(trace: Trace) -> int:
    return max(FEWEST_FRAMES, min(MOST_FRAMES, MOST_CELLS // _cells(trace)))


def _width(trace: Trace, layer: int, view: View) -> int:
    """Return the width of the picture that is largest in the room of a frame; of a large one it is not looked for."""
    if len(WIDTHS) * _cells(trace) > MOST_CELLS:
        return WIDTHS[2]
    return max(WIDTHS, key=lambda width: _scale(svg.page(trace, layer, view, width=width)))


def _scale(drawn: str) -> float:
    """Return the factor that brings a picture into a frame; none is made larger."""
    return min(1.0, *(most / now for most, now in zip(ROOM, png.size(drawn))))


def chosen(all_of_them: Sequence[int], most: int) -> list[int]:
    """Return so many at most, spread evenly, the first and the last among them.

    >>> chosen(range(3), 16), chosen(range(100), 4)
    ([0, 1, 2], [0, 33, 66, 99])
    """
    n = len(all_of_them)
    return [*all_of_them] if n <= most else [all_of_them[round(at)] for at in np.linspace(0, n - 1, most)]


def _pixels(drawn: str) -> Image.Image:
    cancellation.check()
    dpi = max(png.LOWEST, int(png.PER_INCH * _scale(drawn)))
    return Image.open(io.BytesIO(png.drawn(drawn, dpi=dpi))).convert("RGB")


def _joined(frames: Sequence[Image.Image]) -> bytes:
    """Return frames as one file that begins again after the last; lower ones get white below."""
    size = max(each.size[0] for each in frames), max(each.size[1] for each in frames)
    whole = []
    for frame in frames:
        page = Image.new("RGB", size, "white")
        page.paste(frame, (0, 0))
        whole.append(page.quantize(COLOURS, dither=Image.Dither.NONE))  # maps are flat: no colour is missed
    file = io.BytesIO()
    times = [int(1000 * SECONDS)] * (len(whole) - 1) + [int(1000 * LAST)]
    whole[0].save(file, "GIF", save_all=True, append_images=whole[1:], duration=times, loop=0)
    return file.getvalue()
