"""Links to a setting: its address, a frame for another page, a code to point a camera at."""

from __future__ import annotations

import html
import io
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from attnviz.engine.external.traces import is_external
from attnviz.engine.pretrained.pretrained_config import is_pretrained
from attnviz.engine.records.trace import Trace
from attnviz.settings import short_link
from attnviz.settings.url_codec import query_string

MOST_IN_CODE = 2_331
"""Bytes that the largest QR code holds at error correction M (ISO/IEC 18004, version 40-M)."""

FRAME = '<iframe src="{link}" width="100%" height="{height}" style="border:0" title="attnviz" loading="lazy"></iframe>'


def setting_of(trace: Trace) -> str:
    """Return what a link says of a run after its question mark.

    It is empty where no link brings the run back: for numbers or matrices that were given, and for a model without a
    name on a host.
    """
    brings_back = not is_external(trace) and not trace.given
    return query_string(trace.config) if brings_back and (trace.config.model or not is_pretrained(trace)) else ""


def page_address(base: str, query: str) -> str:
    """Return the address of a setting: where the page is, and what follows the question mark.

    >>> page_address("https://example.org/attnviz/?v=1#x", "v=1&mask=causal")
    'https://example.org/attnviz/?v=1&mask=causal'
    >>> page_address("https://example.org/attnviz", "v=1")  # without the stroke a proxy leads on to the other
    'https://example.org/attnviz/?v=1'
    """
    scheme, host, path, _, _ = urlsplit(base)
    return urlunsplit((scheme, host, f"{path.rstrip('/')}/", query, ""))


def short_address(address: str) -> str:
    """Return the short link of a page's address, or the address itself where none is shorter.

    >>> short_address("https://example.org/attnviz/?v=2&sentence=the+cat+sat&mask=causal&c=oe7e")
    'https://example.org/attnviz/s/1QpcT6DYHh4nw'
    """
    scheme, host, path, query, _ = urlsplit(address)
    code = short_link.pack(dict(parse_qsl(query, keep_blank_values=True)))
    short = urlunsplit((scheme, host, f"{path.rstrip('/')}/s/{code}", "", ""))
    return short if code and len(short) < len(address) else address


def frame(address: str, height: int = 760) -> str:
    """Return HTML that shows the page inside another one, without menu and footer.

    >>> frame("https://example.org/?v=1")[:61]
    '<iframe src="https://example.org/?v=1&amp;embed=true" width="'
    """
    return FRAME.format(link=html.escape(f"{address}&embed=true"), height=height)


def qr_svg(address: str) -> str | None:
    """Return a QR code as SVG, dark on white with its quiet zone; None if the address is too long for one.

    Raises  ImportError where segno is not installed.
    """
    import segno

    if len(address.encode()) > MOST_IN_CODE:
        return None
    code = segno.make(address, error="m", micro=False, boost_error=False)
    buffer = io.BytesIO()  # with its namespace, without which a browser draws no picture from it
    code.save(buffer, kind="svg", xmldecl=False, nl=False, scale=5, border=4, dark="#000", light="#fff", omitsize=True)
    return buffer.getvalue().decode()
