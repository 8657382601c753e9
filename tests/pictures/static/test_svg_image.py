"""Weights over an image: boxes, numbers and pixels of the drawing are those of the run."""

from __future__ import annotations

import io
from base64 import b64decode
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import attnviz
from attnviz import ConfigError, Trace, of_weights, over_image
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.exports import archive
from attnviz.pictures.static import svg_image
from attnviz.settings.language import set_language
from attnviz.text.format.number_format import short
from tests.support.small_models import image, model

SVG = "{http://www.w3.org/2000/svg}"


def run() -> Trace:
    return model("vit")(image())


def drawn(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - made here


def box(rect: ET.Element) -> tuple[float, ...]:
    return tuple(float(rect.get(name, "nan")) for name in ("x", "y", "width", "height"))


def squares(svg: str) -> list[ET.Element]:
    return drawn(svg).findall(f".//{SVG}g[@data-key]")


@pytest.mark.parametrize(("layer", "head", "query", "at"), [(0, 1, "2,3", 6), (-1, -1, 0, 0), (1, 2, "[CLS]", 0)])
def test_each_square_lies_on_its_patch_and_shows_its_weight(layer: int, head: int, query: Any, at: int) -> None:
    trace = run()
    svg = over_image(trace, layer=layer, head=head, query=query)
    weights = trace.layers[layer]["weights"].array[head, at]
    [whole] = drawn(svg).findall(f"{SVG}image")
    left, top, width, height = box(whole)
    assert (width, height) == (480.0, 480.0)
    found = squares(svg)
    assert [int(each.get("data-key", "")) for each in found] == list(range(10))
    for key, (square, weight, token) in enumerate(zip(found, weights, trace.key_tokens, strict=True)):
        assert square.findtext(f"{SVG}title") == f"{token}: {short(weight)}"
        *ground, veil, frame = square.findall(f"{SVG}rect")
        share = weight / weights.max()
        assert float(veil.get("fill-opacity", "nan")) == pytest.approx(svg_image.VEILED * (1 - share), abs=6e-5)
        assert float(frame.get("stroke-opacity", "nan")) == pytest.approx(share, abs=6e-5)
        assert len(ground) == (key == 0)
        if key:
            row, column = divmod(key - 1, 3)
            assert box(veil) == pytest.approx((left + 160 * column, top + 160 * row, 160, 160), abs=0.02)
        else:
            assert box(veil)[0] + box(veil)[2] < left, "what is no patch stands beside the image"
    [map_] = drawn(svg).findall(f".//{SVG}g[@data-map='weights']")
    assert [map_.get(f"data-{name}") for name in ("head", "query")] == [str(head % 4), str(at)]
    dashed = drawn(svg).findall(f".//{SVG}g[@class='query']/{SVG}rect")
    assert {box(each) for each in dashed} == {box(found[at].findall(f"{SVG}rect")[-2])}


def test_the_words_say_layer_head_query_and_the_largest_weight() -> None:
    trace = run()
    svg = over_image(trace, layer=0, head=1, query=6)
    weights = trace.layers[0]["weights"].array[1, 6]
    assert drawn(svg).findtext(f"{SVG}title") == "Layer 1, head 2: what 2,3 attends to"
    said = drawn(svg).findtext(f"{SVG}desc") or ""
    assert f"The largest weight, {short(weights.max())}, " in said
    assert said.endswith(f"All patches together have {short(weights[1:].sum())}.")
    assert over_image(trace, layer=0, head=1, query=6) == svg, "the same run is the same bytes"
    set_language("de")
    try:
        assert f"{short(weights[3])}".replace(".", ",") in over_image(trace, layer=0, head=1, query=6)
    finally:
        set_language("en")


def pixels(svg: str) -> np.ndarray:
    """What the image in a drawing holds."""
    pillow = pytest.importorskip("PIL.Image")
    [whole] = drawn(svg).findall(f"{SVG}image")
    data = whole.get("href", "").removeprefix("data:image/png;base64,")
    return np.asarray(pillow.open(io.BytesIO(b64decode(data))))


def test_the_image_is_the_one_that_the_model_read() -> None:
    trace = run()
    assert isinstance(trace.config, PretrainedConfig)
    assert trace.config.image is not None
    np.testing.assert_array_equal(pixels(over_image(trace)), np.round(trace.config.image.array * 255))


def test_any_weights_of_patches_take_an_image_of_their_own() -> None:
    weights = np.full((1, 8, 8), 1 / 8)
    names = ["[CLS]", "[2]", *(f"{row},{column}" for row in (1, 2) for column in (1, 2, 3))]
    wide = np.random.default_rng(0).random((700, 1050, 3))
    svg = over_image(of_weights(weights, names), image=wide)
    assert pixels(svg).shape == (427, 640, 3)
    [whole] = drawn(svg).findall(f"{SVG}image")
    left, top, width, height = box(whole)
    assert (width, height) == (480.0, pytest.approx(480 * 427 / 640, abs=0.01))
    last = box(squares(svg)[-1].findall(f"{SVG}rect")[0])
    assert last == pytest.approx((left + 320, top + height / 2, 160, height / 2), abs=0.02)
    assert box(squares(svg)[1].findall(f"{SVG}rect")[0])[1] > box(squares(svg)[0].findall(f"{SVG}rect")[0])[1]


def test_a_drawing_is_shown_and_written(tmp_path: Path) -> None:
    svg = over_image(run())
    assert svg._repr_svg_() == svg
    svg.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text("utf-8") == svg
    if find_spec("resvg_py"):
        svg.save(tmp_path / "a.PNG")
        assert (tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ConfigError, match=r"'a\.jpg' is neither an \.svg nor a \.png file"):
        svg.save("a.jpg")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"layer": 2}, "layer is 2; choose 0 to 1"),
        ({"head": 4}, "head is 4; choose 0 to 3"),
        ({"head": None}, "head is None; choose 0 to 3"),
        ({"query": 10}, "query is 10; give its index, 0 to 9, or its name, as in '2,3'"),
        ({"query": "4,4"}, "query is '4,4'; give its index"),
        ({"image": "cat.png"}, "give an array of shape .* not 'cat.png'"),
    ],
    ids=str,
)
def test_what_cannot_be_drawn_is_said(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        over_image(run(), **given)


def test_a_run_without_patches_or_without_an_image_is_said() -> None:
    with pytest.raises(ConfigError, match="the tokens of this run are no patches by row and column"):
        over_image(attnviz.run(attnviz.Config()))
    saved = archive.read(archive.npz(run()))
    with pytest.raises(ConfigError, match=r"this run has no image; .* over_image"):
        over_image(saved)
    assert "data-key" in over_image(saved, image=image())
    with pytest.raises(ConfigError, match="over_image takes a Trace, not ndarray"):
        over_image(np.eye(3))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="the tokens of this run are no patches"):
        over_image(replace(run(), key_tokens=("1,1", "9,9")))
