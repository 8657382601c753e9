"""An editor for assignments from the current setting: words, locks, questions, and the link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from attnviz.classroom import question_codec
from attnviz.classroom.free_text import PROMPTS
from attnviz.classroom.marking import assignments, lesson_assignment
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.printed import handout
from attnviz.classroom.question_codec import Item, Value
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.cost.need import Need
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.exports import links
from attnviz.settings import language, url_codec
from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.language import Words
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.format.sentence_parts import fill
from attnviz.ui.components.qr_code import qr_code
from attnviz.ui.session import admission, widget_values, widgets
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import notice, paragraph, typeset
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "about": "An assignment starts from the setting at the left and becomes a link: no account, nothing stored.",
        "kind": "Question {n}",
        "remove": "Remove",
        "add": "Add a question",
        "full": "At most {n} questions fit into a link.",
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
PLACES = Words(
    {
        "step": "Step",
        "summed": "Of",
        "whole": "Step",
        "change": "What changes",
        "says": "Statement",
        "tolerance": "Tolerance ±",
        "layer": "Layer",
        "head": "Head",
        "query": "Query",
        "key": "Key",
        "column": "Column",
        "prompt": "What to write about",
    }
)
ANSWERED = 10
"""Seconds that a desk may take which is drawn anew with every answer that is typed into it."""
NEED = Need(held=2, made=2, most=ANSWERED)
_EDIT = "_task_edit"
_SHOWN, _ADOPTED = "assigned", "\0"
"""The key under which `state` leaves the fields that Back or a link opened, and its value once widgets show them."""


def desk(trace: Trace, selection: Selection, task: Assignment) -> Selection:
    """Draw the desk; return the selection with the assignment that its widgets hold."""
    task = _edited(task)
    paragraph([WORDS["about"]])
    words, questions = st.columns([2, 3], gap="large")
    with words:
        draft = widgets.draw(
            task, "task_title", "task_text", "task_free", "task_hidden", "task_own", "task_feedback", "task_tries"
        )
    with questions:
        items = [_item(trace, n, item) for n, item in enumerate(task.task_questions)]
        _add(len(items))
    task = assignments.with_setting(replace(draft, task_questions=tuple(items)), trace.config)
    field = assignments.encode(task)
    selection = replace(selection, assigned=field) if len(field) <= assignments.MAX_FIELD_CHARACTERS else selection
    with st.container(key="task-remarks"):  # one container for all, so that what is below keeps its own
        _remarks(trace, task)
    _hand_out(trace.config, selection, task, field)
    st.session_state.pop(_EDIT, None)  # only now: a run that a further move cut short has changed nothing
    return selection


def _edited(task: Assignment) -> Assignment:
    """Return the assignment with a question added or removed, and re-key the widgets after it."""
    kind, position = st.session_state.get(_EDIT, ("", 0))
    is_other = st.session_state.get(_SHOWN, _ADOPTED) != _ADOPTED
    items = list(task.task_questions)
    if kind == "add" and len(items) < question_codec.MAX_QUESTIONS:
        items.append(question_codec.item("weight", {}))
    elif kind == "remove" and position < len(items):
        del items[position]
    if kind == "remove" or is_other:
        for key in [str(key) for key in st.session_state if str(key).startswith("question.")]:
            del st.session_state[key]
    if is_other:
        widget_values.show(task)
        st.session_state[_SHOWN] = _ADOPTED
    return replace(task, task_questions=tuple(items))


@callback
def _edit(kind: str, position: int) -> None:
    st.session_state[_EDIT] = (kind, position)


def _add(n: int) -> None:
    st.button(
        WORDS["add"], key="add-question", on_click=_edit, args=("add", n), disabled=n >= question_codec.MAX_QUESTIONS
    )
    if n >= question_codec.MAX_QUESTIONS:
        paragraph([WORDS["full"].format(n=question_codec.MAX_QUESTIONS)])


def _item(trace: Trace, n: int, item: Item) -> Item:
    """Return one question with the values of its lists."""
    with st.container(key=f"task-item-{n}", gap="xsmall"):
        first, last = st.columns([4, 1], vertical_alignment="bottom")
        with first:
            kinds = {name: language.translate(kind.label) for name, kind in question_codec.KINDS.items()}
            label = WORDS["kind"].format(n=ordinal(n))
            kind = _pick(label, list(kinds), item[0], f"question.{n}", words=kinds)
        last.button(WORDS["remove"], key=f"remove-{n}", on_click=_edit, args=("remove", n), width="stretch")
        chosen: dict[str, Value] = dict(item[1]) if kind == item[0] else {}
        return _positions(trace, kind, n, dict(question_codec.item(kind, chosen)[1]))


def _positions(trace: Trace, kind: str, n: int, values: dict[str, Value]) -> Item:
    """Draw the lists of one question; those that follow from a choice are drawn after it."""
    names = [name for name in question_codec.positions(kind, values) if _is_open(trace, name)]
    first = [name for name in names if name == "step"]
    for name, column in zip(first, st.columns(2) if first else ()):
        with column:
            values[name] = _position(trace, kind, n, name, values)
    values = dict(question_codec.item(kind, values)[1])
    rest = [name for name in question_codec.positions(kind, values) if name not in first and _is_open(trace, name)]
    for name, column in zip(rest, st.columns(max(len(rest), 1))):
        with column:
            values[name] = _position(trace, kind, n, name, values)
    return question_codec.item(kind, values)


def _is_open(trace: Trace, name: str) -> bool:
    return name != "layer" or len(trace.layers) > 1


def _position(trace: Trace, kind: str, n: int, name: str, values: dict[str, Value]) -> Value:
    options = _offered(trace, name, values)
    changes = {name: language.translate(label) for name, (label, _, _) in question_codec.CHANGES.items()}
    words = {**changes, **question_codec.SAYS, **PROMPTS, **NAMES}
    return _pick(PLACES[name], options, values[name], f"question.{n}.{kind}.{name}", words=words)


def _offered(trace: Trace, name: str, chosen: dict[str, Value]) -> list[Value]:
    """Return the options of a list that this run has."""
    steps = step_names.steps(trace, index_of(min(int(chosen.get("layer", 1)), len(trace.layers))))
    sizes = {"layer": len(trace.layers), "head": trace.config.n_heads}
    sizes |= {"query": len(trace.query_tokens), "key": len(trace.key_tokens)}
    if chosen.get("step") in steps:
        sizes["column"] = steps[str(chosen["step"])].shape[-1]
    values = list(question_codec.LISTS[name])
    if name in ("step", "whole", "summed"):
        return [value for value in values if value in steps]
    return values[: sizes[name]] if name in sizes else values


def _pick(label: str, options: Sequence[Any], choice: Any, key: str, *, words: dict[str, str]) -> Any:
    """Return a list that shows what is held, or the first where this run does not have that."""
    if st.session_state.get(key) not in options:
        st.session_state[key] = choice if choice in options else options[0]
    at = options.index(st.session_state[key])
    chosen = st.selectbox(label, options, at, format_func=lambda value: words.get(value, str(value)), key=key)
    return chosen if chosen in options else options[0]


def _remarks(trace: Trace, task: Assignment) -> None:
    """Draw the questions as they will be asked, and what a teacher may not have meant."""
    more = assignments.n_runs(task)
    if more and not admission.admitted(NEED, trace, again=more):
        return
    questions = assignments.resolved_questions(task, trace)
    for n, ask in enumerate(questions, 1):
        if isinstance(ask, ResolvedQuestion):
            typeset(fill(WORDS["asks"], n=str(n), words=ask.words))
        else:
            notice(WORDS["fault"].format(n=n, why=ask), kind="fault")
    away = assignments.given_away(task, questions)
    if away:
        notice(WORDS["away"].format(questions=", ".join(map(str, away))))
    unchanged = assignments.unchanged(task, trace.config)
    if unchanged:
        notice(WORDS["unchanged"].format(questions=", ".join(map(str, unchanged))))
    if task.task_own and not lesson_assignment.is_random(trace):
        notice(WORDS["same"])
    if not questions:
        notice(WORDS["no_questions"])


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
    paragraph([WORDS["honest"]])


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
    for name, solved in (("blanks", False), ("solutions", True)):
        st.download_button(
            WORDS[name],
            admission.later(handout.NEED, config, partial(handout.html, config, solutions=solved, **about)),
            f"attention-{name}.html",
            "text/html",
            key=f"sheet-{name}",
            on_click="ignore",
        )
