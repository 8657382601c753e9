"""The maps as the page's JavaScript lays them out, beside the same in Python: boxes, numbers, bars, and the room."""

from __future__ import annotations

import itertools
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from attnviz.pictures.columns import focused
from attnviz.pictures.stage_record import Stage
from attnviz.ui.components.stage.view import View
from tests.support import stage_maps
from tests.support.page_script import answers, sent, shape
from tests.support.placement import Placement, Shape, place

BOXES = (960, 522), (958, 380), (1600, 882), (1240, 522), (700, 300), (366, 600), (240, 160)


def tiles(placed: Placement) -> list[dict[str, Any]]:
    names = ("across", "left", "right", "top", "below", "block", "fold", "columns", "lines", "width", "height")
    return [
        {name: getattr(tiling, name) for name in names}
        | {"x": list(tiling.x), "y": list(tiling.y), "cellW": tiling.cell_w, "cellH": tiling.cell_h}
        for tiling in placed.tilings
    ]


@pytest.mark.slow
def test_the_browser_places_heads_as_the_reference_does() -> None:
    """Three stages, one alone and counted columns, in many sizes."""
    rng = np.random.default_rng(0)
    cases: list[tuple[tuple[Shape, ...], int, int, bool]] = []
    for _ in range(1500):
        heads, words, keys = (int(rng.integers(1, high)) for high in (17, 65, 65))
        large, left = bool(rng.integers(10) == 0), int(rng.integers(42, 70))
        wide = tuple(int(each) for each in rng.integers(1, 65, heads))
        square = (keys if rng.integers(4) == 0 else words,) * heads
        shown = (
            Shape(square, words, left, large=large),
            Shape(square, words, left, leads=bool(rng.integers(8)), sums=bool(rng.integers(8)), large=large),
            Shape(wide if rng.integers(2) else wide[:1] * heads, words, 8, worded=False, large=large),
        )
        some = shown if rng.integers(3) else (shown[int(rng.integers(3))],)
        box = BOXES[int(rng.integers(len(BOXES)))]
        cases.append((some, *box, bool(rng.integers(4) == 0)))
    asked = [
        {"ask": "place", "shapes": [shape(each) for each in shown], "width": w, "height": h, "focused": alone}
        for shown, w, h, alone in cases
    ]
    for (shown, width, height, alone), found in zip(cases, answers(asked), strict=True):
        expected = place(shown, width, height, focused=alone)
        where = f"{shown} in {width} x {height}"
        assert [{n: each[n] for n in tiles(expected)[0]} for each in found["tilings"]] == tiles(expected), where
        assert tuple(found["spans"]) == expected.spans, where
        assert found["sideBySide"] == expected.side_by_side, where


def stage(rng: np.random.Generator, kind: str, size: tuple[int, int, int], **more: Any) -> Stage:
    heads, rows, columns = size
    array = rng.normal(size=size) * 3
    if kind == "share":
        array = np.exp(array) / np.exp(array).sum(-1, keepdims=True)
    elif kind == "allowed":
        array = (array > 0).astype(float)
    elif rng.integers(3) == 0:
        array.flat[rng.integers(array.size, size=3)] = [np.nan, np.inf, -np.inf]
    if kind != "allowed" and rng.integers(2):
        masks = [rng.random((rows, columns)) < 0.4, rng.random((heads, rows, columns)) < 0.4]
        more["masked"] = np.broadcast_to(masks[int(rng.integers(2))], array.shape)
    return Stage(f"{kind}{rng.integers(10**6)}", "S", array, kind, [f"q{at}" for at in range(rows)], **more)


@pytest.mark.slow
def test_the_browser_draws_each_number_where_the_reference_has_it() -> None:
    rng = np.random.default_rng(1)
    cases = []
    for _ in range(60):
        heads, rows, columns = (int(rng.integers(1, high)) for high in (7, 80, 80))
        words = [f"k{at}" for at in range(columns)]
        wide = [int(each) for each in rng.integers(1, 9, heads)]
        shown = [
            stage(rng, "signed", (heads, rows, columns), columns=words, apart=bool(rng.integers(2)), quiet=True),
            stage(rng, "share", (heads, rows, columns), columns=words, leads=True, sums=True, edited=((0, 0, 0),)),
            stage(rng, "signed", (heads, rows, max(wide)), axes=("query", "dimension"), widths=wide),
            stage(rng, "allowed", (1, rows, columns), columns=words),
        ][: int(rng.integers(1, 5))]
        head = int(rng.integers(heads)) if rng.integers(3) == 0 else None
        cases.append((shown, *BOXES[int(rng.integers(5))], head, heads))
    asked = [
        {"ask": "maps", "message": sent(*shown), "width": w, "height": h, "head": head, "heads": heads, "dark": False}
        for shown, w, h, head, heads in cases
    ]
    for (shown, width, height, head, heads), found in zip(cases, answers(asked), strict=True):
        stages = shown if head is None else [focused(each, head, heads) for each in shown]
        tilings = stage_maps.placed(stages, width, height, focused=head is not None).tilings
        for each, tiling, drawn in zip(stages, tilings, found, strict=True):
            compare(each, tiling, drawn, alone=head is not None)


def compare(shown: Stage, tiling: Any, drawn: dict[str, Any], *, alone: bool) -> None:
    expected = stage_maps.mosaic(shown, tiling)
    meta, theirs = expected.pop("meta"), drawn["meta"]
    assert {name: theirs[name] for name in meta if name not in ("sums", "ends")} == {
        name: each for name, each in meta.items() if name not in ("sums", "ends")
    }
    z, ends = expected["z"], meta["ends"]
    if ends is not None and shown.array.size <= 2500:
        np.testing.assert_allclose(theirs["ends"], np.maximum(ends, 0), rtol=1e-6)
    if ends is None:
        np.testing.assert_allclose(numbers(drawn["trace"]["z"]), np.where(np.isfinite(z), z, np.nan), rtol=1e-6)
        if not alone or shown.kind == "signed":
            assert drawn["trace"]["zmin"] == pytest.approx(expected["zmin"], rel=1e-6)
            assert drawn["trace"]["zmax"] == pytest.approx(expected["zmax"], rel=1e-6)
    assert (drawn["trace"]["x"], drawn["trace"]["y"]) == (expected["x"], expected["y"])
    if meta["sums"]:
        for side in ("rows", "columns"):
            np.testing.assert_allclose(theirs["sums"][side], meta["sums"][side], atol=6e-4)
    at = np.array(drawn["at"]).reshape(-1, tiling.lines, tiling.columns)
    if shown.array.size > 2500:
        return  # what is nearly as large may be as large in float32
    heads, rows, columns = shown.array.shape
    for head, line, column in itertools.product(range(heads), range(0, tiling.lines, 3), range(0, tiling.columns, 3)):
        index = at[head, line, column]
        if index >= 0:
            behind = stage_maps.behind(shown, tiling, head, line * tiling.block, column * tiling.fold)
            assert (index // columns % rows, index % columns) == behind


def numbers(z: list[list[Any]]) -> np.ndarray:
    return np.array([[float(each) for each in row] for row in z])


def room(view: View, width: int, height: int | None, **has: bool) -> dict[str, Any]:
    asked = {"ask": "room", "view": asdict(view), "measured": {"width": width, "height": height}}
    return dict(answers([{**asked, "has": {"film": False, "overview": False, **has}}])[0])


@pytest.mark.slow
def test_the_room_of_the_maps() -> None:
    wide = room(View(fill=True), 958, 560)
    assert (wide["width"], wide["height"], wide["one"]) == (958, 520, False)
    phone = room(View(fill=True), 366, 600)
    assert (phone["height"], phone["one"]) == (560, True)
    below = room(View(fill=True), 366, 600, film=True)
    assert (below["film"], below["below"], below["height"]) == (0, 64, 496)
    assert room(View(fill=True), 958, 560, film=True, overview=True)["width"] == 958 - 64 - 184
    assert room(View(fill=True), 700, 560, overview=True)["over"] == 124
    least = View(fit=True, least=270, reserved=30)
    assert [room(least, 958, height)["height"] for height in (299, 301)] == [520, 231], "scrolled, or within the window"
    assert [room(View(fill=True, beside=True), width, 560)["fill"] for width in (366, 958)] == [False, True]
    assert [room(View(large=each), 958, None)["heading"] for each in (False, True)] == [40, 60]
