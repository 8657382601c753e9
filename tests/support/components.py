"""What the components of a page are sent, whether each has a message of its own or several have one together."""

from __future__ import annotations

import json
from collections.abc import Iterator

from streamlit.testing.v1 import AppTest

from attnviz.ui.session.browser import message

MESSAGE = "attnviz_message"


def shown(at: AppTest) -> Iterator[tuple[str, bytes]]:
    """The name of each component of a page in the order in which they stand, and what it shows."""
    elements = at.get("bidi_component")
    parts: dict[str, bytes] = {}
    for element in elements:
        if element.proto.component_name == MESSAGE:
            parts |= message.parts(element.proto.bytes)
    for element in elements:
        name, proto = element.proto.component_name, element.proto
        data = json.loads(proto.json or "null")
        if isinstance(data, str):
            yield name, parts[data.split()[1]]
        elif name != MESSAGE:
            yield name, proto.bytes


def of(at: AppTest, name: str) -> bytes:
    """What the last component of a name shows."""
    return dict(shown(at))[name]
