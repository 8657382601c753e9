"""The interactive file in German, whose numbers have commas, and in Chinese, which has signs of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from attnviz import Config, run
from attnviz.exports import formats
from attnviz.settings.language import set_language

pytestmark = pytest.mark.browser


def written(language: str, folder: Path) -> str:
    """The address of an interactive file in a language."""
    set_language(language)
    try:
        html = formats.export("html", run(Config(sentence="the cat sat")))
    finally:
        set_language("en")
    file = folder / f"{language}.html"
    file.write_text(str(html), "utf-8")
    return file.as_uri()


def test_the_numbers_of_the_interactive_file_have_a_comma(browser_page: Any, tmp_path: Path) -> None:
    page, said = browser_page, dict[str, str]()
    for language in ("en", "de"):
        page.goto(written(language, tmp_path))
        page.wait_for_function("/\\d[.,]\\d/.test(document.body.innerText)")
        said[language] = page.inner_text("body")
    points, commas = r"\d\.\d", r"\d,\d"
    assert re.search(points, said["en"])
    assert re.search(commas, said["de"])
    assert re.findall(rf"\S*{points}\S*", said["de"]) == []


def test_the_words_on_a_cell_are_joined_by_the_signs_of_the_language(browser_page: Any, tmp_path: Path) -> None:
    said = dict[str, str]()
    for language in ("en", "zh"):
        browser_page.goto(written(language, tmp_path))
        browser_page.wait_for_function("document.getElementById('said').textContent")
        said[language] = browser_page.inner_text("#said")
    assert re.findall("[,:，：]", said["en"]) == [",", ",", ",", ":"]
    assert re.findall("[,:，：]", said["zh"]) == ["，", "，", "，", "："], said["zh"]
