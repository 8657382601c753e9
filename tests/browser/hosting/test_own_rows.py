"""Rows of a host's own in a real browser: on the page, and in the file that is opened without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import NORMALISERS, SCORES, Config, run
from attnviz.engine.tables.added_rows import load_rows
from attnviz.exports import interactive_html
from tests.browser.stage.test_pictures import File, number
from tests.public.test_own_rows import CONFIG, FILE

pytestmark = pytest.mark.browser


@pytest.fixture
def _rows(tmp_path: Path) -> Iterator[None]:
    """A score with a knob and a normaliser with two, of one file."""
    file = tmp_path / "my_rows.py"
    file.write_text(FILE, encoding="utf-8")
    load_rows(str(file))
    yield
    del SCORES["laplace"], NORMALISERS["power"]


@pytest.mark.usefixtures("_rows")
def test_the_file_computes_its_cells(new_page: Callable[..., Any], tmp_path: Path) -> None:
    trace = run(Config(**CONFIG))
    file = File(new_page(offline=True), tmp_path / "run.html", interactive_html.html(trace))
    for h, i, j in ((0, 5, 2), (1, 3, 3), (2, 4, 0)):
        file.choose(1, h, i, j)
        lines = file.lines
        assert "apart" in lines
        assert "p" in lines
        assert not [line for line in lines.values() if "edited" in line or "NaN" in line]
        for title, step in (("Score", "scores"), ("Weight", "weights")):
            np.testing.assert_allclose(number(lines[title]), trace[step].array[h, i, j], rtol=1e-12)
    file.choose(1, 0, 1, 4)
    assert number(file.lines["Weight"]) == 0
    assert file.faults == []


def test_the_page_follows_their_knobs(server: Callable[..., Any], browser_page: Any) -> None:
    page, url = browser_page, server("tests/browser/scripts/own_rows.py").url
    page.goto(
        f"{url}/?v=1&sentence=a+b+c&n_heads=1&score=laplace&score_knobs=laplace.width~4.0&normaliser=power&head=1&query=3&key=1&all_lines=yes"
    )
    weight = page.locator(".st-key-part-weight .katex-html").last
    weight.wait_for()
    page.locator(".ad-chip").first.click()  # the setting, which the answer stands in the room of
    page.get_by_text("Normaliser", exact=True).first.click()
    page.get_by_role("slider", name="Power").press("End")
    page.wait_for_url("**normaliser_knobs=power.gamma~4.0**")
    typed = {"score_formula": "-sum(abs(q - k)) / 4", "normaliser_formula": "p = exp(x)**4; p / (sum(p) + 1)"}
    same = run(Config(sentence="a b c", n_heads=1, score="formula", normaliser="formula", **typed))
    wanted = f"{same['weights'].array[0, 2, 0]:.4g}"
    page.locator(".st-key-part-weight .katex-html", has_text=wanted).first.wait_for()
