"""What README promises of a change, sentence by sentence, and what it says is not promised."""

from __future__ import annotations

import numpy as np

from attnviz import Config, run

SENTENCE = "the cat sat on the mat"


def test_another_head_leaves_the_others_alone_in_the_first_layer_only():
    few, more = (run(Config(sentence=SENTENCE, n_heads=n, n_layers=2)) for n in (4, 5))
    for name in ("w_q", "queries", "keys", "values", "scores", "weights", "heads"):
        np.testing.assert_array_equal(few.layers[0][name].array, more.layers[0][name].array[:4])
    assert not np.allclose(few.layers[1]["weights"].array, more.layers[1]["weights"].array[:4])


def test_heads_that_share_keys_are_grouped_anew_by_their_number():
    few, more = (run(Config(sentence=SENTENCE, n_heads=n, n_kv_heads=2)) for n in (4, 6))
    np.testing.assert_array_equal(few["queries"].array, more["queries"].array[:4])
    np.testing.assert_array_equal(few["keys"].array, more["keys"].array)
    assert not np.allclose(few["weights"].array[2], more["weights"].array[2])


def test_a_wider_embedding_keeps_the_numbers_that_were_there():
    for embedding in ("normal", "uniform", "binary"):
        narrow, wide = (run(Config(sentence=SENTENCE, embedding=embedding, d_model=d)) for d in (8, 9))
        np.testing.assert_array_equal(narrow["token_embeddings"].array, wide["token_embeddings"].array[:, :8])


def test_a_word_has_one_vector_but_as_one_hot_or_as_own_numbers():
    for embedding in ("normal", "uniform", "binary", "spelling", "one_hot", "own"):
        one, other = (
            run(Config(sentence=words, embedding=embedding, own_numbers="1 2\n3 4")) for words in ("the cat", "cat the")
        )
        same = np.array_equal(one["token_embeddings"].array, other["token_embeddings"].array[::-1])
        assert same == (embedding not in ("one_hot", "own"))


def test_heads_set_by_hand_are_solved_from_the_whole_sentence():
    one, other = (run(Config(sentence=words, initialiser="by_hand")) for words in (SENTENCE, SENTENCE + " again"))
    np.testing.assert_array_equal(one["token_embeddings"].array, other["token_embeddings"].array[:6])
    assert not np.allclose(one["w_q"].array, other["w_q"].array)
