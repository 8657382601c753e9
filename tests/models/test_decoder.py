"""The decoders of T5 and BART against what Hugging Face Transformers computes of the same files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import ConfigError, Model, Trace, load, of_model
from attnviz.arithmetic.cell import derive
from attnviz.models.safetensors import Tensors
from tests.models.test_hooks import in_double
from tests.support.cases import for_each
from tests.support.small_models import FOLDER, NAMES, model

CLOSE = 1e-12
PAIRS = ("bart", "t5")
PARTS = ("decoder", "cross")
STARTS = {"bart": "</s>", "t5": "<pad>"}


def expected(name: str) -> dict[str, Any]:
    with np.load(FOLDER / name / "expected.npz") as file:
        return dict(file)


def traces(name: str) -> dict[str, Trace]:
    first, second = map(str, expected(name)["sentences"][:2])
    return {part: model(name)(first, second, part=part) for part in PARTS}


def weights_of(trace: Trace) -> np.ndarray:
    return np.stack([layer["weights"].array for layer in trace.layers])


@for_each("name", PAIRS)
def test_weights_of_a_decoder_are_the_library_s(name: str) -> None:
    found, (first, second, _) = expected(name), expected(name)["sentences"]
    read = (STARTS[name], *found["tokens1"].tolist()[:-1])
    for part, trace in traces(name).items():
        assert trace.query_tokens == read
        assert trace.key_tokens == (read if part == "decoder" else tuple(found["tokens0"].tolist()))
        np.testing.assert_allclose(weights_of(trace), found[part], rtol=0, atol=CLOSE if name == "bart" else 1e-6)
        spread = found[part].max(axis=-1) - 1 / np.maximum((found[part] > 0).sum(axis=-1), 1)
        assert spread.mean() > 0.01, "weights that are flat would show nothing"
    both = model(name)(str(first), str(second))
    np.testing.assert_array_equal(weights_of(both), weights_of(traces(name)["cross"]))
    encoder = model(name)(str(first), str(second), part="encoder")
    np.testing.assert_array_equal(encoder.result.array, model(name)(str(first)).result.array)


class Tokenizer:
    """A model's own tokeniser, as Transformers calls one."""

    def __init__(self, made: Model) -> None:
        self._made = made

    def __call__(self, text: str) -> dict[str, list[int]]:
        return {"input_ids": self._made.tokenise(text)[0]}

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [self._made.piece(number) for number in ids]


@for_each("name", PAIRS)
def test_every_step_of_a_decoder_is_what_the_library_hands_its_attention(name: str, torch: Any) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        made = in_double(name, torch, monkeypatch)
        texts = map(str, expected(name)["sentences"][:2])
        first, second = texts
        for part, ours in traces(name).items():
            theirs = of_model(made, Tokenizer(model(name)), first, second, part=part)
            assert (ours.query_tokens, ours.key_tokens) == (theirs.query_tokens, theirs.key_tokens)
            begins = "weights" if (name, part) == ("t5", "decoder") else "queries"  # its numbers by distance
            assert next(iter(theirs.layers[0])) == begins
            for layer, other in zip(ours.layers, theirs.layers, strict=True):
                for step in other:
                    np.testing.assert_allclose(layer[step].array, other[step].array, rtol=0, atol=1e-9)


@for_each("name", PAIRS)
def test_a_decoder_says_where_it_begins(name: str) -> None:
    for part, trace in traces(name).items():
        other = {"decoder": "cross", "cross": "decoder"}[part]
        assert f"The part {part} of a model with an encoder and a decoder: " in trace.notes[0]
        assert trace.notes[0].endswith(f"chooses another: encoder, {other}, both.")
        first = "scores" if (name, part) == ("t5", "decoder") else "queries"
        assert first in trace.layers[0]
        assert ("queries" in trace.layers[0]) == (first == "queries")
        assert ("scores, with what the model adds to them by distance" in trace.notes[0]) == (first == "scores")


@for_each("name", PAIRS)
def test_what_a_decoder_cannot_do_is_said(name: str) -> None:
    made = model(name)
    with pytest.raises(ConfigError, match=r"^cross needs a second text, that of the decoder: model\(text, target\)$"):
        made("the king", part="cross")
    with pytest.raises(ConfigError, match=r"^part is 'all'; this model has encoder, decoder, cross, both$"):
        made("the king", "a dog", part="all")
    with pytest.raises(ConfigError, match=r"^temperature can be chosen for the encoder and for the whole decoder; "):
        made("the king", "a dog", temperature=2.0)
    with pytest.raises(ConfigError, match="edits can be chosen for the encoder and for the whole decoder; leave it"):
        made("the king", "a dog", part="decoder", edits=[(0, "w_q", (0, 0, 0), 1.0)])
    for part in ("encoder", "both"):
        assert made("the king", "a dog", part=part, temperature=2.0).config.temperature == 2.0


@for_each("name", [name for name in NAMES if name not in PAIRS])
def test_a_model_without_a_decoder_takes_one_text(name: str) -> None:
    calls = (
        ({"target": "a dog"}, "target is a second text, for the decoder of a model that has an encoder as well"),
        ({"part": "encoder"}, "part chooses between an encoder and a decoder, and this model has not both"),
    )
    for more, said_so in calls:
        with pytest.raises(ConfigError, match=said_so):
            model(name)("the king", **more)


def test_a_long_text_of_a_decoder_is_cut_and_that_is_said() -> None:
    trace = model("bart")("the king", "a " * 60)
    assert len(trace.query_tokens) == 40
    assert trace.notes[1] == "The sentence has 63 tokens; 40 are used."


def without_prefix(array: str) -> str:
    return array.removeprefix("model.")


@for_each("name", PAIRS)
def test_a_table_of_tokens_that_is_shared_may_have_any_of_its_names(name: str) -> None:
    tensors = {without_prefix(each): np.asarray(array) for each, array in Tensors(FOLDER / name).items()}
    config = json.loads((FOLDER / name / "config.json").read_text("utf-8"))
    table = tensors.pop("shared.weight")
    usual = model(name)("the king", "a dog")
    for own in ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight"):
        made = Model.of_parts(config, tensors | {own: table}, model(name).tokenise)
        np.testing.assert_array_equal(weights_of(made("the king", "a dog")), weights_of(usual))
    with pytest.raises((ConfigError, KeyError), match=r"shared\.weight"):
        Model.of_parts(config, tensors, model(name).tokenise)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("t5", {"feed_forward_proj": "gated-swish2"}, "feed_forward_proj is 'gated-swish2'; what is read here: gated-"),
        ("t5", {"relative_attention_num_buckets": 7}, "relative_attention_num_buckets is 7; .*: an even number from 4"),
        ("t5", {"relative_attention_max_distance": 8}, "max_distance is 8; what is read here: a number above 8"),
        ("t5", {"relative_attention_max_distance": 16}, "max_distance is 16; .*: a number above 16 beside a decoder"),
        ("t5", {"num_decoder_layers": 3}, r"no array 'decoder\.block\.2\.layer\.0\.SelfAttention\.q\.weight'"),
        ("bart", {"normalize_before": True}, "normalize_before is True; what is read here: False"),
        ("bart", {"scale_embedding": 4}, "scale_embedding is 4; what is read here: true, false"),
        ("bart", {"decoder_layers": 3}, r"no array 'model\.decoder\.layers\.2\.self_attn\.q_proj\.weight'"),
    ],
    ids=str,
)
def test_what_is_not_read_of_t5_and_bart_is_said(
    name: str, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(FOLDER / name, tmp_path / name))
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load(folder)


def test_a_number_by_distance_is_the_models_own_unless_it_was_changed() -> None:
    made, text = model("t5"), "the king and the queen"
    trace, own = made(text), made(text).layers[0]["bias"].array[2, 1, 4]
    for layer in (0, 1):
        assert derive(trace, layer, 2, 1, 4)["bias"].sentence == "Added for the distance between query and key."
    changed = derive(made(text, edits=[(1, "bias", (2, 1, 4), 3.0)]), 1, 2, 1, 4)["bias"]
    assert changed.sentence.startswith(f"Added to the score. Edited: the settings give {own:.4g}, it was set to 3.")


@for_each("name", ["t5", "t5_encoder"])
def test_numbers_by_distance_are_those_of_the_table_in_every_layer(name: str) -> None:
    table = Tensors(FOLDER / name)["encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
    trace = model(name)("the king and the queen saw a dog")
    for layer in trace.layers:
        np.testing.assert_array_equal(layer["bias"].array, trace.layers[0]["bias"].array)
        np.testing.assert_array_equal(np.diagonal(layer["bias"].array, axis1=1, axis2=2).T[0], table[0])
        after, before = layer["bias"].array[:, 0, 1], layer["bias"].array[:, 1, 0]
        np.testing.assert_array_equal(after, table[len(table) // 2 + 1])
        np.testing.assert_array_equal(before, table[1])
