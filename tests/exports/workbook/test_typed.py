"""Typed formulas in the workbook: recalculated by LibreOffice, every number is the run's."""

from __future__ import annotations

import pytest

from attnviz import Config, run
from attnviz.exports.workbook.book import workbook
from tests.exports.workbook.test_book import differences, stale
from tests.support import scripts, spreadsheets
from tests.support.cases import for_each
from tests.support.spreadsheets import Spreadsheet

NAMES = [name for name in scripts.SETTINGS if name.startswith("typed_")]


def written(name: str) -> Spreadsheet:
    return Spreadsheet(workbook(run(scripts.config(name))))


@pytest.mark.slow
@for_each("name", NAMES)
def test_every_step_stands_in_it_as_a_formula(name: str) -> None:
    trace, sheet = run(scripts.config(name)), written(name)
    assert differences(trace, sheet) == []
    edited = {edit[:2] for edit in trace.edits}
    for at in range(len(trace.layers)):
        for step in ("scores", "weights"):
            if (at, step) not in edited:
                assert sheet.corner(f"{step}_{at + 1}_1", 0, 0) in sheet.formulas, step


@pytest.mark.slow(seconds=32)
def test_recalculated_it_is_the_run(tmp_path) -> None:
    sheets = {name: written(name) for name in NAMES}
    sheets["width_1"] = Spreadsheet(workbook(run(WIDTH_1)))
    computed = spreadsheets.recalculated({name: sheet.stripped() for name, sheet in sheets.items()}, tmp_path)
    for name in NAMES:
        assert stale(sheets[name], computed[name]) == [], name
        assert differences(run(scripts.config(name)), computed[name]) == [], name
    assert differences(run(WIDTH_1), computed["width_1"]) == []


WIDTH_1 = Config(
    sentence="a b c", n_heads=2, d_k=1, d_a=1, score="formula", score_formula="q @ W @ k + sum(tanh(q@U + k@A) * v)"
)


@pytest.mark.slow
def test_it_follows_a_number_that_is_changed_in_it(tmp_path) -> None:
    config = scripts.config("typed_additive")
    before = written("typed_additive")
    edit = (0, "score_v", (1, 2), 3.0)
    file = before.stripped({before.corner("score_v_1_2", 0, 2): 3.0})
    computed = spreadsheets.recalculated({"changed": file}, tmp_path)["changed"]
    assert differences(run(config, edits=[edit]), computed) == []
