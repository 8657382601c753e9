"""The documentation beside the page: served where a host has made it, under a policy of its own, and led to."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from attnviz.ui import manual_route, server
from attnviz.ui.hosting import security_headers
from attnviz.ui.session.places import PLACES, WORDS
from tests.ui.test_app import opened, page_text
from tests.ui.test_link_route import get

SCRIPT = "document.title = 'made here'"
PAGE = f"<!doctype html><title>x</title><script>{SCRIPT}</script><h2 id='explore'>Explore</h2>"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a site, beside a file that is none of it."""
    folder = tmp_path / "site"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("nobody's", encoding="utf-8")
    for name in ("index.html", "the-page.html"):
        (folder / name).write_text(PAGE, encoding="utf-8")
    (folder / "style.css").write_text("p {}", encoding="utf-8")
    monkeypatch.setenv(manual_route.VARIABLE, str(folder))
    return folder


def test_the_site_is_served_with_its_own_scripts_and_no_others(site: Path) -> None:
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    for path in ("/attnviz/docs/", "/attnviz/docs/the-page.html", "/sub/attnviz/docs/the-page.html"):
        found = get(path)
        assert (found.status, found.body.decode()) == (200, PAGE), path
        policy = found.headers["content-security-policy"]
        assert re.search(r"script-src ([^;]+);", policy)[1] == f"'self' 'sha256-{digest}'"  # type: ignore[index]
        assert found.names.count("content-security-policy") == 1
        assert found.headers["x-content-type-options"] == "nosniff"
    for path in ("/attnviz/docs", "/sub/attnviz/docs"):
        assert (get(path).status, get(path).headers["location"]) == (307, "docs/")
    style = get("/attnviz/docs/style.css")
    assert (style.status, style.headers["content-type"]) == (200, "text/css; charset=utf-8")
    assert get("/").headers["content-security-policy"] == security_headers.policy()
    for path in ("/attnviz/docs/none.html", "/attnviz/docs/../secret.txt", "/attnviz/docs/%2e%2e/secret.txt"):
        assert get(path).status == 404, path
    (site / "index.html").unlink()
    assert (get("/attnviz/docs/").status, "no index.html" in get("/attnviz/docs/").body.decode()) == (404, True)


def test_without_a_site_it_is_said_how_to_have_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(manual_route.VARIABLE, raising=False)
    found = get("/attnviz/docs/")
    assert (found.status, "ATTNVIZ_DOCS is not set" in found.body.decode()) == (404, True)
    assert 'class="attn-manual"' not in page_text(opened())
    monkeypatch.setenv(manual_route.VARIABLE, str(tmp_path))
    with pytest.raises(SystemExit):
        server.begin()


def test_the_question_mark_leads_to_the_heading_of_the_place(site: Path) -> None:
    for page, place in (("explore", "explore"), ("lessons", "learn"), ("experiments", "compare"), ("data", "change")):
        assert f'href="attnviz/docs/the-page.html#{place}"' in page_text(opened(page=page)), site
    text = (Path(__file__).parents[2] / "docs/the-page.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    assert {WORDS[place] for place in PLACES} <= {*headings}, "a heading's address is its words in small letters"
    assert all(WORDS[place].lower() == place for place in PLACES)
