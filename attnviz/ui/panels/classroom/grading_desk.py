"""A desk for marking: the link of the assignment, the codes that were handed in, and their table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from urllib.parse import quote

import pandas as pd
import streamlit as st

from attnviz.classroom.marking import assignments, grading, item_analysis, question_notes, results, submissions
from attnviz.classroom.marking.assignments import Assignment
from attnviz.engine.cost import estimate as cost
from attnviz.engine.cost.need import Need
from attnviz.engine.records.config import Config
from attnviz.exports import links
from attnviz.settings import url_codec
from attnviz.settings.counting import index_of
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words, current_language
from attnviz.text.format.number_format import localised
from attnviz.ui.panels.classroom import class_marks
from attnviz.ui.session import admission, locale, session_state
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "link": "Link of the assignment",
        "link_note": "Paste the link that students were given, and press Enter.",
        "no_assignment": "No assignment is open: paste its link, or compose one.",
        "not_one": "There is no assignment in that link.",
        "open": "Marked against: {title} · questions: {n}.",
        "untitled": "an assignment without a title",
        "paste": "Names and codes, one student per line",
        "paste_note": "A name or number, a comma or a tab, and the code.",
        "file": "Or a table as .csv, from a spreadsheet or a learning platform",
        "file_note": "With headings such as name, ID number, first name and surname, and code, result or response. "
        "The saved result has the same columns, followed by those of the marks.",
        "no_head": "The first row is a student’s",
        "points": "Points per question",
        "partial": "Partial credit",
        "partial_note": "Where several rows are to be chosen: the rows that are right, less those that are wrong, out "
        "of all that are right. Otherwise all or nothing.",
        "points_note": "{n} numbers with spaces between them; if left empty, those of the assignment count.",
        "fault": "{fault}.",
        "summary": "Valid codes: {valid} of {n}. Mean score {mean:.1f} of {all}.",
        "summary_points": "Valid codes: {valid} of {n}. Mean {mean:.1f} of {all:g} points.",
        "again": "Rows of students who handed in again further down: {n}; only the last of each counts.",
        "invalid": "Valid codes: none of {n}.",
        "class": "What the class got wrong",
        "class_note": "Students who handed in more than once count once. Discrimination is the correlation between "
        "being right on a question and the points on all other questions; near 0 or below, a question does not tell "
        "who knows more.",
        "all_right": "Nobody was wrong.",
        "save": "Save as CSV",
        "dialect": "Saved with",
        "came": "the separator of the table",
        "semicolon": "semicolons and 0,5",
        "comma": "commas and 0.5",
        "working": "Marking",
        "progress": "Marking: {n} of {all}",
        "so_far": "{n} of {all} codes are marked so far.",
        "next": "Mark the next {n}",
        "honest": "A valid code was made for this assignment under this name. It cannot say who sat there, that "
        "nothing was computed elsewhere, or that no programmer forged it: the setting is public and no server holds a "
        "secret.",
    }
)
_LINK, PASTE, _FILE, _HELD, _POINTS = "task-open", "task-codes", "task-file", "_task_marked", "task-points"
_NEXT, _PARTIAL, _DIALECT, _NO_HEAD = "_task_next", "task-partial", "task-dialect", "task-no-head"
NEED = Need(held=1, made=1, any_length=True)
PORTION = 20
"""Seconds of processor after which marking waits for the teacher to go on."""


def desk(config: Config, selection: Selection, task: Assignment | None) -> Selection:
    """Draw the desk; the selection as it is left."""
    st.text_input(WORDS["link"], key=_LINK, help=WORDS["link_note"], on_change=_open, args=(config, selection))
    if task is None:
        notice(WORDS["no_assignment"])
        return selection
    title = task.task_title or WORDS["untitled"]
    paragraph([WORDS["open"].format(title=title, n=len(task.task_questions))])
    paste, file = st.columns([3, 2], gap="large")
    text = paste.text_area(WORDS["paste"], key=PASTE, height=140, help=WORDS["paste_note"]) or ""
    with file:
        uploaded = st.file_uploader(WORDS["file"], key=_FILE, help=WORDS["file_note"], max_upload_size=1)
    n = len(task.task_questions)
    usual = question_notes.write_points(task.points)
    note = WORDS["points_note"].format(n=n)
    listed = st.text_input(WORDS["points"], key=_POINTS, help=note, placeholder=usual, width=420) or ""
    is_partial = st.checkbox(WORDS["partial"], key=_PARTIAL, help=WORDS["partial_note"])
    try:
        points = results.read_points(listed, n, task.points)
        tables = _tables(uploaded.getvalue() if uploaded is not None else None, text)
    except ConfigError as error:
        notice(WORDS["fault"].format(fault=f"{str(error)[0].upper()}{str(error)[1:]}"), kind="fault")
        return selection
    if tables:
        _results(config, task, submissions.joined(tables), points, is_partial)
    paragraph([WORDS["honest"]])
    return selection


def _tables(uploaded: bytes | None, text: str) -> list[submissions.Table]:
    """Return the tables of an upload and of what was pasted. Where it is in doubt whether a first row holds headings,
    that is said, and the teacher may say that it is a student's."""
    files, texts = [uploaded] if uploaded is not None else [], [text] if text.strip() else []
    tables = [*map(submissions.from_file, files), *map(submissions.from_text, texts)]
    doubts = [table.doubt for table in tables if table.doubt]
    if doubts:
        if st.checkbox(WORDS["no_head"], key=_NO_HEAD):
            read_file, read_text = (
                partial(each, has_head=False) for each in (submissions.from_file, submissions.from_text)
            )
            tables = [*map(read_file, files), *map(read_text, texts)]
        else:
            notice(*doubts)
    return [table for table in tables if table.entries]


@callback
def _open(config: Config, selection: Selection) -> None:
    """Adopt the assignment of a link; a callback, before any widget is drawn."""
    text = str(st.session_state.get(_LINK) or "")
    (setting, target), problems = url_codec.open_link(text, Config, Selection)
    if assignments.decode(target.assigned)[0] is None:
        problems = [WORDS["not_one"]] if text.strip() else []
        session_state.adopt(config, selection, problems=problems)
        return
    session_state.adopt(setting, replace(selection, assigned=target.assigned), problems=problems)


def _results(
    config: Config, task: Assignment, table: submissions.Table, points: Sequence[float], is_partial: bool
) -> None:
    """Draw the marks as a table, and the table that came in with them to save."""
    digest = assignments.digest(config, task)
    pairs = [(grading.made_under(digest, entry.names, entry.code), entry.code) for entry in table.entries]
    graded = _marked(config, task, pairs)
    if not graded:
        return
    graded = results.only_last(graded, class_marks.told_apart(table, graded))
    graded = graded if is_partial else list(map(results.all_or_nothing, graded))
    graded = class_marks.own_words(task, graded, points, table)
    paragraph(map(localised, _summary(task, graded, points)))
    scale = class_marks.scale()
    frame: pd.DataFrame = grading.table(task, graded, points, scale)
    with st.container(key="task-results"):
        verdict = st.column_config.TextColumn(width="medium")  # a sentence where a code is not valid
        st.dataframe(_in_words(frame), hide_index=True, column_config={grading.WORDS["valid"]: verdict})
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        names = list(results.DIALECTS)
        dialect = st.selectbox(WORDS["dialect"], names, format_func=WORDS.__getitem__, key=_DIALECT, width=240)
        make = partial(results.csv_text, table, task, graded, points, dialect or names[0], scale)
        text = locale.in_current_language(make)
        st.download_button(WORDS["save"], text, "results.csv", "text/csv", key="save-results", on_click="ignore")
    _analysis(graded, points)


def _analysis(graded: Sequence[grading.GradedSubmission], points: Sequence[float]) -> None:
    """Draw for each question how many were right, and the mistakes behind the wrong answers."""
    counted = results.counted(graded)
    if not counted:
        return
    found = item_analysis.items(counted, points)
    named = grading.headings(graded, len(points))
    mistakes = item_analysis.mistakes(found, _link)
    judged = [n for n, item in enumerate(found) if item.answered + item.blank]
    overview = item_analysis.overview([found[n] for n in judged], [named[n] for n in judged])
    with st.expander(WORDS["class"], expanded=True, key="task-analysis"):
        wide = {item_analysis.WORDS["question"]: st.column_config.TextColumn(width="large")}
        st.dataframe(_in_words(overview), hide_index=True, column_config=wide)
        if mistakes.empty:
            paragraph([WORDS["all_right"]])
        else:
            columns = {
                item_analysis.WORDS["mistake"]: st.column_config.TextColumn(width="large"),
                item_analysis.WORDS["lesson"]: st.column_config.LinkColumn(display_text="#(.*)", width="medium"),
            }
            st.dataframe(mistakes, hide_index=True, column_config=columns)
        paragraph([WORDS["class_note"]])


def _link(lesson: str, slide: int) -> str:
    """Return the address of a slide in large type, for a room; what it is called stands at its end, to be shown."""
    selection = Selection(page="lessons", lesson=lesson, slide=index_of(slide), presenter=True)
    query = url_codec.query_string(Config(), selection)
    return f"{links.page_address(st.context.url or '', query)}#{quote(item_analysis.in_words(lesson, slide))}"


def _in_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of texts, with numbers as the language of the page writes them."""

    def cell(value: object) -> str:
        return localised(str(value)) if isinstance(value, float) else str(value)

    return frame.apply(lambda column: column.map(cell))


def _summary(task: Assignment, graded: Sequence[grading.GradedSubmission], points: Sequence[float]) -> list[str]:
    """Summarise the valid codes, and the mean over the students, each of whom counts once."""
    valid = results.counted(graded)
    if not valid:
        return [WORDS["invalid"].format(n=len(graded))]
    counts = {"n": len(graded), "valid": sum(not each.problem for each in graded)}
    judged = [point for point, item in zip(points, task.task_questions) if item[0] != "own_words"]
    has_given = any(got is not None for each in valid for got in each.given)
    if has_given or set(points) - {1.0} or any(0 < part < 1 for each in valid for part in each.share):
        mean = sum(each.points(points) for each in valid) / len(valid)
        most = sum(points) if has_given else sum(judged)
        summary = WORDS["summary_points"].format(mean=mean, all=most, **counts)
    else:
        mean = sum(each.score for each in valid) / len(valid)
        summary = WORDS["summary"].format(mean=mean, all=len(judged), **counts)
    again = sum(bool(each.note) for each in graded)
    return [summary, *([WORDS["again"].format(n=again)] if again else [])]


def _marked(config: Config, task: Assignment, pairs: list[tuple[str, str]]) -> list[grading.GradedSubmission]:
    """Return the codes that are marked so far; a first portion of new ones is marked at once, the next by a press."""
    about = session_state.digest(config, task, pairs, current_language())
    kept_results, requested = st.session_state.get(_HELD, ("", [])), st.session_state.pop(_NEXT, None) == about
    if kept_results[0] != about:
        kept_results, requested = (about, []), True
    st.session_state[_HELD] = kept_results
    graded: list[grading.GradedSubmission] = kept_results[1]
    setting = assignments.teacher_setting(config, task)[0]
    if requested and admission.admitted(NEED, setting, again=assignments.n_runs(task)):
        _mark(config, task, pairs, graded, len(graded) + _portion(setting, task, len(pairs) - len(graded)))
    rest = len(pairs) - len(graded)
    if rest:
        notice(WORDS["so_far"].format(n=len(graded), all=len(pairs)))
        label = WORDS["next"].format(n=_portion(setting, task, rest))
        st.button(label, key="mark-next", on_click=_ask_next, args=(about,))
    return graded


def _portion(config: Config, task: Assignment, n: int) -> int:
    """Return the number of codes, of n, that are marked in one go; with the same numbers all students share one run."""
    if not task.task_own or not n:
        return n
    return max(1, cost.times(config, n, PORTION / (1 + assignments.n_runs(task))))


def _mark(
    config: Config, task: Assignment, pairs: list[tuple[str, str]], graded: list[grading.GradedSubmission], to: int
) -> None:
    """Mark the codes up to an index, and show how far it is; drawing that ends it for one who has left."""
    bar = st.progress(0.0, WORDS["working"])
    for each in grading.grade_all(config, task, pairs[len(graded) : to]):
        graded.append(each)
        bar.progress(len(graded) / len(pairs), WORDS["progress"].format(n=len(graded), all=len(pairs)))
    bar.empty()


@callback
def _ask_next(about: str) -> None:
    st.session_state[_NEXT] = about
