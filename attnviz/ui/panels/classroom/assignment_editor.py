"""An editor for assignments from the current setting: words, locks, questions, and the link."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from attnviz.classroom.marking import assignments, lesson_assignment, moodle
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.printed import handout
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.cost.need import Need
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.exports import links
from attnviz.settings import url_codec
from attnviz.settings.language import Words, sign
from attnviz.text.format.sentence_parts import fill
from attnviz.ui.components.qr_code import qr_code
from attnviz.ui.panels.classroom import for_platforms, question_editor
from attnviz.ui.session import admission, widgets
from attnviz.ui.session.notices import notice, paragraph, typeset
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "about": "An assignment starts from the setting at the left and becomes a link: no account, nothing stored.",
        "asks": "{n}. {words}",
        "fault": "{n}. This cannot be asked here: {why}.",
        "away": "With what is shown, students can read off the answers to {questions}. "
        "Hide a picture or a panel, unless you intend that.",
        "unchanged": "The setting is already as these questions change it, so no row can change: {questions}.",
        "same": "Nothing in this setting is drawn at random, so all students have the same numbers.",
        "link": "Link for students",
        "link_note": "It holds the setting, the questions and your words; no right answer is in it.",
        "too_long": "The assignment is too long for a link. Shorten the sentence, the instructions or what was pasted.",
        "no_link": "There will be a link as soon as there is a question.",
        "no_questions": "There are no questions yet; students will see the setting and your words.",
        "open": "Open as a student",
        "blanks": "Handout with blanks",
        "solutions": "Handout with solutions",
        "sheets": "On paper",
        "sheets_note": "One file, to be printed from any browser, with the numbers of the setting at the left.",
        "honest": "What this cannot prevent: the setting is public, so the answers can be computed elsewhere; a lock "
        "can be edited out of a link, though codes made there are refused as those of another assignment; and as no "
        "server holds a secret, a programmer can forge a code. It is for homework and a room, not for an examination.",
    }
)
ANSWERED = 10
"""Seconds that a desk may take which is drawn anew with every answer that is typed into it."""
NEED = Need(held=2, made=2, most=ANSWERED)


def desk(trace: Trace, selection: Selection, task: Assignment) -> Selection:
    """Draw the desk; return the selection with the assignment that its widgets hold."""
    task = question_editor.edited(task)
    paragraph([WORDS["about"]])
    words, questions = st.columns([2, 3], gap="large")
    with words:
        draft = widgets.draw(
            task, "task_title", "task_text", "task_free", "task_hidden", "task_own", "task_feedback", "task_tries"
        )
    with questions:
        draft = question_editor.questions(trace, task, draft)
    task = assignments.with_setting(draft, trace.config)
    field = assignments.encode(task)
    selection = replace(selection, assigned=field) if len(field) <= assignments.MAX_FIELD_CHARACTERS else selection
    with st.container(key="task-remarks"):  # one container for all, so that what is below keeps its own
        left_out = _remarks(trace, task)
    _hand_out(trace.config, selection, task, field)
    if task.task_questions:
        for_platforms.files(trace.config, task, left_out)
    paragraph([WORDS["honest"]])
    question_editor.done()
    return selection


def _remarks(trace: Trace, task: Assignment) -> tuple[int, ...]:
    """Draw the questions as they will be asked, and what a teacher may not have meant.

    Return the numbers of those that no file for a platform can hold.
    """
    more = assignments.n_runs(task)
    if more and not admission.admitted(NEED, trace, again=more):
        return ()
    questions = assignments.resolved_questions(task, trace)
    for n, ask in enumerate(questions, 1):
        if isinstance(ask, ResolvedQuestion):
            typeset(fill(WORDS["asks"], n=str(n), words=ask.words))
            notice(*filter(None, [ask.misnamed]))
        else:
            notice(WORDS["fault"].format(n=n, why=ask), kind="fault")
    away = assignments.given_away(task, questions)
    if away:
        notice(WORDS["away"].format(questions=sign(", ").join(map(str, away))))
    unchanged = assignments.unchanged(task, trace.config)
    if unchanged:
        notice(WORDS["unchanged"].format(questions=sign(", ").join(map(str, unchanged))))
    if task.task_own and not lesson_assignment.is_random(trace, in_any_step=True):
        notice(WORDS["same"])
    if not questions:
        notice(WORDS["no_questions"])
    return moodle.left_out(questions)


def _hand_out(config: Config, selection: Selection, task: Assignment, field: str) -> None:
    """Draw the link, its code for a camera, the handouts, and what all this cannot prevent."""
    student = Selection(page="assign", desk="student", assigned=selection.assigned, lang=selection.lang)
    link, code, handouts = st.columns([3, 2, 2], gap="large")
    if not field or field != selection.assigned or not url_codec.fits_in_link(url_codec.encode(config, student)):
        link.markdown(f"#### {WORDS['link']}")
        with link:
            notice(WORDS["too_long"] if field else WORDS["no_link"], kind="fault" if field else "note")
    else:
        whole = links.page_address(st.context.url or "", url_codec.query_string(config, student))
        with link:
            _link(whole)
        with code:
            qr_code(links.short_address(whole))
    with handouts:
        _handouts(config, task)


def _link(whole: str) -> None:
    st.markdown(f"#### {WORDS['link']}")
    st.caption(WORDS["link_note"])
    with st.container(key="task-link"):
        st.code(whole, language=None, wrap_lines=True, height=160)
    st.link_button(WORDS["open"], whole)


def _handouts(config: Config, task: Assignment) -> None:
    st.markdown(f"#### {WORDS['sheets']}")
    st.caption(WORDS["sheets_note"])
    about: dict[str, Any] = {"title": task.task_title, "text": task.task_text, "questions": task.task_questions}
    about["words"] = task.task_words
    for name, solved in (("blanks", False), ("solutions", True)):
        st.download_button(
            WORDS[name],
            admission.later(handout.NEED, config, partial(handout.html, config, solutions=solved, **about)),
            f"attention-{name}.html",
            "text/html",
            key=f"sheet-{name}",
            on_click="ignore",
        )
