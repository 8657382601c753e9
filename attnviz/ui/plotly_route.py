"""The Plotly of the maps at an address of its own: compressed once and kept by a browser for ever."""

from __future__ import annotations

import gzip

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from attnviz.ui.components.stage import plotly_bundle

HEADERS = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}


def plotly(request: Request) -> Response:
    """Answer with the bundle, unpacked for who cannot read it compressed."""
    body, headers = plotly_bundle.BUNDLE.read_bytes(), {**HEADERS, "X-Content-Type-Options": "nosniff"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        body = gzip.decompress(body)
    return Response(body, 200, headers, "text/javascript")


ROUTES: list[BaseRoute] = [
    Route(f"/{plotly_bundle.address()}", plotly),
    Route(f"/{{base:path}}/{plotly_bundle.address()}", plotly),
]
"""The second is for a page that is served below a path."""
