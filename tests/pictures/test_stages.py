"""Any step as a picture: its numbers, its words, and where it is masked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.lessons.catalogue import LESSONS
from attnviz.pictures.stages import side_by_side, stage
from attnviz.settings.language import set_language
from attnviz.text import step_names
from tests.support.page_script import heading

SETTINGS = [
    Config(sentence="a b c d e", mask="causal", d_v=(3, 1), n_heads=2),
    Config(sentence="a b c", second_sentence="k l m n", mask="no_self", score="additive", projection_bias=True),
    Config(sentence="a b c", n_layers=2, residual=True, norm="post", feed_forward="relu", bias="t5", position="rope"),
]


@pytest.mark.parametrize("config", SETTINGS)
def test_every_step_can_be_drawn_with_its_own_numbers(config: Config) -> None:
    trace = run(config)
    for layer in range(config.n_layers):
        for name, step in step_names.steps(trace, layer).items():
            picture = stage(trace, step, name)
            assert picture.array.ndim == 3
            assert picture.array.size == step.array.size
            np.testing.assert_array_equal(picture.array.ravel(), step.array.ravel())
            assert len(picture.rows) == picture.array.shape[1]
            assert picture.columns is None or len(picture.columns) == picture.array.shape[2]


def test_the_three_that_stand_side_by_side() -> None:
    trace = run(SETTINGS[0])
    scores, weights, outputs = side_by_side(trace, 0)
    assert [scores.title, weights.title, outputs.title] == ["QKᵀ", "Weights", "Outputs"]
    assert (scores.kind, weights.kind, outputs.kind) == ("signed", "share", "signed")
    assert scores.rows == scores.columns == trace.query_tokens
    assert outputs.widths == (3, 1)
    assert scores.masked is not None
    np.testing.assert_array_equal(scores.masked, np.broadcast_to(~np.tri(5, dtype=bool), (2, 5, 5)))
    assert outputs.masked is None


def test_scores_that_are_no_product_are_not_called_one() -> None:
    assert side_by_side(run(SETTINGS[1]), 0)[0].title == "Scores"


def test_a_bias_of_minus_infinity_is_masked_too() -> None:
    trace = run(Config(sentence="a b"), edits=[(0, "masked", (0, 1, 0), -np.inf)])
    masked = side_by_side(trace, 0)[1].masked
    assert masked is not None
    assert masked[0].tolist() == [[False, False], [True, False]]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "softmax(S / √d_k)"),
        ({"scale": 2.0, "bias": "alibi"}, "softmax(2 S + bias)"),
        ({"score": "cosine", "temperature": 0.1, "normaliser": "sparsemax"}, "sparsemax(S / 0.1)"),
    ],
)
def test_the_formula_above_the_weights_is_that_of_the_setting(settings: dict[str, object], words: str) -> None:
    assert side_by_side(run(Config(**settings)), 0)[1].formula == words  # type: ignore[arg-type]


def test_heads_that_were_made_for_something_are_called_so() -> None:
    trace = run(Config(initialiser="by_hand", n_heads=4, n_kv_heads=2))
    weights = side_by_side(trace, 0)[1]
    labels = ["previous token", "previous token", "same word", "same word"]
    assert weights.heads == [f"head {h + 1} · {label}" for h, label in enumerate(labels)]
    assert stage(trace, trace["keys"], "K").heads == ["key/value head 1", "key/value head 2"]
    assert stage(run(Config(n_heads=2)), run(Config(n_heads=2))["keys"], "K").heads == ["head 1", "head 2"]


def test_the_alternative_text_says_where_the_largest_number_is() -> None:
    trace = run(Config(sentence="a b c", mask="causal", n_heads=2))
    assert "2 heads over 3 queries and 3 keys; largest 1 in head 1, query “a”, key “a”" in side_by_side(trace, 0)[1].alt


def test_a_step_of_the_second_layer_is_described_by_its_own_numbers() -> None:
    trace = run(Config(sentence="a b c", n_layers=2))
    first, second = (stage(trace, trace.layers[layer]["scores"], "S").alt for layer in (0, 1))
    assert first != second


def test_a_head_that_does_not_do_what_it_was_made_for_says_so():
    made = run(Config(initialiser="by_hand"))
    lost = run(Config(initialiser="by_hand", position="none"))
    assert list(stage(made, made["weights"], "A").names) == [
        "head 1 · previous token",
        "head 2 · same word",
        "head 3 · first token",
        "head 4 · all alike",
    ]
    names = list(stage(lost, lost["weights"], "A").names)
    assert names[2] == "head 3 · first token, missed"
    assert names[1] == "head 2 · same word"
    assert "head 3 · first token, missed" in stage(lost, lost["scores"], "S").names


def test_a_legend_shows_the_half_of_the_scale_that_has_numbers_in_it() -> None:
    trace = run(LESSONS["bits"].config)
    bits = stage(trace, trace["embedded"], "X")
    assert (bits.scale.low, bits.scale.high) == (-1, 1)
    assert (bits.legend.low, bits.legend.high, bits.legend.colours) == (0, 1, bits.scale.colours[2:])
    legend = heading(bits).partition('class="attn-legend">')[2]
    assert legend.startswith("0<i ")
    assert "+1</span>" in legend
    below = replace(bits, array=-bits.array)
    assert (below.legend.low, below.legend.high, below.legend.colours) == (-1, 0, bits.scale.colours[:3])
    both = replace(bits, array=np.where(np.arange(7) > 3, -bits.array, bits.array))
    assert both.legend == both.scale
    assert replace(bits, array=0 * bits.array).legend.low == -1  # nothing says which half it would be


def test_the_formula_over_a_picture_is_written_as_the_language_does() -> None:
    trace = run(Config(sentence="a b", temperature=0.3))
    weights = side_by_side(trace, 0)[1]
    assert "/ 0.3)" in heading(weights)
    set_language("de")
    try:
        assert "/ 0,3)" in heading(weights)
    finally:
        set_language("en")
