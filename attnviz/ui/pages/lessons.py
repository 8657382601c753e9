"""The Lessons page: a list of lessons, one slide at a time, and questions that are answered before the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.classroom import open_questions, slides
from attnviz.classroom.marking import assignments, lesson_assignment
from attnviz.classroom.next_word.readings import is_reading
from attnviz.classroom.printed import handout
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Lesson, Slide
from attnviz.pictures.stage_record import Stage
from attnviz.settings import url_codec
from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.language import Words
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import TEXT
from attnviz.ui.panels.classroom import picked_answer
from attnviz.ui.panels.lesson import classroom_tools, controls, from_file, in_step, path, slide_maps, speaker, tally
from attnviz.ui.panels.lesson import question as question_panel
from attnviz.ui.panels.lesson.controls import Tried
from attnviz.ui.panels.lesson.moved_run import of_slide
from attnviz.ui.panels.lesson.practice import page as practice_page
from attnviz.ui.session import admission, session_state, widgets
from attnviz.ui.session.browser import styles
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import typeset
from attnviz.ui.session.selection import PRACTICE, Selection

WORDS = Words(
    {
        "previous": "Previous",
        "next": "Next",
        "next_lesson": "Next lesson",
        "explore": "Open this in Explore",
        "compare": "Open this in Compare",
        "again": "Again with different numbers",
        "blanks": "Handout to fill in",
        "key": "Answer key",
        "assign": "Make it an assignment",
        "brought": "{n} questions of the lesson came along; others need another setting or other words.",
        "solutions": "Handout with solutions",
    }
)

_ROW, _RESEEDED = "_row", "_dealt"
_CSS = Path(__file__).with_name("lessons.css")


def page(config: Config, selection: Selection) -> Selection:
    """Draw a slide of the chosen lesson, or practice; the visitor's setting, `config`, stays as it is."""
    styles.style(_CSS)
    if from_file.opened() is None and st.session_state.get("course", selection.course) == PRACTICE:
        return practice_page(config, selection)
    return _slide(config, selection)


def _slide(config: Config, selection: Selection) -> Selection:
    """Draw one slide of the chosen lesson, under its own setting."""
    selection = _chosen(selection)
    lesson = from_file.opened() or LESSONS[selection.lesson]
    if selection.notes:
        selection = speaker.page(lesson, selection, turn=_turn)
        _in_step(selection)
        return selection
    selection, tools = _navigated(lesson, selection, config)
    slide, at = lesson.slides[selection.slide], _at(lesson, selection)
    times = _times_reseeded(lesson, selection)
    seed = slides.next_seed(lesson, times) if times else None
    baseline, shown = _runs(slides.with_seed(lesson.config, seed), lesson.on(slide, seed))
    question = resolve(slide.question, shown, baseline) if slide.question else None
    is_open = _is_open(slide, at)
    if selection.presenter:
        _in_step(selection)
        with tools:
            _tools(lesson, selection, question, at)
    before = _rows(slide, baseline, shown, question)
    if is_open and question is not None and (not selection.presenter or question.form == "cell"):
        answer = question_panel.answer_key(at)
        picked_answer.take(question, before[0], pictures=slide_maps.pictures_key(0), answer=answer)
    drawn = of_slide(slide, question, shown, at)
    after = _rows(slide, baseline, shown, None)
    words, maps = slide_maps.columns(slide, before, after, room=selection.presenter)
    with words:
        _words(lesson, selection, question, at, baseline, shown)
        tried = Tried(drawn) if is_open or drawn is not shown else controls.draw(lesson, slide, at, baseline, shown)
    rows = before if is_open else after
    if tried.trace is not shown:
        rows = _rows(slide, baseline, tried.trace, question if is_open else None)
    rows = [tuple(map(controls.transpose, row)) for row in rows] if tried.transposed else rows
    with maps:
        slide_maps.draw(slide, rows, question if is_open else None, at, room=_row(at) if selection.presenter else None)
        if is_open or selection.presenter:
            return selection
        if question is not None and question.lines:
            question_panel.arithmetic(question.lines, at)
        if slide is lesson.slides[-1]:
            path.summary(lesson, config, selection)
        _ways_on(lesson, slide, selection, baseline.config, tried.trace.config)
    return selection


def _words(
    lesson: Lesson,
    selection: Selection,
    question: ResolvedQuestion | None,
    at: str,
    baseline: Trace,
    shown: Trace,
) -> None:
    """Draw the text of a slide and its question, and below that the picture of a mistake."""
    slide, room = lesson.slides[selection.slide], selection.presenter
    with st.container(key="slide-large" if room else "slide", gap="xsmall"):
        if not room or question is None or _is_open(slide, at):
            path.goal(lesson, selection, is_brief=room)
            st.markdown(localised(slides.fill_numbers(slide.text, shown)))
        if question is not None:
            question_panel.question_form(question, at, shown, room)
            question_panel.mistake(slide.question, question, at, shown, pictures="lesson-mistake", own=baseline)


def _in_step(selection: Selection) -> None:
    """Turn the slides and the notes on them together; those of a lesson from a file are in one window alone."""
    if from_file.opened() is None:
        in_step.draw(selection)


def _runs(one: Config, other: Config) -> tuple[Trace, Trace]:
    """Return the runs of two settings, which are often the same."""
    baseline = run(one)
    return baseline, baseline if other == one else run(other)


def _chosen(selection: Selection) -> Selection:
    """Return the selection with the lesson that is chosen at the left; in a course, at a place of that."""
    from_file.take(selection)
    is_own = from_file.opened() is not None
    selection = _completed(selection if is_own else path.within_course(selection))
    if not (selection.presenter or selection.notes):
        selection = selection if is_own else path.choose(selection)
        from_file.choose(selection)
    return selection


def _completed(selection: Selection) -> Selection:
    """Return the selection with its lesson gone through if the last slide is shown with nothing left to ask."""
    lesson = LESSONS[selection.lesson]
    last = replace(selection, slide=path.last_slide(lesson, selection))
    if selection.notes or from_file.opened() is not None or selection.slide < last.slide:
        return selection
    return selection if _is_open(lesson.slides[last.slide], _at(lesson, last)) else path.gone_through(selection)


def _tools(lesson: Lesson, selection: Selection, question: ResolvedQuestion | None, at: str) -> None:
    """Draw the tools for a classroom beside the slide."""
    if question is not None:
        tally.field(question, at)
    classroom_tools.tools(lesson, selection)


def _navigated(lesson: Lesson, selection: Selection, config: Config) -> tuple[Selection, DeltaGenerator]:
    """Draw Previous and Next; return the selection on a slide that there is, and where there is room for tools.

    Behind the last slide, Next leads to the next lesson once nothing is left to ask; `config` is the visitor's setting.
    """
    n = len(lesson.slides)
    selection = replace(selection, slide=min(selection.slide, n - 1))
    band = "slide-bar" if selection.presenter else "tools-slide"  # a room has nothing but the slide
    with st.container(key=band, horizontal=True, vertical_alignment="center"):
        back, on = (_leads_nowhere(lesson, selection, by) for by in (-1, 1))
        st.button(WORDS["previous"], key="previous-slide", shortcut="Left", on_click=_turn, args=(-1,), disabled=back)
        with st.container():
            typeset(((TEXT, path.place(lesson, selection)),))
        lesson_after = _lesson_after(lesson, selection) if on else None
        if lesson_after is None:
            st.button(WORDS["next"], key="next-slide", shortcut="Right", on_click=_turn, args=(1,), disabled=on)
        else:
            label, there = WORDS["next_lesson"], (config, lesson_after)
            st.button(label, key="next-slide", shortcut="Right", on_click=session_state.adopt, args=there)
        tools = st.container(key="slide-tools", horizontal=True, width="content", gap="small")
        drawn = widgets.draw(selection, "presenter")
    if selection.presenter:
        with st.container(key="go-on"):
            st.button(WORDS["next"], key="space", shortcut="Space", on_click=_turn, args=(1,))
    return drawn, tools


def _leads_nowhere(lesson: Lesson, selection: Selection, by: int) -> bool:
    """Return whether there is no slide that way, and for a room nothing more of this one."""
    stays = selection.presenter and _has_more(lesson.slides[selection.slide], _at(lesson, selection), by)
    return path.is_end(lesson, selection, by) and not stays


def _lesson_after(lesson: Lesson, selection: Selection) -> Selection | None:
    """Return the selection at the next lesson behind a last slide; None while its question is open, and for a room."""
    is_open = _is_open(lesson.slides[selection.slide], _at(lesson, selection))
    return None if is_open or selection.presenter else path.after(lesson, selection)


@callback
def _turn(by: int) -> None:
    """Go to a slide after or before the one that is shown; for a room, going on shows an answer first."""
    (selection,) = session_state.saved(Selection)
    lesson = from_file.opened() or LESSONS[selection.lesson]
    selection = replace(selection, slide=min(selection.slide, len(lesson.slides) - 1))
    if selection.presenter and not selection.notes:
        slide, at = lesson.slides[selection.slide], _at(lesson, selection)
        if _has_more(slide, at, by):
            _show_more(slide, at, by)
            return
    name, number = path.turned(lesson, selection, by)
    if name == selection.lesson:
        session_state.put("slide", str(ordinal(number)))
        return
    config, _ = session_state.saved(Config, Selection)
    session_state.adopt(config, replace(selection, lesson=name, slide=number))


def _at(lesson: Lesson, selection: Selection) -> str:
    """Return the slide as answers are kept by: in the session only, never in the address."""
    times = _times_reseeded(lesson, selection)
    return f"{lesson.name}-{ordinal(selection.slide)}" + (f"-{times}" if times else "")


def _times_reseeded(lesson: Lesson, selection: Selection) -> int:
    """Count the times that the numbers of this slide were dealt again."""
    return int(st.session_state.get(_RESEEDED, {}).get((lesson.name, selection.slide), 0))


@callback
def _deal(lesson: Lesson, selection: Selection) -> None:
    """Ask the same with other numbers: another seed, for this slide and this visit only."""
    slide, times = (lesson.name, selection.slide), _times_reseeded(lesson, selection) + 1
    st.session_state[_RESEEDED] = {**st.session_state.get(_RESEEDED, {}), slide: times}


def _is_open(slide: Slide, at: str) -> bool:
    return slide.question is not None and not question_panel.is_revealed(at)


def _row(at: str) -> int:
    """Return the index of the row of pictures that a room sees: there is room for one."""
    shown, row = st.session_state.get(_ROW, ("", 0))
    return int(row) if shown == at else 0


def _has_more(slide: Slide, at: str, by: int) -> bool:
    """Return whether a room sees more of the slide before it is turned: the answer, then each row of pictures."""
    return (by > 0 and _is_open(slide, at)) or 0 <= _row(at) + by < slides.n_rows(slide)


def _show_more(slide: Slide, at: str, by: int) -> None:
    """Show the answer of an open question, or else the row of pictures after or before."""
    if _is_open(slide, at):
        question_panel.reveal(at)
    else:
        st.session_state[_ROW] = at, _row(at) + by


def _rows(
    slide: Slide, baseline: Trace, trace: Trace, question: ResolvedQuestion | None
) -> Sequence[tuple[Stage, ...]]:
    """Return the steps of the slide; while a question is open, what its answer follows from."""
    if question is not None and slide.question is not None:
        return [open_questions.pictures(slide, slide.question, question, baseline, trace)]
    return slides.rows(open_questions.answered(slide, slide.question.kind if slide.question else ""), baseline, trace)


@callback
def _assign(lesson: Lesson, selection: Selection) -> None:
    """Open the desk of assignments with the setting of the lesson and the questions that can be asked there."""
    assignment = lesson_assignment.of_lesson(lesson)
    if assignment is None:
        session_state.adopt(lesson.config, replace(selection, page="assign", desk="compose"))
        return
    config, task = assignment
    field = assignments.encode(assignments.with_setting(task, config))
    target = replace(selection, page="assign", desk="compose", assigned=field)
    session_state.adopt(config, target, problems=[WORDS["brought"].format(n=len(task.task_questions))])


def _ways_on(lesson: Lesson, slide: Slide, selection: Selection, setting: Config, config: Config) -> None:
    """Draw the buttons that ask the same with other numbers, and that open the same numbers on other pages."""
    at = slide.question.at if slide.question else {}
    cell: dict[str, Any] = {name: index_of(at.get(name)) for name in ("head", "query", "key")}
    if cell["query"] is None or cell["key"] is None:
        cell["head"] = None
    step = next((name for name in slide.steps if not is_reading(name)), "weights")
    target = replace(selection, page="explore", layer=slide.layer, step=step, **cell)
    with st.container(horizontal=True, gap="small"):
        if slides.can_be_reseeded(lesson, slide):
            st.button(WORDS["again"], key="again", on_click=_deal, args=(lesson, selection))
        path.offer_practice(lesson, slide, selection)
        st.button(WORDS["explore"], key="to-explore", on_click=session_state.adopt, args=(config, target))
        if slide.beside:
            changes = url_codec.difference(setting, config)
            both = replace(target, page="compare", changes=changes)
            st.button(WORDS["compare"], key="to-compare", on_click=session_state.adopt, args=(setting, both))
        st.button(WORDS["assign"], key="to-assignment", on_click=_assign, args=(lesson, selection))
        of = handout.setting(lesson)
        for name in ("blanks", "solutions"):
            paper = admission.later(handout.NEED, of, partial(handout.html, lesson, solutions=name == "solutions"))
            file = f"{lesson.name}-{name}.html"
            st.download_button(WORDS[name], paper, file, "text/html", key=f"sheet-{name}", on_click="ignore")
        paper, file = admission.later(handout.NEED, of, partial(handout.key, lesson)), f"{lesson.name}-key.html"
        st.download_button(WORDS["key"], paper, file, "text/html", key="sheet-key", on_click="ignore")
