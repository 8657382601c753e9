"""The interactive file in German: its numbers have commas, in its maps and in the arithmetic of a cell."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from attnviz import Config, run
from attnviz.exports import formats
from attnviz.settings.language import set_language

pytestmark = pytest.mark.browser


def test_the_numbers_of_the_interactive_file_have_a_comma(browser_page: Any, tmp_path: Path) -> None:
    page, said = browser_page, dict[str, str]()
    for language in ("en", "de"):
        set_language(language)
        try:
            html = formats.export("html", run(Config(sentence="the cat sat")))
        finally:
            set_language("en")
        file = tmp_path / f"{language}.html"
        file.write_text(str(html), "utf-8")
        page.goto(file.as_uri())
        page.wait_for_function("/\\d[.,]\\d/.test(document.body.innerText)")
        said[language] = page.inner_text("body")
    points, commas = r"\d\.\d", r"\d,\d"
    assert re.search(points, said["en"])
    assert re.search(commas, said["de"])
    assert re.findall(rf"\S*{points}\S*", said["de"]) == []
