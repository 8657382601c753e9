"""The level of a sparse normaliser in a workbook: Newton's method in cells, one column a step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.engine.records.trace import Trace
from attnviz.exports.workbook.book import workbook
from tests.support import spreadsheets

pytest.importorskip("xlsxwriter")
SETTINGS = {
    "entmax": {"normaliser": "entmax", "normaliser_knobs": {"entmax.alpha": 1.4}, "mask": "causal", "temperature": 0.3},
    "columns": {"normaliser": "entmax", "normalise_over": "queries", "mask": ("causal", "no_self")},
    "typed": {
        "normaliser": "formula",
        "normaliser_formula": "relu(x - level(x, 1)) + relu(x - level(x, 2))**2",
    },
}


@pytest.fixture(scope="module", name="traces")
def _traces() -> dict[str, Trace]:
    small = {"sentence": "the cat sat on the mat", "n_heads": 2, "initialiser": "normal"}
    return {name: run(Config(**small | settings)) for name, settings in SETTINGS.items()}


@pytest.mark.slow
def test_another_program_finds_the_same_weights(traces: dict[str, Trace], tmp_path: Path) -> None:
    files = {name: spreadsheets.Spreadsheet(workbook(trace)).stripped() for name, trace in traces.items()}
    for name, sheet in spreadsheets.recalculated(files, tmp_path).items():
        for h in range(2):
            found = sheet.block(f"weights_1_{h + 1}")
            np.testing.assert_allclose(found, traces[name]["weights"].array[h], atol=1e-10, err_msg=name)
