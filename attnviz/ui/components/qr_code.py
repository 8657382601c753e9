"""A link as a QR code on the page."""

from __future__ import annotations

import base64
import html
import importlib.util

import streamlit as st

from attnviz.exports import links
from attnviz.settings.language import Words

WORDS = Words(
    {
        "title": "For the room",
        "note": "Point a camera at it to open this setting.",
        "too_long": "The link is too long for a code that a camera can read; a shorter sentence helps.",
        "missing": 'A QR code needs the package segno: pip install "attnviz[qr]".',
    }
)


def qr_code(link: str) -> None:
    """Draw a link as a QR code under its heading, or say why there is none."""
    st.markdown(f"#### {WORDS['title']}")
    picture(link, WORDS["note"])


def can_be_drawn() -> bool:
    """Return whether this host has what draws QR codes."""
    return importlib.util.find_spec("segno") is not None


def picture(text: str, note: str) -> None:
    """Draw a text as a QR code under a note on it, or say why there is none."""
    try:
        drawn = links.qr_svg(text)
    except ImportError:
        st.caption(WORDS["missing"])
        return
    st.caption(note if drawn else WORDS["too_long"])
    if drawn:
        code = base64.b64encode(drawn.encode()).decode()
        st.html(f'<img width="260" alt="{html.escape(note)}" src="data:image/svg+xml;base64,{code}">')
