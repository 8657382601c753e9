"""Small random models of every family, written as Hugging Face Transformers writes them, with what it computes.

    python tests/models/make_fixtures.py [FAMILY ...] [minilm=FOLDER]

writes a folder a model: config.json, model.safetensors, the tokeniser, and expected.npz with the hidden states and
weights of a few sentences, computed in float64. It needs torch, transformers, tokenizers and safetensors; the tests
need none of them. Norms and biases are moved off 1 and 0 and matrices are large, so that attention is not flat.
"""

from __future__ import annotations

import base64
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = Path(__file__).resolve().parent
SENTENCES = ("the king and the queen saw a dog", "It's 2, isn't it?", "a")
TEXT = """The king and the queen saw a dog that sat in the garden beside the river.
A dog is not a king, and the queen knew it: she had seen two dogs and three cats since the morning.
It's late, isn't it? The old man who sells apples in the market said that he would not wait for them.
When the rain stopped, they went back to the house on the hill, where the children were reading a letter.
Nobody had written to them for years; the letter was from a sailor who had been lost at sea in 1912.
"I have found an island," it said, "with birds that answer when you call them, and trees of every colour."
The smallest child asked whether the birds could count, and how far the island was from the town.
They looked for it on the map, on the globe and in the book of the stars, and could not find it anywhere.
So the queen gave the king a coat, a lamp and some bread, and sent him with the dog to look for it.
He walked for seven days, he slept under bridges, and on the eighth day he came to the end of the road.
There stood a boat without an owner; the dog jumped into it, and the wind carried them over the water.
What they saw there is told in another story, but the coat came home without the king, and the lamp was burning.
"""
"""The text on which the tokeniser of a family without a folder is trained."""

LLAMA_3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = LLAMA_3.replace("{1,3}", "")

SMALL: dict[str, Any] = {
    "vocab_size": 288, "hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 4,
    "max_position_embeddings": 40,
}  # fmt: skip
PAIR = {
    "vocab_size": 288, "d_model": 16, "d_kv": 4, "d_ff": 20, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 4,
    "initializer_factor": 0.15, "decoder_start_token_id": 0,
}  # fmt: skip
GROUPED = SMALL | {"num_key_value_heads": 2, "tie_word_embeddings": True}
ENDS = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), 0)
SCALED = {
    "rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}  # fmt: skip
STRETCHED = {
    "rope_type": "yarn", "rope_theta": 150000.0, "factor": 4.0, "beta_fast": 2.0, "beta_slow": 0.25, "truncate": False,
    "original_max_position_embeddings": 10,
}  # fmt: skip
MODELS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "bert": ("BertConfig", "BertModel", SMALL, "wordpiece"),
    "distilbert": (
        "DistilBertConfig",
        "DistilBertModel",
        {"vocab_size": 288, "dim": 16, "hidden_dim": 20, "n_layers": 2, "n_heads": 4, "max_position_embeddings": 40},
        "wordpiece",
    ),
    "roberta": ("RobertaConfig", "RobertaModel", SMALL, "roberta"),
    "xlm-roberta": ("XLMRobertaConfig", "XLMRobertaModel", SMALL, "unigram"),
    "camembert": ("CamembertConfig", "CamembertModel", SMALL, "spaces"),
    "electra": ("ElectraConfig", "ElectraModel", SMALL | {"embedding_size": 16}, "wordpiece"),
    "gpt2": (
        "GPT2Config",
        "GPT2LMHeadModel",
        {"vocab_size": 288, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 40},
        "bytes",
    ),
    "gpt_neo": (
        "GPTNeoConfig",
        "GPTNeoForCausalLM",
        {
            "vocab_size": 288, "hidden_size": 16, "num_layers": 2, "num_heads": 4, "intermediate_size": 20,
            "attention_types": [[["global", "local"], 1]], "max_position_embeddings": 40, "window_size": 3,
        },
        "bytes",
    ),
    "gpt_neox": (
        "GPTNeoXConfig",
        "GPTNeoXForCausalLM",
        SMALL | {"num_attention_heads": 2, "rotary_pct": 0.25, "tie_word_embeddings": True},
        "nfc",
    ),
    "llama": ("LlamaConfig", "LlamaForCausalLM", GROUPED, "llama"),
    "llama3_bf16": ("LlamaConfig", "LlamaForCausalLM", GROUPED | {"rope_parameters": SCALED}, "llama"),
    "mistral": ("MistralConfig", "MistralForCausalLM", GROUPED | {"sliding_window": 4}, "bytes"),
    "qwen2": ("Qwen2Config", "Qwen2ForCausalLM", GROUPED, "qwen"),
    "qwen3": ("Qwen3Config", "Qwen3ForCausalLM", GROUPED | {"head_dim": 6}, "qwen"),
    "mixtral": (
        "MixtralConfig", "MixtralForCausalLM",
        GROUPED | ENDS | {"sliding_window": 4, "intermediate_size": 8, "num_local_experts": 4}, "bytes",
    ),
    "qwen3_moe": (
        "Qwen3MoeConfig", "Qwen3MoeForCausalLM",
        GROUPED | ENDS | {"head_dim": 6, "moe_intermediate_size": 4, "num_experts": 5, "num_experts_per_tok": 3},
        "qwen",
    ),
    "gpt_oss": (
        "GptOssConfig", "GptOssForCausalLM",
        GROUPED | ENDS
        | {
            "head_dim": 6, "sliding_window": 4, "intermediate_size": 8, "num_local_experts": 4,
            "num_experts_per_tok": 2, "tie_word_embeddings": False, "rope_parameters": STRETCHED,
        },
        "bytes",
    ),
    "phi3": (
        "Phi3Config", "Phi3ForCausalLM", GROUPED | {"sliding_window": 4, "pad_token_id": 0, "eos_token_id": 0}, "bytes",
    ),
    "starcoder2": (
        "Starcoder2Config", "Starcoder2ForCausalLM",
        GROUPED | {"sliding_window": 4, "bos_token_id": 0, "eos_token_id": 0}, "bytes",
    ),
    "opt": (
        "OPTConfig",
        "OPTForCausalLM",
        {
            "vocab_size": 288, "hidden_size": 16, "ffn_dim": 20, "num_hidden_layers": 2, "num_attention_heads": 4,
            "max_position_embeddings": 40,
        },
        "bytes",
    ),
    "olmo2": (
        "Olmo2Config", "Olmo2ForCausalLM",
        GROUPED | {"tie_word_embeddings": False, "pad_token_id": 0, "eos_token_id": 0}, "bytes",
    ),
    "gemma": ("GemmaConfig", "GemmaForCausalLM", GROUPED | {"head_dim": 6}, "bytes"),
    "gemma3": (
        "Gemma3TextConfig",
        "Gemma3ForCausalLM",
        GROUPED
        | {
            "head_dim": 6, "query_pre_attn_scalar": 9, "sliding_window": 4, "bos_token_id": 0, "eos_token_id": 0,
            "layer_types": ["sliding_attention", "full_attention"],
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
                "full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1000.0},
            },
        },
        "bytes",
    ),
    "t5": ("T5Config", "T5ForConditionalGeneration", PAIR, "t5"),
    "t5_encoder": (
        "T5Config", "T5EncoderModel",
        PAIR | {
            "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "relative_attention_num_buckets": 8,
            "relative_attention_max_distance": 5, "d_kv": 3,
        },
        "t5",
    ),
    "bart": (
        "BartConfig", "BartForConditionalGeneration",
        {
            "vocab_size": 288, "d_model": 16, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 20,
            "decoder_layers": 2, "decoder_attention_heads": 2, "decoder_ffn_dim": 12, "max_position_embeddings": 40,
            "scale_embedding": True, "activation_function": "relu",
        },
        "roberta",
    ),
    "gemma2": (
        "Gemma2Config",
        "Gemma2ForCausalLM",
        GROUPED | {"head_dim": 6, "query_pre_attn_scalar": 9, "sliding_window": 4, "attn_logit_softcapping": 5.0},
        "bytes",
    ),
}  # fmt: skip


DOUBLE = ("bert", "distilbert", "roberta", "xlm-roberta", "camembert", "electra", "gpt2", "bart")
"""The families that Transformers computes in float64 from end to end if it is asked to."""


def wordpiece() -> Tokenizer:
    """BERT's tokeniser with a vocabulary of its own."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made.train_from_iterator(TEXT.splitlines(), trainers.WordPieceTrainer(vocab_size=288, special_tokens=special))
    made.decoder = decoders.WordPiece()
    ids = [(name, made.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ids)
    return made


def byte_pairs(kind: str) -> Tokenizer:
    """A tokeniser of bytes as GPT-2, RoBERTa, GPT-NeoX, Llama 3 and Qwen set it up."""
    made = Tokenizer(models.BPE(unk_token=None, ignore_merges=kind == "llama"))
    whole = pre_tokenizers.ByteLevel(add_prefix_space=kind == "roberta")
    if kind in ("llama", "qwen"):
        pattern = pre_tokenizers.Split(Regex(LLAMA_3 if kind == "llama" else QWEN), "isolated")
        whole = pre_tokenizers.Sequence([pattern, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    made.pre_tokenizer = whole
    if kind in ("nfc", "qwen"):
        made.normalizer = normalizers.NFC()
    special = (
        ["<s>", "<pad>", "</s>"]
        if kind == "roberta"
        else ["<|begin_of_text|>"]
        if kind == "llama"
        else ["<|endoftext|>"]
    )
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        TEXT.splitlines(), trainers.BpeTrainer(vocab_size=288, initial_alphabet=alphabet, special_tokens=special)
    )
    made.decoder = decoders.ByteLevel()
    if kind == "roberta":
        made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=True)
    if kind == "llama":
        made.post_processor = processors.Sequence(
            [
                processors.ByteLevel(trim_offsets=False),
                processors.TemplateProcessing("<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", 0)]),
            ]
        )
    return made


def unigram(kind: str) -> Tokenizer:
    """A unigram tokeniser as XLM-R, CamemBERT and T5 have it, with a small table of characters of SentencePiece's own.

    charsmap.txt is what SentencePieceTrainer makes of normalization_rule_tsv with eleven rules: ﬁ to fi, ß to ss, ½ to
    1/2, Ａ to A, a and e with U+0301 to á and é, a tab, a line break, \\r\\n and U+00A0 to a space, U+200B to nothing.
    """
    made = Tokenizer(models.Unigram())
    table = normalizers.Precompiled(base64.b64decode((HERE / "charsmap.txt").read_text("ascii")))
    made.normalizer = normalizers.Sequence([table, normalizers.Replace(Regex(" {2,}"), " ")])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    if kind != "spaces":
        made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    special = ["<pad>", "</s>", "<unk>"] if kind == "t5" else ["<s>", "<pad>", "</s>", "<unk>"]
    made.train_from_iterator(
        TEXT.splitlines(), trainers.UnigramTrainer(vocab_size=280, special_tokens=special, unk_token="<unk>")
    )
    made.decoder = decoders.Metaspace()
    if kind == "t5":
        made.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
        return made
    made.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    ids = [("<s>", 0), ("</s>", 2)]
    made.post_processor = processors.TemplateProcessing("<s> $A </s>", special_tokens=ids)
    return made


def stirred(model: Any) -> Any:
    """The model with norms and biases off 1 and 0 and large matrices."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("sinks"):
                parameter.add_(torch.randn_like(parameter))
            elif parameter.dim() == 1 or name.endswith("_bias"):  # some biases are those of all experts
                parameter.add_(torch.randn_like(parameter) * 0.1)
            elif "position" not in name and "wpe" not in name:
                is_clipped = name.endswith("gate_up_proj") and model.config.model_type == "gpt_oss"
                parameter.mul_(70.0 if is_clipped else 14.0)
    return model.eval()


def write(name: str) -> None:
    """One folder, from nothing but its tokeniser, if it has one: other pieces would be other numbers in every test."""
    config, kind, sizes, tokens = MODELS[name]
    folder = HERE / name
    kept = folder / "tokenizer.json"
    if kept.is_file():
        tokeniser = Tokenizer.from_file(str(kept))
    else:
        makers = {"wordpiece": lambda _: wordpiece(), "unigram": unigram, "spaces": unigram, "t5": unigram}
        tokeniser = makers.get(tokens, byte_pairs)(tokens)
    shutil.rmtree(folder, ignore_errors=True)
    torch.manual_seed(sorted(MODELS).index(name))
    made = stirred(getattr(transformers, kind)(getattr(transformers, config)(**sizes, attn_implementation="eager")))
    if name.endswith("bf16"):
        made = made.to(torch.bfloat16)
    made.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    whole = json.loads(tokeniser.to_str())
    (folder / "tokenizer.json").write_text(json.dumps(whole, ensure_ascii=False, separators=(",", ":")), "utf-8")
    # Read back: what the file holds is the model, and RoPE's own numbers stay as they are made.
    plain = {"experts_implementation": "eager"} if "num_experts_per_tok" in sizes or name == "mixtral" else {}
    made = type(made).from_pretrained(folder, attn_implementation="eager", dtype=torch.float64, **plain).eval()
    found = expected(made, tokeniser)
    if name not in DOUBLE:  # they turn queries and norm rows in float32, whatever the model's own numbers are
        found = {key: x.astype(np.float32) if x.dtype == np.float64 else x for key, x in found.items()}
    np.savez_compressed(folder / "expected.npz", **found)
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(name, sorted(path.name for path in folder.iterdir()), size)


def expected(model: Any, tokeniser: Tokenizer) -> dict[str, Any]:
    """Tokens, hidden states, weights and, where there are any, logits of each sentence."""
    found: dict[str, Any] = {"sentences": np.array(SENTENCES)}
    if model.config.is_encoder_decoder:
        found |= of_decoder(model, tokeniser)
        model = model.get_encoder()
    for at, sentence in enumerate(SENTENCES):
        ids = tokeniser.encode(sentence)
        with torch.no_grad():
            out = model(torch.tensor([ids.ids]), output_hidden_states=True, output_attentions=True)
        found[f"tokens{at}"] = np.array(ids.tokens)
        found[f"hidden{at}"] = np.stack([state[0].numpy() for state in out.hidden_states])
        found[f"weights{at}"] = np.stack([weights[0].numpy() for weights in out.attentions])
        print("   largest weight of a row, mean:", round(float(found[f"weights{at}"].max(-1).mean()), 2))
    return found


def of_decoder(model: Any, tokeniser: Tokenizer) -> dict[str, Any]:
    """The weights of the decoder, which reads the second sentence as the encoder reads the first."""
    first, second = (tokeniser.encode(sentence).ids for sentence in SENTENCES[:2])
    read = torch.tensor([[model.config.decoder_start_token_id, *second][: len(second)]])
    with torch.no_grad():
        out = model.base_model(torch.tensor([first]), decoder_input_ids=read, output_attentions=True)
    parts = {"decoder": out.decoder_attentions, "cross": out.cross_attentions}
    return {part: np.stack([weights[0].numpy() for weights in each]) for part, each in parts.items()}


def write_minilm(folder: Path) -> None:
    """What Transformers computes of all-MiniLM-L6-v2: every 48th column of the states, one head of each layer."""
    tokeniser = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokeniser.no_padding()
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager", dtype=torch.float64).eval()
    found = expected(model, tokeniser)
    for name in found:
        found[name] = found[name][..., ::48] if name.startswith("hidden") else found[name]
        found[name] = found[name][:, 2] if name.startswith("weights") else found[name]
    np.savez_compressed(HERE / "minilm.npz", **found)


def write_vit() -> None:
    """A model of images: what its processor makes of an image of another size, and what the model computes of that."""
    folder = HERE / "vit"
    shutil.rmtree(folder, ignore_errors=True)
    torch.manual_seed(len(MODELS))
    sizes = {name: SMALL[name] for name in ("hidden_size", "intermediate_size", "num_hidden_layers")}
    config = transformers.ViTConfig(**sizes, num_attention_heads=4, image_size=24, patch_size=8, num_labels=3)
    stirred(transformers.ViTForImageClassification(config)).save_pretrained(folder)
    processor = transformers.ViTImageProcessorPil(size={"height": 24, "width": 24}, image_mean=[0.4, 0.5, 0.6])
    processor.save_pretrained(folder)
    kind = transformers.ViTForImageClassification
    made = kind.from_pretrained(folder, attn_implementation="eager", dtype=torch.float64).vit.eval()
    image = np.random.default_rng(7).integers(0, 256, (31, 40, 3)).astype(np.uint8)
    pixels = processor(images=image, return_tensors="pt")["pixel_values"].double()
    with torch.no_grad():
        out = made(pixels, output_hidden_states=True, output_attentions=True)
    states = [*out.hidden_states[:-1], out.last_hidden_state]
    found = {"image": image, "pixels": pixels[0].numpy().transpose(1, 2, 0)}
    found |= {"hidden": np.stack([state[0].numpy() for state in states])}
    found |= {"weights": np.stack([weights[0].numpy() for weights in out.attentions])}
    print("vit: largest weight of a row, mean:", round(float(found["weights"].max(-1).mean()), 2))
    np.savez_compressed(folder / "image.npz", **found)


if __name__ == "__main__":
    for each in sys.argv[1:] or (*MODELS, "vit"):
        if each == "vit":
            write_vit()
        elif each.startswith("minilm="):
            write_minilm(Path(each.removeprefix("minilm=")))
        else:
            write(each)
