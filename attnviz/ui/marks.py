"""Where a teacher marks: the link of the assignment, the codes that were handed in, and the table they make."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from attnviz.core.config import Config
from attnviz.core.fields import ConfigError
from attnviz.core.language import Words, spoken
from attnviz.ui import locale, state
from attnviz.ui.say import line, say
from attnviz.ui.selection import Selection
from attnviz.views import address, assignments, handed_in, marking, tables
from attnviz.views.assignments import Assignment

WORDS = Words(
    {
        "link": "Link of the assignment",
        "link_note": "Paste the link that students were given, and press Enter.",
        "no_assignment": "No assignment is open: paste its link, or compose one.",
        "not_one": "There is no assignment in that link.",
        "open": "Marked against: {title} · {n} questions.",
        "untitled": "an assignment without a title",
        "paste": "Names and codes, a student a line",
        "paste_note": "A name or number, a comma or a tab, and the code.",
        "file": "Or a table as .csv, with columns name and code",
        "fault": "{fault}.",
        "summary": "Valid codes: {valid} of {n}. Mean score {mean:.1f} of {all}.",
        "invalid": "Valid codes: none of {n}.",
        "save": "Save as CSV",
        "working": "Marking",
        "honest": "A valid code was made for this assignment under this name. It cannot say who sat there, that "
        "nothing was computed elsewhere, or that no programmer forged it: the setting is public and no server holds a "
        "secret.",
    }
)
_LINK, PASTE, _FILE, _HELD = "task-open", "task-codes", "task-file", "_task_marked"


def desk(config: Config, selection: Selection, task: Assignment | None) -> Selection:
    """Draw the desk; the selection as it is left."""
    st.text_input(WORDS["link"], key=_LINK, help=WORDS["link_note"], on_change=_open, args=(config, selection))
    if task is None:
        say(WORDS["no_assignment"])
        return selection
    title = task.task_title or WORDS["untitled"]
    line([WORDS["open"].format(title=title, n=len(task.task_questions))])
    paste, file = st.columns([3, 2], gap="large")
    text = paste.text_area(WORDS["paste"], key=PASTE, height=140, help=WORDS["paste_note"]) or ""
    with file:
        uploaded = st.file_uploader(WORDS["file"], key=_FILE, max_upload_size=1)
    try:
        pairs = handed_in.of_file(uploaded.getvalue()) if uploaded is not None else []
        pairs += handed_in.of_text(text)
    except ConfigError as error:
        say(WORDS["fault"].format(fault=f"{str(error)[0].upper()}{str(error)[1:]}"), kind="fault")
        return selection
    if pairs:
        _results(config, task, pairs)
    line([WORDS["honest"]])
    return selection


@locale.aloud
def _open(config: Config, selection: Selection) -> None:
    """Adopt the assignment of a link; a callback, before any widget is drawn."""
    text = str(st.session_state.get(_LINK) or "")
    (given, there), problems = address.open_link(text, Config, Selection)
    if assignments.read(there.assigned)[0] is None:
        problems = [WORDS["not_one"]] if text.strip() else []
        state.adopt(config, selection, problems=problems)
        return
    state.adopt(given, replace(selection, assigned=there.assigned), problems=problems)


def _results(config: Config, task: Assignment, pairs: list[tuple[str, str]]) -> None:
    """The table, and the same to save."""
    found = _marked(config, task, pairs)
    valid = [each for each in found if not each.problem]
    if valid:
        mean = sum(each.score for each in valid) / len(valid)
        summary = {"n": len(found), "valid": len(valid), "mean": mean, "all": len(task.task_questions)}
        line([WORDS["summary"].format(**summary)])
    else:
        line([WORDS["invalid"].format(n=len(found))])
    frame: pd.DataFrame = marking.table(task, found)
    with st.container(key="task-results"):
        st.dataframe(frame.astype(str), hide_index=True)
    st.download_button(
        WORDS["save"], lambda: tables.csv(frame), "results.csv", "text/csv", key="save-results", on_click="ignore"
    )


def _marked(config: Config, task: Assignment, pairs: list[tuple[str, str]]) -> list[marking.Marked]:
    """The codes marked, once: every student's run is computed for it."""
    about = state.digest(config, task, pairs, spoken())
    held = st.session_state.get(_HELD, ("", []))
    if held[0] != about:
        with st.spinner(WORDS["working"]):
            held = about, list(marking.marked(config, task, pairs))
        st.session_state[_HELD] = held
    return held[1]
