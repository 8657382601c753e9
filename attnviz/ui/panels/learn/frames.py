"""The frames of a film in the browser, so that the maps follow the slider without a way to the server and back.

They are sent when the slider is moved for the first time: most visitors who open the page look at one frame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attnviz.pictures.stage_record import Stage
from attnviz.ui.components.stage import heatmap
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component

MOST_BYTES = 500_000

_component = component(__file__, is_isolated=False)


def send(packed: bytes) -> None:
    """Give the browser the frames; in every run of the part of the page that shows them."""
    _component(key="learn-frames", data=packed, height="content")


def packed(steps: Sequence[int], maps: Callable[[int], Sequence[Stage]], *, key: str, slider: str) -> bytes:
    """Pack what goes into the maps at each step; nothing where that is too much to be sent at once.

    maps  the stages of a step;  key, slider  of the maps and of the slider on the page
    """
    frames, ranges, at = [], {}, 0
    for step in steps:
        frames.append(heatmap.message(maps(step), {}))
        ranges[str(step)] = at, at + len(frames[-1])
        at += len(frames[-1])
        if at > MOST_BYTES:
            return b""
    return transport.packed({"key": key, "slider": slider, "frames": ranges}, b"".join(frames))
