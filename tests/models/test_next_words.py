"""Next words: the last norm and the output matrix, after every layer."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import Config, ConfigError, of_weights, run
from attnviz.models.next_words import logits, most_likely
from attnviz.models.safetensors import Tensors
from tests.support.cases import for_each
from tests.support.small_models import FOLDER, NAMES, model

WORDS = "the king and the queen"
ENCODERS = ("bert", "distilbert", "roberta")


@for_each("name", [name for name in NAMES if name not in ENCODERS])
def test_the_words_after_the_last_layer_are_those_of_the_model(name: str) -> None:
    made = model(name)
    trace = made(WORDS)
    if not made.writes_on:
        with pytest.raises(ConfigError, match="does not write on"):
            made.logit_lens(trace, 2)
        return
    found = made.logit_lens(trace, 2, most=4)
    assert len(found) == len(trace.layers) + 1
    tensors = Tensors(FOLDER / name)
    table = tensors["lm_head.weight"] if "lm_head.weight" in tensors else made._tables["tokens"]
    row = trace["final_normed"].array[2] @ np.asarray(table, dtype=float).T
    if made.shape.logits_softcap:
        row = made.shape.logits_softcap * np.tanh(row / made.shape.logits_softcap)
    shares = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
    best = np.argsort(-shares, kind="stable")[:4]
    assert [share for _, share in found[-1]] == pytest.approx(shares[best].tolist())
    ids = {piece: number for number, piece in ((n, made.tokenise.piece(n)) for n in range(len(table)))}  # type: ignore[attr-defined]
    assert [ids.get(piece) for piece, _ in found[-1]] == best.tolist()
    assert found[0] != found[-1]


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_does_not_write_on(name: str) -> None:
    assert not model(name).writes_on
    with pytest.raises(ConfigError, match="does not write on"):
        model(name).next_words(WORDS)


def test_a_row_that_there_is_not_and_a_run_of_something_else_are_said() -> None:
    made = model("gpt2")
    trace = made(WORDS)
    n = len(trace.query_tokens)
    assert made.logit_lens(trace, -1) == made.logit_lens(trace, n - 1)
    for row in (n, 99, -n - 1, 1.5, "the"):
        with pytest.raises(ConfigError, match=rf"row is {row}; the run has {n} tokens, choose 0 to {n - 1}"):
            made.logit_lens(trace, row)
    for other in (run(Config()), of_weights(np.eye(3)), model("llama")(WORDS), "the cat"):
        with pytest.raises(ConfigError, match="no run of this model; give one that the model made"):
            made.logit_lens(other, 0)  # type: ignore[arg-type]


def test_blocks_of_the_table_and_its_cap_by_hand() -> None:
    table = np.arange(2 * 5000.0).reshape(5000, 2).astype(np.float32) / 5000
    H = np.array([[1.0, -0.5]])
    np.testing.assert_allclose(logits(H, table), H @ table.astype(float).T)
    np.testing.assert_allclose(logits(H, table, 0.3), 0.3 * np.tanh(H @ table.astype(float).T / 0.3))
    assert [number for number, _ in most_likely(np.array([0.1, 0.6, 0.3]), 2)] == [1, 2]
