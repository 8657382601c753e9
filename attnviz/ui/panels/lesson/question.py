"""The question on a slide: its words, where it is answered, what is said of the answer, and the arithmetic.

Answers are kept in the session only, by the slide that they belong to.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import streamlit as st

from attnviz.arithmetic.notation.derivation import ArithmeticLine
from attnviz.classroom import free_text, slides
from attnviz.classroom.practice import mistake_pictures
from attnviz.classroom.resolved_question import SETS, ResolvedQuestion
from attnviz.classroom.typed_numbers import read_number
from attnviz.classroom.wrong_choices.verdicts import YES
from attnviz.engine.records.trace import Trace
from attnviz.lessons.lesson import Question
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, sign
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import TEXT, plain
from attnviz.ui.components import formula
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.view import View
from attnviz.ui.panels.classroom import answer_widget
from attnviz.ui.panels.lesson import proposals, tally
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import notice, paragraph, typeset

WORDS = Words(
    {
        "number": "Your number",
        "tolerance": "Within ±{tolerance:g} counts as right.",
        "choose": "Your choice",
        "click_one": "Your choice, here or by clicking the word or its cell in a picture",
        "click_rows": "Select all rows that apply, here or by clicking them in a picture; possibly none does.",
        "some": "Select all that apply; possibly none does.",
        "option": "{number} {option}",
        "check": "Check",
        "show": "Show the answer",
        "nothing": "Choose an answer first.",
        "unmoved": "Move the slider first.",
        "unpainted": "Paint the mask first: nothing is forbidden yet.",
        "own_words": "Your answer",
        "wrote": "You wrote: {text}",
        "unreadable": "That cannot be read as a number; try 0.25, 1/4, 25 % or e/(e+3), for example.",
        "see": "Show what that answer was read from",
        "see_where": "Show where that can be seen",
        "verdict": "You said {said}. {judged}",
        "none": "none",
        "arithmetic": "The arithmetic",
    }
)

_REVEALED, _GIVEN = "_revealed", "_given"

Given = float | Collection[int] | str | None


def is_revealed(at: str) -> bool:
    """Return whether the answer on a slide was shown."""
    return at in st.session_state.get(_REVEALED, ())


def answer_key(at: str) -> str:
    """Return the key of the widget in which a slide is answered."""
    return f"answer-{at}"


@callback
def reveal(at: str) -> None:
    """Show the answer on a slide from now on."""
    st.session_state[_REVEALED] = (*st.session_state.get(_REVEALED, ()), at)


def given(at: str) -> tuple[bool, Given]:
    """Return whether an answer was given on a slide, and that answer."""
    answers = st.session_state.get(_GIVEN, {})
    return at in answers, answers.get(at)


def question_form(question: ResolvedQuestion, at: str, trace: Trace, presenter: bool) -> None:
    """Draw the question, and what can be answered; or the answer, once it may be shown."""
    with st.container(key="asked"):
        typeset(question.words)
    revealed = is_revealed(at)
    numbered = any(kind == "token" for option in question.options for kind, _ in option)
    options = [localised(plain(option)) if question.form == "slider" else plain(option) for option in question.options]
    if options and presenter and question.form in tally.COUNTED:
        tally.options(question, at, numbered=numbered, revealed=revealed)
    elif numbered and not revealed:
        paragraph([" · ".join(_numbered(options))])
    answer: Given = st.session_state.get(_GIVEN, {}).get(at)
    labels = [str(ordinal(number)) for number in range(len(options))] if numbered else options
    if presenter and question.form in proposals.FORMS:
        _room(question, labels, at, trace)
    if revealed:
        _answer(question, answer, trace, tally.of_mistake(question, at) if presenter else "")
    elif not presenter:
        key, above = answer_key(at), st.container()
        beside = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
        with beside if question.form == "number" else above:
            _widget(question, labels, key, trace)
        with beside:
            st.button(WORDS["check"], key="check", on_click=_check, args=(question, at, key))
            st.button(WORDS["show"], key="show-answer", on_click=reveal, args=(at,))
        if _stands(question, at):
            typeset(((TEXT, _refusal(question, answer)),))


def _stands(question: ResolvedQuestion, at: str) -> bool:
    """Return whether an answer was checked and is still what the widget holds: nothing is said of another one."""
    was_given, answer = given(at)
    return was_given and _typed_answer(question, st.session_state.get(answer_key(at))) == answer


def _room(question: ResolvedQuestion, labels: Sequence[str], at: str, trace: Trace) -> None:
    """Draw, for a room, the widget as a teacher sets it, and the answers that were noted from it."""
    key, revealed = answer_key(at), is_revealed(at)
    if not revealed:
        with st.container(key="room-answer", horizontal=True, vertical_alignment="bottom"):
            if question.form == "number":
                _number(question, key)
            else:
                answer_widget.draw(question, labels, key, trace, large=True)
            said = _typed_answer(question, st.session_state.get(key))
            proposals.buttons(question, at, said if isinstance(said, float | tuple) else None)
        if question.form == "number" and isinstance(said, str) and said:
            notice(WORDS["unreadable"], kind="fault")
    if proposals.noted(at):
        tally.answers(question, at, trace, revealed=revealed)


def _numbered(options: Sequence[str]) -> list[str]:
    return [WORDS["option"].format(number=ordinal(position), option=option) for position, option in enumerate(options)]


def _widget(question: ResolvedQuestion, labels: Sequence[str], key: str, trace: Trace) -> None:
    """Draw the widget for an answer. Labels are markdown, so none of them holds a visitor's word."""
    positions = range(len(labels))
    options: dict[str, Any] = {"format_func": labels.__getitem__, "key": key}
    match question.form:
        case "text":
            st.text_area(WORDS["own_words"], key=key, max_chars=free_text.MAX_ANSWER_CHARACTERS, height=90)
        case "number":
            _number(question, key)
        case "one":
            label = WORDS["click_one" if question.axis else "choose"]
            st.radio(label, positions, index=None, horizontal=True, **options)
        case form if form in answer_widget.FORMS:
            answer_widget.draw(question, labels, key, trace)
        case _:
            label = WORDS["click_rows" if question.axis else "some"]
            st.pills(label, positions, selection_mode="multi", **options)


def _number(question: ResolvedQuestion, key: str) -> None:
    tolerance = WORDS["tolerance"].format(tolerance=question.tolerance) if question.tolerance else None
    st.text_input(WORDS["number"], key=key, max_chars=40, help=tolerance, width=240)


@callback
def _check(question: ResolvedQuestion, at: str, key: str) -> None:
    """Keep the answer; a right one is shown to be right."""
    answer = _typed_answer(question, st.session_state.get(key))
    st.session_state[_GIVEN] = {**st.session_state.get(_GIVEN, {}), at: answer}
    is_written = question.form == "text" and bool(answer)
    if is_written or (answer is not None and not isinstance(answer, str) and question.is_right(answer)):
        reveal(at)


def _typed_answer(question: ResolvedQuestion, value: Any) -> Given:
    """Return the answer in a widget: a number, or the options chosen; text that is no number stays text."""
    if question.form == "number":
        number = read_number(value or "")
        return value if number is None else number
    if question.form == "text":
        return str(value or "").strip()
    if question.form == "mask" and (value is None or len(value) == len(question.options)):
        return None  # as the grid stands before anything is painted
    if question.form == "slider" and value == question.start:
        return None
    if question.form in SETS:
        return tuple(sorted(value or ()))
    if question.form == "order":
        return tuple(value) if value else None
    return None if value is None else (value,)


def _refusal(question: ResolvedQuestion, answer: Given) -> str:
    if answer is None or answer == "":
        return WORDS[{"slider": "unmoved", "mask": "unpainted"}.get(question.form, "nothing")]
    return WORDS["unreadable"] if isinstance(answer, str) else localised(question.feedback(answer))


def mistake(
    question: Question | None,
    resolved: ResolvedQuestion,
    at: str,
    trace: Trace,
    *,
    pictures: str,
    own: Trace | None = None,
) -> None:
    """Offer the picture in which the mistake behind a wrong answer can be seen, while the question is open."""
    answer = given(at)[1]
    if question is None or is_revealed(at) or isinstance(answer, str) or not _stands(resolved, at):
        return
    stage = mistake_pictures.picture(question, resolved, trace, answer, own)
    is_read = resolved.form not in ("some", "order", "mask") and resolved.how not in (*YES, "next_word")
    label = WORDS["see" if is_read else "see_where"]
    if stage is not None and st.toggle(label, key=f"see-{at}"):
        heatmap.show([stage], key=pictures, view=View(fit=True))


def _answer(question: ResolvedQuestion, answer: Given, trace: Trace, often: str) -> None:
    """Draw the answer that was given, the right one, and the reason; `often` is what a room got wrong most."""
    if question.form == "mask" and isinstance(answer, tuple):
        paragraph([localised(question.feedback(answer))])  # the cells have no names, and are to be seen
    elif answer not in (None, "") and not isinstance(answer, str):
        feedback = WORDS["verdict"].format(
            said=_in_words(question, answer), judged=localised(question.feedback(answer))
        )
        paragraph([feedback])
    elif question.form == "text" and answer:
        paragraph([WORDS["wrote"].format(text=answer)])
    typeset(*([((TEXT, often),)] if often else []), *(sentence for sentence in question.solution if sentence))
    if question.why:
        st.markdown(localised(slides.fill_numbers(question.why, trace)))


def _in_words(question: ResolvedQuestion, answer: Any) -> str:
    """Return an answer in words."""
    if question.form == "number":
        return localised(slides.format_number(float(answer)))
    return sign(", ").join(plain(question.options[position]) for position in answer) or WORDS["none"]


def arithmetic(lines: Sequence[ArithmeticLine], at: str) -> None:
    """Draw the lines of the cell that was asked about."""
    with st.expander(WORDS["arithmetic"], expanded=True, key=f"arithmetic-{at}"):
        for each in lines:
            words, numbers = st.columns([1, 3], gap="medium")
            words.markdown(f"**{each.title}**  \n{each.sentence}")
            with numbers:
                formula.show_aligned(each.latex)
