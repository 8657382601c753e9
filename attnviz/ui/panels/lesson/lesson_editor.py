"""An editor for lessons: the setting becomes a slide, its question is answered at once, faults are told together.

The text is kept in the session and in the visitor's browser; it is saved as a file, or goes on in a link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from attnviz.classroom import question_codec
from attnviz.classroom.question_codec import Item
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.writing import draft, lesson_link
from attnviz.engine.cost.need import Need
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.exports import links
from attnviz.lessons.lesson import Lesson, Question
from attnviz.lessons.read_lesson import MAX_LESSON_CHARACTERS
from attnviz.settings import language, url_codec
from attnviz.settings.counting import ordinals
from attnviz.settings.language import LANGUAGES, WRITTEN, Words
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.format.sentence_parts import fill
from attnviz.ui.panels.classroom import question_editor
from attnviz.ui.panels.lesson import from_file, kept_draft
from attnviz.ui.session import session_state
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import notice, paragraph, typeset
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "about": "A lesson is a text: a setting, and slides that ask. Make slides of settings at the left, and change "
        "the text as you like; every answer is computed. Your browser keeps the lesson while you write.",
        "slide": "The present setting as a slide",
        "text": "What the slide says",
        "why": "What is said with the answer",
        "languages": "Languages of the lesson",
        "other": "{label}, {language}",
        "steps": "Pictures",
        "kind": "Question",
        "none": "No question",
        "words": "Your own wording",
        "answer": "The answer now: {answer}",
        "add": "Add this slide",
        "no_text": "A slide needs a text first.",
        "lesson": "The lesson",
        "lesson_help": "docs/writing-a-lesson.md explains the keys; one that ends in _de holds the German text, in _es "
        "the Spanish one, in _zh the Chinese one.",
        "anew": "Begin anew with this setting",
        "sure": "The lesson at hand is deleted, here and in your browser. Save it first if you want to keep it.",
        "delete": "Delete it and begin anew",
        "mend": "The setting of the lesson cannot be read; mend it first, or begin anew.",
        "good": "Slides: {n}; questions: {asked}. Nothing is wrong with it.",
        "empty": "There is no slide yet.",
        "learner": "Preview as a learner",
        "presenter": "Preview in large type",
        "save": "Save the lesson (.toml)",
        "link": "Link to the lesson",
        "link_note": "It holds all of the lesson, and no server keeps it; it opens in place of the list of lessons.",
        "too_long": "The lesson is too long for a link; pass its file on.",
    }
)
NEED = Need(held=1, made=4, busy=0.3)
TEXT = "lesson-text"
_DRAFT, _CHECKED = "_lesson_draft", "_lesson_checked"
EMPTIED = ("slide-text", "slide-why", "slide-words", "slide-kind")
_PLACE = 99  # of the question, among the keys of questions
SAID = ("rows_changed", "order", "slider")
"""Kinds that are offered always, as a run may have an answer to them elsewhere than at their first positions."""
FIRST_STEPS = ("scores", "weights")


def desk(trace: Trace, selection: Selection) -> Selection:
    """Draw the editor; the selection as it is left."""
    paragraph([WORDS["about"]])
    if TEXT not in st.session_state:
        st.session_state[TEXT] = st.session_state.get(_DRAFT) or draft.beginning(trace.config)
    made, whole = st.columns([4, 5], gap="large")
    with whole:
        help = WORDS["lesson_help"]
        most = MAX_LESSON_CHARACTERS
        text = st.text_area(WORDS["lesson"], key=TEXT, height=620, max_chars=most, help=help) or ""
        _anew(trace.config, text)
    st.session_state[_DRAFT] = text
    kept_draft.keep(text, (TEXT, _DRAFT))
    with made:
        _slide(trace, text)
    lesson = _gone_through(text)
    if lesson is not None:
        _ways_out(lesson, text, selection)
    return selection


def _anew(config: Config, text: str) -> None:
    """Draw what begins another lesson; one that has slides is deleted only after a second press."""
    arguments: dict[str, Any] = {"key": "lesson-anew", "on_click": _set, "args": (draft.beginning(config),)}
    if draft.has_no_slide(text):
        st.button(WORDS["anew"], **arguments)
        return
    with st.popover(WORDS["anew"]):
        st.caption(WORDS["sure"])
        st.button(WORDS["delete"], **arguments)


@callback
def _set(text: str) -> None:
    st.session_state[TEXT] = st.session_state[_DRAFT] = text


@callback
def _add(text: str) -> None:
    """Take a slide over, and empty the fields for the next one."""
    st.session_state[TEXT] = st.session_state[_DRAFT] = text
    for key in [str(key) for key in st.session_state if str(key).startswith(EMPTIED)]:
        st.session_state[key] = ""  # of a key that is deleted the browser keeps what was typed


def _slide(trace: Trace, text: str) -> None:
    """Draw what makes a slide of the present setting."""
    st.markdown(f"#### {WORDS['slide']}")
    base = draft.base_of(text)
    if base is None:
        notice(WORDS["mend"], kind="fault")
        return
    languages = sorted(LANGUAGES, key=lambda code: code != language.current_language())
    chosen = st.multiselect(
        WORDS["languages"], languages, languages[:2], format_func=LANGUAGES.__getitem__, key="slide-languages"
    )
    languages = [code for code in languages if code in chosen] or languages[:1]
    texts = _texts("text", languages, 90)
    names = list(step_names.steps(trace, 0))
    first = [name for name in FIRST_STEPS if name in names] or names[-1:]
    steps = st.multiselect(WORDS["steps"], names, first, format_func=lambda name: NAMES[name], key="slide-steps")
    question = _question(trace)
    if question is not None:
        texts |= _texts("why", languages, 70)
    written = draft.slide(trace.config, base, texts, steps or first, question)
    is_empty = not any(texts[key].strip() for key in texts if key.startswith("text"))
    st.button(
        WORDS["add"],
        key="add-slide",
        type="secondary" if is_empty else "primary",
        help=WORDS["no_text"] if is_empty else None,
        disabled=is_empty,
        on_click=_add,
        args=(f"{text.rstrip()}\n{written}",),
    )


def _texts(name: str, languages: Sequence[str], height: int) -> dict[str, str]:
    """Draw a field for a text in each language; return what is in them, by their keys."""
    found = {}
    for code in languages:
        key = name if code == WRITTEN else f"{name}_{code}"
        label = WORDS["other"].format(label=WORDS[name], language=LANGUAGES[code])
        found[key] = st.text_area(label, key=f"slide-{key}", height=height) or ""
    return dict(sorted(found.items()))


def _question(trace: Trace) -> Question | None:
    """Draw the choice of a question that this run has an answer to, and the answer; return the question."""
    kinds = [name for name in question_codec.KINDS if name in SAID or _can_be_asked(trace, name)]
    named = {name: language.translate(question_codec.KINDS[name].label) for name in kinds} | {"": WORDS["none"]}
    kind = st.selectbox(WORDS["kind"], ["", *kinds], format_func=named.__getitem__, key="slide-kind") or ""
    if not kind:
        return None
    item: Item = question_editor.positions(trace, kind, _PLACE, dict(question_codec.item(kind, {})[1]))
    plain = question_codec.to_question(item, layers=len(trace.layers))
    words = st.text_input(WORDS["words"], key="slide-words", placeholder=plain.ask) or ""
    question = question_codec.to_question(item, words, layers=len(trace.layers))
    try:
        resolved = resolve(question, trace, worked=False)
    except ValueError as error:
        notice(str(error), kind="fault")
        return None
    typeset(resolved.words)
    notice(*filter(None, [resolved.misnamed]))
    if resolved.solution:
        typeset(fill(WORDS["answer"], answer=resolved.solution[0]))
    return question


def _can_be_asked(trace: Trace, kind: str) -> bool:
    try:
        resolve(question_codec.to_question(question_codec.item(kind, {})), trace, worked=False)
    except ValueError:
        return False
    return True


def _gone_through(text: str) -> Lesson | None:
    """Draw all faults of the lesson, or its questions with their answers; return it where it can be shown."""
    about = session_state.digest(text, language.current_language())
    if st.session_state.get(_CHECKED, ("",))[0] != about:
        st.session_state[_CHECKED] = (about, *from_file.checked(text))
    _, lesson, faults = st.session_state[_CHECKED]
    with st.container(key="lesson-remarks"):
        if draft.has_no_slide(text):
            notice(WORDS["empty"])
            return None
        notice(*map(from_file.sentence, faults), kind="fault")
        if lesson is not None and not faults:
            asked = sum(slide.question is not None for slide in lesson.slides)
            paragraph([WORDS["good"].format(n=len(lesson.slides), asked=asked)])
    return lesson


def _ways_out(lesson: Lesson, text: str, selection: Selection) -> None:
    """Draw what shows the lesson, and what saves it."""
    with st.container(horizontal=True, gap="small"):
        for name, presenter in (("learner", False), ("presenter", True)):
            arguments = (text, lesson, replace(selection, presenter=presenter))
            st.button(WORDS[name], key=f"preview-{name}", on_click=_preview, args=arguments)
        st.download_button(WORDS["save"], text, "lesson.toml", "text/plain", key="save-own", on_click="ignore")
    field = lesson_link.pack(text)
    target = Selection(page="lessons", written=field, lang=selection.lang)
    st.markdown(f"#### {WORDS['link']}")
    if not field or not url_codec.fits_in_link(url_codec.encode(Config(), target)):
        notice(WORDS["too_long"])
        return
    st.caption(WORDS["link_note"])
    whole = links.page_address(st.context.url or "", url_codec.query_string(Config(), target))
    with st.container(key="lesson-link"):
        st.code(whole, language=None, wrap_lines=True, height=120)


@callback
def _preview(text: str, lesson: Lesson, selection: Selection) -> None:
    """Open the lesson in this window at its last slide, which is the one that was added last."""
    from_file.hold(lesson, text)
    config, _ = session_state.saved(Config, Selection)
    last = ordinals(len(lesson.slides))[-1] - 1
    session_state.adopt(config, replace(selection, page="lessons", slide=last, notes=False))
