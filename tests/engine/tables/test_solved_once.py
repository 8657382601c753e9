"""Heads set by hand are solved once: what is changed beside them is seen, and old links keep their numbers."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import Config, Trace, run
from attnviz.engine.solved_heads import STANDARD_WIDTH
from attnviz.settings.url_codec import open_link, query_string
from attnviz.ui.main import OPENING

pytestmark = pytest.mark.filterwarnings("error")

READERS = Config(
    sentence="the king saw his queen while a dog chased our cat",
    embedding="meaning",
    d_model=64,
    d_k=8,
    initialiser="by_hand",
    patterns=("alike", "previous", "next", "first"),
)
MATRICES = ("w_q", "w_k", "w_v", "w_o")
ONE_LAYER = ("previous", "same_word", "first", "uniform", "next")
CHANGES: tuple[dict[str, Any], ...] = (
    {"score": "dot"},
    {"score": "gaussian"},
    {"score": "additive"},
    {"scale": 0.1},
    {"position": "none"},
    {"position": "random"},
    {"position": "rope"},
    {"mask": "causal"},
    {"mask": ("window", "no_self")},
    {"temperature": 3.0},
    {"softcap": 2.0},
    {"bias": "alibi"},
    {"normaliser": "sparsemax"},
    {"normalise_over": "queries"},
)


def least(trace: Trace, head: int, keys: list[list[int]]) -> float:
    """The least share that a row of a head puts on its keys, none of which counts for more than its equal part."""
    A = trace["weights"].array[head]
    return min(sum(min(A[i, j], 1 / len(row)) for j in row) for i, row in enumerate(keys))


def keys_of(name: str, words: tuple[str, ...]) -> list[list[int]]:
    n = len(words)
    return {
        "previous": [[max(i - 1, 0)] for i in range(n)],
        "next": [[min(i + 1, n - 1)] for i in range(n)],
        "first": [[0]] * n,
        "same_word": [[j for j in range(n) if words[j] == word] for word in words],
        "uniform": [list(range(n))] * n,
    }[name]


@pytest.mark.parametrize(
    "config",
    [
        READERS,
        replace(READERS, n_layers=2, residual=True),
        replace(READERS, n_layers=2, patterns=ONE_LAYER, second_sentence="a cat and the king"),
        Config(
            sentence="A B C D A B C", bos=True, n_heads=1, patterns="induction", n_layers=2, residual=True,
            initialiser="by_hand",
        ),
    ],
    ids=["one layer", "two layers", "two sentences", "induction"],
)  # fmt: skip
@pytest.mark.slow
def test_what_is_changed_leaves_every_matrix_and_is_seen(config: Config) -> None:
    before = run(config)
    for change in CHANGES:
        after = run(replace(config, **change))
        for name in MATRICES:
            for one, other in zip(before.layers, after.layers):
                np.testing.assert_array_equal(one[name].array, other[name].array, err_msg=f"{change} {name}")
        if change != {"mask": "causal"} or "induction" not in config.patterns:
            assert abs(after["weights"].array - before["weights"].array).max() > 5e-4, change


def test_a_wider_head_has_the_columns_that_there_were() -> None:
    narrow = run(replace(READERS, d_k=4))
    for d_k in (8, 64, (4, 9, 5, 16)):
        wide = run(replace(READERS, d_k=d_k))
        for name in ("w_q", "w_k"):
            np.testing.assert_array_equal(wide[name].array[:, :, :4], narrow[name].array)
        assert abs(wide["weights"].array - narrow["weights"].array)[1:].max() > 0.01


def test_without_positions_a_head_for_positions_takes_all_words_alike_and_one_for_words_stays() -> None:
    with_positions, without = (run(replace(READERS, position=name))["weights"].array for name in ("sinusoidal", "none"))
    np.testing.assert_allclose(without[1:], 1 / 11, rtol=0, atol=1e-12)
    np.testing.assert_allclose(without[0], with_positions[0], rtol=0, atol=1e-9)


def test_sharpness_is_the_gap_in_score_at_the_defaults() -> None:
    setting = Config(initialiser="by_hand", patterns="previous", n_heads=1, sharpness=3.5)
    assert setting.d_k == STANDARD_WIDTH
    for change, gap in (({}, 3.5), ({"score": "dot"}, 7.0), ({"d_k": 16}, 1.75), ({"d_k": 2}, 3.5 * 2**0.5)):
        best = np.sort(run(replace(setting, **change))["scaled"].array[0, 1:], axis=-1)
        np.testing.assert_allclose(best[:, -1] - best[:, -2], gap, rtol=0, atol=0.05)


@pytest.mark.slow
def test_a_head_attends_to_what_it_was_made_for() -> None:
    sentences = (
        "the cat sat on the warm mat", "a rose is a rose is a rose", "no no no no no", "one",
        " ".join(f"w{i % 11}" for i in range(16)), "so so so so so so so so what",
    )  # fmt: skip
    for sentence in sentences:
        for d_model in (16, 32, 64):
            for embedding in ("normal", "uniform", "spelling"):
                setting = Config(initialiser="by_hand", patterns=ONE_LAYER, n_heads=5, sentence=sentence)
                trace = run(replace(setting, d_model=d_model, embedding=embedding))
                for head, name in enumerate(ONE_LAYER):
                    share = least(trace, head, keys_of(name, trace.query_tokens))
                    assert share >= 0.98, (sentence, d_model, embedding, name)
                assert trace.notes == ()


def test_a_note_names_what_is_not_as_the_heads_were_made_for() -> None:
    for change, said in (
        ({"position": "none"}, "Positional encoding"),
        ({"position": "rope"}, "Positional encoding"),
        ({"d_k": 64}, "Width of queries and keys, d_k"),
        ({"temperature": 9.0}, "Temperature"),
    ):
        notes = run(replace(READERS, patterns="previous", **{"d_k": 4} | change)).notes
        assert len(notes) == 1
        assert notes[0].endswith(f"this setting is not the one that it is made for: {said}."), notes
    assert run(replace(READERS, score="dot")).notes == ()
    for sharpness in (1.0, 2.0):  # at a width of 4 they miss it, too
        (note,) = run(replace(OPENING, sharpness=sharpness)).notes
        assert note.endswith(": a higher sharpness helps.")
    (note,) = run(replace(OPENING, d_k=64)).notes
    assert note.endswith("Width of queries and keys, d_k.")


def test_words_that_are_equal_take_exactly_the_same() -> None:
    setting = Config(initialiser="by_hand", patterns="same_word", n_heads=1, d_model=64)
    A = run(replace(setting, sentence="a b a c a d e f g a h i j k l m n a"))["weights"].array[0]
    np.testing.assert_allclose(A[0, [0, 2, 4, 9, 17]], A[0, 0], rtol=1e-10, atol=0)


OLD = {
    "v=1&initialiser=by_hand&score=dot&d_k=8": [
        2.1969221083909387, 1.6862231895006619, 0.9950669511346135, -1.0752420748839282,
    ],
    "v=1&sentence=the+king+saw+his+queen+while+a+dog+chased+our+cat&embedding=meaning&d_model=64&d_k=8"
    "&initialiser=by_hand&patterns=alike.previous.next.first&mask=no_self": [
        -0.01779494356396198, -0.07767302541546665, 0.01175350047854552, -0.25087704534714206,
    ],
    "v=1&sentence=A+B+C+D+A+B+C&bos=yes&n_heads=1&initialiser=by_hand&patterns=induction&mask=causal&n_layers=2"
    "&residual=yes&position=random": [
        -0.6372321679237674, -1.4955924748841314, 2.054692402842372e-05, 0.29761788972524694,
    ],
}  # fmt: skip
"""Numbers of the last layer, as they were before heads were solved once."""


def test_an_old_link_keeps_its_numbers() -> None:
    for link, numbers in OLD.items():
        (config,), problems = open_link(link, Config)
        assert problems == []
        layer = run(config).layers[-1]
        cells = (("w_q", (0, 1, 0)), ("w_k", (0, 2, 1)), ("weights", (0, 2, 1)), ("output", (1, 2)))
        np.testing.assert_allclose([layer[name].array[at] for name, at in cells], numbers, rtol=1e-10)
        assert open_link(query_string(config), Config) == ((config,), [])
        assert not open_link(link.replace("v=1&", ""), Config)[0][0].solved_anew


@pytest.mark.slow
def test_no_matrix_holds_numbers_beyond_reason() -> None:
    """Rows that are nearly dependent once made entries up to 1e9; a link that has them says so."""
    near = Config(
        sentence="a b c", embedding="own", own_numbers="1 0 0 0; 1 1e-8 0 0; 1 0 1e-8 0", d_model=4, position="none",
        initialiser="by_hand", n_heads=1, patterns="same_word", solved_anew=True,
    )  # fmt: skip
    (note,) = run(near).notes
    assert note.startswith("Head 1: rows of X are so nearly dependent that W_Q or W_K has entries up to 4e+08;")
    assert largest(run(near)) > 3e8
    rng = random.Random(7)  # noqa: S311 (no secret)
    patterns = ("previous", "same_word", "first", "uniform", "next", "induction", "alike")
    for layers in (1, 2, 3, 3):
        for norm in ("none", "pre", "post"):
            chosen: dict[str, Any] = {"n_layers": layers, "norm": norm, "tied": rng.random() < 0.5}
            chosen |= {"d_model": rng.choice((4, 8, 16)), "d_k": rng.choice((1, 2, 8)), "bos": rng.random() < 0.5}
            config = Config(initialiser="by_hand", n_heads=3, patterns=rng.sample(patterns, 3), **chosen)
            for trace in (run(config), run(replace(near, solved_anew=False, **chosen))):
                assert largest(trace) < 1e6
                assert not any("nearly dependent that W_Q" in note for note in trace.notes)


def largest(trace: Trace) -> float:
    return max(float(abs(layer[name].array).max()) for layer in trace.layers for name in ("w_q", "w_k"))
