"""The head that does what a head set by hand does, and the relations between words that heads are named for."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import Config, ConfigError, run
from attnviz.analysis.head_kinds import head_kinds
from attnviz.analysis.twins import MAX_TOKENS, set_by_hand, twin
from attnviz.analysis.word_relations import article_to_noun, same_word
from tests.support.cases import for_each
from tests.support.small_models import model

WORDS = "the king saw the old queen and the dog saw a cat"


@for_each("pattern", ["previous", "next", "same_word", "first"])
def test_a_head_set_by_hand_is_its_own_twin(pattern: str) -> None:
    others = [name for name in ("next", "first", "previous", "same_word") if name != pattern]
    trace = run(Config(sentence=WORDS, d_model=64, initialiser="by_hand", n_heads=3, patterns=(*others[:2], pattern)))
    found = twin(trace, pattern)
    assert (found.layer, found.head) == (0, 2)
    assert found.overlap > 0.95
    np.testing.assert_array_equal(found.found, trace["weights"].array[2])
    assert found.all.shape == (1, 3)


def test_the_head_that_is_set_by_hand_does_its_task_on_the_tokens_of_a_model() -> None:
    trace = model("gpt2")(WORDS)
    made = set_by_hand(trace, "previous")
    assert np.diagonal(made, offset=-1).min() > 0.9
    assert np.triu(made, 1).max() == 0.0  # as causal as the model
    np.testing.assert_allclose(made.sum(axis=-1), 1.0)
    free = set_by_hand(model("bert")(WORDS), "next")
    assert np.diagonal(free, offset=1).min() > 0.9


def test_too_long_a_sentence_is_said() -> None:
    with pytest.raises(ConfigError, match=f"{MAX_TOKENS} tokens at most"):
        twin(run(Config(sentence="dog " * (MAX_TOKENS + 1), max_tokens=MAX_TOKENS + 1, n_heads=1)), "previous")


def of(meets: np.ndarray) -> np.ndarray:
    """Weights of a head that goes where it can, and else to the first token."""
    A = meets / np.maximum(meets.sum(axis=-1, keepdims=True), 1)
    A[~meets.any(axis=-1), 0] = 1.0
    return A[None]


def test_heads_are_named_for_what_they_do_in_the_rows_that_can() -> None:
    tokens = ("[CLS]", *WORDS.split(), "[SEP]")
    for kind, meets in (("same", same_word(tokens)), ("article", article_to_noun(tokens))):
        A = of(meets)
        A[:, :, 0] = np.where(meets.any(axis=-1), 0.0, 0.3)
        A[:, ~meets.any(axis=-1), 1:] += 0.7 / (len(tokens) - 1)
        (found,) = head_kinds(A, tokens=tokens)
        assert (found.kind, found.share) == (kind, pytest.approx(1.0))
        assert head_kinds(A)[0].kind not in ("same", "article")


def test_relations_by_hand() -> None:
    tokens = ("[CLS]", "the", "old", "king", ",", "the", "queen", "[SEP]", ",")
    assert np.argwhere(article_to_noun(tokens)).tolist() == [[1, 3], [5, 6]]
    assert np.argwhere(same_word(tokens)).tolist() == [[1, 5], [5, 1]]
    assert not article_to_noun(("the", "[SEP]")).any()
    assert not article_to_noun(("the", "old")).any()
