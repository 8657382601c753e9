"""The spreadsheet: what it holds, and every cell of it computed anew by LibreOffice and held against the run."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import shutil
import sys
import zipfile
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from attnviz import Config, ConfigError, Trace, run
from attnviz.engine.external import traces as external
from attnviz.engine.records.step_specs import STEPS
from attnviz.exports.workbook import layout, score_formulas
from attnviz.exports.workbook.book import text, workbook
from tests.support import scripts, spreadsheets
from tests.support.spreadsheets import Spreadsheet

if importlib.util.find_spec("xlsxwriter") is None:
    if os.environ.get("CI"):
        pytest.fail("XlsxWriter is not installed: pip install -r tests/requirements-xlsx.txt", pytrace=False)
    pytest.skip("XlsxWriter is not installed: pip install -r tests/requirements-xlsx.txt", allow_module_level=True)

SMALL = {"sentence": "a cat, a", "d_model": 5, "n_heads": 2, "d_k": 2, "d_v": 1, "d_a": 3, "d_ff": 3}
TABLES = {field: list(rows) for field, rows in scripts.TABLES.items() if field != "patterns"}
"""Every table whose rows make other formulas or other inputs."""

TIED = ((0, "masked", (0, 0, 1), 50.0), (0, "masked", (0, 0, 2), 50.0 - 1e-9), (0, "masked", (0, 1, 2), 50.0 - 2e-9))
"""Scores that share a row or a column and are equal but for rounding."""

INPUTS = {name for name in STEPS if name.startswith(("w_", "b_", "score_"))} | {
    "token_embeddings",
    "positions",
    "token_embeddings_kv",
    "positions_kv",
    "allowed",
    "bias",
}


def met(number: int) -> Config:
    """A setting in which rows of all tables meet; as many as the longest table has rows hold every row."""
    chosen = {field: rows[number % len(rows)] for field, rows in TABLES.items()}
    return Config(
        **SMALL
        | chosen
        | {
            "n_kv_heads": None if number % 3 else 1,
            "d_k": (3, 2) if number % 3 == 1 else 2,
            "second_sentence": "a dog saw" if number % 4 == 1 else "",
            "n_layers": 2 if number == 5 else 1,
            "pad_to": 6 if number == 2 else 0,
            "residual": number % 2 == 1,
            "projection_bias": number % 4 > 1,
            "tied": number % 5 == 2,
            "output_projection": number % 4 != 3,
            "softcap": 2.0 * (number % 3 == 2),
            "scale": 0.7 if number % 6 == 4 else None,
            "temperature": 0.6 if number % 2 else 1.0,
            "seed": number,
        }
    )


EDITS = (
    (None, "token_embeddings", (1, 2), 3.0),
    (0, "w_q", (1, 2, 0), 2.0),
    (0, "w_v", (0, 1, 0), -1.5),
    (0, "allowed", (2, 0), 0.0),
    (0, "allowed", (0, 3), 1.0),
    (0, "bias", (1, 2, 0), -0.25),
    (0, "w_o", (1, 3), 0.5),
)
CHANGED = Config(**SMALL, mask="causal", bias="alibi")
"""A setting whose sheet is changed at the positions of EDITS, and in these numbers of the setting."""
SETTING = {"temperature": 0.5, "softcap": 3.0, "scale": 0.3}


@cache
def traces() -> dict[str, Trace]:
    """Runs of all rows of all tables, with numbers changed by hand, and of given attention."""
    found = {f"met {number}": run(met(number)) for number in range(12)}
    tied = {"normaliser": "hardmax", "mask": "no_self", "edits": TIED}
    found["tied"] = run(Config(**scripts.SMALL, **tied))
    found["tied columns"] = run(Config(**scripts.SMALL, **tied, normalise_over="queries"))
    all_tied = {"d_k": 3, "normaliser": "hardmax", "edits": scripts.equal_but_for_rounding(4)}
    found["all tied"] = run(Config(**scripts.SMALL | all_tied))
    found["edited"] = run(Config(**scripts.SMALL, mask="causal", edits=scripts.EDITS))
    found["emptied columns"] = run(Config(**SMALL, mask="none", normalise_over="queries", normaliser="sparsemax"))
    found["narrow"] = run(Config(sentence="a b", d_model=1, n_heads=1, d_k=1, d_v=1, position="rope"))
    S = np.array([[[0.5, 1.0, 2.0], [3.0, -np.inf, 1.0]]])
    found["scores"] = external.of_scores(S, config=Config(scale=-0.5, softcap=2.0, normaliser="entmax15"))
    Q, K, V = np.sin(np.arange(12.0)).reshape(2, 3, 2), np.cos(np.arange(8.0)).reshape(1, 4, 2), np.ones((1, 4, 3))
    found["vectors"] = external.of_vectors(Q, K, V, config=Config(score="cosine"))
    return found


@cache
def written(name: str) -> Spreadsheet:
    """The spreadsheet of one of them."""
    return Spreadsheet(workbook(traces()[name]))


def steps(trace: Trace) -> dict[str, np.ndarray]:
    """Every step by the name of its block; in self-attention X' is X and has none."""
    found = {name: step.array for name, step in trace.around.items() if name != "embedded_kv"}
    if trace.config.is_cross_attention:
        found |= {name: step.array for name, step in trace.around.items()}
    for at, layer in enumerate(trace.layers, 1):
        for name, step in layer.items():
            if step.axes[0].endswith("head"):
                found |= {f"{name}_{at}_{h + 1}": step.head(h) for h in range(len(step.array))}
            else:
                found[f"{name}_{at}"] = step.array
    return {name: np.atleast_2d(array).astype(float) for name, array in found.items()}


def differences(trace: Trace, sheet: Spreadsheet) -> list[str]:
    """The blocks that are not what the run says; a forbidden cell is no number."""
    wrong = []
    for name, wanted in steps(trace).items():
        found, forbidden = sheet.block(name), ~np.isfinite(wanted)
        if name.startswith(("scaled", "capped")):
            forbidden |= np.isneginf(steps(trace)["scores" + name[6:]])
        if not np.array_equal(np.isnan(found), forbidden):
            wrong.append(f"{name} is forbidden elsewhere")
        elif not np.allclose(found[~forbidden], wanted[~forbidden], rtol=1e-9, atol=1e-9):
            wrong.append(name)
    return wrong


def stale(written: Spreadsheet, computed: Spreadsheet) -> list[object]:
    """The cells whose stored value is not what their formula gives."""
    wrong = []
    for at, formula in written.formulas.items():
        before, after = written.cells[at], computed.cells.get(at)
        alike = before == after if isinstance(before, str) or isinstance(after, str) else after is not None
        if not alike or (isinstance(before, float) and abs(before - after) > 1e-9 * max(1.0, abs(before))):
            wrong.append((at, formula, before, after))
    return wrong


@pytest.mark.slow(seconds=12)
def test_recalculated_it_is_the_run_and_follows_what_is_changed_in_it(tmp_path):
    names = [*traces()]
    files = {name: written(name).stripped() for name in names}
    before = Spreadsheet(workbook(run(CHANGED)))
    changes = {before.corner(matrix_of(edit), *edit[2][-2:]): edit[3] for edit in EDITS}
    changes |= {before.corner(name, 0, 0): value for name, value in SETTING.items()}
    changes[before.corner("scale", 0, 1)] = SETTING["scale"]
    files["changed"] = before.stripped(changes)
    computed = spreadsheets.recalculated(files, tmp_path)
    for name in names:
        assert differences(traces()[name], computed[name]) == [], name
        assert stale(written(name), computed[name]) == [], name
    after = run(replace(CHANGED, **SETTING), edits=EDITS)
    assert differences(after, computed["changed"]) == []
    assert not np.allclose(after["output"].array, before.block("output_1"))


def matrix_of(edit: tuple) -> str:
    """The name of the block in which an edit stands."""
    layer, step, index, _ = edit
    head = [index[0] + 1] if len(index) == 3 else []
    return "_".join(map(str, [step, *([] if layer is None else [layer + 1]), *head]))


def test_the_settings_hold_every_row_of_every_table():
    settings = [met(number) for number in range(max(map(len, TABLES.values())))]
    for field, rows in TABLES.items():
        chosen = {getattr(config, field) for config in settings}
        assert {name for value in chosen for name in ((value,) if isinstance(value, str) else value)} == set(rows)
    assert set(score_formulas.NORMS) == set(scripts.TABLES["norm"]) - {"none"}
    assert set(score_formulas.FEED_FORWARDS) == set(scripts.TABLES["feed_forward"]) - {"none"}


@pytest.mark.parametrize("number", range(1, 10, 4))
def test_every_number_is_a_formula_or_an_input_and_stored_exactly(number):
    trace = run(met(number))
    sheet = Spreadsheet(workbook(trace))
    for name, array in steps(trace).items():
        step = re.sub(r"(_\d+)+$", "", name)
        if not (step in STEPS and name.startswith("w_")):
            step = max((known for known in STEPS if name.startswith(known)), key=len)
        corners = [sheet.corner(name, i, j) for i, j in np.ndindex(array.shape)]
        assert all((at in sheet.formulas) != (step in INPUTS) for at in corners), name
        np.testing.assert_array_equal(sheet.block(name)[np.isfinite(array)], array[np.isfinite(array)])


def test_one_matrix_that_serves_queries_and_keys_is_changed_once():
    sheet = Spreadsheet(workbook(run(Config(**SMALL, tied=True, projection_bias=True, n_kv_heads=1))))
    assert sheet.corner("w_k_1_1", 0, 0) in sheet.formulas
    assert sheet.formulas[sheet.corner("b_k_1_1", 0, 1)] == sheet.corner("b_q_1_1", 0, 1)[1]
    assert sheet.corner("w_q_1_2", 0, 0) not in sheet.formulas


def test_an_edited_cell_is_a_number_and_looks_like_one():
    trace = run(
        Config(**SMALL, mask="causal"), edits=[(0, "scores", (1, 3, 2), 0.1), (0, "masked", (0, 2, 1), -np.inf)]
    )
    sheet = Spreadsheet(workbook(trace))
    at = sheet.corner("scores_1_2", 3, 2)
    assert at not in sheet.formulas
    assert sheet.cells[at] == 0.1
    assert sheet.corner("scores_1_1", 3, 2) in sheet.formulas
    assert sheet.styles[at] != sheet.styles[sheet.corner("scores_1_2", 2, 3)]
    assert sheet.styles[at] == sheet.styles[sheet.corner("masked_1_1", 2, 1)]
    assert isinstance(sheet.cells[sheet.corner("masked_1_1", 2, 1)], str)


def test_masked_cells_are_grey_by_a_rule_that_follows_the_mask():
    sheet = Spreadsheet(workbook(run(Config(**SMALL, mask="causal"))))
    masked = sheet.corner("masked_1_2", 0, 0)[1]
    for name in ("masked_1_2", "weights_1_2"):
        assert sheet.rules(name)[0] == f"ISTEXT({masked})"
    assert [float(rule) for rule in sheet.rules("weights_1_2")[1:]] == [k / 10 for k in range(9, -1, -1)]
    allowed = sheet.corner("allowed_1", 0, 0)[1]
    assert f"{allowed}=0" in sheet.rules("allowed_1")
    assert sheet.rules("queries_1_1") == ["colours"]
    assert sheet.rules("w_q_1_1") == []


KNOWN = """ABS AND AVERAGE COS COUNT COUNTIF DEVSQ EXP IF ISNUMBER LARGE MAX MIN MMULT NORMSDIST OR POWER SIN SQRT SUM
SUMPRODUCT SUMSQ SUMXMY2 TANH VARP"""
"""Functions that Excel 2010, LibreOffice and Google Sheets have in common."""


@pytest.mark.slow
def test_formulas_use_common_functions_and_refer_to_sheets_that_are_there():
    for sheet in map(written, traces()):
        whole = "\n".join(sheet.formulas.values())
        assert set(re.findall(r"([A-Z][A-Z0-9.]*)\(", whole)) <= set(KNOWN.split())
        assert set(re.findall(r"'([^']+)'!", whole)) <= set(sheet.paths)
        assert not sheet.holds('t="array"')
        assert max(map(len, sheet.paths)) <= 31


def test_equal_runs_are_equal_files():
    file = workbook(run(met(4)))
    assert file == workbook(run(met(4)))
    assert b"1980-01-01T00:00:00Z</dcterms:created>" in zipfile.ZipFile(io.BytesIO(file)).read("docProps/core.xml")


HOSTILE = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "a\x00\x1fb",
    "\ud800",
    "<b>&\"'",
    "{=1}",
    "x" + "😀" * 20_000,
    "_x0041_",
)


def test_tokens_are_texts_and_nothing_else():
    n = len(HOSTILE)
    sheet = Spreadsheet(workbook(external.of_weights(np.full((n, n), 1 / n), HOSTILE, HOSTILE)))
    assert sheet.formulas == {}
    name, corner = sheet.corner("weights_1_1", 0, 0)
    assert corner == "B5"
    found = [sheet.cells[name, f"A{5 + i}"] for i in range(n)]
    wanted = [text(f"{i} {token}") for i, token in enumerate(HOSTILE, 1)]
    assert found == [words.replace("_x0041_", "_x005F_x0041_") for words in wanted]
    assert found[5] == "6 ab"
    assert len(found[9].encode("utf-16-le")) == 2 * 32_767


def test_what_is_too_large_is_refused_in_a_sentence(monkeypatch):
    with pytest.raises(ConfigError, match=r"more than 300,000 numbers; choose fewer tokens"):
        workbook(run(Config(sentence="a " * 64, n_heads=16, n_layers=2)))
    monkeypatch.setattr(layout, "MOST_SHEETS", 5)
    with pytest.raises(ConfigError, match="more than 5 sheets"):
        workbook(run(Config(**SMALL)))
    monkeypatch.setattr(layout, "MOST_COLUMNS", 3)
    with pytest.raises(ConfigError, match="more than 3 columns"):
        workbook(run(Config(**SMALL)))


@pytest.mark.parametrize("step", ["values", "scores"])
def test_infinity_is_refused_where_no_mask_put_it(step):
    with pytest.raises(ConfigError, match=f"{step} holds infinity"):
        workbook(run(Config(**SMALL), edits=[(0, step, (0, 1, 0), -np.inf)]))


def test_without_the_library_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(ImportError, match=r"attnviz\[xlsx\]"):
        workbook(run(Config(**SMALL)))


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_without_an_engine_ci_fails_and_others_skip(monkeypatch, tmp_path, ci, outcome):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome):
        spreadsheets.recalculated({}, tmp_path)
