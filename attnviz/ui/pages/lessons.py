"""The Lessons page: a list of lessons, one slide at a time, and questions that are answered before the picture."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from attnviz.arithmetic.line import ArithmeticLine
from attnviz.classroom import open_questions, slides
from attnviz.classroom.printed import handout
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.classroom.typed_numbers import read_number
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Lesson, Slide
from attnviz.pictures.figures import Stage
from attnviz.settings import url_codec
from attnviz.settings.language import Words
from attnviz.text.sentences import plain
from attnviz.ui.components import formula
from attnviz.ui.components.stage import heatmap
from attnviz.ui.session import admission, session_state, widgets
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import LESSON_NAMES, Selection

WORDS = Words(
    {
        "list": "Lesson",
        "previous": "Previous",
        "next": "Next",
        "place": "{title} · {at} of {n}",
        "number": "Your number",
        "tolerance": "Within ±{tolerance:g} counts as right.",
        "choose": "Your choice",
        "some": "Select all that apply; possibly none does.",
        "option": "{number} {option}",
        "check": "Check",
        "show": "Show the answer",
        "nothing": "Choose an answer first.",
        "unreadable": "That cannot be read as a number; try 0.25, 1/4, 25 % or e/(e+3), for example.",
        "said": "You said {said}. {judged}",
        "none": "none",
        "arithmetic": "The arithmetic",
        "explore": "Open this in Explore",
        "compare": "Open this in Compare",
        "again": "Again with other numbers",
        "blanks": "Sheet to fill in",
        "solutions": "Sheet with solutions",
    }
)

_REVEALED, _GIVEN, _ROW, _DEALT = "_revealed", "_given", "_row", "_dealt"
_CSS = Path(__file__).with_name("lessons.css")

Given = float | Collection[int] | str | None


def page(config: Config, selection: Selection) -> Selection:
    """Draw one slide of the chosen lesson, under its own setting; the visitor's, `config`, stays as it is."""
    st.html(_CSS)
    selection = _chosen(selection)
    lesson = LESSONS[selection.lesson]
    selection = _turned(lesson, selection)
    slide, at = lesson.slides[selection.slide - 1], _at(selection)
    seed = slides.dealt_seed(lesson, _times_dealt(selection)) if _times_dealt(selection) else None
    own, shown = run(slides.with_seed(lesson.config, seed)), run(lesson.on(slide, seed))
    question = resolve(slide.question, shown, own) if slide.question else None
    with st.container(key="slide-large" if selection.presenter else "slide", gap="xsmall"):
        st.markdown(slides.fill_numbers(slide.text, shown))
        if question is not None:
            _question(question, at, shown, selection.presenter)
    is_open = _is_open(slide, at)
    rows = _rows(slide, own, shown, question if is_open else None)
    _pictures(rows[_row(at) :][:1] if selection.presenter else rows, selection.presenter, asked=is_open)
    if not is_open:
        if question is not None and question.lines:
            _arithmetic(question.lines, at, opened=not selection.presenter)
        if not selection.presenter:
            _ways_on(lesson, slide, selection, own.config, shown.config)
    return selection


def _chosen(selection: Selection) -> Selection:
    """The lesson that is chosen in the list, which stands at the left; another one begins with its first slide."""
    if selection.presenter:
        return selection
    names = list(LESSON_NAMES)
    widgets.reset_invalid_choice("lesson", names, selection.lesson)
    with st.sidebar:
        name = st.radio(
            WORDS["list"],
            names,
            names.index(widgets.start("lesson", selection.lesson)),
            format_func=lambda name: LESSON_NAMES[name].label,
            captions=[LESSON_NAMES[name].note for name in names],
            key="lesson",
        )
    return selection if name in (None, selection.lesson) else replace(selection, lesson=name, slide=1)


def _turned(lesson: Lesson, selection: Selection) -> Selection:
    """The selection as Previous, Next and the keys leave it; for a room, going on shows an answer first."""
    n = len(lesson.slides)
    selection = replace(selection, slide=min(selection.slide, n))
    bar = st.container(horizontal=True, vertical_alignment="center")
    back_pressed = bar.button(WORDS["previous"], key="previous-slide", shortcut="Left")
    place = bar.container()
    on_pressed = bar.button(WORDS["next"], key="next-slide", shortcut="Right")
    with bar:
        drawn = widgets.draw(selection, "presenter")
    if selection.presenter:
        with st.container(key="go-on"):
            on_pressed |= st.button(WORDS["next"], key="space", shortcut="Space")
        on_pressed = on_pressed and not _went_on(lesson.slides[selection.slide - 1], _at(selection))
        back_pressed = back_pressed and not _went_back(_at(selection))
    to = min(max(selection.slide - back_pressed + on_pressed, 1), n)
    with place:
        paragraph([WORDS["place"].format(title=lesson.title, at=to, n=n)])
    return replace(drawn, slide=to)


def _at(selection: Selection) -> str:
    """The slide as answers are kept by: in the session only, never in the address."""
    dealt = _times_dealt(selection)
    return f"{selection.lesson}-{selection.slide}" + (f"-{dealt}" if dealt else "")


def _times_dealt(selection: Selection) -> int:
    """How often the numbers of this slide were dealt again."""
    return int(st.session_state.get(_DEALT, {}).get((selection.lesson, selection.slide), 0))


def _deal(selection: Selection) -> None:
    """Ask the same with other numbers: another seed, for this slide and this visit only."""
    place, dealt = (selection.lesson, selection.slide), _times_dealt(selection) + 1
    st.session_state[_DEALT] = {**st.session_state.get(_DEALT, {}), place: dealt}


def _is_open(slide: Slide, at: str) -> bool:
    return slide.question is not None and at not in st.session_state.get(_REVEALED, ())


def _row(at: str) -> int:
    """Which row of pictures of a slide a room sees: there is room for one."""
    shown, row = st.session_state.get(_ROW, ("", 0))
    return int(row) if shown == at else 0


def _went_on(slide: Slide, at: str) -> bool:
    """Whether going on stays on the slide: an open answer is shown first, then every row of pictures in its turn."""
    if _is_open(slide, at):
        _reveal(at)
        return True
    more = _row(at) + 1 < slides.n_rows(slide)
    if more:
        st.session_state[_ROW] = at, _row(at) + 1
    return more


def _went_back(at: str) -> bool:
    """Whether going back stays on the slide: there was a row of pictures before this one."""
    row = _row(at)
    if row:
        st.session_state[_ROW] = at, row - 1
    return row > 0


def _reveal(at: str) -> None:
    st.session_state[_REVEALED] = (*st.session_state.get(_REVEALED, ()), at)


def _question(question: ResolvedQuestion, at: str, trace: Trace, presenter: bool) -> None:
    """The question, and what can be answered; or the answer, once it may be shown."""
    with st.container(key="asked"):
        paragraph([plain(question.words)])
    revealed = st.session_state.get(_REVEALED, ())
    numbered = any(kind == "token" for option in question.options for kind, _ in option)
    options = [plain(option) for option in question.options]
    if options and (numbered or presenter) and not (presenter and at in revealed):
        paragraph([" · ".join(_numbered(options) if numbered else options)])
    given: Given = st.session_state.get(_GIVEN, {}).get(at)
    if at in revealed:
        _answer(question, given, trace)
    elif not presenter:
        labels = [str(number + 1) for number in range(len(options))] if numbered else options
        key = f"answer-{at}"
        _widget(question, labels, key)
        with st.container(horizontal=True, gap="small"):
            st.button(WORDS["check"], key="check", on_click=_check, args=(question, at, key))
            st.button(WORDS["show"], key="show-answer", on_click=_reveal, args=(at,))
        if at in st.session_state.get(_GIVEN, {}):
            paragraph([_refusal(question, given)])


def _numbered(options: Sequence[str]) -> list[str]:
    return [WORDS["option"].format(number=place + 1, option=option) for place, option in enumerate(options)]


def _widget(question: ResolvedQuestion, labels: Sequence[str], key: str) -> None:
    """Where the answer is given. Labels are markdown, so none of them holds a visitor's word."""
    if question.form == "number":
        tolerance = WORDS["tolerance"].format(tolerance=question.tolerance) if question.tolerance else None
        st.text_input(WORDS["number"], key=key, max_chars=40, help=tolerance, width=240)
    elif question.form == "one":
        places = range(len(labels))
        st.radio(WORDS["choose"], places, index=None, format_func=labels.__getitem__, horizontal=True, key=key)
    else:
        places = range(len(labels))
        st.pills(WORDS["some"], places, selection_mode="multi", format_func=labels.__getitem__, key=key)


def _check(question: ResolvedQuestion, at: str, key: str) -> None:
    """Keep the answer; a right one is shown to be right."""
    given = _given(question, st.session_state.get(key))
    st.session_state[_GIVEN] = {**st.session_state.get(_GIVEN, {}), at: given}
    if given is not None and not isinstance(given, str) and question.is_right(given):
        _reveal(at)


def _given(question: ResolvedQuestion, held: Any) -> Given:
    """What a widget holds as an answer: a number, or the options chosen; text that is no number stays text."""
    if question.form == "number":
        number = read_number(held or "")
        return held if number is None else number
    if question.form == "some":
        return tuple(sorted(held or ()))
    return None if held is None else (held,)


def _refusal(question: ResolvedQuestion, given: Given) -> str:
    if given is None or given == "":
        return WORDS["nothing"]
    return WORDS["unreadable"] if isinstance(given, str) else question.feedback(given)


def _answer(question: ResolvedQuestion, given: Given, trace: Trace) -> None:
    """What was said, what is right, and why."""
    if given not in (None, "") and not isinstance(given, str):
        said = WORDS["said"].format(said=_said(question, given), judged=question.feedback(given))
        paragraph([said])
    paragraph([plain(sentence) for sentence in question.solution if sentence])
    if question.why:
        st.markdown(slides.fill_numbers(question.why, trace))


def _said(question: ResolvedQuestion, given: Any) -> str:
    """An answer in words."""
    if question.form == "number":
        return slides.format_number(float(given))
    return ", ".join(plain(question.options[place]) for place in given) or WORDS["none"]


def _rows(slide: Slide, own: Trace, trace: Trace, asked: ResolvedQuestion | None) -> Sequence[tuple[Stage, ...]]:
    """The steps of the slide; while a question is open, what its answer follows from."""
    if asked is not None and slide.question is not None:
        return [open_questions.pictures(slide, slide.question, asked, own, trace)]
    return slides.rows(slide, own, trace)


def _pictures(rows: Sequence[Sequence[Stage]], large: bool, *, asked: bool) -> None:
    """The pictures, a row at a time; in large type they keep within the screen."""
    for number, row in enumerate(rows):
        stages = [replace(picture, large=large) for picture in row]
        heatmap.show(stages, key=f"lesson-{number}", fit=large, asked=asked)


def _arithmetic(lines: Sequence[ArithmeticLine], at: str, *, opened: bool) -> None:
    """The lines of the cell that was asked about."""
    with st.expander(WORDS["arithmetic"], expanded=opened, key=f"arithmetic-{at}"):
        for each in lines:
            words, numbers = st.columns([1, 3], gap="medium")
            words.markdown(f"**{each.title}**  \n{each.sentence}")
            with numbers:
                formula.sheet(each.latex)


def _ways_on(lesson: Lesson, slide: Slide, selection: Selection, own: Config, config: Config) -> None:
    """The same question with other numbers, and the same numbers on the pages where everything can be changed."""
    at = slide.question.at if slide.question else {}
    place: dict[str, Any] = {name: at.get(name) for name in ("head", "query", "key")}
    if place["query"] is None or place["key"] is None:
        place["head"] = None
    there = replace(selection, page="explore", layer=slide.layer, step=slide.steps[0], **place)
    with st.container(horizontal=True, gap="small"):
        if slides.can_be_dealt(lesson, slide):
            st.button(WORDS["again"], key="again", on_click=_deal, args=(selection,))
        st.button(WORDS["explore"], key="to-explore", on_click=session_state.adopt, args=(config, there))
        if slide.beside:
            changes = url_codec.difference(own, config)
            both = replace(there, page="compare", changes=changes)
            st.button(WORDS["compare"], key="to-compare", on_click=session_state.adopt, args=(own, both))
        for name in ("blanks", "solutions"):
            sheet = admission.later(
                "file/handout", config, partial(handout.html, lesson, solutions=name == "solutions")
            )
            file = f"{lesson.name}-{name}.html"
            st.download_button(WORDS[name], sheet, file, "text/html", key=f"sheet-{name}", on_click="ignore")
