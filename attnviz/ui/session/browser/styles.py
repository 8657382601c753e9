"""Style sheets of the page, each with the colours of `pictures/colours.py` that it names, as custom properties."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import streamlit as st

from attnviz.pictures.colours import PAGE


def colours(*texts: str) -> str:
    """Return the rule that defines the colours named in style sheets or scripts, nothing where none is.

    Raises KeyError for a colour that is not in the table.

    >>> colours("a { color: var(--page-ink); }") == ":root, :host { --page-ink: light-dark(%s, %s); }\\n" % PAGE["ink"]
    True
    """
    names = sorted({name for text in texts for name in re.findall(r"--page-([a-z-]+)", text)})
    defined = "".join(f" --page-{name}: light-dark({', '.join(PAGE[name])});" for name in names)
    return f":root, :host {{{defined} }}\n" if names else ""


@cache
def stylesheet(*paths: Path) -> str:
    """Return style sheets one after the other, and before them the colours that they use."""
    text = "".join(path.read_text("utf-8") for path in paths)
    return colours(text) + text


def style(*paths: Path) -> None:
    """Have style sheets hold for the page."""
    st.html(f"<style>{_in_a_line(stylesheet(*paths))}</style>")


@cache
def _in_a_line(css: str) -> str:
    """Return a style sheet without comments and margins: Streamlit looks for one before each line, in every run."""
    return " ".join(re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL).split())
