"""The scripts of the page, and the Plotly of its maps: handed out once for ever, and of the right versions."""

from __future__ import annotations

import gzip

import pytest

from attnviz.ui.components.stage import plotly_bundle
from attnviz.ui.hosting import index_page, scripts
from attnviz.ui.session.browser import component
from tests.ui.test_stage_route import answer

INDEX = '<html lang="en"><head><title>Streamlit</title></head><body></body></html>'


def test_a_browser_gets_the_plotly_of_the_python_package_once() -> None:
    whole = gzip.decompress(plotly_bundle.BUNDLE.read_bytes())
    assert f'"{plotly_bundle.version()}"'.encode() in whole, "run tools/plotly_bundle.py"
    licences = plotly_bundle.LICENCES.read_text("utf-8")
    assert f"plotly.js {plotly_bundle.version()}" in licences
    assert "MIT" in licences
    for before in ("/", "/below/a/path/"):
        for encoding in ("gzip", "identity"):
            found = answer("", path=before + plotly_bundle.address(), accept_encoding=encoding)
            assert found.status == 200
            assert found.headers.get("content-encoding", "identity") == encoding
            assert (gzip.decompress(found.body) if encoding == "gzip" else found.body) == whole
            assert "immutable" in found.headers["cache-control"]
            assert found.headers["content-type"].startswith("text/javascript")
    assert answer("", path="/attnviz/plotly-0.js").status == 404


def test_the_scripts_of_all_components_are_a_file_that_is_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_files", {})
    assert scripts.address() == ""
    component.all_scripts.cache_clear()
    whole, address = component.all_scripts()
    assert all(f'add("{name}"' in whole for name in component.parts())
    found = answer("", path=f"/{address}", accept_encoding="gzip")
    assert gzip.decompress(found.body).decode() == whole
    assert len(found.body) < len(whole) / 3
    assert "immutable" in found.headers["cache-control"]
    assert found.headers["content-type"].startswith("text/javascript")
    other = answer("", path="/below/attnviz/scripts-0.js", accept_encoding="identity")
    assert (other.body.decode(), other.headers["cache-control"]) == (whole, "no-store"), "of another replica"
    tags = index_page.LinkTags("en", "title", "about")
    assert f'<link rel="modulepreload" href="./{address}" />' in index_page.with_tags(INDEX, tags)
    component.all_scripts.cache_clear()  # what it kept is forgotten with the test
