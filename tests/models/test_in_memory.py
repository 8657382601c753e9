"""A PyTorch model in memory, against the same model's file and against itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attnviz import ConfigError, attribute, of_model
from tests.support.cases import for_each
from tests.support.small_models import FOLDER, NAMES, model

SENTENCE = "the king saw a dog"


def own_tokens(name: str) -> Any:
    """A tokenizer as Transformers has them, as far as it is asked."""

    class Tokenizer:
        def __call__(self, text: str) -> dict[str, list[int]]:
            return {"input_ids": model(name).tokenise(text)[0]}

        def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
            tokens = model(name).tokenise(SENTENCE)
            return [dict(zip(*tokens))[number] for number in ids]

    return Tokenizer()


def in_memory(name: str, **how: Any) -> Any:
    transformers = pytest.importorskip("transformers")
    kind = transformers.AutoModelForCausalLM if model(name).shape.causal else transformers.AutoModel
    return kind.from_pretrained(FOLDER / name, **how)


@for_each("name", NAMES)
def test_a_model_in_memory_is_the_model_of_its_file(name: str, torch: Any) -> None:
    made = in_memory(name, dtype=torch.float32, attn_implementation="eager")
    trace, same = of_model(made, own_tokens(name), SENTENCE), model(name)(SENTENCE)
    assert trace.query_tokens == same.query_tokens
    for layer, other in zip(trace.layers, same.layers, strict=True):
        for step in other:
            np.testing.assert_allclose(layer[step].array, other[step].array, rtol=0, atol=1e-6)
    [note] = trace.notes
    assert note.startswith("Recomputed from the model's weights; its own hidden states differ by at most ")
    assert float(note.rstrip(".").split()[-1]) < 1e-5


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_tokens_read_as_on_the_page_with_transformers_own_tokenizer(name: str, torch: Any) -> None:
    fast = pytest.importorskip("transformers").PreTrainedTokenizerFast(
        tokenizer_file=str(FOLDER / name / "tokenizer.json")
    )
    text = "naïve: cat é\n"
    trace = of_model(in_memory(name), fast, text)
    assert trace.query_tokens == model(name)(text).query_tokens
    if name == "gpt2":
        assert trace.query_tokens[-4:] == ("Ġ", "<0xC3>", "<0xA9>", "Ċ")


def test_letters_are_left_as_they_are_where_they_stand_for_no_bytes(torch: Any) -> None:
    class Letters:
        def __call__(self, text: str) -> dict[str, list[int]]:
            return {"input_ids": [5, 6]}

        def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
            return ["é", "Ã©"]

    assert of_model(in_memory("gpt2"), Letters(), SENTENCE).query_tokens == ("é", "Ã©")
    older = type("Older", (Letters,), {"byte_decoder": {}})
    assert of_model(in_memory("gpt2"), older(), SENTENCE).query_tokens == ("<0xE9>", "é")


@pytest.mark.parametrize("how", ["eager", "sdpa"])
def test_whatever_computes_its_attention(how: str, torch: Any) -> None:
    found = of_model(in_memory("llama", attn_implementation=how, dtype=torch.float64), own_tokens("llama"), SENTENCE)
    assert float(found.notes[0].rstrip(".").split()[-1]) < 1e-5


def test_a_soft_cap_that_sdpa_leaves_out_is_noticed(torch: Any) -> None:
    with pytest.raises(ConfigError, match=r"than a gemma2 model does: .*; load it with attn_implementation='eager'"):
        of_model(in_memory("gemma2", attn_implementation="sdpa"), own_tokens("gemma2"), SENTENCE)


def test_half_precision_is_taken_and_the_difference_said(torch: Any) -> None:
    found = of_model(in_memory("bert", dtype=torch.bfloat16), own_tokens("bert"), SENTENCE)
    assert 1e-4 < float(found.notes[0].rstrip(".").split()[-1]) < 0.1


def test_large_numbers_in_half_precision_are_no_other_model(torch: Any) -> None:
    transformers = pytest.importorskip("transformers")
    sizes = {"num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}
    config = transformers.Qwen3Config(vocab_size=300, hidden_size=32, intermediate_size=64, **sizes)
    torch.manual_seed(0)
    made = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(9)
    found = of_model(made.to(torch.bfloat16), Numbers(), "5 17 200 17 299")
    assert "in float32 it gives the same hidden states" in found.notes[0]
    assert made.dtype is torch.bfloat16
    made.model.layers[1].register_forward_hook(lambda module, given, out: 2 * out)
    with pytest.raises(ConfigError, match="than a qwen3 model does"):
        of_model(made, Numbers(), "5 17 200 17 299")


class Numbers:
    """A tokenizer that reads a text as the numbers of its tokens."""

    def __call__(self, text: str) -> dict[str, list[int]]:
        return {"input_ids": [int(number) for number in text.split()]}


def test_a_token_of_any_number_is_the_same_in_every_precision(torch: Any) -> None:
    transformers = pytest.importorskip("transformers")
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16, "intermediate_size": 32}
    config = transformers.LlamaConfig(vocab_size=70_010, **sizes)
    torch.manual_seed(0)
    made = transformers.AutoModelForCausalLM.from_config(config)
    text = "1 257 263 265 2047 2049 50001 65519 65521 70001 70000"  # float16 ends at 65504
    for kind in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        trace = of_model(made.to(kind), Numbers(), text)
        assert trace.token_ids == tuple(map(int, text.split()))
        assert float(trace.notes[0].rstrip(".").split()[-1]) < 0.1


def test_a_compiled_model_is_the_model_that_was_compiled(torch: Any) -> None:
    plain = of_model(in_memory("gpt2"), own_tokens("gpt2"), SENTENCE)
    in_part = in_memory("gpt2")
    in_part.transformer.h[0] = torch.compile(in_part.transformer.h[0], backend="eager")
    in_parallel = torch.nn.DataParallel(in_memory("gpt2"))
    for made in (torch.compile(in_memory("gpt2"), backend="eager"), in_part, in_parallel):
        with torch.compiler.set_stance("force_eager"):
            found = of_model(made, own_tokens("gpt2"), SENTENCE)
        np.testing.assert_array_equal(found.result.array, plain.result.array)


def test_later_training_changes_no_trace_and_the_model_stays_as_it_was(torch: Any) -> None:
    made = in_memory("bert").train()
    trace = of_model(made, own_tokens("bert"), SENTENCE)
    before = trace.layers[0]["w_q"].array.copy()
    assert made.training
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(2.0)
    np.testing.assert_array_equal(trace.layers[0]["w_q"].array, before)


def test_a_model_that_computes_something_else_is_refused(torch: Any) -> None:
    made = in_memory("bert")
    made.encoder.layer[0].attention.self.query.register_forward_hook(lambda layer, given, out: out * 5.0)
    with pytest.raises(ConfigError, match="computes something other than a bert model does: its hidden states differ"):
        of_model(made, own_tokens("bert"), SENTENCE)


def test_what_is_no_model_or_no_tokenizer_is_said_in_a_sentence(torch: Any) -> None:
    with pytest.raises(ConfigError, match=r"takes a model of Hugging Face Transformers, .* not int; of any other"):
        of_model(3, None, SENTENCE)
    with pytest.raises(ConfigError, match="takes a model of Hugging Face Transformers"):
        of_model(torch.nn.Linear(2, 2), None, SENTENCE)
    with pytest.raises(ConfigError, match="takes a tokenizer of Hugging Face Transformers"):
        of_model(in_memory("bert"), str.split, SENTENCE)


@for_each("name", ["gpt2", "llama"])
def test_a_model_in_memory_writes_on_and_is_attributed_as_its_file_is(name: str, torch: Any) -> None:
    transformers = pytest.importorskip("transformers")
    fast = transformers.PreTrainedTokenizerFast(tokenizer_file=str(FOLDER / name / "tokenizer.json"))
    trace, same = of_model(in_memory(name, dtype=torch.float32), fast, SENTENCE), model(name)
    made = trace.model
    assert isinstance(made, type(same))
    assert made.next_words(trace, 4) == [(word, pytest.approx(share)) for word, share in same.next_words(SENTENCE, 4)]
    assert made.word_number("the") == same.word_number("the")
    assert made.generate(SENTENCE, 4, seed=2, top_k=9) == same.generate(SENTENCE, 4, seed=2, top_k=9)
    found, expected = attribute(trace, "the"), attribute(same(SENTENCE), "the")
    np.testing.assert_allclose(found.heads, expected.heads, atol=1e-6)
