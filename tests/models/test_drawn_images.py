"""Images drawn from words, and a model of images that a host offers by them."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from attnviz import Config, ConfigError, over_image, run
from attnviz.engine.pretrained.model_registry import MODELS
from attnviz.models import hosting
from attnviz.models.images.drawn import COLOURS, EXAMPLES, GROUND, SHAPES, can_be_drawn, drawn
from attnviz.models.run_cache import RUNS
from tests.support.small_models import FOLDER, model


def colours_in(image: np.ndarray) -> set[tuple[int, ...]]:
    return {tuple(map(int, each)) for each in image.reshape(-1, 3)}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("size", [(24, 24), (30, 50), (7, 5)])
def test_a_shape_is_in_its_colour_in_the_middle_and_nowhere_else(name: str, size: tuple[int, int]) -> None:
    image = drawn(f"a green {name}", *size)
    assert image.shape == (*size, 3)
    assert image.dtype == np.uint8
    assert colours_in(image) == {GROUND, COLOURS["green"]}
    of_shape = (image == COLOURS["green"]).all(axis=-1)
    rows, columns = np.nonzero(of_shape)
    assert abs((rows.min() + rows.max()) / 2 - (size[0] - 1) / 2) <= size[0] / 10
    assert abs((columns.min() + columns.max()) / 2 - (size[1] - 1) / 2) <= 1
    np.testing.assert_array_equal(of_shape, of_shape[:, ::-1], err_msg="the same from left and right")


def test_shapes_stand_in_their_order() -> None:
    image = drawn("red square, blue square and a yellow square", 40, 40)
    middles = [tuple(map(int, image[at])) for at in ((10, 10), (10, 30), (30, 10), (30, 30))]
    assert middles == [COLOURS["red"], COLOURS["blue"], COLOURS["yellow"], GROUND]
    assert colours_in(drawn("circle", 20, 20)) == {GROUND, COLOURS["black"]}


def test_images_stay_what_they_are_on_every_machine() -> None:
    whole = hashlib.sha256(b"".join(drawn(each, 224, 224).tobytes() for each in EXAMPLES)).hexdigest()
    assert whole == "0b189fc9fcdfacf0269d3bd2024c255fb4287e3604c70fcc7f427a853b6da949"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "the cat sat",
            "this model reads images, and 'cat' cannot be drawn: name shapes, such as “blue square, yellow",
        ),
        ("red", "'red' cannot be drawn: .* the colours black, red, .* and the shapes circle, square, triangle, ring"),
        ("red blue circle", "'blue' cannot be drawn"),
        ("", "'' cannot be drawn"),
        ("circle " * 10, "the image has 10 shapes; name 1 to 9"),
        ("x" * 500, r"'x{1,40}…?'? cannot be drawn"),
    ],
)
def test_what_cannot_be_drawn_is_said(text: str, message: str) -> None:
    assert not can_be_drawn(text)
    with pytest.raises(ConfigError, match=message):
        drawn(text, 24, 24)


def test_a_model_reads_what_a_text_names() -> None:
    vit = model("vit")
    named, given = vit("red circle"), vit(drawn("red circle", 24, 24))
    np.testing.assert_array_equal(named.result.array, given.result.array)
    assert named.config.sentence == "red circle"
    assert named.query_tokens[:3] == ("[CLS]", "1,1", "1,2")
    assert "<image" in over_image(named, query="2,2")
    with pytest.raises(ConfigError, match=r"give an array of shape .* not 'red cat'"):
        vit("red cat")


def test_a_host_offers_a_model_of_images_and_a_setting_names_the_image() -> None:
    hosting.offer([f"vit={FOLDER / 'vit'}"])
    try:
        name = f"vit~{MODELS['vit'].digest}"
        trace = run(Config(sentence="red circle", model=name, temperature=2.0))
        RUNS.clear()
        again = run(Config(sentence="red circle", model=name, temperature=2.0))
        np.testing.assert_array_equal(trace.result.array, again.result.array)
        expected = model("vit")(drawn("red circle", 24, 24), temperature=2.0)
        np.testing.assert_array_equal(trace.result.array, expected.result.array)
        assert trace.config.chosen == Config(sentence="red circle", model=name, temperature=2.0)
        other = run(Config(sentence="blue circle", model=name, temperature=2.0))
        assert np.abs(other.result.array - trace.result.array).max() > 1e-3
        with pytest.raises(ConfigError, match="'cat' cannot be drawn"):
            run(Config(sentence="a cat", model=name))
    finally:
        MODELS.clear()


def test_a_host_that_allows_fewer_tokens_says_how_many_it_takes() -> None:
    message = (
        "the model vit: it reads images as 10 tokens, and a sentence may have 9 here; let ATTNVIZ_MODEL_TOKENS say 10"
    )
    with pytest.raises(ConfigError, match=message):
        hosting.offer([f"vit={FOLDER / 'vit'}"], "9")
    assert "vit" not in MODELS
    hosting.offer([f"vit={FOLDER / 'vit'}"], "10")
    MODELS.clear()
