"""The scripts of the page, and the Plotly of its maps, at addresses of their own: kept by a browser for ever."""

from __future__ import annotations

import asyncio
import gzip
from importlib import import_module

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from attnviz.ui.components.stage import plotly_bundle
from attnviz.ui.hosting import public_address, scripts

KEPT, NOT_KEPT = "public, max-age=31536000, immutable", "no-store"


def plotly(request: Request) -> Response:
    """Answer with the bundle."""
    return answer(request, plotly_bundle.BUNDLE.read_bytes(), KEPT)


async def all_scripts(request: Request) -> Response:
    """Answer with the scripts of all components, which are put together when what makes the page is read."""
    await asyncio.to_thread(prepare)
    body, is_this = scripts.found(request.path_params["digest"])
    return answer(request, body, KEPT if is_this else NOT_KEPT)


def prepare() -> None:
    """Have what makes the page be read, and the scripts be put together; both stay."""
    import_module("attnviz.ui.main").prepare()


def answer(request: Request, body: bytes, kept: str) -> Response:
    """Answer with a compressed script, unpacked for who cannot read it so."""
    headers = {"Cache-Control": kept, "Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        body = gzip.decompress(body)
    return Response(body, 200, headers, "text/javascript")


ROUTES: list[BaseRoute] = [
    *public_address.routes(f"/{plotly_bundle.address()}", plotly),
    *public_address.routes(f"/{scripts.PATH}", all_scripts),
]
