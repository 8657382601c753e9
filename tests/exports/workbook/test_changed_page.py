"""The workbook follows the page: what is said anew there stands in the cells, and nothing else says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("xlsxwriter")

from attnviz import Config, run
from attnviz.engine.plan import page, plans
from attnviz.engine.plan.values import Value, norm
from attnviz.exports.workbook.book import workbook
from tests.exports.workbook.test_book import SMALL, differences, stale
from tests.support.spreadsheets import Spreadsheet
from tests.support.workbook_arithmetic import computed

MIX, SCORE = page.mix, page.score
T = 3.0 * Value("setting", (), (), "temperature")
CHANGED: dict[str, dict[str, Callable[..., Value]]] = {
    "a factor": {"mix": lambda *args: 0.5 * MIX(*args)},
    "a number of the setting, added and divided by": {"mix": lambda *args: (MIX(*args) + T) / (T + 1.0 * T)},
    "norms of queries and keys": {"score": lambda Q, K, *own: SCORE(norm(Q), norm(K), *own)},
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_the_page_says_anew_stands_in_the_cells(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    setting: dict[str, Any] = SMALL | {"n_kv_heads": 1, "norm": "rms", "temperature": 0.7, "feed_forward": "geglu"}
    config = Config(**setting)
    plain = run(config)
    for function, said in CHANGED[name].items():
        monkeypatch.setattr(page, function, said)
    plans.layer_plan.cache_clear()
    try:
        trace = run(config)
        written = Spreadsheet(workbook(trace))
    finally:
        plans.layer_plan.cache_clear()
    assert not np.allclose(trace["heads"].array, plain["heads"].array, atol=1e-3)
    found = computed(written)
    assert differences(trace, found) == []
    assert stale(written, found) == []
