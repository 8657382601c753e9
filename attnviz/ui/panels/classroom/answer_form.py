"""The questions of an assignment one below another, what is said of the answers, and the code they become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from attnviz.classroom import free_text, question_codec
from attnviz.classroom.marking import assignments, coded_answers, grading, results
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.classroom.run_questions import slider_of, weight_at
from attnviz.classroom.typed_numbers import read_number
from attnviz.engine.records.trace import Trace
from attnviz.lessons.lesson import Question
from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.language import Words
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import TEXT, fill, plain
from attnviz.ui.components import qr_code
from attnviz.ui.panels.classroom import answer_widget, cell_map, share_code
from attnviz.ui.session import session_state
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import notice, paragraph, typeset

WORDS = Words(
    {
        "question": "{n}. {words}",
        "worth": "{n}. {words} (points: {points})",
        "unanswerable": "{n}. Your numbers have no answer to this question; it does not count.",
        "weight": "The weight there is {weight}.",
        "unmoved": "It counts as an answer once the slider is moved.",
        "number": "Your number",
        "tolerance": "Within ±{tolerance:g} counts as right.",
        "choose": "Your choice",
        "some": "Select all that apply; possibly none does.",
        "nothing": "None of them",
        "option": "{number} {option}",
        "unreadable": "That cannot be read as a number; try 0.25, 1/4, 25 % or e/(e+3), for example.",
        "check": "Check",
        "finish": "Make the code",
        "kept": "{n} of {all} answered.",
        "right": "{n} of {all} are right.",
        "points": "That makes {n:g} of {all:g} points.",
        "left": "{n} of {all} tries are left.",
        "own_words": "Your answer, in at most {n} characters",
        "stale": "An answer has changed since; click the button again for a new code.",
        "code": "Hand in this code. It holds your answers, so a changed answer needs a new code.",
        "csv": "Save as CSV",
        "json": "Save as JSON",
        "qr": "As a QR code",
        "qr_note": "The camera of another device reads the code from here.",
    }
)
_CHECKED, _TRIES = "_task_checked", "_task_tries"


def questions(trace: Trace, task: Assignment, name: str, digest: int) -> None:
    """Ask every question of the student's own run, and give the code of what was answered."""
    resolved = assignments.resolved_questions(task, trace)
    who = session_state.digest(digest, assignments.normalised_name(name))
    keys = [f"answer-{who}-{n}" for n in range(len(resolved))]
    checked: Sequence[int] = st.session_state.get(_CHECKED, {}).get(who, ())
    for n, (ask, key) in enumerate(zip(resolved, keys), 1):
        with st.container(key=f"question-{n}", gap="xsmall"):
            worth = f"{task.points[index_of(n)]:g}" if set(task.points) != {1.0} else ""
            said = checked[index_of(n)] if checked and task.task_feedback else None
            _question((n, ask, key), trace, task, said, worth)
    if not resolved:
        return
    label = WORDS["check" if task.task_feedback else "finish"]
    tries = st.session_state.get(_TRIES, {}).get(who, ())
    is_over = task.task_feedback and task.task_tries is not None and len(tries) >= task.task_tries
    arguments = (who, resolved, keys)
    st.button(label, key="check-task", type="primary", on_click=_check, args=arguments, disabled=is_over)
    if task.task_feedback and task.task_tries is not None:
        paragraph([WORDS["left"].format(n=max(task.task_tries - len(tries), 0), all=task.task_tries)])
    if checked:
        if list(checked) != _numbers(resolved, keys):
            paragraph([WORDS["stale"]])
        _handed(task, name, grading.answer_code(digest, name, checked, len(tries)), resolved, checked)


def _question(
    asked: tuple[int, ResolvedQuestion | str, str], trace: Trace, task: Assignment, checked: int | None, worth: str
) -> None:
    """Draw one question, where it is answered, and, once it may be said, whether the answer is right.

    asked  its number, the question, and the key of its widget
    """
    n, ask, key = asked
    if isinstance(ask, str):
        paragraph([WORDS["unanswerable"].format(n=n)])
        return
    typeset(fill(WORDS["worth" if worth else "question"], n=str(n), words=ask.words, points=worth))
    notice(*filter(None, [ask.misnamed]))  # in a link that was made elsewhere, or before its maker was told
    numbered = any(kind == "token" for option in ask.options for kind, _ in option)
    options = [localised(plain(option)) if ask.form == "slider" else plain(option) for option in ask.options]
    if numbered:
        sentences = (WORDS["option"].format(number=at, option=option) for at, option in enumerate(options, 1))
        paragraph([" · ".join(sentences)])
    labels = [str(ordinal(at)) for at in range(len(options))] if numbered else options
    if ask.form == "slider":
        _slider(ask, labels, key, trace, question_codec.to_question(task.task_questions[index_of(n)]))
    elif ask.form == "cell":
        question = question_codec.to_question(task.task_questions[index_of(n)])
        stage = cell_map.of_head(question, trace, is_shown="weights" in task.pictures)
        cell_map.take(ask, stage, key)
        answer_widget.draw(ask, labels, key, trace)
        cell_map.draw(ask, stage, key)
    elif ask.form in answer_widget.FORMS:
        answer_widget.draw(ask, labels, key, trace)
    else:
        _widget(ask, labels, key)
    if ask.form == "number" and _is_unreadable(key):
        paragraph([WORDS["unreadable"]])
    elif checked and checked == _number(ask, key):
        typeset(((TEXT, coded_answers.feedback(ask, checked)),))


def _slider(ask: ResolvedQuestion, labels: Sequence[str], key: str, trace: Trace, question: Question) -> None:
    """Draw the slider, and the weight at the stop where it stands."""
    moving = slider_of(trace, question.at)
    st.session_state.setdefault(key, moving.start)
    answer_widget.draw(ask, labels, key, trace)
    held = st.session_state[key]
    stop = held if held in range(len(moving.stops)) else moving.start
    said = localised(WORDS["weight"].format(weight=f"{weight_at(trace, question.at, stop):.2f}"))
    paragraph([said, WORDS["unmoved"]] if stop == ask.start else [said])


def _widget(ask: ResolvedQuestion, labels: Sequence[str], key: str) -> None:
    """Draw the widget for an answer. Labels are markdown, so none of them holds a visitor's word."""
    positions = range(len(labels))
    if ask.form == "number":
        tolerance = WORDS["tolerance"].format(tolerance=ask.tolerance) if ask.tolerance else None
        st.text_input(WORDS["number"], key=key, max_chars=40, help=tolerance, width=240)
    elif ask.form == "text":
        st.text_area(
            WORDS["own_words"].format(n=free_text.MAX_ANSWER_CHARACTERS),
            key=key,
            max_chars=free_text.MAX_ANSWER_CHARACTERS,
            height=90,
        )
    elif ask.form == "one":
        st.radio(WORDS["choose"], positions, index=None, format_func=labels.__getitem__, horizontal=True, key=key)
    else:
        st.pills(WORDS["some"], positions, selection_mode="multi", format_func=labels.__getitem__, key=key)
        st.checkbox(WORDS["nothing"], key=f"{key}-nothing", disabled=bool(st.session_state.get(key)))


def _is_unreadable(key: str) -> bool:
    typed = st.session_state.get(key) or ""
    return bool(typed.strip()) and read_number(typed) is None


def _number(ask: ResolvedQuestion | str, key: str) -> int:
    """Return the answer as codes hold it; an empty choice of several counts once it is said to be meant."""
    value: Any = st.session_state.get(key)
    if isinstance(ask, str):
        return 0
    if ask.form == "text":
        return coded_answers.encode(ask, str(value or ""))
    if ask.form == "number":
        return coded_answers.encode(ask, read_number(value or ""))
    if ask.form in coded_answers.ONE_OF_SEVERAL:
        return coded_answers.encode(ask, None if value is None else (value,))
    if ask.form in answer_widget.FORMS:
        return coded_answers.encode(ask, tuple(value) if value else None)
    none = st.session_state.get(f"{key}-nothing")
    return coded_answers.encode(ask, tuple(value) if value else () if none else None)


def _numbers(resolved: Sequence[ResolvedQuestion | str], keys: Sequence[str]) -> list[int]:
    return [_number(ask, key) for ask, key in zip(resolved, keys)]


@callback
def _check(who: str, resolved: Sequence[ResolvedQuestion | str], keys: Sequence[str]) -> None:
    """Keep the answers as they are; a callback, so that what is said of them is drawn in the same run."""
    answers = tuple(_numbers(resolved, keys))
    tries = st.session_state.get(_TRIES, {}).get(who, ())
    if tries[-1:] != (answers,):  # the same answers again are no other try
        st.session_state[_TRIES] = {**st.session_state.get(_TRIES, {}), who: (*tries, answers)}
    st.session_state[_CHECKED] = {**st.session_state.get(_CHECKED, {}), who: answers}


def _handed(
    task: Assignment, name: str, code: str, resolved: Sequence[ResolvedQuestion | str], numbers: Sequence[int]
) -> None:
    """Draw the code that a student hands in."""
    asks = [ask for ask in resolved if isinstance(ask, ResolvedQuestion)]
    sentences = [WORDS["kept"].format(n=sum(map(bool, numbers)), all=len(asks))]
    if task.task_feedback:
        judged = [
            (coded_answers.is_right(a, answer), points)
            for a, answer, points in zip(resolved, numbers, task.points)
            if isinstance(a, ResolvedQuestion) and a.form != "text"
        ]
        sentences.append(WORDS["right"].format(n=sum(right for right, _ in judged), all=len(judged)))
        if set(task.points) != {1.0}:
            got = sum(points for right, points in judged if right)
            sentences.append(localised(WORDS["points"].format(n=got, all=sum(points for _, points in judged))))
    paragraph(sentences)
    paragraph([WORDS["code"]])
    with st.container(key="task-code"):
        st.code(code, language=None, wrap_lines=True)
        share_code.draw(code, title=task.task_title)
    files = results.answer_files(task, results.answer_table(task, name, code, resolved, numbers))
    with st.container(horizontal=True, gap="small"):
        for ending, text in files.items():
            st.download_button(WORDS[ending], text, f"answers.{ending}", key=f"save-{ending}", on_click="ignore")
        if qr_code.can_be_drawn():
            with st.popover(WORDS["qr"]):
                qr_code.picture(code, WORDS["qr_note"])
