"""The Plotly of the maps: of the version that the Python package carries, and handed out once for ever."""

from __future__ import annotations

import gzip

from attnviz.ui.components.stage import plotly_bundle
from tests.ui.test_stage_route import answer


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
