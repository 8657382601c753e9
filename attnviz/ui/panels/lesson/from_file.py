"""A lesson from a file: opened, checked, shown in place of the list, and closed; and any lesson as a file.

It is kept in the session only: no link and no server holds it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attnviz.classroom import check_lesson
from attnviz.engine.cost import estimate as cost
from attnviz.engine.records.config import Config
from attnviz.lessons import catalogue, read_lesson
from attnviz.lessons.lesson import Lesson
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.ui.panels.lesson.controls import NEED
from attnviz.ui.session import admission, session_state
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import notice
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "fold": "A lesson from a file",
        "upload": "Open a lesson (.toml)",
        "note": "It stays in this window until it is closed or the page is loaded again. "
        "To share it, pass on its file.",
        "save": "Save “{title}” as a file",
        "called": "in this file",
        "about": "A lesson is a text file: save one, change it, and open it here.",
        "close": "Close this lesson",
        "bytes": "The file has {n:,} bytes; a lesson has at most {most:,}.",
        "text": "The file is not text in UTF-8 from byte {at} on.",
        "fault": "{why}.",
        "large": "a setting that would keep the server busy; make it smaller",
        "all_large": "up to here the settings together would keep the server busy; make them smaller, or fewer",
        "further": "further leads to no page",
    }
)
MOST_SECONDS = 2.0
"""Of processor for the settings of a lesson together, each of which is computed before the lesson is opened."""

_OPENED = "_opened_lesson"
_FILE, _FAULT = "lesson-file", "_lesson_fault"


def opened() -> Lesson | None:
    """Return the lesson that was opened in this session."""
    return st.session_state.get(_OPENED)


def choose(selection: Selection) -> None:
    """Draw where a lesson is opened or closed, and where the one that is shown can be had as a file."""
    lesson = opened()
    with st.sidebar:
        if lesson is not None:
            st.markdown(f"**{lesson.title}**")
            st.caption(WORDS["note"])
            st.button(WORDS["close"], key="close-lesson", on_click=_close)
            return
        with st.expander(WORDS["fold"], key="from-file"):
            st.caption(WORDS["about"])
            title = catalogue.LESSONS[selection.lesson].title
            file = f"{selection.lesson}.toml"
            text = catalogue.written(selection.lesson)
            st.download_button(
                WORDS["save"].format(title=title), text, file, "text/plain", key="save-lesson", on_click="ignore"
            )
            st.file_uploader(WORDS["upload"], type=["toml"], key=_FILE, max_upload_size=1, on_change=_open)
            if _FAULT in st.session_state:
                notice(st.session_state[_FAULT], kind="fault")


@callback
def _close() -> None:
    st.session_state.pop(_OPENED, None)
    st.session_state.pop(_FILE, None)


@callback
def _open() -> None:
    """Open the file that was chosen at its first slide, or keep the sentence that says why it cannot be."""
    st.session_state.pop(_FAULT, None)
    file = st.session_state.get(_FILE)
    if file is None:
        return
    try:
        st.session_state[_OPENED] = read(file.getvalue())
    except ConfigError as error:
        why = str(error)
        st.session_state[_FAULT] = WORDS["fault"].format(why=(why[:1].upper() + why[1:]).removesuffix("."))
    else:
        session_state.put("slide", "1")


def read(content: bytes) -> Lesson:
    """Return the lesson of the bytes of a file.

    Raises ConfigError if it is not a lesson, or not one that this server can show.
    """
    if len(content) > read_lesson.MAX_LESSON_CHARACTERS:
        raise ConfigError(WORDS["bytes"].format(n=len(content), most=read_lesson.MAX_LESSON_CHARACTERS).rstrip("."))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(WORDS["text"].format(at=ordinal(error.start)).rstrip(".")) from None
    with admission.turn():
        lesson = check_lesson.opened(WORDS["called"], text.replace("\r\n", "\n"), _admitting())
    try:
        target = replace(Selection(), **lesson.further)
    except (ConfigError, TypeError):
        raise ConfigError(WORDS["further"]) from None
    if lesson.further and ("page" not in lesson.further or target.page in ("lessons", "assign", "class")):
        raise ConfigError(WORDS["further"])
    return replace(lesson, name=f"file_{zlib.crc32(content):08x}")


def _admitting() -> Callable[[Config], None]:
    """Return what raises ConfigError for a setting that is too large, or too large beside those before it.

    It waits for others that need as much memory; a turn has to be held.
    """
    seconds: dict[Config, float] = {}

    def admit(config: Config) -> None:
        found = cost.estimate(NEED, config)
        refused = admission.refusal(NEED, config)
        if refused or found.seconds > admission.LARGE.seconds:
            raise ConfigError(refused or WORDS["large"])
        seconds[config] = found.seconds
        if sum(seconds.values()) > MOST_SECONDS:
            raise ConfigError(WORDS["all_large"])
        if admission.is_large(found):
            admission.TURNS.enter_large()

    return admit
