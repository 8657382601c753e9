"""A lesson from a file: opened, checked, shown in place of the list, and closed; and any lesson as a file.

It is kept in the session only: no link and no server holds it.
"""

from __future__ import annotations

import zlib
from dataclasses import replace

import streamlit as st

from attnviz.classroom import check_lesson
from attnviz.engine import cost
from attnviz.engine.records.config import Config
from attnviz.lessons import catalogue
from attnviz.lessons.lesson import Lesson
from attnviz.settings.fields import ConfigError
from attnviz.settings.language import Words
from attnviz.ui.session import admission
from attnviz.ui.session.notices import notice
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "fold": "A lesson from a file",
        "upload": "Open a lesson (.toml)",
        "note": "It stays in this window until it is closed or the page is loaded again. "
        "To share it, pass on its file.",
        "save": "Save “{title}” as a file",
        "about": "A lesson is a text file: save one, change it, and open it here.",
        "close": "Close this lesson",
        "bytes": "The file has {n:,} bytes; a lesson has at most {most:,}.",
        "text": "The file is no text in UTF-8 from byte {at} on.",
        "fault": "{why}.",
        "large": "a setting that would keep the server busy; make it smaller",
        "further": "further leads to no page",
    }
)
_OPENED = "_opened_lesson"
_FILE = "lesson-file"


def opened() -> Lesson | None:
    """Return the lesson that was opened in this session."""
    return st.session_state.get(_OPENED)


def choose(selection: Selection) -> Selection:
    """Draw where a lesson is opened or closed; the selection at its first slide when one was just opened."""
    lesson = opened()
    with st.sidebar:
        if lesson is not None:
            st.markdown(f"**{lesson.title}**")
            st.caption(WORDS["note"])
            st.button(WORDS["close"], key="close-lesson", on_click=_close)
            return selection
        with st.expander(WORDS["fold"], key="from-file"):
            st.caption(WORDS["about"])
            title = catalogue.LESSONS[selection.lesson].title
            file = f"{selection.lesson}.toml"
            text = catalogue.written(selection.lesson)
            st.download_button(
                WORDS["save"].format(title=title), text, file, "text/plain", key="save-lesson", on_click="ignore"
            )
            given = st.file_uploader(WORDS["upload"], type=["toml"], key=_FILE, max_upload_size=1)
            if given is not None:
                return _open(given.getvalue(), selection)
    return selection


def _close() -> None:
    st.session_state.pop(_OPENED, None)
    st.session_state.pop(_FILE, None)


def _open(content: bytes, selection: Selection) -> Selection:
    """Open a file, or say in a sentence why it cannot be."""
    try:
        st.session_state[_OPENED] = read(content)
    except ConfigError as error:
        said = str(error)
        notice(WORDS["fault"].format(why=said[:1].upper() + said[1:]).replace("..", "."), kind="fault")
        return selection
    return replace(selection, slide=1)


def read(content: bytes) -> Lesson:
    """Return the lesson of the bytes of a file.

    Raises ConfigError for what is no lesson, or none that this server can show.
    """
    if len(content) > catalogue.LONGEST:
        raise ConfigError(WORDS["bytes"].format(n=len(content), most=catalogue.LONGEST).rstrip("."))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(WORDS["text"].format(at=error.start + 1).rstrip(".")) from None
    lesson = check_lesson.opened("file", text.replace("\r\n", "\n"), _admit)
    try:
        there = replace(Selection(), **lesson.further)
    except (ConfigError, TypeError):
        raise ConfigError(WORDS["further"]) from None
    if lesson.further and ("page" not in lesson.further or there.page in ("lessons", "assign", "class")):
        raise ConfigError(WORDS["further"])
    return replace(lesson, name=f"file_{zlib.crc32(content):08x}")


def _admit(config: Config) -> None:
    refused = admission.refusal("lessons", config)
    if refused or admission.is_large(cost.estimate("lessons", config)):
        raise ConfigError(refused or WORDS["large"])
