"""The judgements that only a teacher can make: points for own words, a scale of grades, who is who."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from attnviz.classroom.marking import grade_scale, grading, results
from attnviz.classroom.marking.assignments import Assignment, normalised_name
from attnviz.classroom.marking.grade_scale import Scale
from attnviz.classroom.marking.grading import GradedSubmission
from attnviz.classroom.marking.submissions import Table
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError, cut
from attnviz.settings.language import Words, sign
from attnviz.ui.session import session_state, widget_values
from attnviz.ui.session.notices import notice, paragraph

WORDS = Words(
    {
        "own_words": "Answers in own words",
        "to_read": "Give points for each answer here: they are part of the sum, of the percentage and of the grade. An "
        "empty answer gets 0 as soon as another one to its question has points.",
        "name": "name",
        "question": "question",
        "answer": "answer",
        "points": "points, of {most}",
        "left": "Answers without points so far: {n} of {all}. For their students this question does not count yet, "
        "neither in the percentage nor in the grade.",
        "scale": "Grades",
        "none": "no grades",
        "letters": "A to F",
        "german": "1.0 to 5.0",
        "passed": "passed or failed",
        "own": "a scale of your own",
        "typed": "From how many percent",
        "typed_help": "The percent from which a grade is given and its name, with semicolons between them.",
        "fault": "{fault}.",
        "numbered": "More than one student is called {names}; their number or address tells them apart.",
        "placed": "More than one row is of {names}, and no number or address tells them apart: each row counts as "
        "a student; “1 of 2” is the upper one.",
        "again": "One student who handed in again",
        "again_help": "Of a name that is chosen here only the last row counts.",
    }
)
_GIVEN, _BASE = "_task_given", "_task_given_base"
_AGAIN = "task-again"
MOST_NAMES = 6  # in a sentence
_Given = dict[tuple[str, int], float]


def scale() -> Scale:
    """Draw the choice of grades; return the scale, none where what is typed cannot be read."""
    names = [*grade_scale.OFFERED, "own"]
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        chosen = st.selectbox(WORDS["scale"], names, format_func=WORDS.__getitem__, key="task-scale", width=240)
        line = grade_scale.preset(chosen or "none")
        if chosen == "own":
            usual = grade_scale.preset("letters")
            help = WORDS["typed_help"]
            typed = st.text_input(WORDS["typed"], key="task-grades", placeholder=usual, help=help, width=420)
            line = typed or usual
    try:
        return grade_scale.read_scale(line)
    except ConfigError as error:
        notice(WORDS["fault"].format(fault=f"{str(error)[0].upper()}{str(error)[1:]}"), kind="fault")
        return ()


def told_apart(table: Table, graded: Sequence[GradedSubmission]) -> list[str]:
    """Return what tells each row from others of its name, and say it; draw the choice of those who handed in again."""
    names, numbers = [each.name for each in graded], [entry.number for entry in table.entries[: len(graded)]]
    valid = [(each, number) for each, number in zip(graded, numbers) if not each.problem]
    shared = {name for name, n in Counter(normalised_name(each.name) for each, _ in valid).items() if n > 1}
    rows = [(each.name, number) for each, number in valid if normalised_name(each.name) in shared]
    bare = Counter(normalised_name(name) for name, number in rows if not number)
    numbered, placed = ({normalised_name(name): name for name, n in rows if bool(n) is has} for has in (True, False))
    notice(*(WORDS[word].format(names=_listed(who)) for word, who in _said(numbered, placed)))
    unsure = [name for key, name in placed.items() if bare[key] > 1]
    if not unsure:
        return results.which(names, numbers)
    widget_values.reset_invalid_choice(_AGAIN, unsure, [])
    again = st.multiselect(
        WORDS["again"], unsure, key=_AGAIN, help=WORDS["again_help"], placeholder="", select_all=False, width=480
    )
    return results.which(names, numbers, again)


def _said(numbered: Mapping[str, str], placed: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    ways = {"numbered": numbered, "placed": placed}
    return [(word, list(found.values())) for word, found in ways.items() if found]


def _listed(names: Sequence[str]) -> str:
    return sign(", ").join(cut(name, 40) for name in names[:MOST_NAMES]) + (" …" if len(names) > MOST_NAMES else "")


def own_words(
    task: Assignment, graded: Sequence[GradedSubmission], points: Sequence[float], table: Table
) -> list[GradedSubmission]:
    """Draw the answers in own words with a field for the points of each; return the submissions with these."""
    asked = [n for n, item in enumerate(task.task_questions) if item[0] == "own_words"]
    valid = {each.code: each for each in reversed(graded) if not each.problem and not each.note}
    written = [(each, n) for each in reversed(valid.values()) for n in asked if each.answers[n] != ""]
    if not written:
        return list(graded)
    most = max(points[n] for n in asked)
    column = WORDS["points"].format(most=f"{most:g}")
    about = session_state.digest([(each.code, each.named, n) for each, n in written], column)
    given: _Given = {**_read_in(table, asked), **st.session_state.get(_GIVEN, {})}
    named = grading.headings(graded, len(points))
    base = st.session_state.get(_BASE, ("", None))
    if base[0] != about:
        values = [given.get((each.code, n)) for each, n in written]
        base = (about, _frame(written, named, column, values))
        st.session_state[_BASE] = base
    st.markdown(f"#### {WORDS['own_words']}")
    paragraph([WORDS["to_read"]])
    config = {
        column: st.column_config.NumberColumn(min_value=0.0, max_value=most, step=0.25, width="small"),
        WORDS["question"]: st.column_config.TextColumn(width="medium"),  # so that the points are on the screen
        WORDS["answer"]: st.column_config.TextColumn(width="large"),
    }
    edited = st.data_editor(
        base[1],
        key=f"own-words-{about}",
        hide_index=True,
        disabled=list(base[1].columns[:3]),
        column_config=config,
        placeholder="–",
    )
    for (each, n), value in zip(written, edited[column]):
        given.pop((each.code, n), None)
        if pd.notna(value):
            given[each.code, n] = min(float(value), points[n])
    st.session_state[_GIVEN] = given
    left = sum((each.code, n) not in given for each, n in written)
    if 0 < left < len(written):
        notice(WORDS["left"].format(n=left, all=len(written)))
    return [results.with_given(each, _of_one(each, given, asked)) for each in graded]


def _of_one(each: GradedSubmission, given: Mapping[tuple[str, int], float], asked: Sequence[int]) -> dict[int, float]:
    """Return the points of one submission; an empty answer to a question that is being marked gets none."""
    marked = {n for _, n in given}
    found = {n: given[each.code, n] for n in asked if (each.code, n) in given}
    empty = {n: 0.0 for n in asked if n in marked and not each.problem and each.answers[n] == ""}
    return {**empty, **found}


def _frame(
    written: Sequence[tuple[GradedSubmission, int]], named: Sequence[str], column: str, values: Sequence[float | None]
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            WORDS["name"]: [each.named for each, _ in written],
            WORDS["question"]: [named[n] for _, n in written],
            WORDS["answer"]: [str(each.answers[n]) for each, n in written],
            column: pd.Series(values, dtype="float64"),
        }
    )


def _read_in(table: Table, asked: Sequence[int]) -> _Given:
    """Return the points that were given already, where the table is one that was saved here."""
    found: _Given = {}
    for n in asked:
        heading = grading.WORDS["given_points"].format(n=ordinal(n))
        if heading not in table.head:
            continue
        at = table.head.index(heading)
        for entry in table.entries:
            try:
                found[entry.code, n] = float(entry.cells[at].replace(",", "."))
            except (ValueError, IndexError):
                continue
    return found
