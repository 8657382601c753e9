"""What the components of a page are sent, whether each has a message of its own or several have one together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest

from attnviz.pictures.stage_bytes import packed, unpacked
from attnviz.ui.session.browser import message

MESSAGE, PARTS, MAPS, STAGES = "attnviz_message", "attnviz_parts", "attnviz_heatmap", "attnviz_stages_sent"


def shown(at: AppTest) -> Iterator[tuple[str, bytes]]:
    """The name of each component of a page in the order in which they stand, and what it shows."""
    elements = at.get("bidi_component")
    parts: dict[str, bytes] = {}
    for element in elements:
        if element.proto.component_name == MESSAGE:
            parts |= message.parts(element.proto.bytes)
    stages = [element.proto.bytes for element in elements if element.proto.component_name == STAGES]
    for element in elements:
        name, proto = element.proto.component_name, element.proto
        if name == PARTS:
            for part, key in drawn(proto):
                yield part, _joined(parts[key], stages) if part == MAPS else parts[key]
        elif name not in (MESSAGE, STAGES):
            yield name, proto.bytes


def drawn(proto: Any) -> list[tuple[str, str]]:
    """The names and the keys of the components in an element: one, or several that are one element."""
    if proto.component_name != PARTS:
        return [(proto.component_name, "")]
    return [(part["name"], part["key"]) for part in json.loads(proto.json)["parts"]]


def _joined(maps: bytes, stages: list[bytes]) -> bytes:
    """What the maps show, with the stages that they name."""
    header, arrays = unpacked(maps)
    if not header.pop("is_sent"):
        return maps
    (apart,) = stages
    sent, numbers = unpacked(apart)
    assert sent["name"] == header["there"]
    header |= {"there": None, "stages": sent["stages"]}
    axes = {name: tuple(each["axes"]) for name, each in (header.pop("arrays") | sent["arrays"]).items()}
    return packed(header, {name: (axes[name], array) for name, array in (arrays | numbers).items()})


def of(at: AppTest, name: str) -> bytes:
    """What the last component of a name shows."""
    return dict(shown(at))[name]
