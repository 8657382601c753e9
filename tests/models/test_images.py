"""A model that reads images, against Transformers and Pillow."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import Config, ConfigError, Trace, gradients, load, of_model
from attnviz.engine.external.layer_plans import plan_of_layer
from attnviz.engine.pretrained.image import Image
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig, facts_of
from attnviz.models import hosting
from attnviz.models.images.resizing import resized
from attnviz.models.model import Model
from tests.support.small_models import FOLDER

PLACE = FOLDER / "vit"


@cache
def vit() -> Model:
    return load(PLACE)


@cache
def expected() -> dict[str, Any]:
    with np.load(PLACE / "image.npz") as file:
        return dict(file)


@cache
def trace() -> Trace:
    return vit()(expected()["image"])


def image_of(found: Trace) -> Image:
    """What a run has read."""
    assert isinstance(found.config, PretrainedConfig)
    assert found.config.image is not None
    return found.config.image


def test_pixels_states_and_weights_are_the_library_s() -> None:
    found = trace()
    assert found.query_tokens == ("[CLS]", *(f"{row},{column}" for row in (1, 2, 3) for column in (1, 2, 3)))
    np.testing.assert_allclose(image_of(found).pixels, expected()["pixels"], rtol=0, atol=1e-6)
    states = [found["embedded"].array, *(list(layer.values())[-1].array for layer in found.layers)]
    for state, other in zip(states, expected()["hidden"], strict=True):
        np.testing.assert_allclose(state, other, rtol=0, atol=1e-5)
    for layer, other in zip(found.layers, expected()["weights"], strict=True):
        np.testing.assert_allclose(layer["weights"].array, other, rtol=0, atol=1e-5)
    assert np.abs(expected()["weights"] - 0.1).mean() > 0.03, "they are not flat"
    assert list(plan_of_layer(found, 0))[:2] == ["g_1", "c_1"]
    assert found.result.name == "final_normed"


def test_what_stands_before_the_first_layer_is_made_of_the_patches() -> None:
    found, image = trace(), image_of(trace())
    tensors = vit()._tables
    np.testing.assert_array_equal(found["token_embeddings"].array[0], tensors["first"][0])
    patch = image.pixels[8:16, 16:24]  # that of row 2 and column 3
    kernel = tensors["patches"].reshape(3, 8, 8, 16)
    by_hand = np.einsum("rck,krcd->d", patch, kernel) + tensors["patch_bias"][0]
    np.testing.assert_allclose(found["token_embeddings"].array[6], by_hand, rtol=1e-12, atol=1e-12)
    place = facts_of(found.config).slice_of(None, "positions")
    assert place is not None
    assert place.at(6) == "vit.embeddings.position_embeddings[0][6]"


def test_slopes_are_those_of_autograd(torch: Any) -> None:
    transformers = pytest.importorskip("transformers")
    made = transformers.ViTForImageClassification.from_pretrained(
        PLACE, attn_implementation="sdpa", dtype=torch.float64
    )
    read, found = made.vit.eval(), trace()
    start = torch.tensor(found["token_embeddings"].array, requires_grad=True)
    positions = read.embeddings.position_embeddings[0]
    read.embeddings.register_forward_hook(lambda *_: (start + positions)[None])
    size = torch.tensor(np.random.default_rng(3).normal(size=found.result.shape))
    pixels = torch.tensor(image_of(found).pixels.transpose(2, 0, 1)[None])
    out = read(pixels).last_hidden_state[0]
    np.testing.assert_allclose(found.result.array, out.detach().numpy(), rtol=0, atol=1e-12)
    (out * size).sum().backward()
    slopes = gradients(found, {(1, "final_normed"): size.numpy()})
    np.testing.assert_allclose(slopes["token_embeddings"].array, start.grad.numpy(), rtol=0, atol=1e-9)
    named = {name: parameter.grad.numpy() for name, parameter in read.named_parameters() if parameter.grad is not None}
    [name] = [name for name in named if "0.attention" in name and name.endswith(("q_proj.weight", "query.weight"))]
    by_head = named[name].T.reshape(16, 4, 4).transpose(1, 0, 2)
    np.testing.assert_allclose(slopes.layers[0]["w_q"].array, by_head, rtol=0, atol=1e-9)


SIZES = [(31, 40, 24, 24), (9, 9, 24, 24), (24, 50, 24, 24), (50, 24, 24, 24), (70, 30, 11, 28), (64, 64, 24, 7)]


@pytest.mark.parametrize("resample", [2, 3], ids=["bilinear", "bicubic"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_an_image_is_resized_as_pillow_does_it(sizes: tuple[int, int, int, int], resample: int) -> None:
    pillow = pytest.importorskip("PIL.Image")
    if int(pillow.__version__.split(".")[0]) < 13:
        pytest.skip("which goes along columns first in some images")
    high, wide, height, width = sizes
    image = np.random.default_rng(sum(sizes)).integers(0, 256, (high, wide, 3)).astype(np.uint8)
    theirs = np.asarray(pillow.fromarray(image).resize((width, height), resample=resample))
    np.testing.assert_array_equal(resized(image, height, width, resample), theirs)
    floats = image / 255.0
    each = [pillow.fromarray(floats[..., c].astype(np.float32)).resize((width, height), resample) for c in range(3)]
    ours = resized(floats, height, width, resample)
    np.testing.assert_allclose(ours, np.clip(np.stack([*map(np.asarray, each)], -1), 0, 1), rtol=0, atol=1e-6)


def test_floats_are_the_same_image_and_a_kept_run_is_that_of_its_image() -> None:
    image = np.random.default_rng(5).integers(0, 256, (24, 24, 3)).astype(np.uint8)
    whole, floats, other = vit()(image), vit()(image / 255.0), vit()(255 - image)
    np.testing.assert_allclose(whole.result.array, floats.result.array, rtol=0, atol=1e-12)
    assert np.abs(whole.result.array - other.result.array).max() > 0.1
    again = vit()(image)  # from what is kept of the first run
    np.testing.assert_array_equal(again["weights"].array, whole["weights"].array)
    np.testing.assert_array_equal(vit().run(again.config).result.array, whole.result.array)
    assert whole.config.sentence.startswith("image ")


def test_what_stays_free_and_changed_numbers_work_as_in_any_model() -> None:
    image = expected()["image"]
    masked = vit()(image, mask="no_self", temperature=2.0)
    assert not np.diagonal(masked.layers[0]["weights"].array, axis1=1, axis2=2).any()
    edited = vit()(image, edits=[(None, "token_embeddings", (1, 0), 3.0)])
    assert edited["token_embeddings"].array[1, 0] == 3.0
    assert np.abs(edited.result.array - trace().result.array).max() > 1e-3


IMAGE = np.zeros((24, 24, 3), np.uint8)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        ("a cat", r"reads images: give an array of shape \(height, width, 3\), .* not 'a cat'"),
        (None, "reads images: .* not None"),
        (IMAGE[..., :2], r"the image has shape \(24, 24, 2\); give one of shape \(height, width, 3\)"),
        (IMAGE.transpose(2, 0, 1), r"the image has shape \(3, 24, 24\)"),
        (IMAGE + 2.0, "the image holds float64 from 2 to 2; give uint8 from 0 to 255, or floats from 0 to 1"),
        (IMAGE * np.nan, "the image holds float64 from nan to nan"),
        (IMAGE.astype(int), "the image holds int64 from 0 to 0; give uint8"),
    ],
    ids=["text", "none", "two colours", "colours first", "large", "nan", "int"],
)
def test_what_is_no_image_is_said(image: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        vit()(image)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PLACE, tmp_path / "vit"))


def rewrite(folder: Path, file: str, **changes: Any) -> None:
    path = folder / file
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"resample": 1}, r"preprocessor_config.json says resample is '1'; what is read here: 2 \(bilinear\), 3"),
        ({"size": {"shortest_edge": 24}}, r"says size is .*; what is read here: \{\"height\": 24, \"width\": 24\}"),
        ({"do_center_crop": True}, "says do_center_crop is 'True'; what is read here: false"),
        ({"do_rescale": "no"}, "says do_rescale is 'no'; what is read here: true, false"),
        ({"rescale_factor": "x"}, "says rescale_factor is 'x'; what is read here: a number"),
        ({"image_mean": [0.5]}, r"says image_mean is '\[0.5\]'; what is read here: three numbers"),
        ({"image_std": [1, 0, 1]}, r"says image_std is .*; what is read here: three numbers, none of them 0"),
    ],
    ids=str,
)
def test_a_processor_that_is_not_read_here_is_said(changes: dict[str, Any], message: str, copy: Path) -> None:
    rewrite(copy, "preprocessor_config.json", **changes)
    with pytest.raises(ConfigError, match=message):
        load(copy)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_channels": 1}, "num_channels is 1; what is read here: 3; .* of_model"),
        ({"image_size": 25}, "an image of 25 × 25 pixels cannot be cut into patches of 8 × 8"),
        ({"image_size": 16}, "says 16 × 16 pixels in patches of 8 × 8, and the files hold 10 positions"),
        ({"patch_size": 6}, "in patches of 6 × 6, .* a projection of 192 numbers; they do not belong together"),
        ({"patch_size": "8"}, "patch_size is '8'; what is read here: a number from 1 to 16384, or two"),
        ({"hidden_size": 20}, r"a table of vectors has shape \(1, 10, 16\)|has shape .* makes it"),
    ],
    ids=str,
)
def test_a_config_that_does_not_fit_is_said(changes: dict[str, Any], message: str, copy: Path) -> None:
    rewrite(copy, "config.json", **changes)
    with pytest.raises(ConfigError, match=message):
        load(copy)


def test_without_a_processor_no_image_is_read(copy: Path) -> None:
    rewrite(copy, "preprocessor_config.json", do_resize=False)
    assert load(copy)(IMAGE).config.n_heads == 4
    with pytest.raises(
        ConfigError, match="the image is 31 × 40 pixels, and this model reads 24 × 24 and does not resize"
    ):
        load(copy)(expected()["image"])
    (copy / "preprocessor_config.json").unlink()
    with pytest.raises(ConfigError, match=r"holds no preprocessor_config\.json, .* image_processor\.save_pretrained"):
        load(copy)


def test_pixels_may_be_read_as_they_are(copy: Path) -> None:
    rewrite(copy, "preprocessor_config.json", do_rescale=False, do_normalize=False)
    image = image_of(load(copy)(IMAGE + np.uint8(51)))
    np.testing.assert_allclose(image.pixels, 51.0)
    np.testing.assert_allclose(image.array, 0.2)


def test_questions_about_words_are_refused() -> None:
    with pytest.raises(ConfigError, match="this model reads images, and 'anna' cannot be drawn: name shapes"):
        vit().run(Config(sentence="anna gave"))
    with pytest.raises(ConfigError, match="this model does not write on"):
        vit().next_words("a cat")
    with pytest.raises(ConfigError, match="the model tiny: it reads images as 10 tokens, and a sentence may have 8"):
        hosting.offer([f"tiny={PLACE}"], "8")


def test_an_image_that_is_not_square_is_read_by_rows_and_columns(torch: Any, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 20}
    torch.manual_seed(0)
    made = transformers.ViTModel(transformers.ViTConfig(**sizes, image_size=[16, 24], patch_size=[8, 4])).eval()
    made.save_pretrained(tmp_path)
    size = {"size": {"height": 16, "width": 24}}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(size), encoding="utf-8")
    found = load(tmp_path)(np.random.default_rng(2).random((16, 24, 3)))
    assert found.query_tokens[-1] == "2,6"
    pixels = torch.tensor(image_of(found).pixels.transpose(2, 0, 1)[None]).float()
    with torch.no_grad():
        np.testing.assert_allclose(found.result.array, made(pixels).last_hidden_state[0].numpy(), rtol=0, atol=1e-5)


def in_memory(**how: Any) -> tuple[Any, Any]:
    """The model in PyTorch, and what reads its images."""
    transformers = pytest.importorskip("transformers")
    made = transformers.ViTForImageClassification.from_pretrained(PLACE, **how)
    return made, transformers.ViTImageProcessorPil.from_pretrained(PLACE)


def test_a_model_in_memory_is_the_model_of_its_file(torch: Any) -> None:
    made, processor = in_memory()
    for model in (made, made.vit):
        found = of_model(model, processor, expected()["image"])
        assert list(found.layers[0]) == list(trace().layers[0])
        for layer, other in zip(found.layers, trace().layers, strict=True):
            for step in other:
                np.testing.assert_allclose(layer[step].array, other[step].array, rtol=0, atol=1e-5)
        [note] = found.notes
        assert note.startswith("Recomputed from the model's weights; its own hidden states differ by at most ")
        assert float(note.rstrip(".").split()[-1]) < 1e-5
        np.testing.assert_allclose(image_of(found).array, image_of(trace()).array, atol=1e-6)


def test_what_a_model_in_memory_does_otherwise_is_noticed(torch: Any) -> None:
    made, processor = in_memory(dtype=torch.bfloat16)
    with pytest.raises(ConfigError, match=r"this model reads images: give an array .* not 'a cat'"):
        of_model(made, processor, "a cat")
    note = of_model(made, processor, expected()["image"]).notes[0]
    assert 1e-4 < float(note.rstrip(".").split()[-1]) < 0.5
    made.vit.layernorm.register_forward_hook(lambda module, given, out: 2 * out)
    with pytest.raises(ConfigError, match="the model computes something other than a vit model does"):
        of_model(made, processor, expected()["image"])


def test_pixels_of_no_known_origin_are_drawn_from_the_smallest_to_the_largest(torch: Any) -> None:
    def processor(images: Any, return_tensors: str) -> dict[str, Any]:
        return {"pixel_values": torch.tensor(images)[None]}

    made, _ = in_memory()
    pixels = np.random.default_rng(1).standard_normal((3, 24, 24))
    found = of_model(made, processor, pixels)
    np.testing.assert_allclose(image_of(found).pixels, pixels.transpose(1, 2, 0), rtol=0, atol=1e-6)
    array = image_of(found).array
    assert (array.min(), array.max()) == (0.0, 1.0)
    with pytest.raises(ConfigError, match="the model could not run the text"):  # 4 × 4 patches, and positions for 9
        of_model(made, processor, np.zeros((3, 32, 32)))
