"""The charts of a page, each with what the page puts into it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest


def figures(at: AppTest) -> list[dict[str, Any]]:
    """The charts in the order in which they stand, as the browser shows them; `alt` is the text alternative."""
    return [_figure(element, _sent_figures(at).get(element.key)) for element in at.get("plotly_chart")]


def _figure(element: Any, given: dict[str, Any] | None) -> dict[str, Any]:
    chart = json.loads(element.proto.spec)
    if given is None:
        return chart | {"alt": element.proto.alt}
    assert given["trace"]["name"] == chart["data"][0]["name"], "what is brought does not fit its chart"
    return {"data": [given["trace"]], "layout": chart["layout"] | given["layout"], "alt": given["alt"]}


def _sent_figures(at: AppTest) -> dict[str, Any]:
    """What is brought for the charts, by their keys."""
    protos = [element.proto for element in at.get("bidi_component")]
    sent: dict[str, Any] = {}
    for proto in protos:
        if proto.component_name == "attnviz_pictures":
            told, _, behind = proto.bytes.partition(b"\0")
            each = json.loads(told)
            sent |= {f"{each['key']}-{stage}": given for stage, given in each["pictures"].items()}
            _fill(each["pictures"].values(), behind)
    return sent


def _fill(pictures: Iterable[dict[str, Any]], behind: bytes) -> None:
    """Give each picture its part of the numbers behind the JSON, of which none is left."""
    at = 0
    for given in pictures:
        z = given["trace"]["z"]
        array = np.frombuffer(behind, z["dtype"], math.prod(z["shape"]), at)
        at += array.nbytes
        given["trace"]["z"] = array.reshape(z["shape"]).tolist()
    assert at == len(behind)


def numbers(figure: dict[str, Any]) -> np.ndarray:
    """The numbers in a heat map, gutters and masked cells as NaN."""
    return np.array(figure["data"][0]["z"])
