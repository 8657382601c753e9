"""A lesson from a file: opened, checked, shown in place of the list, and closed; and any lesson as a file.

It is kept in the session only: no link and no server holds it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attnviz.classroom.writing import all_faults, lesson_link
from attnviz.engine.cost import estimate as cost
from attnviz.engine.records.config import Config
from attnviz.lessons import catalogue, read_lesson
from attnviz.lessons.lesson import Lesson
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError, SeveralFaultsError
from attnviz.settings.language import Words, current_language
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

_OPENED, _SOURCE, _LINKED = "_opened_lesson", "_opened_text", "_opened_link"
_FILE, _FAULT = "lesson-file", "_lesson_fault"


def opened() -> Lesson | None:
    """Return the lesson that was opened in this session, in the language of the page."""
    lesson: Lesson | None = st.session_state.get(_OPENED)
    text, language = st.session_state.get(_SOURCE, ("", ""))
    if lesson is not None and text and language != current_language():
        read_anew = read_lesson.read_lesson(WORDS["called"], text, is_tried=False)
        lesson = replace(read_anew, name=lesson.name)
        hold(lesson, text)
    return lesson


def hold(lesson: Lesson, text: str) -> None:
    """Show a lesson in place of the list from now on; text is its file."""
    st.session_state[_OPENED] = lesson
    st.session_state[_SOURCE] = text, current_language()


def packed() -> str:
    """Return the lesson that is open as a field of a link; empty where none is, or it is too long for one."""
    text, _ = st.session_state.get(_SOURCE, ("", ""))
    return lesson_link.pack(text) if text else ""


def take(selection: Selection) -> None:
    """Open the lesson that a link brings, once."""
    if not selection.written or st.session_state.get(_LINKED) == selection.written:
        return
    st.session_state[_LINKED] = selection.written
    try:
        text = lesson_link.unpack(selection.written)
    except ConfigError as error:
        st.session_state[_FAULT] = (str(error),)
        return
    _open_text(text)


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
        notice(*st.session_state[_FAULT], kind="fault")


@callback
def _close() -> None:
    for key in (_OPENED, _SOURCE, _FILE, _LINKED, _FAULT):
        st.session_state.pop(key, None)
    session_state.put("written", "")


@callback
def _open() -> None:
    """Open the file that was chosen at its first slide, or keep the sentence that says why it cannot be."""
    st.session_state.pop(_FAULT, None)
    file = st.session_state.get(_FILE)
    if file is None:
        return
    try:
        text = decoded(file.getvalue())
    except ConfigError as error:
        st.session_state[_FAULT] = (sentence(str(error)),)
        return
    with admission.turn():
        is_open = _open_text(text)
    if is_open:
        session_state.put("slide", "1")


def _open_text(text: str) -> bool:
    """Open the lesson of a text, or keep the sentences that say why it cannot be; return whether it is open."""
    lesson, faults = checked(text)
    if lesson is None or faults:
        st.session_state[_FAULT] = tuple(map(sentence, faults))
        return False
    st.session_state.pop(_FAULT, None)
    hold(lesson, text)
    return True


def sentence(why: str) -> str:
    """Return what is wrong as a sentence of its own."""
    return WORDS["fault"].format(why=(why[:1].upper() + why[1:]).removesuffix(".")).replace("?.", "?")


def checked(text: str) -> tuple[Lesson | None, tuple[str, ...]]:
    """Return the lesson of a text, None where it cannot be shown here, and a sentence for each fault.

    A turn has to be held.
    """
    lesson, faults = all_faults.gone_through(WORDS["called"], text, _admitting)
    if lesson is not None and not _leads_further(lesson):
        faults = (*faults, WORDS["further"])
    if faults:
        return None, faults
    return None if lesson is None else replace(lesson, name=f"file_{zlib.crc32(text.encode()):08x}"), ()


def _leads_further(lesson: Lesson) -> bool:
    """Return whether what a lesson says of the page to go on with is a page, or nothing is said."""
    try:
        target = replace(Selection(), **lesson.further)
    except (ConfigError, TypeError):
        return False
    return not lesson.further or ("page" in lesson.further and target.page not in ("lessons", "assign", "class"))


def read(content: bytes) -> Lesson:
    """Return the lesson of the bytes of a file.

    Raises ConfigError if it is not a lesson, or not one that this server can show.
    """
    text = decoded(content)
    with admission.turn():
        lesson, faults = checked(text)
    if lesson is None:
        raise SeveralFaultsError(faults)
    return lesson


def decoded(content: bytes) -> str:
    """Return the text of the bytes of a file; raises ConfigError for what is none, or too long."""
    if len(content) > read_lesson.MAX_LESSON_CHARACTERS:
        raise ConfigError(WORDS["bytes"].format(n=len(content), most=read_lesson.MAX_LESSON_CHARACTERS).rstrip("."))
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ConfigError(WORDS["text"].format(at=ordinal(error.start)).rstrip(".")) from None


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
