"""Models of families that are not computed anew: what of them is shown, and that it is what they compute."""

from __future__ import annotations

import importlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from attnviz import ConfigError, of_model
from tests.models.test_in_memory import SENTENCE, Numbers, in_memory, own_tokens
from tests.support.cases import for_each

TEXT = "5 17 2 9 30 9"
WIDTHS = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 20}
GROUPED = WIDTHS | {"num_key_value_heads": 2, "head_dim": 4}
OLD = {"n_layer": 2, "n_head": 4}
PAIR = {f"{part}_{name}": n for part in ("encoder", "decoder") for name, n in
        (("layers", 2), ("attention_heads", 4), ("ffn_dim", 20))}  # fmt: skip
SINKS = {f"swa_{name}": n for name, n in
         (("num_attention_heads", 4), ("num_key_value_heads", 2), ("head_dim", 4), ("v_head_dim", 4))} | {
         "v_head_dim": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8, "n_group": 1,
         "topk_group": 1}  # fmt: skip
MODELS: dict[str, tuple[str, dict[str, Any], str]] = {
    "GPTJ": ("GPTJModel", OLD | {"n_embd": 16, "rotary_dim": 4}, "weights"),
    "Bloom": ("BloomModel", OLD | {"hidden_size": 16}, "weights"),
    "Falcon": ("FalconModel", WIDTHS, "weights"),
    "Phi": ("PhiModel", WIDTHS, "queries"),
    "Helium": ("HeliumModel", GROUPED, "queries"),
    "Olmo": ("OlmoModel", WIDTHS, "queries"),
    "Phimoe": ("PhimoeModel", GROUPED | {"num_local_experts": 3}, "queries"),
    "Olmoe": ("OlmoeModel", WIDTHS | {"num_experts": 4, "num_experts_per_tok": 2}, "queries"),
    "MiMoV2Flash": ("MiMoV2FlashModel", GROUPED | SINKS, "weights"),  # a sink in each row
    "Albert": ("AlbertModel", WIDTHS | {"embedding_size": 8}, "queries"),
    "ModernBert": ("ModernBertModel", WIDTHS, "queries"),
}
"""The class of a model, its sizes, and the first step of its trace."""


def made(config: str, model: str, **sizes: Any) -> Any:
    """A small random model of a class of Transformers whose attention is not flat."""
    transformers, torch = pytest.importorskip("transformers"), importlib.import_module("torch")
    torch.manual_seed(3)
    special = dict.fromkeys((f"{name}_token_id" for name in ("bos", "eos", "pad", "cls", "sep")), 0)
    found = getattr(transformers, model)(getattr(transformers, f"{config}Config")(vocab_size=40, **special, **sizes))
    with torch.no_grad():
        for parameter in found.parameters():
            if parameter.dim() > 1:
                parameter.mul_(12)
    return found


def own(model: Any, torch: Any, *, part: str = "attentions", **given: Any) -> np.ndarray:
    """The weights that a model gives itself: (layers, heads, n, m)."""
    for each in model.modules():
        if hasattr(each, "set_attn_implementation"):
            each.set_attn_implementation("eager")
    with torch.no_grad():
        return np.stack([each[0].numpy() for each in getattr(model(**given, output_attentions=True), part)])


@for_each("name", MODELS)
def test_any_model_is_shown_from_where_its_attention_begins(name: str, torch: Any) -> None:
    kind, sizes, first = MODELS[name]
    model = made(name, kind, **sizes).train()
    before = model.config._attn_implementation
    trace = of_model(model, Numbers(), TEXT)
    assert (model.training, model.config._attn_implementation) == (True, before)
    assert trace.query_tokens == tuple(f"#{n}" for n in TEXT.split()) or trace.query_tokens == tuple(TEXT.split())
    assert next(iter(trace.layers[0])) == first
    expected = own(model.eval(), torch, input_ids=torch.tensor([[int(n) for n in TEXT.split()]]))
    weights = np.stack([layer["weights"].array for layer in trace.layers])
    np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-5)
    assert np.abs(expected - expected.mean(axis=-1, keepdims=True)).max() > 0.2
    assert "is its own, since the family '" in trace.notes[0]
    if first == "queries":
        for layer in trace.layers:
            scaled = layer["queries"].array @ np.repeat(layer["keys"].array, trace.config.group_size, 0).swapaxes(1, 2)
            np.testing.assert_allclose(layer["scaled"].array, scaled * trace.config.scale, atol=1e-12)


def test_half_precision_begins_with_queries_too(torch: Any) -> None:
    model = made("Phi", "PhiModel", **WIDTHS)
    for kind in (torch.bfloat16, torch.float16):
        trace = of_model(model.to(kind), Numbers(), TEXT)
        assert next(iter(trace.layers[0])) == "queries"
        assert 1e-6 < float(trace.notes[0].split("at most ")[1].split(".  ")[0].split(". ")[0]) < 0.016


def test_two_models_at_once_are_both_watched(torch: Any) -> None:
    """The second is asked for while the first runs its text, which waits for it for a while."""
    first, second = (made("Phi", "PhiModel", **WIDTHS) for _ in range(2))
    begun, over = threading.Event(), threading.Event()

    def waits(*_: Any) -> None:
        begun.set()
        over.wait(0.5)

    first.register_forward_pre_hook(waits)
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(of_model, first, Numbers(), TEXT)
        assert begun.wait(60)
        quick = pool.submit(of_model, second, Numbers(), TEXT)
        quick.add_done_callback(lambda _: over.set())
        assert [next(iter(each.result().layers[0])) for each in (slow, quick)] == ["queries", "queries"]


def test_windows_that_differ_between_layers_leave_the_weights(torch: Any) -> None:
    kinds = ["sliding_attention", "full_attention"]
    model = made("Exaone4", "Exaone4Model", **GROUPED, sliding_window=3, layer_types=kinds)
    trace = of_model(model, Numbers(), TEXT)
    assert list(trace.layers[0]) == ["weights"]
    assert (trace.layers[0]["weights"].array[:, 5, :3] == 0).all()
    assert (trace.layers[1]["weights"].array[:, 5, :3] > 0).all()


@for_each("name", ["T5", "Bart"])
def test_a_model_with_an_encoder_shows_each_of_its_parts(name: str, torch: Any) -> None:
    sizes = {"d_model": 16, "d_kv": 4, "d_ff": 20, "num_layers": 2, "num_heads": 4} if name == "T5" else PAIR
    model = made(name, f"{name}Model", **sizes, **({} if name == "T5" else {"d_model": 16}), decoder_start_token_id=1)
    ids, words = [int(n) for n in TEXT.split()], "7 8 9"
    given = {"input_ids": torch.tensor([ids]), "decoder_input_ids": torch.tensor([[1, 7, 8]])}
    source, target = tuple(TEXT.split()), ("#1", "7", "8")
    for part, rows, columns in (
        (None, source, source), ("encoder", source, source), ("decoder", target, target), ("cross", target, source),
    ):  # fmt: skip
        trace = of_model(model, Numbers(), TEXT, None if part is None else words, part=part)
        assert (trace.query_tokens, trace.key_tokens) == (rows, columns)
        weights = np.stack([layer["weights"].array for layer in trace.layers])
        expected = own(model.eval(), torch, part=f"{part or 'encoder'}_attentions", **given)
        np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-5)
        if part in ("decoder", "cross"):
            assert "is its own, since one kind of a decoder's attention alone is not computed anew" in trace.notes[0]
            assert f"These are the weights of its {part}; part= chooses another" in trace.notes[1]
        else:
            assert trace.notes[0].startswith("Recomputed from the model's weights; its own hidden states differ by at ")
    assert of_model(model, Numbers(), TEXT, words).key_tokens == source
    with pytest.raises(ConfigError, match=r"^cross needs a second text, that of the decoder: of_model\("):
        of_model(model, Numbers(), TEXT, part="cross")
    with pytest.raises(ConfigError, match="part is 'all'; this model has encoder, decoder, cross"):
        of_model(model, Numbers(), TEXT, words, part="all")
    whole = of_model(model, Numbers(), TEXT, words, part="both")
    assert (whole.query_tokens, whole.key_tokens) == (target, (*source, *target))


def test_a_picture_is_read_by_its_squares(torch: Any) -> None:
    model = made("DeiT", "DeiTModel", **WIDTHS, image_size=24, patch_size=8)

    def processor(images: Any, return_tensors: str) -> dict[str, Any]:
        return {"pixel_values": torch.tensor(images)[None]}

    picture = np.random.default_rng(1).standard_normal((3, 24, 24))
    trace = of_model(model, processor, picture)
    assert trace.query_tokens[:6] == ("[CLS]", "[2]", "1,1", "1,2", "1,3", "2,1")
    expected = own(model.eval(), torch, pixel_values=torch.tensor(picture)[None].float())
    np.testing.assert_allclose([layer["weights"].array for layer in trace.layers], expected, rtol=0, atol=1e-5)
    with pytest.raises(ConfigError, match="the tokenizer is Numbers"):
        of_model(model, Numbers(), picture)


def test_what_differs_from_its_family_is_shown_and_the_reason_said(torch: Any) -> None:
    class Adapted(torch.nn.Module):
        def __init__(self, base_layer: Any) -> None:
            super().__init__()
            self.base_layer = base_layer

        def forward(self, x: Any) -> Any:
            return 2 * self.base_layer(x)

    adapted = in_memory("gpt2")
    plain = of_model(adapted, own_tokens("gpt2"), SENTENCE)
    attention = adapted.transformer.h[0].attn
    attention.c_attn = Adapted(attention.c_attn)
    trace = of_model(adapted, own_tokens("gpt2"), SENTENCE)
    np.testing.assert_allclose(trace.layers[0]["queries"].array, 2 * plain.layers[0]["queries"].array, atol=1e-5)
    assert "since its layers carry adapters, as LoRA of peft adds them" in trace.notes[0]
    renamed = in_memory("bert")
    renamed.encoder.layer[0].attention.output.LayerNorm = torch.nn.Identity()
    note = of_model(renamed, own_tokens("bert"), SENTENCE).notes[0]
    assert "since it has no parameter 'encoder.layer.0.attention.output.LayerNorm.weight', which its config" in note


def test_what_has_no_attention_or_cannot_run_is_said_in_a_sentence(torch: Any) -> None:
    class Silent(torch.nn.Module):
        config = type("Config", (), {"to_dict": lambda self: {"model_type": "own"}, "_attn_implementation": "eager"})()

        def __init__(self) -> None:
            super().__init__()
            self.one = torch.nn.Parameter(torch.ones(1))

        def forward(self, **given: Any) -> Any:
            if given["input_ids"].shape[1] > 3:
                raise IndexError("too long")
            return object()

    with pytest.raises(ConfigError, match="the model kept no attention weights; it may have no attention"):
        of_model(Silent(), Numbers(), "1 2")
    with pytest.raises(ConfigError, match="the model could not run the text: 'IndexError: too long'"):
        of_model(Silent(), Numbers(), TEXT)
    with pytest.raises(ConfigError, match="the sentence has no tokens"):
        of_model(Silent(), Numbers(), "")
    with pytest.raises(ConfigError, match="target is a second text, for the decoder of a model that has an encoder"):
        of_model(Silent(), Numbers(), "1 2", "3")
    with pytest.raises(ConfigError, match="target is a second text"):
        of_model(in_memory("gpt2"), own_tokens("gpt2"), SENTENCE, part="cross")
