"""What a token becomes: one vector a token, wherever it stands."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import EMBEDDINGS, Config, ConfigError, run
from attnviz.engine.tables.embeddings import ngrams, parse, spelling, written
from tests.support.cases import for_each

BY_TOKEN = ["normal", "uniform", "binary", "spelling"]


def embedded(**settings: object) -> np.ndarray:
    return run(Config(**({"position": "none"} | settings)))["embedded"].array  # type: ignore[arg-type]


@for_each("name", BY_TOKEN)
def test_a_token_has_one_vector_in_any_position_of_any_sentence(name: str) -> None:
    here, there = embedded(embedding=name, sentence="a cat saw a cat"), embedded(embedding=name, sentence="the cat")
    assert (here[1] == here[4]).all()
    assert (here[1] == there[1]).all()
    assert not (here[1] == here[2]).all()  # cat and saw: of one length, but two words


@for_each("name", [*BY_TOKEN, "one_hot"])
def test_a_wider_embedding_keeps_the_columns_that_were_there(name: str) -> None:
    narrow, wide = (embedded(embedding=name, sentence="one two three", d_model=d) for d in (5, 9))
    assert (wide[:, :5] == narrow).all()


@for_each("name", BY_TOKEN)
def test_another_seed_gives_other_numbers(name: str) -> None:
    assert not (embedded(embedding=name, seed=0) == embedded(embedding=name, seed=1)).all()


def test_ranges() -> None:
    assert set(np.unique(embedded(embedding="binary"))) == {0.0, 1.0}
    uniform = embedded(embedding="uniform", d_model=256)
    assert 0 <= uniform.min() < uniform.max() < 1


def test_one_hot_counts_by_first_appearance_over_both_sentences() -> None:
    trace = run(Config(sentence="b a b", second_sentence="c a", embedding="one_hot", position="none", d_model=3))
    assert trace["embedded"].array.argmax(axis=1).tolist() == [0, 1, 0]
    assert trace["embedded_kv"].array.argmax(axis=1).tolist() == [2, 1]
    assert (trace["embedded"].array.sum(axis=1) == 1).all()


def test_one_hot_with_too_few_columns_says_so() -> None:
    trace = run(Config(sentence="a b c", embedding="one_hot", position="none", d_model=2))
    assert trace["embedded"].array.tolist() == [[1, 0], [0, 1], [0, 0]]
    assert "3 different tokens and has 2" in trace.notes[0]


def test_like_spellings_are_near() -> None:
    words = ("cat", "cats", "street", "xylophone")

    def near(a: int, b: int) -> float:
        E = spelling(words, 256, (), seed=0)
        return float(E[a] @ E[b] / np.linalg.norm(E[a]) / np.linalg.norm(E[b]))

    assert near(0, 1) > 0.5
    assert abs(near(0, 3)) < 0.2


def test_long_words_are_no_longer_vectors() -> None:  # neither word repeats a letter group
    E = spelling(("it", "background"), 4096, (), seed=0)
    np.testing.assert_allclose((E**2).mean(axis=1), 1.0, atol=0.3)


def test_ngrams_of_a_word() -> None:
    assert ngrams("ab") == ("a", "b", "<a", "ab", "b>", "<ab", "ab>")


@for_each(
    "text, rows",
    [
        ("1 2 3\n4 5 6", [[1, 2, 3], [4, 5, 6]]),
        ("1,2;3,4", [[1, 2], [3, 4]]),
        ("[[0.5, -1e-3],\n [2, 3]]", [[0.5, -0.001], [2, 3]]),
        ("1\t2\r\n3\t4\n\n", [[1, 2], [3, 4]]),
        ("", []),
    ],
)
def test_numbers_as_people_write_them(text: str, rows: list[list[float]]) -> None:
    assert parse(text) == rows


@for_each(
    "text, position",
    [
        ("1 nan", "row 1, column 2"),
        ("1 2\n3 inf", "row 2, column 2"),
        ("1 2\n1e7 4", "row 2, column 1"),
        ("a", "row 1"),
    ],
)
def test_a_number_that_is_none_is_named_by_its_position(text: str, position: str) -> None:
    with pytest.raises(ConfigError, match=position):
        run(Config(embedding="own", own_numbers=text))


def test_own_numbers_may_be_an_array_and_come_back_exactly() -> None:
    numbers = np.array([[1 / 3, -2e-7, 1e6], [0.1, 0.2, 0.30000000000000004]])
    config = Config(sentence="a b", embedding="own", own_numbers=numbers, d_model=3, position="none")  # type: ignore[arg-type]
    assert (run(config)["embedded"].array == numbers).all()
    assert written(config.own_numbers) == config.own_numbers


def test_own_numbers_that_do_not_fit_are_filled_up_and_said() -> None:
    trace = run(Config(sentence="a b c", embedding="own", own_numbers="1 2 3\n4", d_model=2, position="none"))
    assert trace["embedded"].array.tolist() == [[1, 2], [4, 0], [0, 0]]
    assert "3 rows of 2 are needed" in trace.notes[0]


def test_own_numbers_of_another_form_are_refused() -> None:
    with pytest.raises(ConfigError, match="3 axes"):
        Config(own_numbers=np.zeros((2, 2, 2)))  # type: ignore[arg-type]


@for_each("name", EMBEDDINGS)
def test_positions_are_added(name: str) -> None:
    trace = run(Config(embedding=name, position="sinusoidal", own_numbers="1 2"))
    total = trace["token_embeddings"].array + trace["positions"].array
    assert (trace["embedded"].array == total).all()
