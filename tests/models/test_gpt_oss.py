"""What GPT-OSS alone has, against Transformers: sinks, gates with limits, biases of experts, and numbers of 4 bits."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import ConfigError, Model, attribute, gradients, knock_out, load, patch
from attnviz.models.experts import unpacked
from attnviz.text.provenance import origin
from tests.models.test_hooks import in_double
from tests.support.small_models import FOLDER, model

TEXT, OTHER = "the king and the queen saw", "the king and the river saw"
PARAMETERS = {
    "sinks": "self_attn.sinks", "b_q": "self_attn.q_proj.bias", "b_o": "self_attn.o_proj.bias",
    "w_router": "mlp.router.weight", "b_router": "mlp.router.bias", "w_1": "mlp.experts.gate_up_proj",
    "w_3": "mlp.experts.gate_up_proj", "b_1": "mlp.experts.gate_up_proj_bias", "b_3": "mlp.experts.gate_up_proj_bias",
    "w_2": "mlp.experts.down_proj", "b_experts": "mlp.experts.down_proj_bias",
}  # fmt: skip
"""Parameters of a layer, and the names that they have in the files."""


def as_here(name: str, found: np.ndarray) -> np.ndarray:
    """An array of Transformers in the shape that it has in a trace."""
    if name in ("w_1", "w_3", "b_1", "b_3"):
        found = found[..., (0 if name.endswith("1") else 1) :: 2]
        return np.concatenate([*found], axis=-1)
    if name == "w_2":
        return np.concatenate([*found])
    if name == "w_router":
        return found.T
    return found[:, None] if name == "sinks" else found.reshape(4, -1) if name == "b_q" else found


def test_a_sink_takes_its_share_of_each_row_and_gives_nothing() -> None:
    trace = model("gpt_oss")(TEXT)
    for layer in trace.layers:
        s, S = layer["sinks"].array.astype(float), layer["capped"].array
        e = np.exp(np.where(layer["allowed"].array, S, -np.inf))
        shares = e / (e.sum(axis=-1, keepdims=True) + np.exp(s)[..., None])
        np.testing.assert_allclose(layer["weights"].array, shares, rtol=0, atol=1e-14)
        assert (shares.sum(axis=-1) < 0.99).any()
    warmer = model("gpt_oss")(TEXT, temperature=2.0).layers[0]
    e = np.exp(np.where(warmer["allowed"].array, warmer["capped"].array, -np.inf) / 2)
    shares = e / (e.sum(axis=-1, keepdims=True) + np.exp(warmer["sinks"].array.astype(float) / 2)[..., None])
    np.testing.assert_allclose(warmer["weights"].array, shares, rtol=0, atol=1e-14)


def test_the_setting_of_a_run_keeps_the_normaliser_that_was_chosen() -> None:
    plain, other = model("gpt_oss")(TEXT), model("gpt_oss")(TEXT, normaliser="sparsemax")
    assert (plain.config.normaliser, plain.config.chosen.normaliser) == ("softmax_with_sink", "softmax")
    assert (other.config.normaliser, other.config.chosen.normaliser) == ("sparsemax", "sparsemax")
    assert "not the model's own" not in origin(plain).sentence
    assert origin(other).sentence.endswith("Chosen here, and not the model's own: Normaliser.")
    np.testing.assert_array_equal(model("gpt_oss").run(plain.config.chosen).result.array, plain.result.array)


def test_gates_and_what_they_let_through_stay_within_their_limits() -> None:
    for layer in model("gpt_oss")(TEXT).layers:
        gates, through = layer["ff_gate"].array, layer["ff_up"].array
        assert gates.max() <= 7.0
        assert (through.min(), through.max()) == (-6.0, 8.0), "both limits are reached"


def test_slopes_of_every_parameter_are_those_of_autograd(torch: Any) -> None:
    trace = model("gpt_oss")(TEXT)
    G = np.random.default_rng(0).normal(size=trace.result.shape)
    slopes = gradients(trace, {(1, trace.result.name): G})
    with pytest.MonkeyPatch.context() as monkeypatch:
        made = in_double("gpt_oss", torch, monkeypatch)
        with torch.enable_grad():
            last = made(torch.tensor([list(trace.token_ids)]), output_hidden_states=True).hidden_states[-1]
            (last[0] * torch.tensor(G)).sum().backward()
    theirs = {name: each.grad.numpy() for name, each in made.named_parameters() if each.grad is not None}
    for layer in range(2):
        for name, there in PARAMETERS.items():
            expected = as_here(name, theirs[f"model.layers.{layer}.{there}"])
            found = slopes.layers[layer][name].array
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * max(np.abs(expected).max(), 1.0))
            assert np.abs(expected).max() > 1e-4, name


def test_heads_and_sentences_can_be_exchanged() -> None:
    made, trace = model("gpt_oss"), model("gpt_oss")(TEXT)
    assert np.abs(knock_out(trace, [(0, 1)]).result.array - trace.result.array).max() > 1e-3
    whole = patch(trace, made(OTHER), [(1, "heads", None, None), (1, "added", None, None)])
    assert np.abs(whole.result.array - trace.result.array).max() > 1e-3
    found = attribute(trace, 5)
    assert found.heads.sum() + found.rest == pytest.approx(found.logit, abs=1e-12)


# Numbers of 4 bits --------------------------------------------------------------------------------------------------

WIDE = {
    "hidden_size": 64, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 288,
    "num_key_value_heads": 2, "head_dim": 8, "num_local_experts": 3, "num_experts_per_tok": 2, "sliding_window": 4,
    "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0,
}  # fmt: skip


def packed(shape: tuple[int, ...], seed: int, low: int = 118, high: int = 126) -> tuple[np.ndarray, np.ndarray]:
    """Random blocks of 4 bits, and their scales."""
    dice = np.random.default_rng(seed)
    blocks = dice.integers(0, 256, (*shape, 16), dtype=np.uint8)
    return blocks, dice.integers(low, high, shape, dtype=np.uint8)


@pytest.mark.parametrize(("low", "high", "kind"), [(118, 126, "float16"), (20, 230, "float32")])
def test_numbers_of_4_bits_are_those_of_transformers(low: int, high: int, kind: str, torch: Any) -> None:
    mxfp4 = pytest.importorskip("transformers.integrations.mxfp4")
    blocks, scales = packed((3, 5, 2), 0, low, high)
    expected = mxfp4.convert_moe_packed_tensors(torch.tensor(blocks), torch.tensor(scales), dtype=torch.float32)
    found = unpacked(blocks, scales)
    assert found.dtype == kind
    np.testing.assert_array_equal(found.transpose(0, 2, 1), expected.numpy())


@pytest.fixture
def folder(tmp_path: Path, torch: Any) -> tuple[Path, Any]:
    """A folder as it is published, with the experts' matrices in 4 bits and all else in bfloat16, and its model."""
    transformers, save = pytest.importorskip("transformers"), pytest.importorskip("safetensors.torch").save_file
    mxfp4 = pytest.importorskip("transformers.integrations.mxfp4")
    torch.manual_seed(1)
    how = {"attn_implementation": "eager", "experts_implementation": "eager"}
    config = transformers.GptOssConfig(**WIDE)
    made = transformers.AutoModelForCausalLM.from_config(config, **how).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(4).add_(torch.randn_like(parameter) * 0.1)
            parameter.copy_(parameter.to(torch.bfloat16))
        tensors = {name: each.to(torch.bfloat16).clone() for name, each in made.state_dict().items()}
        for n, name in enumerate([name for name in tensors if name.endswith(("gate_up_proj", "down_proj"))]):
            *_, n_in, n_out = tensors.pop(name).shape
            blocks, scales = map(torch.tensor, packed((3, n_out, n_in // 32), n))
            tensors |= {f"{name}_blocks": blocks, f"{name}_scales": scales}
            made.get_parameter(name).copy_(mxfp4.convert_moe_packed_tensors(blocks, scales, dtype=torch.float32))
    made = made.double()
    save(tensors, tmp_path / "model.safetensors")
    shutil.copy(FOLDER / "gpt_oss" / "tokenizer.json", tmp_path)
    said = config.to_dict() | {"quantization_config": {"quant_method": "mxfp4"}, "swiglu_limit": 7.0}
    rope = {name: said["rope_parameters"].pop(name) for name in [*said["rope_parameters"]]}
    (tmp_path / "config.json").write_text(
        json.dumps(said | {"rope_parameters": None, "rope_theta": rope.pop("rope_theta"), "rope_scaling": rope})
    )
    return tmp_path, made


def test_a_published_folder_is_read_as_transformers_reads_it(folder: tuple[Path, Any], torch: Any) -> None:
    trace = load(folder[0])(TEXT)
    with torch.no_grad():
        out = folder[1](torch.tensor([list(trace.token_ids)]), output_hidden_states=True, output_attentions=True)
    for layer, weights in zip(trace.layers, out.attentions, strict=True):
        np.testing.assert_allclose(layer["weights"].array, weights[0].numpy(), rtol=0, atol=1e-5)
    state = out.hidden_states[-1][0].numpy()
    np.testing.assert_allclose(trace.result.array, state, rtol=0, atol=1e-5 * np.abs(state).max())
    assert trace.config.facts.slices[1]["w_3"].at(33) == "model.layers.1.mlp.experts.gate_up_proj_blocks[1, 3]"
    assert trace.config.facts.slices[1]["w_2"].at(7) == "model.layers.1.mlp.experts.down_proj_blocks[:, 7]"


def test_damaged_numbers_of_4_bits_are_said(folder: tuple[Path, Any]) -> None:
    from attnviz.models.safetensors import Tensors

    tensors = {name: np.asarray(array) for name, array in Tensors(folder[0]).items()}
    config = json.loads((folder[0] / "config.json").read_text())
    name = "model.layers.0.mlp.experts.down_proj_scales"
    for changed, message in (
        (np.full_like(tensors[name], 255), "down_proj_scales' with numbers that are infinite or none at all"),
        (tensors[name].astype(float), "holds '.*down_proj_scales' as float64"),
        (tensors[name][:, :5], r"down_proj_scales' has shape .* config.json makes it \(3, 64, 1\)"),
    ):
        with pytest.raises(ConfigError, match=message):
            Model.of_parts(config, tensors | {name: changed}, model("gpt_oss").tokenise)
    del tensors[name]
    with pytest.raises((ConfigError, KeyError), match="down_proj_scales"):
        Model.of_parts(config, tensors, model("gpt_oss").tokenise)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"swiglu_limit": 5.0}, r"swiglu_limit is 5\.0; what is read here: None, 7\.0"),
        ({"hidden_act": "gelu"}, "hidden_act is 'gelu'; what is read here: 'silu'"),
        ({"num_experts_per_tok": 9}, "num_experts_per_tok is 9; what is read here: 1 to 4"),
        ({"layer_types": ["chunked_attention"] * 2}, "full_attention or sliding_attention for each layer"),
        ({"num_local_experts": 5}, r"router\.weight' has shape \(4, 16\); this model's config.json makes it \(5, 16\)"),
    ],
    ids=str,
)
def test_what_is_not_read_of_gpt_oss_is_said(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(FOLDER / "gpt_oss", tmp_path / "model"))
    path = copy / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(ConfigError, match=message):
        load(copy)


def test_a_config_that_says_little_is_that_of_transformers(torch: Any, tmp_path: Path) -> None:
    """Without layer_types, sliding_window and RoPE the model has what its class has."""
    transformers = pytest.importorskip("transformers")
    copy = Path(shutil.copytree(FOLDER / "gpt_oss", tmp_path / "model"))
    config = json.loads((copy / "config.json").read_text())
    for name in ("layer_types", "rope_parameters", "sliding_window", "rms_norm_eps"):
        del config[name]
    (copy / "config.json").write_text(json.dumps(config))
    shape, theirs = load(copy).shape, transformers.GptOssConfig.from_pretrained(copy)
    assert shape.windows == (theirs.sliding_window - 1, None)
    assert shape.eps == theirs.rms_norm_eps
    turns = transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS["yarn"](theirs, "cpu")
    np.testing.assert_allclose(np.asarray(shape.frequencies[0]), turns[0].numpy(), rtol=1e-6)
    assert shape.rotated_by == (turns[1],) * 2
