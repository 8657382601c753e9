"""The strip: the way from the sentence to the output as a row of small pictures, one of which is chosen.

A component that draws its own buttons; it knows steps, shapes and colours, and no word of a visitor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnviz.pictures.colours import MASKED
from attnviz.pictures.pipeline_strip import FlowStep
from attnviz.settings.language import Words
from attnviz.text.format.number_format import localised
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component, ignore, report

WORDS = Words(
    {
        "strip": "From the sentence to the output",
        "all": "all {n} steps",
        "fewer": "fewer steps",
        "same": "nothing new here",
    }
)

_component = component(__file__)


def show(entries: Sequence[FlowStep], *, key: str, chosen: str | None = None) -> str | None:
    """Draw the strip; return the step that was chosen in it since the last run, or None if none was.

    Steps that change nothing and what only goes into others are folded; a person can unfold them.
    """
    _component(key=key, data=packed(entries, chosen), height="content", on_chosen_change=ignore)
    return read(report(key).get("chosen"), entries)


def read(answer: Any, entries: Sequence[FlowStep]) -> str | None:
    """Read the browser's message; return None if it names no step of the run."""
    return next((entry.name for entry in entries if isinstance(answer, str) and entry.name == answer), None)


def packed(entries: Sequence[FlowStep], chosen: str | None) -> bytes:
    """Pack the data for the browser: a line of JSON, a zero byte, and the pixels of all thumbnails."""
    scales = list(dict.fromkeys(entry.colours for entry in entries))
    described = {
        "chosen": chosen,
        "words": {**WORDS, "all": WORDS["all"].format(n=len(entries))},
        "masked": MASKED[0],
        "scales": scales,
        "steps": [_described(entry, scales.index(entry.colours)) for entry in entries],
    }
    pixels = b"".join(entry.thumbnail.tobytes() for entry in entries)
    return transport.packed(described, pixels)


def _described(entry: FlowStep, scale: int) -> dict[str, Any]:
    height, width = entry.thumbnail.shape
    return {
        "name": entry.name,
        "label": entry.label,
        "symbol": entry.text,
        "shape": entry.shape,
        "words": entry.words,
        "formula": localised(entry.plain_formula),
        "meaning": entry.meaning,
        "stage": entry.stage,
        "folded": not (entry.on_path and entry.changes),
        "changes": entry.changes,
        "scale": scale,
        "size": [width, height],
    }
