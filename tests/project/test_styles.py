"""Style sheets are held to what keeps a move quick."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMENT = re.compile(r"/\*.*?\*/", re.S)
SELECTOR = re.compile(r"[^{};]+(?=\{)")


def slow_selectors(style: str) -> list[str]:
    """The selectors with more than one `:has`.

    After one of them Chromium looks at every element again whenever any of them changes: on the page of the maps that
    took 80 ms of a move (`benchmarks/page_latency.py`), more than all drawing.
    """
    parts = [part.strip() for found in SELECTOR.findall(COMMENT.sub("", style)) for part in found.split(",")]
    return [part for part in parts if part.count(":has(") > 1]


def test_no_selector_asks_twice_what_an_element_has() -> None:
    styles = sorted((ROOT / "attnviz").rglob("*.css"))
    assert len(styles) > 10
    found = {style.name: slow_selectors(style.read_text("utf-8")) for style in styles}
    assert {name: slow for name, slow in found.items() if slow} == {}


def test_a_selector_that_asks_twice_is_found() -> None:
    style = "a:has(b) { x: y } /* c:has(d):has(e) {} */ @media print { f:has(g) :has(> h), i { x: y } }"
    assert slow_selectors(style) == ["f:has(g) :has(> h)"]
