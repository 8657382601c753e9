"""The documentation beyond README: what is made from the code is current, and every line and link works."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from attnviz import Config
from attnviz.engine.records.step_specs import STEPS
from attnviz.exports.formats import FORMATS
from attnviz.settings import url_codec
from attnviz.settings.fields import settings
from attnviz.ui.session.selection import Selection
from tests.support.tables import TABLES
from tools import documentation

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = {name: (DOCS / name).read_text(encoding="utf-8") for name in ("tutorial.md", "how-to.md")}
LINK = r"\(http://localhost:8501/(\?[^\s)]*(?:\([^\s()]*(?:\([^\s()]*\))?[^\s()]*\)[^\s()]*)*)\)"


def test_the_tables_and_the_gallery_are_those_of_the_code() -> None:
    pages = {"tables.md": documentation.tables(), "gallery.md": documentation.gallery()}
    for name, made in (pages | {"papers.md": documentation.papers()}).items():
        assert (DOCS / name).read_text(encoding="utf-8") == made, "run python -m tools.documentation"
    for name in [*(item.name for item in settings(Config)), *STEPS, *(row for each in TABLES.values() for row in each)]:
        assert f"| `{name}` |" in documentation.tables()
    assert all(f"| `.{name}` |" in documentation.tables() for name in FORMATS)
    assert len(settings(Config)) == len([item for item in fields(Config) if "kind" in item.metadata])


@pytest.mark.slow
def test_the_pictures_of_the_gallery_are_those_of_their_links() -> None:
    there = {f"gallery/{path.name}": path.read_text(encoding="utf-8") for path in (DOCS / "gallery").iterdir()}
    made = documentation.pages()
    assert {name: text for name, text in made.items() if name.endswith(".svg")} == there
    assert sum(len(text.encode()) for text in there.values()) < documentation.MOST_BYTES


def test_every_link_of_the_guides_and_of_the_gallery_opens_what_it_says() -> None:
    texts = (*GUIDES.values(), documentation.gallery(), documentation.papers())
    links = [link for text in texts for link in re.findall(LINK, text)]
    assert len(links) == sum(text.count("http://localhost:8501") for text in texts) > 85
    for link in links:
        records, problems = url_codec.open_link(link, Config, Selection)
        assert problems == [], link
        assert records != (Config(), Selection()), link
    assert url_codec.open_link("?v=1&score=nothing", Config, Selection)[1] != [], "this would see one that is wrong"


@pytest.mark.slow
def test_every_snippet_of_the_guides_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tasks = re.findall(r"^## \d+\. (.*?)\n(.*?)(?=^## |\Z)", GUIDES["how-to.md"], flags=re.MULTILINE | re.DOTALL)
    assert len(tasks) >= 30
    assert [title for title, text in tasks if "```python" not in text and "http://" not in text] == []
    for name, text in GUIDES.items():
        for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
            exec(compile(block, name, "exec"), {})  # noqa: S102
