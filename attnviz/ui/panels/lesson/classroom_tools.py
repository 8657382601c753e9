"""Classroom tools beside a slide: a code to point a camera at, the hands counted, and a window with the notes."""

from __future__ import annotations

import base64
import html
from typing import Any

import streamlit as st

from attnviz.engine.records.config import Config
from attnviz.exports import links
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Lesson
from attnviz.settings import url_codec
from attnviz.settings.language import InContext, Words
from attnviz.ui.panels.lesson import from_file
from attnviz.ui.session.selection import Selection

WORDS: Words[Any] = Words(
    {
        "code": InContext("Code", "to point a camera at"),
        "of_slide": "This slide, to answer on a phone",
        "too_long": "The lesson is too long for a code that a camera can read; pass its file on.",
        "notes": "Notes",
        "notes_help": "Opens a second window with the notes, the answer and what comes next.",
    }
)


def link(selection: Selection, **changes: object) -> str:
    """Return the address of a slide as anybody opens it: the question open, in the language that is spoken here.

    changes  what is otherwise than on a learner's screen, by the fields of Selection
    """
    target = Selection(
        page="lessons",
        lesson=selection.lesson,
        slide=selection.slide,
        lang=selection.lang,
        **changes,  # type: ignore[arg-type]
    )
    return links.page_address(st.context.url or "", url_codec.query_string(Config(), target))


def tools(lesson: Lesson, selection: Selection) -> None:
    """Draw the code of the slide and the way to its notes."""
    in_library = lesson.name in LESSONS
    with st.popover(WORDS["code"], key="slide-code"):
        if in_library:
            _code(link(selection, course=selection.course))  # a phone goes on to the slide that the room does
        else:
            _code_of_file(selection)
    if in_library:
        st.link_button(WORDS["notes"], link(selection, notes=True, course=selection.course), help=WORDS["notes_help"])


def _code_of_file(selection: Selection) -> None:
    """Draw the code of a lesson that no server has: all of it is in the link, if there is room for it."""
    field = from_file.packed()
    address = link(selection, written=field)
    if field and len(links.short_address(address).encode()) <= links.MOST_IN_CODE:
        _code(address)
    else:
        st.markdown(WORDS["too_long"])


def _code(address: str) -> None:
    """Draw a link as a code for a camera, or large, to be typed, where no code can be drawn."""
    try:
        drawn = links.qr_svg(links.short_address(address))
    except ImportError:
        drawn = None
    note = html.escape(WORDS["of_slide"])
    image = ""
    if drawn:
        code = base64.b64encode(drawn.encode()).decode()
        image = f'<img alt="{note}" src="data:image/svg+xml;base64,{code}">'
    st.html(
        f'<div class="attn-code{"" if drawn else " typed"}"><p>{note}</p>{image}<p class="link">'
        f"{html.escape(address)}</p></div>"
    )
