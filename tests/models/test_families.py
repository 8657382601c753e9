"""Every family of models against what Hugging Face Transformers computes of the same files."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import ConfigError, Model, gradients, load
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.trace import Trace
from attnviz.models.families import FAMILIES
from attnviz.models.safetensors import Tensors
from tests.support.cases import for_each
from tests.support.small_models import FOLDER, NAMES, model

DOUBLE = ("bert", "distilbert", "roberta", "xlm-roberta", "camembert", "electra", "gpt2", "bart")
"""The models whose expected numbers were computed in float64 from end to end; of the others RoPE or RMS was not."""

EVERY = for_each("name", NAMES)


def expected(name: str) -> dict[str, Any]:
    with np.load(FOLDER / name / "expected.npz") as file:
        return dict(file)


def states(trace: Trace) -> list[np.ndarray]:
    """What each layer hands on."""
    return [list(layer.values())[-1].array for layer in trace.layers]


def test_every_family_has_a_model_here() -> None:
    assert {model(name).family for name in (*NAMES, "vit")} == set(FAMILIES)


@EVERY
def test_hidden_states_and_weights_are_the_library_s(name: str) -> None:
    found, close = expected(name), 1e-12 if name in DOUBLE else 1e-5
    for at, sentence in enumerate(found["sentences"]):
        trace = model(name)(str(sentence))
        assert list(trace.query_tokens) == found[f"tokens{at}"].tolist()
        np.testing.assert_allclose(trace["embedded"].array, found[f"hidden{at}"][0], rtol=0, atol=close)
        for i, layer in enumerate(trace.layers):
            np.testing.assert_allclose(layer["weights"].array, found[f"weights{at}"][i], rtol=0, atol=close)
        for state, other in zip(states(trace), found[f"hidden{at}"][1:], strict=True):
            np.testing.assert_allclose(state, other, rtol=0, atol=close)
        assert trace.result is list(trace.layers[-1].values())[-1]


@EVERY
def test_the_expected_weights_are_not_flat(name: str) -> None:
    weights = expected(name)["weights0"]
    flat = 1 / np.maximum((weights > 0).sum(axis=-1), 1)
    assert np.mean(weights.max(axis=-1) - flat) > 0.05


def test_a_block_of_width_0_is_none() -> None:
    """Without the block, the numbers are those of one that hands on zeros."""
    config = json.loads((FOLDER / "llama" / "config.json").read_text("utf-8"))
    tensors = {name: np.asarray(array) for name, array in Tensors(FOLDER / "llama").items()}
    silent = {name: array * ("down_proj" not in name) for name, array in tensors.items()}
    bare = {name: array for name, array in tensors.items() if "mlp" not in name and "post_attention" not in name}
    tokenise = model("llama").tokenise
    whole = Model.of_parts(config, silent, tokenise)("the cat sat")
    model_without = Model.of_parts(config | {"intermediate_size": 0}, bare, tokenise)
    without = model_without("the cat sat")
    assert not {name for name in without.layers[0] if name.startswith(("ff_", "w_1", "w_2", "w_3", "g_2"))}
    assert (without.config.feed_forward, model_without.sizes.d_ff) == ("none", 0)
    for state, other in zip(states(without), states(whole), strict=True):
        np.testing.assert_array_equal(state, other)
    slope = gradients(without, {(1, "final_normed"): np.ones(without.result.shape)})["embedded"].array
    again = gradients(whole, {(1, "final_normed"): np.ones(whole.result.shape)})["embedded"].array
    np.testing.assert_allclose(slope, again, rtol=1e-12, atol=1e-15)


@EVERY
def test_a_layer_says_what_it_is_made_of(name: str) -> None:
    layer, shape = model(name)("a cat").layers[0], model(name).shape
    assert {"w_q", "w_k", "w_v", "queries", "scores", "weights", "heads", "w_o", "w_1", "w_2", "ff_hidden"} <= set(
        layer
    )
    assert ("ff_gate" in layer) == ("w_3" in layer) == shape.feed_forward.endswith(("glu", "glu_tanh"))
    assert ("projected_queries" in layer) == shape.rotates(0)
    assert ("normed_queries" in layer) == (name in ("gemma3", "qwen3", "qwen3_moe", "olmo2"))
    assert ("output_normed" in layer) == (name in ("gemma2", "gemma3", "olmo2"))
    assert ("added_normed" in layer) == (shape.norm_applied == "after")
    np.testing.assert_allclose(layer["ff_output"].array, layer["ff_hidden"].array @ layer["w_2"].array
                               + (layer["b_2"].array if "b_2" in layer else 0)
                               + (layer["expert_shares"].array @ layer["b_experts"].array
                                  if "b_experts" in layer else 0), atol=1e-12)  # fmt: skip


@EVERY
def test_a_trace_holds_the_weights_where_they_lie_and_no_copies(name: str) -> None:
    trace = model(name)("a cat")
    for layer, weights in zip(trace.layers, model(name)._layers, strict=True):
        for step in layer.values():
            assert not step.array.flags.writeable
            if step.name.startswith(("w_", "b_")):
                assert np.shares_memory(step.array, weights[step.name])


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_what_stays_free_changes_what_follows_and_nothing_before(name: str) -> None:
    plain, changed = model(name)("the cat saw a dog"), model(name)("the cat saw a dog", mask="no_self", temperature=2.0)
    assert (
        changed.config.mask == (*plain.config.mask, "no_self")
        if name != "bert"
        else changed.config.mask == ("no_self",)
    )
    np.testing.assert_array_equal(plain.layers[0]["capped"].array, changed.layers[0]["capped"].array)
    assert not np.diagonal(changed.layers[0]["weights"].array, axis1=1, axis2=2).any()
    assert np.abs(plain.result.array - changed.result.array).max() > 0.01


def test_the_numbers_of_a_chosen_normaliser_are_free_too() -> None:
    first, second = (
        model("bert")("the cat saw", normaliser="entmax", normaliser_knobs={"entmax.alpha": alpha})
        for alpha in (1.1, 2.0)
    )
    assert (first.layers[0]["weights"].array > 0).sum() > (second.layers[0]["weights"].array > 0).sum()


def test_a_changed_weight_changes_all_that_follows() -> None:
    edit: Edit = (1, "w_q", (0, 0, 0), 5.0)
    plain, changed = model("bert")("a cat"), model("bert")("a cat", edits=[edit])
    np.testing.assert_array_equal(states(plain)[0], states(changed)[0])
    assert changed.layers[1]["w_q"].array[0, 0, 0] == 5.0
    assert np.abs(states(plain)[1] - states(changed)[1]).max() > 1e-6
    assert model("bert")("a cat").layers[1]["w_q"].array[0, 0, 0] != 5.0  # the model itself stays as it was
    with pytest.raises(ConfigError, match="lies outside its shape"):
        model("bert")("a cat", edits=[(1, "w_q", (9, 0, 0), 5.0)])


def test_what_the_model_decides_cannot_be_set() -> None:
    with pytest.raises(ConfigError, match="n_heads is the model's own; what can be changed is model, max_tokens, mask"):
        model("bert")("a cat", n_heads=2)


def test_a_long_sentence_is_cut_and_that_is_said() -> None:
    long = model("bert")("a " * 60)
    assert long.notes == ("The sentence has 62 tokens; 40 are used.",)
    assert (len(long.query_tokens), long.query_tokens[0], long.query_tokens[-1]) == (40, "[CLS]", "[SEP]")
    assert len(model("gpt2")("a cat", max_tokens=3).query_tokens) == 3
    assert len(model("roberta")("a " * 60).query_tokens) == 38  # two rows of its table stand for no position


def test_an_empty_sentence_is_refused_where_nothing_frames_it() -> None:
    assert model("bert")("").query_tokens == ("[CLS]", "[SEP]")
    with pytest.raises(ConfigError, match="the sentence has no tokens"):
        model("gpt2")("")


# What cannot be read -------------------------------------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER / "llama", tmp_path / "model"))


def rewrite(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "mpt"}, "model_type 'mpt' is not read here; .* are: bert, roberta.*; of_model shows any other"),
        ({"model_type": ["llama"]}, "model_type .* is not read here"),
        ({"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4}}, "rope_type is 'dynamic'; .*yarn; .*model"),
        ({"hidden_act": "selu"}, "hidden_act is 'selu'; what is read here: silu"),
        ({"hidden_size": 0}, "hidden_size is 0; a model has 1 to 65536"),
        ({"hidden_size": 17, "head_dim": 4}, r"has shape \(288, 16\)|rows 17 wide|makes it"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000; a model has 1 to 256"),
        ({"num_hidden_layers": 3}, r"no array 'model\.layers\.2\.self_attn\.q_proj\.weight'"),
        ({"num_key_value_heads": 3}, "num_key_value_heads is 3; what is read here: a divisor of 4"),
        ({"intermediate_size": None}, "does not say intermediate_size, which a llama model needs"),
        ({"rms_norm_eps": "1e-5"}, "rms_norm_eps is '1e-5'; what is read here: a number above 0"),
        ({"intermediate_size": 21}, r"has shape \(20, 16\); this model's config.json makes it \(21, 16\)"),
    ],
    ids=str,
)  # fmt: skip
def test_a_config_that_is_not_read_here_says_so_when_the_model_is_loaded(
    changes: dict[str, Any], message: str, copy: Path
) -> None:
    rewrite(copy, **changes)
    with pytest.raises(ConfigError, match=message):
        load(copy)


@for_each("name", ["mixtral", "qwen3_moe"])
def test_a_block_of_experts_is_the_sum_of_those_that_a_token_takes(name: str) -> None:
    shape, layer = model(name).shape, model(name)("the king and the queen").layers[1]
    x, shares = layer["ff_normed"].array, layer["expert_shares"].array
    assert ((shares > 0).sum(axis=1) == shape.n_chosen).all()
    assert shape.shares_add_up == np.allclose(shares.sum(axis=1), 1.0)
    assert len(np.unique(shares > 0, axis=0)) > 1, "not the same ones for all tokens"
    for row, taken, whole in zip(x, shares, layer["ff_output"].array, strict=True):
        y = np.zeros(shape.d_model)
        for e in np.flatnonzero(taken):
            at = slice(e * shape.units, (e + 1) * shape.units)
            gate = row @ layer["w_1"].array[:, at]
            y += taken[e] * ((gate / (1 + np.exp(-gate)) * (row @ layer["w_3"].array[:, at])) @ layer["w_2"].array[at])
        np.testing.assert_allclose(whole, y, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_experts_per_tok": 6}, "num_experts_per_tok is 6; what is read here: 1 to 5, the number of experts"),
        ({"decoder_sparse_step": 2}, "decoder_sparse_step is 2; what is read here: 1"),
        ({"mlp_only_layers": [0]}, r"mlp_only_layers is '\[0\]'; what is read here: None, \[\]"),
        ({"norm_topk_prob": 1}, "norm_topk_prob is 1; what is read here: true, false"),
        ({"num_local_experts": 4}, r"gate\.weight' has shape \(5, 16\); this model's config.json makes it \(4, 16\)"),
    ],
    ids=str,
)
def test_experts_that_are_not_read_here_are_said(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER / "qwen3_moe", tmp_path / "model"))
    rewrite(folder, norm_topk_prob=True)
    shares = load(folder)("the king").layers[0]["expert_shares"].array
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    rewrite(folder, **changes)
    with pytest.raises(ConfigError, match=message):
        load(folder)


GEMMA_3 = {
    "rope_theta": 1000.0, "rope_scaling": {"rope_type": "linear", "factor": 2.0}, "rope_local_base_freq": 100.0,
    "rope_parameters": None, "layer_types": None, "sliding_window_pattern": 2,
}  # fmt: skip
"""The fields of the model here as the first files of Gemma 3 have them."""


def test_layers_with_a_window_rotate_by_angles_of_their_own_in_old_files_too(tmp_path: Path) -> None:
    made, folder = model("gemma3"), Path(shutil.copytree(FOLDER / "gemma3", tmp_path / "gemma3"))
    rewrite(folder, **GEMMA_3)
    text = "the king and the queen saw a dog"
    np.testing.assert_array_equal(load(folder)(text).result.array, made(text).result.array)
    near, whole = made.shape.frequencies
    assert near is not None
    assert whole is not None
    np.testing.assert_allclose(near, 100.0 ** (-np.arange(3) / 3))
    np.testing.assert_allclose(whole, 1000.0 ** (-np.arange(3) / 3) / 2)
    assert made.shape.windows == (3, None)
    rewrite(folder, rope_scaling={"rope_type": "longrope", "factor": 2.0})
    with pytest.raises(ConfigError, match="rope_type is 'longrope'; what is read here: default, linear, llama3, yarn"):
        load(folder)
    rewrite(folder, **GEMMA_3, attn_logit_softcapping=50.0)
    with pytest.raises(ConfigError, match=r"attn_logit_softcapping is 50\.0; what is read here: None, 0\.0"):
        load(folder)


def renamed(folder: Path, rename: Callable[[str], str]) -> Path:
    """Give the arrays of a folder's file other names."""
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    start = 8 + int.from_bytes(whole[:8], "little")
    header = {rename(name): entry for name, entry in json.loads(whole[8:start]).items()}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + whole[start:])
    return folder


@pytest.mark.parametrize("name", ["bert", "gpt2", "qwen3"])
def test_norms_may_have_their_old_names(name: str, tmp_path: Path) -> None:
    def old(array: str) -> str:
        *_, norm, part = f".{array}".split(".")
        is_norm = "norm" in norm.lower() or norm.startswith("ln_")
        return array.removesuffix(part) + {"weight": "gamma", "bias": "beta"}[part] if is_norm else array

    converted = load(renamed(Path(shutil.copytree(FOLDER / name, tmp_path / name)), old))
    found, usual = converted("the king saw"), model(name)("the king saw")
    np.testing.assert_array_equal(found.result.array, usual.result.array)
    cell = found.config.facts.slices[0]["g_1"]
    assert cell.at(3).endswith(".gamma[3]")


def _wrapped(before: str, array: str) -> str:
    return array if array == "__metadata__" else before + array


def test_what_was_wrapped_when_it_was_saved_is_read_as_it_was(tmp_path: Path) -> None:
    usual = model("gpt2")("the king saw").result.array
    for number, before in enumerate(("module.", "_orig_mod.", "module._orig_mod.")):
        folder = Path(shutil.copytree(FOLDER / "gpt2", tmp_path / str(number)))
        np.testing.assert_array_equal(
            load(renamed(folder, partial(_wrapped, before)))("the king saw").result.array, usual
        )


def test_an_array_that_is_missing_is_named_whole(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER / "bert", tmp_path / "bert"))
    name = "encoder.layer.0.attention.output.LayerNorm.weight"
    renamed(folder, lambda array: array.replace(name, "other"))
    with pytest.raises(ConfigError, match=rf"has no array '(bert\.)?{re.escape(name)}'; its files do not fit"):
        load(folder)


def test_a_folder_that_is_none_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"is not a folder; give the one that holds config\.json"):
        load(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match=r"holds no config\.json"):
        load(tmp_path)
    (tmp_path / "config.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"config\.json is broken, or is something else|no object"):
        load(tmp_path)


def test_numbers_beyond_all_bounds_are_said_when_they_come(copy: Path) -> None:
    whole = bytearray((copy / "model.safetensors").read_bytes())
    whole[-20_000:] = b"\x00\x00\xc0\x7f" * 5_000
    (copy / "model.safetensors").write_bytes(whole)
    with pytest.raises(ConfigError, match="go beyond what can be computed in layer"):
        load(copy)("the cat saw a dog, isn't it")


def test_the_digest_is_of_the_weights(copy: Path) -> None:
    before = load(copy).digest
    assert len(before) == 8
    assert before == load(FOLDER / "llama").digest != load(FOLDER / "qwen2").digest
    assert hashlib.sha256((copy / "model.safetensors").read_bytes()).hexdigest().startswith(before)
