"""Numbers changed by hand: what follows uses them, what comes before does not, and a link carries them exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import Config, ConfigError, run
from attnviz.core import edits
from attnviz.views import address

SETTING = {"sentence": "the cat sat on mats", "n_heads": 2, "d_model": 8, "d_k": 3, "d_v": (4, 3)}


def changed(before, after):
    """The names of the steps of the first layer, and around it, that differ."""
    steps = {**before.around, **before.layers[0]}
    return {name for name in steps if not np.array_equal(steps[name].array, after[name].array, equal_nan=True)}


@pytest.mark.parametrize(
    ("edit", "downstream"),
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


@pytest.mark.parametrize(
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
def test_what_has_no_place_is_left_out_and_said(edit):
    before, after = run(Config(**SETTING)), run(Config(**SETTING, edits=(edit,)))
    assert changed(before, after) == set()
    assert after.edits == ()
    assert edits.place(edit) in after.notes[-1]
    with pytest.raises(ConfigError):
        run(Config(**SETTING), edits=(edit,))


def test_each_place_once_and_in_order():
    config = Config(edits=[(0, "scores", (1, 1, 1), 2.0), (0, "heads", (0, 0, 0), 1), (0, "scores", (1, 1, 1), 3.0)])
    assert config.edits == ((0, "heads", (0, 0, 0), 1.0), (0, "scores", (1, 1, 1), 3.0))
    assert config == Config(edits=config.edits[::-1])


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    "setting",
    [
        {"n_layers": 2, "residual": True, "mask": "causal"},
        {"tied": True, "n_kv_heads": 1},
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


@settings(max_examples=60, deadline=None)
@given(st.lists(INSIDE | AROUND, max_size=8))
def test_a_link_carries_them_exactly(changes):
    config = Config(edits=changes)
    records, problems = address.open_link(address.link(config), Config)
    assert (records, problems) == ((config,), [])


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="scores.1290~-einfx_é ", max_size=40))
def test_reading_never_raises(text):
    found, unread = edits.read(text)
    assert edits.read(edits.written(found)) == (found, [])
    assert all(part in text for part in unread)


@pytest.mark.parametrize(
    "text",
    ["scores.1.1.1.1~nan", "scores.1.1~inf", "scores.0.1.1.1~1", "scores.1.99999999.1~1", "scores.1.1.1.1~1_0", "~~~"],
)
def test_what_cannot_be_meant_is_said(text):
    (config,), problems = address.decode({"edits": text}, Config)
    found = run(config)
    assert not found.edits
    assert problems or found.notes
