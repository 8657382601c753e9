"""Style sheets are held to what keeps a move quick."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMENT = re.compile(r"/\*.*?\*/", re.S)
SELECTOR = re.compile(r"[^{};]+(?=\{)")


ANY_DIV = re.compile(r":has\(.*\)[\s>+~]+div$")


def slow_selectors(style: str) -> list[str]:
    """The selectors with more than one `:has`, and those that are about any `div` in what has something.

    After one of them Chromium looks at every element again whenever any of them changes: on the page of the maps the
    first took 80 ms of a move (`benchmarks/page_latency.py`), more than all drawing; the second 6 ms of every change,
    also where a pointer moves over the maps, and without it 1.5.
    """
    parts = [part.strip() for found in SELECTOR.findall(COMMENT.sub("", style)) for part in found.split(",")]
    return [part for part in parts if part.count(":has(") > 1 or ANY_DIV.search(part)]


def test_no_selector_has_a_browser_look_at_the_whole_page() -> None:
    styles = sorted((ROOT / "attnviz").rglob("*.css"))
    assert len(styles) > 10
    found = {style.name: slow_selectors(style.read_text("utf-8")) for style in styles}
    assert {name: slow for name, slow in found.items() if slow} == {}


def test_such_a_selector_is_found() -> None:
    style = "a:has(b) { x: y } /* c:has(d):has(e) {} */ @media print { f:has(g) :has(> h), i { x: y } }"
    style += " .j:has(.k[l]) > div, .m:has(n) > div > p, .o:has(> div) { x: y }"
    assert slow_selectors(style) == ["f:has(g) :has(> h)", ".j:has(.k[l]) > div"]
