"""YaRN in every family that rotates, against what Transformers makes of the same config.json."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import ConfigError, load
from tests.support.small_models import FOLDER, model

YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 10}
BETWEEN = {"rope_theta": 100.0, "original_max_position_embeddings": 200}
"""With these some angles are divided by a part of the factor."""

TEXT = "the king and the queen saw a dog"
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "the usual": ("llama", {"rope_parameters": YARN}),
    "a factor of its own": ("qwen2", {"rope_parameters": YARN | {"attention_factor": 0.8}}),
    "two scales": ("qwen3", {"rope_parameters": YARN | {"mscale": 0.707, "mscale_all_dim": 1.3}}),
    "one scale alone": ("mistral", {"rope_parameters": YARN | {"mscale": 0.707}}),
    "turned in part": ("qwen3", {"rope_parameters": YARN | BETWEEN}),
    "not rounded": ("qwen3_moe", {"rope_parameters": YARN | BETWEEN | {"truncate": False}}),
    "other bounds": ("llama", {"rope_parameters": YARN | {"beta_fast": 2.0, "beta_slow": 0.1, "truncate": False}}),
    "a factor of 1": ("olmo2", {"rope_parameters": YARN | {"factor": 1.0}}),
    "no positions before": (
        "starcoder2", {"rope_parameters": {k: v for k, v in YARN.items() if not k.startswith("original")}}
    ),
    "positions outside": ("gemma", {"rope_parameters": YARN, "original_max_position_embeddings": 20}),
    "an old file": (
        "gemma2",
        {"rope_parameters": None, "rope_theta": 500.0,
         "rope_scaling": {"type": "yarn", "factor": 2.0, "original_max_position_embeddings": 20}},
    ),
    "one kind of layer": (
        "gemma3",
        {"rope_parameters": {"full_attention": YARN | {"truncate": False},
                             "sliding_attention": {"rope_type": "default", "rope_theta": 100.0}}},
    ),
}  # fmt: skip


def rewritten(name: str, changes: dict[str, Any], to: Path) -> Path:
    """A copy of a small model whose config.json says something else."""
    folder = Path(shutil.copytree(FOLDER / name, to / name))
    path = folder / "config.json"
    said = {key: value for key, value in (json.loads(path.read_text()) | changes).items() if value is not None}
    path.write_text(json.dumps(said))
    return folder


@pytest.mark.parametrize("case", CASES)
def test_a_stretched_rotation_is_that_of_transformers(case: str, tmp_path: Path, torch: Any) -> None:
    transformers = pytest.importorskip("transformers")
    name, changes = CASES[case]
    folder = rewritten(name, changes, tmp_path)
    plain = {"experts_implementation": "eager"} if model(name).shape.n_experts else {}
    how = {"attn_implementation": "eager", "dtype": torch.float64} | plain
    made = transformers.AutoModelForCausalLM.from_pretrained(folder, **how).eval()
    trace = load(folder)(TEXT)
    with torch.no_grad():
        out = made(torch.tensor([list(trace.token_ids)]), output_hidden_states=True, output_attentions=True)
    for layer, weights in zip(trace.layers, out.attentions, strict=True):
        np.testing.assert_allclose(layer["weights"].array, weights[0].numpy(), rtol=0, atol=1e-5)
    state = out.hidden_states[-1][0].numpy()
    np.testing.assert_allclose(trace.result.array, state, rtol=0, atol=1e-5 * max(1.0, np.abs(state).max()))
    if case != "a factor of 1":
        assert np.abs(trace.result.array - model(name)(TEXT).result.array).max() > 1e-3


@pytest.mark.parametrize(
    ("name", "rope", "message"),
    [
        (
            "gpt_neox",
            YARN | {"partial_rotary_factor": 0.5},
            r"attention_factor is 1\.13.*; what is read here: 1\.0 where",
        ),
        ("phi3", YARN, "rope_type is 'yarn'; what is read here: default, linear, llama3;"),
        ("llama", YARN | {"factor": -1}, "factor is -1; what is read here: a number above 0"),
        ("llama", YARN | {"rope_theta": 1.0}, r"rope_theta is 1\.0; what is read here: a number above 1"),
        ("llama", YARN | {"beta_fast": "32"}, "beta_fast is '32'; what is read here: a number above 0"),
    ],
    ids=str,
)
def test_a_stretched_rotation_that_cannot_be_is_said(
    name: str, rope: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=message):
        load(rewritten(name, {"rope_parameters": rope}, tmp_path))
