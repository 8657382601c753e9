"""The answer beside the maps: how the cell, the row or the output that was chosen came to be, in a few lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.pictures.colours import DARK, SIGNED
from attnviz.settings.language import InContext, Words
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component, ignore

WORDS = Words(
    {
        "answer": "How this is computed",
        "close": "Close (Escape)",
        "all": "All lines",
        "rounded": "Numbers are rounded for display, the arithmetic is not.",
        "play": "Play",
        "lines": InContext("Lines", "of arithmetic"),
        "pause": "Pause (space)",
        "step": "Next step (→)",
        "again": "Again",
        "way": "Step of the computation (← →)",
        "setting": "The setting",
        "product": "product",
        "aside": "This follows as soon as you let go.",
        "in_words": "In words",
        "largest": "The product furthest from 0 is entry {n}: {product}.",
        "without": "Without ÷ √{d} the weight would be {share}.",
    }
)

# Its styles are those of the page, over which it stands.
_component = component(__file__, is_isolated=False)


@dataclass(frozen=True)
class Around:
    """The surroundings of an answer.

    play         starts to show how it happens, once, when the page is opened with it
    chips        what stays in sight of the setting, as `rail.chips` says it
    head, focus  the head of the cell that was chosen last, and the one that is shown alone; None for none
    lines        whether all lines of the arithmetic are there
    image        what the row attends to in the image that is read: `head`, `query`, `src` and `alt`
    """

    play: bool = False
    chips: Sequence[Mapping[str, str]] = ()
    head: int | None = None
    focus: int | None = None
    lines: bool = False
    image: Mapping[str, Any] | None = None


NOTHING = Around()


def show(answer: Mapping[str, Any] | None, *, key: str, around: Around = NOTHING) -> None:
    """Draw an explanation, or nothing; it stays on the page, so that a screen reader hears of a new one."""
    data = packed(answer, around)
    _component(container=key, key=part(key), data=data, height="content", on_event_change=ignore)


def part(key: str) -> str:
    """Return the key of the component that reports what is done in the answer of a key."""
    return f"{key}-lines"


def packed(answer: Mapping[str, Any] | None, around: Around = NOTHING) -> bytes:
    """Pack the data for the browser."""
    scales = [list(SIGNED), list(DARK[SIGNED])]
    chosen = {"head": around.head, "focus": around.focus}
    data = {"answer": answer, "words": dict(WORDS), "scales": scales, "play": around.play, "chips": [*around.chips]}
    return transport.packed(data | {"chosen": chosen, "lines": around.lines, "image": around.image})
