"""The strip over the maps: the way from the words to the output, on which a press chooses what the columns show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnviz.pictures.colours import DARK, MASKED
from attnviz.pictures.step_path import PathStep
from attnviz.settings.language import Words
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component, ignore

WORDS = Words(
    {
        "strip": "From the sentence to the output",
        "words": "words",
        "token": ("1 word", "{n} words"),
        "image": "image",
        "patches": ("1 token", "{n} tokens"),
    }
)

_component = component(__file__)


def show(
    nodes: Sequence[PathStep],
    *,
    key: str,
    words: int,
    shown: Sequence[str],
    front: str = "",
    head: tuple[int, int] = (0, 1),
    of_image: bool = False,
    there: str | None = None,
) -> None:
    """Draw the way; `shown` are the steps that the columns show, a narrow window only the one in `front`.

    head   whose pictures they are, of how many;  of_image  the tokens are those of an image
    there  the name of the stages beside it, where they are not sent: it is drawn as soon as they are there
    """
    _component(
        key=key,
        data=packed(nodes, words, shown, front, head, of_image=of_image, there=there),
        height="content",
        on_event_change=ignore,
    )


def packed(
    nodes: Sequence[PathStep],
    words: int,
    shown: Sequence[str],
    front: str = "",
    head: tuple[int, int] = (0, 1),
    *,
    of_image: bool = False,
    there: str | None = None,
) -> bytes:
    """Pack the data for the browser: a line of JSON, a zero byte, and the pixels of all small pictures."""
    scales = list(dict.fromkeys(node.colours for node in nodes))
    one, many = WORDS["patches" if of_image else "token"]
    data = {
        **({"there": there} if there else {}),
        "strip": WORDS["strip"],
        "words": WORDS["image" if of_image else "words"],
        "count": one if words == 1 else many.format(n=words),
        "counts": [one, many],
        "front": front,
        "head": head[0],
        "heads": head[1],
        "masked": list(MASKED),
        "scales": [[list(scale), list(DARK.get(scale, scale))] for scale in scales],
        "nodes": [_described(node, scales.index(node.colours), node.name in shown) for node in nodes],
    }
    return transport.packed(data, b"".join(node.picture.tobytes() for node in nodes))


def _described(node: PathStep, scale: int, shown: bool) -> dict[str, Any]:
    height, width = node.picture.shape
    return {
        "name": node.name,
        "symbol": node.symbol,
        "shape": node.shape,
        "meaning": node.meaning,
        "before": node.before,
        "kind": node.kind,
        "scale": scale,
        "size": [width, height],
        "shown": shown,
    }
