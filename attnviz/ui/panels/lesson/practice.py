"""Practice: one question at a time with numbers that are dealt anew, harder as more is right, and what was missed.

The question stands in the address, the answers in the session and in the visitor's browser. No server keeps them.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.classroom import open_questions, slides
from attnviz.classroom.practice import record as records
from attnviz.classroom.practice.deals import deal
from attnviz.classroom.practice.dealt import Dealt
from attnviz.classroom.practice.kinds import KINDS, LEVELS
from attnviz.classroom.practice.record import Answer, Asked, Record
from attnviz.engine.records.config import Config
from attnviz.engine.run import run
from attnviz.pictures.stage_record import Stage
from attnviz.settings.language import Words
from attnviz.text.format.html_math import as_markdown
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.view import View
from attnviz.ui.panels.classroom import picked_answer
from attnviz.ui.panels.lesson import kept_text, moved_run
from attnviz.ui.panels.lesson import question as question_panel
from attnviz.ui.session import session_state, widget_values, widgets
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "intro": "Every question has its own numbers, and this page's link opens the same question again. Two right "
        "answers in a row make a kind harder, a wrong one makes it easier.",
        "at": "**{kind}** · level {level} of {levels}",
        "kind": "Question",
        "score": "{kind} · {right} of {all}",
        "kept": "Right at the first try: {right} of {all}. Your browser keeps your answers.",
        "next": "Next question",
        "again": "These {n} again",
        "again_one": "This one again",
        "review": "Review: {n} left of what you missed.",
        "save": "Save my answers (CSV)",
        "forget": "Delete my answers",
        "explore": "Open this in Explore",
        "had_it": "Compare it with the model answer. Did you have the main point?",
        "yes": "Yes, I had it",
        "no": "No, not yet",
    }
)
KEY, PICTURES = "kept-record", "practice-0"
_RECORD, _KNOWN, _VISIT, _SCORED, _REVIEW = (f"_practice_{x}" for x in ("record", "known", "visit", "scored", "review"))
_VIEW = View(fit=True, reserved=150)  # for what is said of an answer: the maps then keep their digits


def record() -> Record:
    """Return what was answered, as far as the session knows."""
    found: Record = st.session_state.get(_RECORD, ())
    return found


def page(config: Config, selection: Selection) -> Selection:
    """Draw the question that the selection names; the visitor's setting, `config`, stays as it is."""
    before, dealt = asked_of(selection), deal(asked_of(selection))
    _score(dealt, before, _at(before))  # what is said at the left counts it
    selection = _chosen(selection)
    asked = asked_of(selection)
    dealt, at = dealt if asked == before else deal(asked), _at(asked)
    is_open = not question_panel.is_revealed(at)
    dealt = _moved(dealt, at)
    shown = _pictures(dealt, is_open)
    if is_open:
        picked_answer.take(dealt.question, shown, pictures=PICTURES, answer=question_panel.answer_key(at))
    with st.container(key="slide", gap="xsmall"):
        st.markdown(WORDS["at"].format(kind=KINDS[asked.kind].label, level=asked.level, levels=LEVELS))
        question_panel.question_form(dealt.question, at, dealt.trace, False)
        question_panel.mistake(dealt.slide.question, dealt.question, at, dealt.trace, pictures="practice-mistake")
        if not is_open and dealt.question.form == "text":
            _own_judgement(asked, at)
    _next(config, selection, dealt, is_open)
    if shown:
        lettering = picked_answer.lettering(dealt.question if is_open else None)
        heatmap.show(shown, key=PICTURES, view=_VIEW, lettering=lettering)
    if not is_open and dealt.question.lines:
        question_panel.arithmetic(dealt.question.lines, at)
    _progress()
    is_known = bool(st.session_state.get(_KNOWN))
    kept_text.keep(records.encode(record()), name="practice", key=KEY, is_known=is_known, found=_found)
    return selection


def asked_of(selection: Selection) -> Asked:
    """Return the question that a selection names."""
    return Asked(selection.practised, selection.level, selection.deal)


def _chosen(selection: Selection) -> Selection:
    """Draw the list at the left; the selection with the kind that is chosen in it, at a question not yet answered."""
    with st.sidebar:
        selection = widgets.draw(selection, "course")
        st.caption(WORDS["intro"])
        widget_values.reset_invalid_choice("practised", list(KINDS), selection.practised)
        labels = {name: _label(name) for name in KINDS}
        kind = st.radio(
            WORDS["kind"],
            list(KINDS),
            list(KINDS).index(widget_values.start("practised", selection.practised)),
            format_func=labels.__getitem__,
            key="practised",
        )
        selection = widgets.draw(selection, "stay")
    if kind in (None, selection.practised):
        return selection
    asked = records.following(record(), Asked(kind, 1, -1), stay=True)
    return with_asked(selection, asked)


def _label(kind: str) -> str:
    """Return the name of a kind, with how many of its answers were right."""
    right, n = records.results(record()).get(kind, (0, 0))
    label = as_markdown(KINDS[kind].label)
    return WORDS["score"].format(kind=label, right=right, all=n) if n else label


def with_asked(selection: Selection, asked: Asked) -> Selection:
    """Return the selection at a question."""
    return replace(selection, practised=asked.kind, level=asked.level, deal=asked.deal)


def _at(asked: Asked) -> str:
    """Return the question as answers are kept by: each time that it is gone to anew it is another."""
    visit = st.session_state.get(_VISIT, 0)
    return f"practice-{asked.kind}-{asked.level}-{asked.deal}-{visit}"


def _moved(dealt: Dealt, at: str) -> Dealt:
    """Return the question with the run at which its slider stands, if it has one; once answered, at what was said."""
    slider = dealt.slider
    if slider is None:
        return dealt
    config = moved_run.moved(dealt.config, slider, dealt.question, at)
    return replace(dealt, config=config, trace=run(config))


def _pictures(dealt: Dealt, is_open: bool) -> tuple[Stage, ...]:
    question = dealt.slide.question
    if question is None:
        return ()
    if is_open:
        return open_questions.pictures(dealt.slide, question, dealt.question, dealt.trace, dealt.trace)
    rows = slides.rows(open_questions.answered(dealt.slide, dealt.question.form), dealt.trace, dealt.trace)
    return rows[-1] if "change" in question.at else rows[0]


def _score(dealt: Dealt, asked: Asked, at: str) -> None:
    """Put the first answer into the record, or that the answer was shown instead."""
    is_given, answer = question_panel.given(at)
    is_shown = question_panel.is_revealed(at)
    if dealt.question.form == "text" or st.session_state.get(_SCORED) == at:
        return
    if is_given and answer is not None and not isinstance(answer, str):
        _keep(asked, at, dealt.question.is_right(answer))
    elif is_shown:
        _keep(asked, at, False)


def _keep(asked: Asked, at: str, is_right: bool) -> None:
    st.session_state[_SCORED] = at
    st.session_state[_RECORD] = (*record(), Answer(asked, is_right))[-records.MOST_KEPT :]
    review = st.session_state.get(_REVIEW, ())
    st.session_state[_REVIEW] = tuple(each for each in review if each != asked)


@callback
def _judge(asked: Asked, at: str, is_right: bool) -> None:
    _keep(asked, at, is_right)


def _own_judgement(asked: Asked, at: str) -> None:
    """Draw the buttons with which a learner judges an answer in own words."""
    if st.session_state.get(_SCORED) == at:
        return
    paragraph([WORDS["had_it"]])
    with st.container(horizontal=True, gap="small"):
        st.button(WORDS["yes"], key="had-it", on_click=_judge, args=(asked, at, True))
        st.button(WORDS["no"], key="had-it-not", on_click=_judge, args=(asked, at, False))


def _next(config: Config, selection: Selection, dealt: Dealt, is_open: bool) -> None:
    """Draw the ways on: the next question, what was missed, and the same numbers in Explore."""
    missed = [each for each in records.missed(record()) if each != asked_of(selection)][-3:]
    review = st.session_state.get(_REVIEW, ())
    with st.container(horizontal=True, gap="small", key="practice-ways"):
        st.button(
            WORDS["next"],
            key="next-practice",
            type="secondary" if is_open else "primary",
            on_click=_go_on,
            args=(config, selection),
        )
        if missed and not review:
            label = WORDS["again"].format(n=len(missed)) if len(missed) > 1 else WORDS["again_one"]
            st.button(label, key="missed", on_click=_review, args=(config, selection, tuple(missed)))
        if not is_open:
            target = replace(selection, page="explore", layer=0, head=None, query=None, key=None)
            st.button(WORDS["explore"], key="to-explore", on_click=session_state.adopt, args=(dealt.config, target))
    if review:
        paragraph([WORDS["review"].format(n=len(review))])


@callback
def _go_on(config: Config, selection: Selection) -> None:
    """Go to what is left of a review, or to the next question."""
    now = asked_of(selection)
    review = [each for each in st.session_state.get(_REVIEW, ()) if each != now]
    st.session_state[_REVIEW] = tuple(review)
    to = review[0] if review else records.following(record(), now, stay=selection.stay)
    _go_to(config, selection, to)


@callback
def _review(config: Config, selection: Selection, missed: tuple[Asked, ...]) -> None:
    st.session_state[_REVIEW] = missed
    _go_to(config, selection, missed[0])


def _go_to(config: Config, selection: Selection, asked: Asked) -> None:
    st.session_state[_VISIT] = st.session_state.get(_VISIT, 0) + 1
    session_state.adopt(config, with_asked(selection, asked))


def _progress() -> None:
    """Draw at the left how much was right, and what can be done with the record."""
    answered = record()
    if not answered:
        return
    with st.sidebar:
        right = sum(answer.is_right for answer in answered)
        st.caption(WORDS["kept"].format(right=right, all=len(answered)))
        file = records.as_csv(answered)
        st.download_button(WORDS["save"], file, "practice.csv", "text/csv", key="save-practice", on_click="ignore")
        st.button(WORDS["forget"], key="forget-practice", on_click=_forget)


@callback
def _forget() -> None:
    st.session_state[_RECORD] = ()
    st.session_state[_REVIEW] = ()
    st.session_state[_KNOWN] = True


@callback
def _found() -> None:
    """Take the answers that the browser has kept, before those of this session.

    A page that was opened at the first question of a kind goes on to one that was not answered yet.
    """
    kept = kept_text.kept(KEY)
    if kept is not None and not st.session_state.get(_KNOWN):
        st.session_state[_RECORD] = (*records.decode(kept), *record())[-records.MOST_KEPT :]
        config, selection = session_state.saved(Config, Selection)
        now = asked_of(selection)
        if now.deal == 0 and now in (answer.asked for answer in record()):
            _go_to(config, selection, records.following(record(), now, stay=True))
    st.session_state[_KNOWN] = True
