"""The questions of an assignment as a teacher makes them: chosen from lists, worded, weighted and put in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from attnviz.classroom import question_codec
from attnviz.classroom.free_text import PROMPTS
from attnviz.classroom.marking import assignments, question_notes
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.question_codec import Item, Value
from attnviz.classroom.run_questions import FIELDS
from attnviz.engine.records.trace import Trace
from attnviz.settings import language
from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.language import Words
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.format.number_format import localised
from attnviz.ui.session import session_state, widget_values
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "kind": "Question {n}",
        "remove": "Remove",
        "up": "Move question {n} up",
        "down": "Move question {n} down",
        "add": "Add a question",
        "full": "At most {n} questions fit into a link.",
        "words": "Your own wording",
        "words_help": "Left empty, the question asks as shown in grey. Names in braces, such as {query}, are filled "
        "in; the answer stays the one that is computed. Wording and points can be changed after the link was given "
        "out; codes stay valid.",
        "points": "Points",
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
        "field": "What the slider moves",
        "to": "Where it is right",
    }
)
_EDIT = "_task_edit"
_SHOWN, _ADOPTED = "assigned", "\0"
"""The key under which `state` leaves the fields that Back or a link opened, and its value once widgets show them."""
_Question = tuple[Item, str, float]


def edited(task: Assignment) -> Assignment:
    """Return the assignment with a question added, moved or removed, and re-key the widgets after it."""
    kind, position = st.session_state.get(_EDIT, ("", 0))
    is_other = st.session_state.get(_SHOWN, _ADOPTED) != _ADOPTED
    whole: list[_Question] = [(*each, points) for each, points in zip(task.asked, task.points)]
    if kind == "add" and len(whole) < question_codec.MAX_QUESTIONS:
        whole.append((question_codec.item("weight", {}), "", 1.0))
    elif kind == "remove" and position < len(whole):
        del whole[position]
    elif kind == "up" and 0 < position < len(whole):
        whole[position - 1 : position + 1] = reversed(whole[position - 1 : position + 1])
    if kind in ("remove", "up") or is_other:
        for key in [str(key) for key in st.session_state if str(key).startswith("question.")]:
            del st.session_state[key]
    if is_other:
        widget_values.show(task)
        st.session_state[_SHOWN] = _ADOPTED
    return _with(task, whole)


def _with(task: Assignment, whole: Sequence[_Question]) -> Assignment:
    return replace(
        task,
        task_questions=tuple(item for item, _, _ in whole),
        task_words=tuple(words for _, words, _ in whole),
        task_points=tuple(points for _, _, points in whole),
    )


def done() -> None:
    """Forget what was pressed; only once all is drawn, as a run that a further move cut short has changed nothing."""
    st.session_state.pop(_EDIT, None)


@callback
def _edit(kind: str, position: int) -> None:
    st.session_state[_EDIT] = (kind, position)


@callback
def _keep(at: int) -> None:
    """Keep what was typed for a question where the next run draws another desk: it has no widget of it to read."""
    (selection,) = session_state.saved(Selection)
    task, _ = assignments.decode(selection.assigned)
    if task is None or at >= len(task.task_questions):
        return
    whole: list[_Question] = [(*each, points) for each, points in zip(task.asked, task.points)]
    words, points = (st.session_state.get(f"question.{at}.{name}") for name in ("words", "points"))
    whole[at] = whole[at][0], words or "", whole[at][2] if points is None else float(points)
    field = assignments.encode(_with(task, whole))
    if len(field) <= assignments.MAX_FIELD_CHARACTERS:
        session_state.put("assigned", field)


def questions(trace: Trace, task: Assignment, draft: Assignment) -> Assignment:
    """Draw the questions of an assignment; return the draft with them as they are left."""
    n = len(task.task_questions)
    whole = [_question(trace, at, n, (*each, task.points[at])) for at, each in enumerate(task.asked)]
    is_full = n >= question_codec.MAX_QUESTIONS
    st.button(WORDS["add"], key="add-question", on_click=_edit, args=("add", n), disabled=is_full)
    if is_full:
        paragraph([WORDS["full"].format(n=question_codec.MAX_QUESTIONS)])
    return _with(draft, whole)


def _question(trace: Trace, at: int, n: int, given: _Question) -> _Question:
    """Return one question as its widgets hold it."""
    item, words, points = given
    with st.container(key=f"task-item-{at}", gap="xsmall"):
        first, last = st.columns([4, 3], vertical_alignment="bottom")
        with first:
            kinds = {name: language.translate(kind.label) for name, kind in question_codec.KINDS.items()}
            label = WORDS["kind"].format(n=ordinal(at))
            kind = _pick(label, list(kinds), item[0], f"question.{at}", words=kinds)
        with last:
            _order(at, n)
        chosen: dict[str, Value] = dict(item[1]) if kind == item[0] else {}
        item = positions(trace, kind, at, dict(question_codec.item(kind, chosen)[1]))
        return (item, *_notes(trace, at, item, words, points))


def _order(at: int, n: int) -> None:
    """Draw what moves a question or removes it."""
    with st.container(horizontal=True, gap="small", horizontal_alignment="right"):
        for name, sign, of, is_last in (("up", "↑", at, at == 0), ("down", "↓", at + 1, at == n - 1)):
            words = WORDS[name].format(n=ordinal(at))
            st.button(sign, key=f"{name}-{at}", help=words, on_click=_edit, args=("up", of), disabled=is_last)
        st.button(WORDS["remove"], key=f"remove-{at}", on_click=_edit, args=("remove", at))


def _notes(trace: Trace, at: int, item: Item, words: str, points: float) -> tuple[str, float]:
    """Draw where a question is worded and weighted; return both."""
    worded, weighted = st.columns([5, 1], vertical_alignment="bottom")
    most = question_notes.MAX_WORDING_CHARACTERS
    asks = question_codec.to_question(item, layers=len(trace.layers)).ask
    # Set outright: of a widget that is drawn anew under its key, the browser keeps what was typed for another question.
    keys = {"words": f"question.{at}.words", "points": f"question.{at}.points"}
    st.session_state.setdefault(keys["words"], words)
    st.session_state.setdefault(keys["points"], points)
    typed = worded.text_input(
        WORDS["words"],
        key=keys["words"],
        max_chars=most,
        placeholder=language.translate(asks),
        help=WORDS["words_help"],
        on_change=_keep,
        args=(at,),
    )
    given = weighted.number_input(
        WORDS["points"],
        0.0,
        question_notes.MOST_POINTS,
        step=0.5,
        format="%g",
        key=keys["points"],
        on_change=_keep,
        args=(at,),
    )
    return typed or "", float(given)


def positions(trace: Trace, kind: str, n: int, values: dict[str, Value]) -> Item:
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
    words = {**changes, **question_codec.SAYS, **PROMPTS, **NAMES, **FIELDS}
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
    named = {value: words.get(value, localised(str(value))) for value in options}
    chosen = st.selectbox(label, options, at, format_func=named.__getitem__, key=key)
    return chosen if chosen in options else options[0]
