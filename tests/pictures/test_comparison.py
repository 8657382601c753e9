"""Two runs beside each other: the difference is B - A of the runs' own numbers, the words say where and how much."""

from __future__ import annotations

import numpy as np

from attnviz import Config, run
from attnviz.pictures.comparison import pictures
from attnviz.text import changes
from attnviz.text.changes import Move, change_summary, describe_move, finding, first_difference, moves, pair
from attnviz.text.format.sentence_parts import plain
from tests.support.cases import for_each
from tests.support.page_script import heading
from tests.support.stage_maps import placed

SETTING = {"sentence": "the cat sat on mats", "n_heads": 3, "d_model": 8, "d_k": 3, "d_v": 2}


def two(**change):
    return run(Config(**SETTING)), run(Config(**SETTING | change))


@for_each(
    "change, words",
    [
        ({}, "A and B are the same, number for number."),
        ({"score": "dot"}, "The first step that differs: scaled scores S′."),
        ({"mask": "causal"}, "The first step that differs: mask M."),
        ({"temperature": 0.5}, "The first step that differs: attention weights A."),
        ({"sentence": "the dog sat on mats"}, "A and B differ from the very first step: token embeddings E."),
        ({"output_projection": False}, "The first step that differs: output matrix W_O."),
    ],
)
def test_the_first_step_that_differs_is_named(change, words):
    assert first_difference(*two(**change), 0).endswith(words)


@for_each("name", ["embedded", "queries", "scores", "masked", "weights", "heads", "concat", "output"])
def test_the_difference_is_b_minus_a(name):
    a, b = two(seed=1, mask="causal")
    left, right = pair(a, b, 0, name)
    shown = pictures(a, b, 0, name)[2]
    with np.errstate(invalid="ignore"):
        expected = (b[name].array - a[name].array).reshape(shown.array.shape)
    open_cells = np.isfinite(expected)
    np.testing.assert_array_equal(shown.array[open_cells], expected[open_cells])
    assert (shown.kind, shown.name) == ("signed", "difference")
    assert left.shape == right.shape == a[name].shape


def test_both_share_one_colour_scale_and_the_difference_has_its_own():
    a, b = two(scale=3.0)
    one, other, apart = pictures(a, b, 0, "scaled")
    assert one.scale == other.scale
    assert one.scale.high == max(np.abs(a["scaled"].array).max(), np.abs(b["scaled"].array).max())
    assert apart.scale.high == np.abs(b["scaled"].array - a["scaled"].array).max()


def test_a_difference_that_is_next_to_nothing_is_pale():
    a, b = (run(Config(**SETTING | {"scale": scale})) for scale in (1.0, 1.0001))
    one, _, apart = pictures(a, b, 0, "scaled")
    assert 0 < np.abs(apart.array).max() < 0.001 * one.scale.high
    assert apart.scale.high == 0.01 * one.scale.high


def test_a_cell_masked_in_one_is_drawn_and_one_masked_in_both_is_not():
    a, b = two(mask="causal")
    hidden = pictures(a, b, 0, "weights")[2].masked
    assert not hidden.any()
    c = run(Config(**SETTING | {"mask": "causal", "seed": 1}))
    np.testing.assert_array_equal(pictures(b, c, 0, "weights")[2].masked[0], ~np.tri(5, dtype=bool))


def test_minus_infinity_in_one_is_no_number_to_draw():
    a, b = two(mask="causal")
    hidden = pictures(a, b, 0, "masked")[2].masked
    np.testing.assert_array_equal(hidden[0], ~np.tri(5, dtype=bool))


def test_more_heads_leave_those_of_before_exactly_alone():
    a, b = two(n_heads=5)
    assert len(pictures(a, b, 0, "weights")[2].array) == 3
    assert change_summary(a, b, 0, "weights") == [
        "Attention weights: the same in A and B, number for number (75).",
        "Heads compared: the first 3, of 3 in A and 5 in B.",
    ]
    assert moves(a, b, 0, "weights") == ()


def test_another_shape_is_said_and_both_are_still_shown():
    a, b = two(d_k=4)
    assert [stage.name for stage in pictures(a, b, 0, "queries")] == ["a", "b"]
    assert change_summary(a, b, 0, "queries") == [
        "Query vectors are 3 × 5 × 3 in A and 3 × 5 × 4 in B, so there is no difference to draw."
    ]
    assert moves(a, b, 0, "queries") == ()


def test_a_sentence_with_one_more_word_is_compared_word_by_word():
    a, b = two(sentence="the old cat sat on mats")
    at = [0, 2, 3, 4, 5]  # where the words of A stand in B
    apart = b["weights"].array[:, at][:, :, at] - a["weights"].array
    one, other, shown = pictures(a, b, 0, "weights")
    assert one.array.shape == (3, 5, 5)
    assert other.array.shape == (3, 6, 6)
    assert list(shown.rows) == list(shown.columns) == ["the", "old", "cat", "sat", "on", "mats"]
    np.testing.assert_array_equal(shown.array[:, at][:, :, at], apart)
    grey = np.ones((6, 6), dtype=bool)
    grey[np.ix_(at, at)] = False
    np.testing.assert_array_equal(shown.masked, np.broadcast_to(grey, (3, 6, 6)))
    assert ">not in both</span>" in heading(shown)
    masked = {"sentence": "the old cat sat on mats", "mask": "causal"}
    assert ">not in both</span>" in heading(pictures(a, two(**masked)[1], 0, "weights")[2])
    c = run(Config(**SETTING | {"mask": "causal"}))
    assert ">masked, or not in both</span>" in heading(pictures(c, two(**masked)[1], 0, "weights")[2])
    assert ">masked</span>" in heading(pictures(c, c, 0, "weights")[2])
    assert change_summary(a, b, 0, "weights")[1:] == [
        "There are 5 tokens in A and 6 in B. Only the 5 that both have in the same order are compared; "
        "the others are hatched in the difference."
    ]
    first = moves(a, b, 0, "weights")[0]
    assert abs(first.change) == np.abs(apart).max()
    assert first.b == b["weights"].array[(first.head, *(first.in_b or (first.row, first.column)))]


def test_words_of_both_that_stand_elsewhere_are_named_by_both_positions():
    a = run(Config(sentence="the cat the", n_heads=1))
    b = run(Config(sentence="so the cat the", n_heads=1))
    assert [stage.name for stage in pictures(a, b, 0, "values")] == ["a", "b", "difference"]
    assert "Only the 3 that both have" in change_summary(a, b, 0, "values")[-1]
    named = {
        plain(describe_move(a, b, 0, "scores", move)).partition(":")[0] for move in moves(a, b, 0, "scores", most=9)
    }
    assert "head 1, “the” (1) / “the” (2) → “cat”" in named


def test_no_word_in_common():
    a, b = two(sentence="one two")
    assert change_summary(a, b, 0, "weights")[0].endswith("so there is no difference to draw.")
    assert moves(a, b, 0, "weights") == ()


def test_both_sides_of_cross_attention_are_aligned_by_themselves():
    a, b = two(second_sentence="a dog barks"), None
    a = a[1]
    b = run(Config(**SETTING | {"sentence": "the cat sat on big mats", "second_sentence": "a dog"}))
    shown = pictures(a, b, 0, "scores")[2]
    assert (list(shown.rows), list(shown.columns)) == (
        ["the", "cat", "sat", "on", "big", "mats"],
        ["a", "dog", "barks"],
    )
    assert len(change_summary(a, b, 0, "scores")) == 3


def test_a_step_that_only_one_has():
    a, b = two(bias="alibi")
    assert [stage.name for stage in pictures(a, b, 0, "bias")] == ["b"]
    assert "are absent in A and 3 × 5 × 5 in B" in change_summary(a, b, 0, "bias")[0]


def test_other_words_are_compared_by_position_and_named_both():
    a, b = two(sentence="the dog sat on mats")
    apart = pictures(a, b, 0, "weights")[2]
    assert list(apart.rows) == list(apart.columns) == ["the", "cat / dog", "sat", "on", "mats"]
    assert change_summary(a, b, 0, "weights")[1].startswith("The words differ")
    named = "".join(plain(describe_move(a, b, 0, "weights", move)) for move in moves(a, b, 0, "weights"))
    assert "“cat” / “dog”" in named


def test_the_furthest_moves_come_first_and_are_the_runs_own_numbers():
    a, b = two(seed=4)
    found = moves(a, b, 0, "weights", most=4)
    apart = np.abs(b["weights"].array - a["weights"].array)
    assert [abs(move.change) for move in found] == np.sort(apart, axis=None)[::-1][:4].tolist()
    for move in found:
        at = (move.head, move.row, move.column)
        assert (move.a, move.b) == (a["weights"].array[at], b["weights"].array[at])


def test_a_move_in_words():
    a, b = two(edits=((0, "w_o", (5, 1), 2.0), (0, "scores", (2, 1, 4), 3.0)))
    at = a["scores"].array[2, 1, 4]
    (score,) = moves(a, b, 0, "scores")
    assert score == Move(2, 1, 4, at, 3.0)
    assert plain(describe_move(a, b, 0, "scores", score)) == (
        f"head 3, “cat” → “mats”: {at:.4g} in A, 3 in B (+{3 - at:.4g})".replace("-", "−")
    )
    (entry,) = moves(a, b, 0, "w_o")
    assert plain(describe_move(a, b, 0, "w_o", entry)).startswith("row 6, column 2: ")


def test_how_far_a_step_moved():
    a, b = two(edits=((0, "values", (0, 0, 0), 1.0),))
    size = abs(1.0 - a["values"].array[0, 0, 0])
    assert change_summary(a, b, 0, "values") == [
        f"Value vectors: 1 of 30 numbers moved, by {size / 30:.4g} on average and {size:.4g} at most."
    ]


@for_each("name", sorted(run(Config(n_layers=2, residual=True, feed_forward="relu")).layers[1]))
def test_every_step_can_be_compared(name):
    setting = {"n_layers": 2, "residual": True, "feed_forward": "relu", "d_k": (3, 2), "n_heads": 2}
    a, b = run(Config(**setting)), run(Config(**setting, seed=1))
    shown = pictures(a, b, 1, name)
    assert placed(shown, 1200, 600).tilings
    assert changes.change_summary(a, b, 1, name)
    for move in moves(a, b, 1, name):
        assert plain(describe_move(a, b, 1, name, move))


def test_fewer_key_value_heads_are_a_difference_from_the_first_matrix_on():
    a, b = two(n_heads=4), run(Config(**SETTING | {"n_heads": 4, "n_kv_heads": 1}))
    a = run(Config(**SETTING | {"n_heads": 4}))
    assert first_difference(a, b, 0).endswith("The first step that differs: key matrices W_K.")
    assert change_summary(a, b, 0, "keys")[1] == "Heads compared: the first 1, of 4 in A and 1 in B."


def test_more_layers_are_said():
    a, b = two(n_layers=3)
    assert first_difference(a, b, 0) == "A and B are the same in layer 1. Layers in all: 1 in A, 3 in B."


def test_what_is_forbidden_in_one_alone_is_counted_apart():
    a, b = two(mask="causal")
    assert change_summary(a, b, 0, "masked") == [
        "Masked scores: the same in A and B, number for number (45).",
        "In 30 cells one of them is minus infinity and the other is not.",
    ]
    c = run(Config(**SETTING | {"mask": "causal", "scale": 3.0}))
    first, second = change_summary(a, c, 0, "masked")
    open_cells = np.tri(5, dtype=bool)
    apart = np.abs(c["masked"].array - a["masked"].array)[:, open_cells]
    assert (
        first
        == f"Masked scores: 45 of 45 numbers moved, by {apart.mean():.4g} on average and {apart.max():.4g} at most."
    )
    assert second.startswith("In 30 cells")


def test_rounding_is_not_a_move():
    a, b = run(Config(**SETTING, temperature=3.0)), run(Config(**SETTING, scale=3**-1.5))
    assert not np.array_equal(a["weights"].array, b["weights"].array)
    assert change_summary(a, b, 0, "weights")[0].startswith(
        "Attention weights: the 75 numbers differ by rounding only, "
    )
    assert moves(a, b, 0, "weights") == ()


def test_a_head_that_misses_in_one_run_only_has_no_purpose_in_the_difference():
    a, b = (run(Config(initialiser="by_hand", position=position)) for position in ("sinusoidal", "none"))
    _, other, apart = pictures(a, b, 0, "weights")
    assert list(other.names)[2] == "head 3 · first token, missed"
    assert list(apart.names) == ["head 1", "head 2 · same word", "head 3", "head 4 · all alike"]


def test_where_two_runs_differ_most_is_said_in_one_sentence():
    a, b = two(mask="causal")
    left, right = a["weights"].array, b["weights"].array
    head, row, column = np.unravel_index(np.abs(right - left).argmax(), left.shape)
    amounts = [f"{round(100 * each[head, row, column])} %" for each in (left, right)]
    said = finding(a, b, 0, "weights")
    assert said.startswith(f"They differ most in head {head + 1}: “{a.query_tokens[row]}")
    assert said.endswith(f" in A, and {amounts[1]} in B.")
    assert f"attends to “{a.key_tokens[column]}” {amounts[0]} in A" in said
    assert finding(a, b, 0, "scores") == "", "a mask leaves them as they are"
    assert finding(a, b, 0, "heads").startswith("They differ most at head ")
    sigmoid = two(normaliser="sigmoid")
    assert " % " not in finding(*sigmoid, 0, "weights"), "what is no share is told as a number"
