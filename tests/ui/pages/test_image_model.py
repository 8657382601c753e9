"""The page with a model that reads images: a small random one stands for those that a host offers."""

from __future__ import annotations

import io
import re
from base64 import b64decode
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image

from attnviz import Config, over_image, run
from attnviz.engine.pretrained.model_registry import MODELS
from attnviz.models import hosting
from attnviz.models.images.drawn import EXAMPLES
from attnviz.models.images.uploaded import is_named
from attnviz.ui.session.selection import EXPERIMENT_NAMES, PANEL_NAMES
from tests.support import components
from tests.support.page_figures import figures, numbers
from tests.support.small_models import FOLDER, model
from tests.ui.test_app import clean, drawn, opened, page_text


@pytest.fixture(autouse=True)
def vit() -> Iterator[str]:
    """The small ViT offered; its name in a link."""
    hosting.offer([f"vit={FOLDER / 'vit'}"])
    yield f"vit~{MODELS['vit'].digest}"
    MODELS.clear()


def test_a_visitor_chooses_it_and_takes_another_image() -> None:
    name = f"vit~{MODELS['vit'].digest}"
    at = opened(sentence="the cat sat")
    at.selectbox(key="model").set_value(name).run()
    assert clean(at)
    assert at.text_input(key="sentence").value == EXAMPLES[0]
    assert at.query_params["sentence"] == EXAMPLES[0]
    assert "It reads an image, which the sentence names: shapes (circle, square," in page_text(at)
    assert at.button(key="drawn-0").disabled
    at.button(key="drawn-1").click().run()
    assert clean(at)
    assert at.query_params["sentence"] == at.text_input(key="sentence").value == EXAMPLES[1]
    at.selectbox(key="model").set_value("").run()
    assert clean(at)
    assert at.text_input(key="sentence").value == EXAMPLES[1]


def test_a_link_draws_the_image_that_it_names(vit: str) -> None:
    at = opened(model=vit, sentence="green ring", layer="2", head="1", query="2", key="3")
    assert clean(at)
    expected = run(Config(sentence="green ring", model=vit))["weights"].array
    np.testing.assert_allclose(drawn(numbers(figures(at)[1])), np.sort(expected.ravel()))


def test_the_image_stands_beside_the_controls_and_behind_the_weights_of_a_word(vit: str) -> None:
    at = opened(model=vit, sentence="red circle", panel="word", layer="2", query="6", head="2")
    assert clean(at)
    [beside] = at.get("image")
    assert beside.proto.imgs[0].caption == "red circle"
    assert beside.proto.imgs[0].url.endswith(".png"), "which loses nothing"
    found = re.findall(r'<img alt="(.*?)" .*? src="data:image/svg\+xml;base64,(.*?)">', page_text(at))
    [(said, data)] = found
    assert said == "Layer 2, head 2: what 2,2 attends to"
    trace = run(Config(sentence="red circle", model=vit))
    assert b64decode(data).decode() == over_image(trace, layer=1, head=1, query="2,2")
    assert "<img" not in page_text(opened(model=vit, sentence="red circle"))


def test_a_sentence_that_cannot_be_drawn_is_said_and_kept(vit: str) -> None:
    at = opened(model=vit, sentence="red circle")
    at.text_input(key="sentence").set_value("the cat sat").run()
    assert not at.exception
    assert "This model reads images, and &#x27;cat&#x27; cannot be drawn: name shapes, such as" in page_text(at)
    assert at.text_input(key="sentence").value == "the cat sat"
    at.text_input(key="sentence").set_value("a black cross").run()
    assert clean(at)
    assert "cannot be drawn" not in page_text(at)


@pytest.mark.parametrize("where", [{"panel": each} for each in PANEL_NAMES] + [
    {"page": "experiments", "experiment": each} for each in EXPERIMENT_NAMES
] + [{"page": each} for each in ("compare", "take", "class")])  # fmt: skip
def test_every_panel_takes_its_run(vit: str, where: dict[str, str]) -> None:
    at = opened(model=vit, sentence="red circle", query="2", key="3", head="1", **where)
    assert clean(at)
    assert "cannot be drawn" not in page_text(at)


def test_a_picture_of_ones_own_is_read_and_a_link_says_what_it_does_not_hold(vit: str) -> None:
    image = np.random.default_rng(3).integers(0, 256, (50, 40, 3), dtype=np.uint8)
    out = io.BytesIO()
    Image.fromarray(image).save(out, "PNG")
    at = opened(model=vit, sentence="red circle")
    at.file_uploader(key="uploaded_image").upload("cat.png", out.getvalue(), "image/png").run()
    assert clean(at)
    name = at.query_params["sentence"]
    name = name[0] if isinstance(name, list) else name
    assert is_named(name)
    assert "This picture was uploaded: a link names it and does not hold it." in page_text(at)
    expected = model("vit")(image).layers[0]["weights"].array
    np.testing.assert_allclose(drawn(numbers(figures(at)[1])), np.sort(expected.ravel()))
    again = opened(model=vit, sentence=name)
    assert clean(again)
    np.testing.assert_allclose(drawn(numbers(figures(again)[1])), np.sort(expected.ravel()))
    gone = opened(model=vit, sentence=f"upload {'0' * 20}")
    assert "The image that this setting names was uploaded, which no link holds" in page_text(gone)


def test_a_file_that_is_no_picture_is_said(vit: str) -> None:
    at = opened(model=vit, sentence="red circle")
    at.file_uploader(key="uploaded_image").upload("cat.png", b"meow", "image/png").run()
    assert not at.exception
    assert "no picture that can be read here; upload a PNG or a JPEG" in page_text(at)
    assert at.text_input(key="sentence").value == "red circle"


def test_sentences_of_the_prompts_are_not_offered_to_it(vit: str) -> None:
    at = opened(model=vit, sentence="red circle", panel="many", texts="red circle\nblue square")
    assert clean(at)
    assert "Over 2 sentences of 20 tokens together." in page_text(at)
    assert not [button for button in at.button if button.key == "many-take"], "no image of them can be drawn"


def test_the_stage_speaks_of_patches_and_shows_the_image_beside_a_row(vit: str) -> None:
    at = opened(model=vit, sentence="red circle", query="2")
    assert clean(at)
    sent = [data.decode(errors="replace") for _, data in components.shown(at)]
    stage = next(each for each in sent if '"stages"' in each)
    assert '"patch"' in stage
    assert "how each patch (row, query) attends to each (column, key)" in stage
    assert not re.search(r"over [\d.]+ words|how well each word", stage)
    answer = next(each for each in sent if '"in_words"' in each)
    assert "its scaled scores with all patches" in answer + "".join(sent)
    assert '"src":"data:image/svg+xml;base64,' in answer.replace(" ", "")
    assert any('"image"' in each and '"10 tokens"' in each for each in sent)
