"""Numbers changed by hand: what follows uses them, what comes before does not, and a link carries them exactly."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import Config, ConfigError, run
from attnviz.engine.records import edits
from attnviz.settings import url_codec
from tests.support.cases import for_each

SETTING = {"sentence": "the cat sat on mats", "n_heads": 2, "d_model": 8, "d_k": 3, "d_v": (4, 3)}


def changed(before, after):
    """The names of the steps of the first layer, and around it, that differ."""
    steps = {**before.around, **before.layers[0]}
    return {name for name in steps if not np.array_equal(steps[name].array, after[name].array, equal_nan=True)}


@for_each(
    "edit, downstream",
    [
        (
            (None, "embedded", (1, 2), 9.0),
            "embedded embedded_kv queries keys values scores scaled capped masked weights heads",
        ),
        ((0, "w_q", (1, 7, 2), 9.0), "w_q queries scores scaled capped masked weights heads"),
        ((0, "w_v", (1, 7, 2), 9.0), "w_v values heads"),
        ((0, "scores", (1, 2, 3), 9.0), "scores scaled capped masked weights heads"),
        ((0, "values", (1, 4, 2), 9.0), "values heads"),
        ((0, "w_o", (6, 7), 9.0), "w_o"),
    ],
)
def test_only_what_follows_changes(edit, downstream):
    before, after = run(Config(**SETTING)), run(Config(**SETTING, edits=(edit,)))
    assert after[edit[1]].array[edit[2]] == 9.0
    expected = {*downstream.split(), "output"} | ({"concat"} if "heads" in downstream else set())
    assert changed(before, after) == expected
    assert after.edits == (edit,)
    assert after.notes == before.notes


def test_the_setting_and_the_argument_mean_the_same():
    edit = (0, "scores", (1, 2, 3), 4.5)
    assert changed(run(Config(**SETTING, edits=[edit])), run(Config(**SETTING), edits=[edit])) == set()


def test_the_argument_comes_last():
    trace = run(Config(**SETTING, edits=[(0, "scores", (1, 2, 3), 4.5)]), edits=[(0, "scores", (1, 2, 3), 5.5)])
    assert trace["scores"].array[1, 2, 3] == 5.5


@for_each(
    "edit",
    [
        (0, "scores", (2, 0, 0), 1.0),
        (0, "scores", (0, 0), 1.0),
        (0, "scores", (), 1.0),
        (0, "values", (1, 4, 3), 1.0),
        (0, "w_o", (7, 0), 1.0),
        (1, "scores", (0, 0, 0), 1.0),
        (0, "bias", (0, 0, 0), 1.0),
        (0, "constructor", (0,), 1.0),
        (None, "positions_kv", (0, 0), 1.0),
    ],
)
def test_what_has_no_position_is_left_out_and_said(edit):
    before, after = run(Config(**SETTING)), run(Config(**SETTING, edits=(edit,)))
    assert changed(before, after) == set()
    assert after.edits == ()
    assert edits.position(edit) in after.notes[-1]
    with pytest.raises(ConfigError):
        run(Config(**SETTING), edits=(edit,))


def test_each_position_once_and_in_order():
    config = Config(edits=[(0, "scores", (1, 1, 1), 2.0), (0, "heads", (0, 0, 0), 1), (0, "scores", (1, 1, 1), 3.0)])
    assert config.edits == ((0, "heads", (0, 0, 0), 1.0), (0, "scores", (1, 1, 1), 3.0))
    assert config == Config(edits=config.edits[::-1])


@for_each(
    "edit", [1, (0, "scores", (0, 0, 0)), (0, "scores", 0, 1.0), (0, "scores", (0.5,), 1.0), (0, "scores", (0,), "x")]
)
def test_no_edit_is_refused_in_words(edit):
    with pytest.raises(ConfigError, match="give \\(layer, step, index, value\\)"):
        Config(edits=(edit,))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_nan_and_infinity_are_refused(value):
    with pytest.raises(ConfigError, match="give a number"):
        Config(edits=((0, "scores", (0, 0, 0), value),))


def test_minus_infinity_forbids_a_cell():
    trace = run(Config(**SETTING, edits=((0, "masked", (1, 2, 3), -math.inf),)))
    assert trace["weights"].array[1, 2, 3] == 0.0
    assert trace["weights"].array[1, 2].sum() == pytest.approx(1.0, abs=1e-12)


@for_each(
    "setting",
    [
        {"n_layers": 2, "residual": True, "mask": "causal"},
        {"tied": True, "n_kv_heads": 1},
        {"tied": True, "n_heads": 4, "n_kv_heads": 2, "d_k": (3, 2)},
        {"n_kv_heads": 2, "n_heads": 4, "d_k": (3, 2)},
    ],
)
def test_heads_set_by_hand_keep_their_construction(setting):
    setting = SETTING | {"initialiser": "by_hand", "d_model": 16} | setting
    edit = (None, "embedded", (1, 2), 9.0)
    before, after = run(Config(**setting)), run(Config(**setting, edits=(edit,)))
    for one, other in zip(before.layers, after.layers, strict=True):
        for name in ("w_q", "w_k", "w_v", "w_o"):
            np.testing.assert_array_equal(one[name].array, other[name].array)
    assert not np.array_equal(before["weights"].array, after["weights"].array)


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.just(-math.inf)
INDEX = st.lists(st.integers(0, 999), min_size=1, max_size=3).map(tuple)
INSIDE = st.tuples(st.integers(0, 5), st.sampled_from(["scores", "w_q", "b_o"]), INDEX, NUMBERS)
AROUND = st.tuples(st.none(), st.sampled_from(edits.OUTER), INDEX, NUMBERS)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(INSIDE | AROUND, max_size=8))
def test_a_link_carries_them_exactly(changes):
    config = Config(edits=changes)
    records, problems = url_codec.open_link(url_codec.query_string(config), Config)
    assert (records, problems) == ((config,), [])


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="scores.1290~-einfx_é ", max_size=40))
def test_reading_never_raises(text):
    found, unread = edits.decode(text)
    assert edits.decode(edits.encode(found)) == (found, [])
    assert all(part in text for part in unread)


@for_each(
    "text",
    ["scores.1.1.1.1~nan", "scores.1.1~inf", "scores.0.1.1.1~1", "scores.1.99999999.1~1", "scores.1.1.1.1~1_x", "~~~"],
)
def test_what_cannot_be_meant_is_said(text):
    (config,), problems = url_codec.decode({"edits": text}, Config)
    found = run(config)
    assert not found.edits
    assert problems or found.notes


@for_each("step", ["scores", "output", "no step"])
def test_a_step_inside_a_layer_is_refused_without_the_layer(step):
    with pytest.raises(ConfigError, match="names no layer"):
        Config(edits=((None, step, (0, 1, 2), 5.0),))
    with pytest.raises(ConfigError, match="names no layer"):
        run(Config(**SETTING), edits=[(None, step, (0, 1, 2), 5.0)])
    assert Config(edits=((3, "embedded", (0, 1), 5.0),)).edits == ((None, "embedded", (0, 1), 5.0),)


TIED = {"sentence": "a b c", "tied": True, "n_heads": 4, "n_kv_heads": 2, "d_k": (3, 2), "projection_bias": True}


@for_each("setting", [{}, {"second_sentence": "x y"}, {"initialiser": "by_hand"}, {"n_layers": 2}])
@for_each("head", range(4))
def test_tied_keys_follow_every_head_that_shares_them(head, setting):
    changes = ((0, "w_q", (head, 1, 1), 9.0), (0, "b_q", (head, 0), 7.0))
    trace = run(Config(**TIED | setting, edits=changes))
    for query, key, index in (("w_q", "w_k", (1, 1)), ("b_q", "b_k", (0,))):
        W_Q, W_K = (trace.layers[0][name].array for name in (query, key))
        np.testing.assert_array_equal(W_Q, np.repeat(W_K, 2, axis=0))
        assert W_K[(head // 2, *index)] == changes[query == "b_q"][3]
    assert {edit[2][0] for edit in trace.edits} == {head // 2 * 2, head // 2 * 2 + 1}


def test_tied_keys_that_are_changed_themselves_leave_the_queries():
    before, after = run(Config(**TIED)), run(Config(**TIED, edits=((0, "w_k", (1, 1, 1), 9.0),)))
    np.testing.assert_array_equal(before["w_q"].array, after["w_q"].array)
    assert after["w_k"].array[1, 1, 1] == 9.0


def test_tied_keys_cannot_follow_matrices_that_differ_within_a_group():
    trace = run(Config(**TIED))
    config = Config(**TIED | {"d_k": 3})
    W_Q = np.arange(4.0)[:, None, None] * np.ones((4, config.d_model, 3))
    with pytest.raises(ConfigError, match="w_q differs among them"):
        run(config, {"w_q": W_Q})
    assert run(config, {"w_q": W_Q, "w_k": W_Q[:2]})["w_k"].array[1, 0, 0] == 1.0
    assert run(config, {"w_q": np.repeat(W_Q[:2], 2, axis=0)})["w_k"].array[1, 0, 0] == 1.0
    assert run(Config(**TIED), {"w_q": [trace["w_q"].head(h) for h in range(4)]})["w_k"].shape == (2, config.d_model, 3)


def bits(changes):
    """The edits with their numbers bit for bit: -0.0 and 0.0 are equal, and not the same."""
    return [(*edit[:3], struct.pack("d", edit[3])) for edit in changes]


def matrix(numbers, step="w_q"):
    return tuple((0, step, (0, i, j), float(x)) for (i, j), x in np.ndenumerate(numbers) if not np.isnan(x))


ENTRIES = (
    st.just(math.nan)  # an entry that is not changed
    | NUMBERS
    | st.sampled_from([0.0, -0.0, 1e-300, 5e-324, 0.1 + 0.2, 1e22, 123456789.125])
    | st.integers(-(10**6), 10**6).map(lambda n: n / 1000)
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.integers(1, 6), st.lists(ENTRIES, min_size=1, max_size=40))
def test_numbers_beside_each_other_come_back_bit_for_bit(columns, entries):
    rows = [entries[at : at + columns] for at in range(0, len(entries), columns)]
    changes = edits.canonicalise(
        (0, "w_q", (1, i, j), x) for i, row in enumerate(rows) for j, x in enumerate(row) if not math.isnan(x)
    )
    found, unread = edits.decode(edits.encode(changes))
    assert (bits(found), unread) == (bits(changes), [])


@for_each("digits", [2, 4, 8])
def test_a_pasted_matrix_of_64_rows_fits_into_a_link(digits):
    numbers = np.random.default_rng(3).normal(size=(64, 16)).round(digits)
    config = Config(d_model=64, d_k=16, edits=matrix(numbers))
    link = url_codec.encode(config)
    assert url_codec.fits_in_link(link)
    (again,), problems = url_codec.open_link(url_codec.query_string(config), Config)
    assert (bits(again.edits), problems) == (bits(config.edits), [])


def test_numbers_of_seventeen_digits_fit_up_to_about_500():
    numbers = np.random.default_rng(4).normal(size=(64, 16))
    assert url_codec.fits_in_link(url_codec.encode(Config(edits=matrix(numbers[:32]))))
    assert not url_codec.fits_in_link(url_codec.encode(Config(edits=matrix(numbers))))


def test_a_matrix_with_positions_left_alone_is_still_one_block():
    numbers = np.where(np.indices((8, 8)).sum(axis=0) % 2, np.nan, 0.5)
    line = edits.encode(matrix(numbers))
    assert line.count("w_q") == 1
    assert bits(edits.decode(line)[0]) == bits(matrix(numbers))


def test_numbers_far_apart_are_written_one_by_one():
    changes = ((0, "scores", (0, 0, 0), 0.5), (0, "scores", (0, 50, 50), 0.25))
    assert edits.encode(changes) == "scores.1.1.1.1~0.5~~scores.1.1.51.51~0.25"


@for_each(
    "block",
    ["b", "b1", "b0.1.1.AAAB", "b2.1.3.AAAB", "b2.41.1.AB", "b2.1.99.AB", "b2.1.1.", "b2.1.1.A!", "b2.x.1.AB", "1__x"],
)
def test_a_block_that_cannot_be_read_is_said(block):
    part = f"w_q.1.1.1.1~{block}"
    assert edits.decode(part) == ((), [part])


def test_a_vector_has_one_row():
    changes = tuple((0, "b_o", (at,), float(at)) for at in range(4))
    assert edits.encode(changes) == "b_o.1.1~0_1_2_3"
    assert edits.decode("b_o.1.1~0_1_2_3") == (changes, [])
    assert edits.decode("b_o.1.1~0_1~2_3") == ((), ["b_o.1.1~0_1~2_3"])


def test_digits_of_base_64_mean_what_they_say():
    found, unread = edits.decode("w_q.1.2.1.1~b2.3.2.USAAABgA")  # U is 20, S 18, B 1, g 32; 0 is 32 * 64
    assert (bits(found), unread) == (
        bits([(0, "w_q", (1, 0, 0), -0.75), (0, "w_q", (1, 1, 0), -0.0), (0, "w_q", (1, 1, 1), 0.0)]),
        [],
    )
