"""The questions of an assignment as files for a learning platform."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from attnviz.classroom.marking import assignments, moodle, question_list
from attnviz.classroom.marking.assignments import Assignment
from attnviz.engine.cost.need import Need
from attnviz.engine.records.config import Config
from attnviz.settings.language import Words, sign
from attnviz.ui.session import admission
from attnviz.ui.session.notices import paragraph

WORDS = Words(
    {
        "title": "For a platform",
        "note": "Moodle marks these itself: import the file into a question bank as “Moodle XML format”. Each known "
        "mistake has its feedback, and each question the numbers it needs.",
        "versions": "Versions of each question",
        "versions_help": "Each with other numbers, in a category of its own; add a random question from it to a quiz.",
        "xml": "Save for Moodle",
        "csv": "Save as a table",
        "own": "The table has the answers to the numbers shown here; every student has different ones.",
        "left_out": "Not in the file for Moodle: {questions}.",
    }
)


def files(config: Config, task: Assignment, left_out: tuple[int, ...]) -> None:
    """Draw what saves the questions; left_out are the numbers of those that the platform has no form for."""
    st.markdown(f"#### {WORDS['title']}")
    st.caption(WORDS["note"])
    versions = 1
    if task.task_own:
        versions = st.selectbox(
            WORDS["versions"], moodle.VERSIONS, key="moodle-versions", help=WORDS["versions_help"], width=240
        )
    need = replace(moodle.NEED, made=versions * (1 + assignments.n_runs(task)))
    make = partial(moodle.xml, config, task, versions, st.context.url or "")
    one = replace(moodle.NEED, made=1 + assignments.n_runs(task))
    ways: dict[str, tuple[Need, Callable[[], str], str]] = {
        "xml": (need, make, "text/xml"),
        "csv": (one, partial(question_list.csv, config, task), "text/csv"),
    }
    with st.container(horizontal=True, gap="small"):
        for name, (takes, text, kind) in ways.items():
            if refused := admission.refusal(takes, config):
                st.button(WORDS[name], key=f"bank-{name}", disabled=True, help=refused)
                continue
            later = admission.later(takes, config, text)
            st.download_button(WORDS[name], later, f"questions.{name}", kind, key=f"bank-{name}", on_click="ignore")
    if task.task_own:
        st.caption(WORDS["own"])
    if left_out:
        paragraph([WORDS["left_out"].format(questions=sign(", ").join(map(str, left_out)))])
