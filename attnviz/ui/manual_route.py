"""The documentation beside the page: a site that the host has made of docs/, and the *?* that leads into it.

`mkdocs build` makes the site, and the environment variable ATTNVIZ_DOCS names its folder. It is served by the process
of the page, so that a reader needs no other address and a host behind a proxy no other rule.
"""

from __future__ import annotations

import html
import os
from functools import cache
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute
from starlette.staticfiles import StaticFiles

from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words
from attnviz.ui.hosting import index_page, public_address, security_headers

VARIABLE = "ATTNVIZ_DOCS"
PATH = f"/{index_page.MANUAL}"
ABOUT_PAGE = "the-page.html"
"""What is written of the page, with a heading of the same name for each of its places."""

ROOM = ".stApp { --manual: 40px; }"
"""What it takes of the row of places; `page.css` keeps it free."""

WORDS = Words(
    {
        "no_site": "{variable} is {given}, where there is no index.html; give the folder that mkdocs build has made",
        "none_here": "The documentation is not served here: the environment variable {variable} is not set.",
        "help": "What this page can do: opens its documentation",
    }
)


def given(text: str) -> Path | None:
    """Return the folder of the site that a host has named; None where none is.

    Raises ConfigError for a folder without a site.
    """
    if not text:
        return None
    folder = Path(text)
    if not (folder / "index.html").is_file():
        raise ConfigError(WORDS["no_site"].format(variable=VARIABLE, given=shorten(text)))
    return folder.resolve()


@cache
def _site(folder: Path) -> tuple[StaticFiles, str]:
    """Return what answers with the files of a site, and the policy for its pages, which have scripts of their own."""
    pages = (page.read_bytes() for page in sorted(folder.rglob("*.html")))
    return StaticFiles(directory=folder, html=True), security_headers.policy_of(pages, workers="'self'")


async def _file(request: Request) -> Response:
    """Answer with a file of the site."""
    try:
        folder = given(os.environ.get(VARIABLE, ""))
    except ConfigError as error:  # it was there when the server started
        return PlainTextResponse(f"attnviz: {error}", 404)
    if folder is None:
        return PlainTextResponse(WORDS["none_here"].format(variable=VARIABLE), 404)
    files, policy = _site(folder)
    answer = await files.get_response(request.path_params["name"] or "index.html", request.scope)
    answer.headers["Content-Security-Policy"] = policy
    return answer


def offer(place: str) -> None:
    """Draw a *?* that leads to what is written of a place of the page, where the host has the documentation."""
    if os.environ.get(VARIABLE):
        link, help_text = f"{PATH[1:]}{ABOUT_PAGE}#{place}", html.escape(WORDS["help"], quote=True)
        st.html(
            f"<style>{ROOM}</style>"
            f'<a class="attn-manual" href="{link}" target="_blank" rel="noopener" title="{help_text}" '
            f'aria-label="{help_text}">?</a>'
        )


async def _first(_: Request) -> Response:
    """Lead to the first page of the site."""
    return RedirectResponse(f"{Path(PATH).name}/")


ROUTES: list[BaseRoute] = [
    *public_address.routes(PATH.rstrip("/"), _first),
    *public_address.routes(f"{PATH}{{name:path}}", _file),
]
