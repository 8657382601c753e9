"""The maps of a page, and the charts that Streamlit draws, each as the browser shows it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from attnviz.pictures.columns import focused
from attnviz.pictures.stage_bytes import unpacked
from attnviz.pictures.stage_record import Stage
from tests.support import components
from tests.support.stage_maps import mosaic, placed

BOX = 960, 520
"""Pixels for which the maps are laid out."""


def figures(at: AppTest) -> list[dict[str, Any]]:
    """The maps and charts in the order in which they stand; `alt` is the text alternative, `key` the element's."""
    found: list[dict[str, Any]] = []
    stages = (data for name, data in components.shown(at) if name == components.MAPS)
    for element in at.main:
        if element.type == "plotly_chart":
            found.append(json.loads(element.proto.spec) | {"alt": element.proto.alt, "key": element.key})
        elif element.type == "bidi_component":
            found += [
                each
                for name, _ in components.drawn(element.proto)
                if name == components.MAPS
                for each in maps(next(stages))
            ]
    return found


def maps(message: bytes) -> list[dict[str, Any]]:
    """The maps of a message, in the form of a figure of Plotly."""
    header, _ = unpacked(message)
    shown, key, focus = stages(message), header["key"], header["focus"]
    if focus is not None:
        shown = [focused(stage, focus, header["heads"]) for stage in shown]
    tilings = placed(shown, *BOX).tilings
    return [
        {
            "data": [{"type": "heatmap", **mosaic(stage, tiling)}],
            "alt": stage.alt,
            "key": f"{key}-{stage.name}",
            "stage": stage,
        }
        for stage, tiling in zip(shown, tilings, strict=True)
    ]


def stages(message: bytes) -> list[Stage]:
    """The stages of a message."""
    header, arrays = unpacked(message)
    return [_stage(facts, arrays) for facts in header["stages"]]


def _stage(facts: dict[str, Any], arrays: dict[str, Any]) -> Stage:
    as_they_are = ("name", "title", "kind", "phrase", "formula", "alt", "large", "reach", "margin", "grey", "symbol")
    lists = ("rows", "columns", "axes", "widths", "heads", "roles", "tested", "shorter", "positions")
    array = arrays[facts["name"]].astype(float)
    sums = [arrays[f"{facts['name']}.{part}"] for part in ("total", "spread")] if facts["sums"] else None
    masked = None if facts["masked"] is None else np.broadcast_to(arrays[facts["masked"]], array.shape).astype(bool)
    return Stage(
        array=array,
        masked=masked,
        **{name: facts[name] for name in (*as_they_are, "leads", "sums", "apart")},
        **{name: None if facts[name] is None else tuple(facts[name]) for name in lists},
        **{name: tuple(map(tuple, facts[name])) for name in ("edited", "wanted")},
        bars=None if sums is None else (sums[0], sums[1]),
        quiet="#7395c4" in facts["scale"]["colours"],
    )


def numbers(figure: dict[str, Any]) -> np.ndarray:
    """The numbers in a heat map, gutters and masked cells as NaN."""
    return np.array(figure["data"][0]["z"])
