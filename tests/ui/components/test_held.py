"""What a hand lets go of in the maps, from a browser that may say anything."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from attnviz import Config, knock_out, run
from attnviz.settings.faults import ConfigError
from attnviz.ui.components.stage.held import Kept, KeptHead, KeptMask, KeptNumber, KeptSetting, KeptUndo, read
from attnviz.ui.pages import held_fields
from attnviz.ui.panels import by_hand, stage_of_run
from attnviz.ui.panels.by_hand import kept_in
from tests.support.cases import for_each

SHAPES = {"scores": (2, 3, 4), "embedded": (3, 8), "c_1": (8,)}
MASK = (3, 4)


OUTPUTS = [[(head, i, d) for i in range(7) for d in range(4)] for head in range(2)]


def test_a_head_is_switched_off_and_on() -> None:
    assert heard(head=1, off=True) is None, "a layer without the step"
    shapes = {**SHAPES, "heads": (2, 7, 4)}
    for said in (
        {"head": 2, "off": True},
        {"head": -1, "off": True},
        {"head": 0, "off": 1},
        {"head": 0},
        {"head": "0"},
    ):
        assert read(said, shapes, MASK, ()) is None, said
    config = Config(n_heads=2, edits=((0, "heads", (1, 2, 3), 0.5), (0, "scores", (0, 0, 0), 1.0)))
    assert read({"head": 1, "off": True}, shapes, MASK, ()) == KeptHead(1, is_off=True)
    off = kept_in(config, KeptHead(1, is_off=True), 0, (), OUTPUTS)
    np.testing.assert_array_equal(run(off)["heads"].array, knock_out(run(config), [(0, 1)])["heads"].array)
    assert by_hand._off(run(off), 0, by_hand._outputs(run(off), 0)) == [1]
    assert by_hand._off(run(config), 0, by_hand._outputs(run(config), 0)) == []
    assert kept_in(off, KeptHead(1, is_off=False), 0, (), OUTPUTS).edits == config.edits[1:]


def heard(**said: Any) -> Kept | KeptUndo | None:
    return read(said, SHAPES, MASK, ("temperature", "reach"))


def test_a_number_the_cells_of_a_mask_and_a_setting_are_heard() -> None:
    assert heard(step="scores", at=[1, 2, 3], value=0.5) == KeptNumber("scores", (1, 2, 3), 0.5)
    assert heard(step="embedded", at=[2, 7], value=-3, id=9) == KeptNumber("embedded", (2, 7), -3.0)
    assert heard(step="c_1", at=[0], value=1e300) == KeptNumber("c_1", (0,), 1e300)
    assert heard(setting="temperature", value=2) == KeptSetting("temperature", 2.0)
    mask = heard(cells="0101\n1111\n0000")
    assert isinstance(mask, KeptMask)
    np.testing.assert_array_equal(mask.allowed, [[False, True, False, True], [True] * 4, [False] * 4])


NUMBER = {"step": "scores", "at": [0, 0, 0], "value": 1.0}


@for_each(
    "said",
    [
        *({**NUMBER, "value": value} for value in (math.nan, math.inf, -math.inf, 10**400, True, "1", None, [1], {})),
        *({**NUMBER, "step": step} for step in ("allowed", "weights", "__class__", "", None, 3, ["scores"], {})),
        *({**NUMBER, "at": at} for at in ([2, 0, 0], [0, 3, 0], [0, 0, 4], [-1, 0, 0], [0, 0], [0, 0, 0, 0], [])),
        *({**NUMBER, "at": at} for at in ([0.0, 0, 0], [True, 0, 0], ["0", 0, 0], [None] * 3, "000", 7, None, {})),
        *({"setting": name, "value": 1.0} for name in ("seed", "edits", "__init__", "", None, 3, ["temperature"])),
        *({"setting": "temperature", "value": value} for value in (math.nan, -math.inf, "2", None, False)),
        *({"cells": cells} for cells in ("", "0101", "0101\n1111\n000", "0101\n1111\n0002", None, 7, ["0101"] * 3)),
        {},
    ],
)
def test_nothing_else_is(said: dict[str, Any]) -> None:
    assert heard(**said) is None


def test_what_is_no_mapping_is_not_heard() -> None:
    for answer in (None, "held", 3, [NUMBER], ["step", "scores"]):
        assert read(answer, SHAPES, MASK, ()) is None


def test_it_is_kept_as_the_panels_keep_it() -> None:
    config = Config(edits=((0, "scores", (0, 0, 0), 1.0), (0, "scores", (0, 0, 1), 2.0)), mask="window")
    number = kept_in(config, KeptNumber("scores", (0, 0, 0), 0.25), 0, ())
    assert number.edits == ((0, "scores", (0, 0, 0), 0.25), (0, "scores", (0, 0, 1), 2.0))
    assert kept_in(config, KeptNumber("embedded", (0, 1), 1.0), 1, ("embedded",)).edits[0] == (
        *(None, "embedded", (0, 1), 1.0),
    )
    mask = kept_in(config, KeptMask(np.eye(2, dtype=bool)), 0, ())
    assert mask.mask == ("custom",)
    assert kept_in(config, KeptSetting("temperature", 0.7), 0, ()).temperature == 0.7
    reach = kept_in(config, KeptSetting("reach", 2.2), 0, ()).reach
    assert (reach, type(reach)) == (2, int)
    for event in (KeptSetting("temperature", -1.0), KeptSetting("reach", 1e9)):
        with pytest.raises(ConfigError, match="choose"):
            kept_in(config, event, 0, ())


def test_the_length_of_an_axis_is_kept_where_all_heads_have_one() -> None:
    config = Config(n_heads=3, d_k=(5,), d_v=(3, 2))
    asked = {knob["name"]: knob["value"] for knob in stage_of_run.handles(run(config)) if knob.get("reruns")}
    assert asked == {"d_k": 5, "n_heads": 3}, "values of two widths have no one number"
    assert {*asked} <= {*held_fields.fields(config)}, "and it is asked for as the field is"
    wider = kept_in(config, KeptSetting("d_k", 8.0), 0, ())
    assert (wider.d_k, type(wider.d_k)) == (8, int)
    assert kept_in(config, KeptSetting("n_heads", 2.0), 0, ()).n_heads == 2
    with pytest.raises(ConfigError, match="choose"):
        kept_in(config, KeptSetting("d_k", 65.0), 0, ())


def test_the_numbers_of_a_row_and_of_typed_lines_are_kept_where_they_stand() -> None:
    typed = Config(
        normaliser="entmax",
        score="formula",
        score_formula="sum(q*k)**2 / 2 - 0.1*abs(i-j)",
        mask="formula",
        mask_formula='j <= i + 1 and token[j] != "2"',
    )
    knobs = {knob["name"]: knob for knob in stage_of_run.handles(run(typed))}
    assert [*knobs] == [
        *("temperature", "entmax.alpha", "d_k", "scale", "d_v", "n_heads"),
        *("score_formula.0", "score_formula.1", "score_formula.2", "mask_formula.0"),
    ]
    lines = [(knob["before"], knob["text"], knob["after"]) for knob in knobs.values() if "line" in knob]
    assert lines[:2] == [("sum(q*k)**", "2", ""), (" / ", "2", "")]
    assert lines[2:] == [(" - ", "0.1", "*abs(i-j)"), ("j <= i + ", "1", ' and token[j] != "2"')]
    moved = {"entmax.alpha": 1.5, "score_formula.2": 0.25, "mask_formula.0": 3.0, "score_formula.0": 1e-7}
    for name, value in moved.items():
        typed = kept_in(typed, KeptSetting(name, value), 0, ())
    assert typed.score_formula == "sum(q*k)**1e-07 / 2 - 0.25*abs(i-j)"
    assert typed.mask_formula == 'j <= i + 3 and token[j] != "2"'
    assert typed.normaliser_knobs == (("entmax.alpha", 1.5),)
    with pytest.raises(ConfigError):
        kept_in(typed, KeptSetting("entmax.alpha", 9.0), 0, ())
