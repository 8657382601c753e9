"""What a page draws: its charts, each with what the page puts into it."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest


def figures(at: AppTest) -> list[dict[str, Any]]:
    """The charts in the order in which they stand, as the browser shows them; `alt` is the text alternative."""
    return [_figure(element, _brought(at).get(element.key)) for element in at.get("plotly_chart")]


def _figure(element: Any, given: dict[str, Any] | None) -> dict[str, Any]:
    chart = json.loads(element.proto.spec)
    if given is None:
        return chart | {"alt": element.proto.alt}
    assert given["trace"]["name"] == chart["data"][0]["name"], "what is brought does not fit its chart"
    return {"data": [given["trace"]], "layout": chart["layout"] | given["layout"], "alt": given["alt"]}


def _brought(at: AppTest) -> dict[str, Any]:
    """What is brought for the charts, by their keys."""
    protos = [element.proto for element in at.get("bidi_component")]
    told = [json.loads(proto.bytes) for proto in protos if proto.component_name == "attnviz_pictures"]
    return {f"{each['key']}-{stage}": given for each in told for stage, given in each["pictures"].items()}


def numbers(figure: dict[str, Any]) -> np.ndarray:
    """The numbers in a heat map, gutters and masked cells as NaN."""
    z = figure["data"][0]["z"]
    array = np.frombuffer(base64.b64decode(z["bdata"]), dtype=z["dtype"])
    return array.reshape([int(size) for size in z["shape"].split(",")])
