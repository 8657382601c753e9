"""A page that says another layer: the lines of a cell and of any number say it too, and nothing else was edited."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest

from attnviz import run
from attnviz.arithmetic.cell import derive
from attnviz.arithmetic.products import offered, products
from attnviz.engine.plan import page
from attnviz.engine.records.step_specs import STEPS, Spec
from tests.support.other_page import OTHERS, SETTING, of_page


@pytest.mark.parametrize("score", ["scaled_dot", "additive", "formula"])
def test_the_lines_say_what_another_page_says(score: str, said: pytest.MonkeyPatch) -> None:
    source, setting = inspect.getsource(page), replace(SETTING, score=score)
    plain = run(setting)
    for old, new in OTHERS.items():
        assert old in source
        trace = of_page(source.replace(old, new), setting, said)
        assert not np.allclose(trace["output"].array, plain["output"].array), new
        for h, i, j in ((0, 3, 1), (1, 2, 2), (1, 0, 3)):
            cell = derive(trace, 0, h, i, j)
            assert cell.edited == (), (new, cell.edited)
            for line in cell.lines:
                if line.step:
                    assert np.allclose(line.computed, line.result, rtol=1e-11, equal_nan=True), (new, line.name)
        for step in offered(trace, 0):
            array = trace.layers[0][step].array
            number = products(trace, 0, step, 1, 1, 0)
            assert number.computed == pytest.approx(array[(0, 1, 1) if array.ndim == 3 else (1, 1)], rel=1e-11), step


def test_a_factor_on_the_values_stands_in_the_line(said: pytest.MonkeyPatch) -> None:
    source = inspect.getsource(page).replace("read_kv @ W_V + b_V", "2 * (read_kv @ W_V) + b_V")
    cell = derive(of_page(source, SETTING, said), 0, 0, 3, 1)
    assert r"v_{2} &= 2\, \hat x_{2} W_V^{(1)} + b_V^{(1)}" in cell["value"].latex
    assert r"v_{2,1} &= 2 \cdot (" in cell["value"].latex


def test_a_new_step_has_a_line_without_words_of_its_own(said: pytest.MonkeyPatch) -> None:
    for name, axes in {"again": ("head", "query", "key"), "lifted": ("head", "query", "d_k")}.items():
        said.setitem(STEPS, name, Spec(name[0], axes, "signed", name[0], f"made {name}"))
    source = inspect.getsource(page)
    old = '    S = step("scores", score(Q, K, *page.score_weights(Q, K)))'
    new = '    T = step("again", score(step("lifted", Q + Q), K))\n    S = step("scores", 2.0 * T)'
    assert old in source
    trace = of_page(source.replace(old, new), SETTING, said)
    cell = derive(trace, 0, 0, 3, 1)
    assert (cell["lifted"].title, cell["lifted"].sentence) == ("Lifted", "What it is: made lifted.")
    for line, step in (("again", "again"), ("score", "scores")):
        assert cell[line].result == trace[step].array[0, 3, 1], line
    assert cell.edited == ()
