"""A typed line among everything else: shared keys and values, changed numbers, forbidden cells, words for a cell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attnviz import SCORES, Config, Trace, run
from attnviz.arithmetic.cell import derive
from attnviz.engine.records.typed_rows import score_of
from attnviz.exports.script.numpy_script import numpy_script
from attnviz.exports.workbook.book import workbook
from attnviz.settings.language import set_language
from tests.support import scripts, spreadsheets

LINE = "t = tanh(q @ W); sum(t * k) + max(q*k) * g - norm(q)"
SHARED = Config(
    sentence="the cat sat on the mat",
    n_heads=4,
    n_kv_heads=2,
    score="formula",
    score_formula=LINE,
    normaliser="formula",
    normaliser_formula="e = exp(x - max(x)); e / (1 + sum(e))",
    mask=("causal", "formula"),
    mask_formula='token[j] != "sat"',
)


def wanted(trace: Trace, h: int, i: int, j: int) -> float:
    """The score of one cell in plain NumPy; head h of 4 reads the keys of head h // 2 of 2."""
    layer = trace.layers[0]
    q, k = layer["queries"].head(h)[i], layer["keys"].head(h // 2)[j]
    own = layer["score_w"].array[h], float(layer["score_g"].array[h, 0])
    return float((np.tanh(q @ own[0]) * k).sum() + (q * k).max() * own[1] - np.sqrt((q * q).sum()))


def test_heads_that_share_keys_and_values_score_the_shared_key() -> None:
    trace = run(SHARED)
    for h, i, j in np.ndindex(trace["scores"].shape):
        assert trace["scores"].array[h, i, j] == pytest.approx(wanted(trace, h, i, j), rel=1e-12)
    may = trace["allowed"].array
    for h, i in np.ndindex(trace["weights"].shape[:2]):
        x = trace["scores"].array[h, i, may[i]]
        e = np.exp(x - x.max())
        np.testing.assert_allclose(trace["weights"].array[h, i, may[i]], e / (1 + e.sum()), rtol=1e-12)
        assert not trace["weights"].array[h, i, ~may[i]].any()
    scripts.compare(trace, scripts.execute(numpy_script(trace.config)), 1e-12, bits=True)


def test_a_changed_number_reaches_the_cells_that_read_it_and_no_others() -> None:
    before = run(SHARED)
    trace = run(SHARED, edits=[(0, "score_g", (3, 0), -2.0), (0, "keys", (0, 1, 2), 4.0)])
    for h, i, j in np.ndindex(trace["scores"].shape):
        assert trace["scores"].array[h, i, j] == pytest.approx(wanted(trace, h, i, j), rel=1e-12)
        is_read = h == 3 or (h < 2 and j == 1)
        assert is_read or trace["scores"].array[h, i, j] == before["scores"].array[h, i, j]
    assert derive(trace, 0, 3, 4, 1)["score"].result == trace["scores"].array[3, 4, 1]


def test_a_row_that_is_typed_has_the_same_parameters_and_numbers_digit_for_digit() -> None:
    for name in ("general", "additive", "location"):
        row = run(Config(score=name, n_kv_heads=2, projection_bias=True))
        typed = run(Config(score="formula", score_formula=SCORES[name].line, n_kv_heads=2, projection_bias=True))
        assert row.layers[0].keys() == typed.layers[0].keys()
        for step in row.layers[0]:
            np.testing.assert_array_equal(typed.layers[0][step].array, row.layers[0][step].array)
    assert score_of(Config(score="formula", score_formula="q @ W @ k")).fn is SCORES["general"].fn


WORDS = {
    "en": ["Through a matrix", "Entry by entry", "Entry by entry", "Added up", "Entry by entry"],
    "de": ["Durch eine Matrix", "Eintrag für Eintrag", "Eintrag für Eintrag", "Aufsummiert", "Eintrag für Eintrag"],
}
ENDS = {"en": ["The largest entry", "The length"], "de": ["Der größte Eintrag", "Die Länge"]}


@pytest.mark.parametrize("language", WORDS)
def test_a_cell_says_its_lines_in_words(language: str) -> None:
    set_language(language)
    try:
        lines = derive(run(SHARED), 0, 3, 4, 1).lines
        titles = [line.title for line in lines]
        start = titles.index(WORDS[language][0])
        assert titles[start : start + 7] == WORDS[language] + ENDS[language]
        assert {"en": "Along the row", "de": "Entlang der Zeile"}[language] in titles
        assert all(line.sentence.endswith(".") for line in lines)
    finally:
        set_language("en")


@pytest.mark.slow
def test_forbidden_cells_take_no_part_in_the_workbook(tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter")
    traces = {
        f"n{n}": run(replace(SHARED, normaliser_formula=line))
        for n, line in enumerate(
            (
                SHARED.normaliser_formula,
                "relu(x) / n",
                "ratio(x, norm(x)) + min(x) * 0 + mean(x) * 0",
                "x - mean(x) + sum(x * j) / (1 + max(x)**2)",
                "1 if x == max(x) else 0",
            )
        )
    }
    files = {name: spreadsheets.Spreadsheet(workbook(trace)).stripped() for name, trace in traces.items()}
    for name, sheet in spreadsheets.recalculated(files, tmp_path).items():
        for h in range(4):
            found = np.nan_to_num(sheet.block(f"weights_1_{h + 1}"))
            np.testing.assert_allclose(found, traces[name]["weights"].array[h], rtol=1e-9, atol=1e-12, err_msg=name)
