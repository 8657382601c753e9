"""The README's film of a head that forms, from the numbers themselves: `python docs/film_strip.py` in the root."""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from attnviz import TASKS, Trace, run  # noqa: E402
from attnviz.engine.learning.film import predicted_words  # noqa: E402
from attnviz.pictures.colours import SHARE  # noqa: E402
from attnviz.pictures.static.colour_scale import Scale, colour  # noqa: E402

TARGET = Path(__file__).with_name("a-head-learns.svg")
STEPS = (0, 10, 20, 40, 60, 120)
CELL, GAP, LEFT, TOP, WORDS = 21, 16, 48, 26, 92
SHADES = Scale(0.0, 1.0, SHARE)


def strip() -> str:
    """Return the weights of the head that translates at several steps, and what it says at each, as an SVG."""
    traces = [run(TASKS["translation"].config(learn_steps=step)) for step in STEPS]
    rows, columns = traces[0]["weights"].shape[1:]
    apart = columns * CELL + GAP
    width, height = LEFT + len(STEPS) * apart, TOP + rows * CELL + WORDS
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for i, word in enumerate(traces[0].query_tokens):
        parts.append(_text(LEFT - 5, TOP + i * CELL + 15, word, "end"))
    for number, (step, trace) in enumerate(zip(STEPS, traces)):
        parts += _frame(trace, step, LEFT + number * apart)
    return "\n".join([*parts, "</svg>\n"])


def _frame(trace: Trace, step: int, left: int) -> list[str]:
    """Return one map with its step above, the words that are read below, and then what the head says."""
    A = trace["weights"].array[0]
    foot, middle = TOP + len(A) * CELL, left + A.shape[1] * CELL / 2
    parts = [_text(middle, TOP - 9, f"{step} steps", "middle", "font-weight='bold'")]
    for i, row in enumerate(A):
        for j, weight in enumerate(row):
            x, y = left + j * CELL, TOP + i * CELL
            parts.append(
                f'<rect x="{x}" y="{y}" width="{CELL - 1}" height="{CELL - 1}" fill="{colour(SHADES, float(weight))}"/>'
            )
    for j, word in enumerate(trace.key_tokens):
        x, y = left + j * CELL + 14, foot + 5
        parts.append(_text(x, y, word, "end", f"transform='rotate(-90 {x} {y})'"))
    words = predicted_words(trace)
    lines = (" ".join(words[:3]), " ".join(words[3:]))
    return parts + [_text(middle, foot + 60 + 16 * n, line, "middle", "fill='#1f5fa8'") for n, line in enumerate(lines)]


def _text(x: float, y: float, word: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" {more}>{escape(word)}</text>'


if __name__ == "__main__":
    TARGET.write_text(strip(), encoding="utf-8")
