"""The path through the lessons: their order, how long each takes, what was gone through, and where one can go on.

What was gone through is kept in the address alone, so that a bookmark keeps it and no server does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from attnviz.classroom import slides
from attnviz.classroom.practice import record as records
from attnviz.classroom.practice.kinds import KINDS
from attnviz.classroom.practice.record import Asked
from attnviz.classroom.printed import course_handout, handout
from attnviz.engine.records.config import Config
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.courses import COURSES, Course
from attnviz.lessons.lesson import Lesson, Slide
from attnviz.settings import url_codec
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, sign
from attnviz.text.format.html_math import as_markdown
from attnviz.ui.panels.lesson import from_file
from attnviz.ui.panels.lesson import practice as practice_panel
from attnviz.ui.session import admission, session_state, widget_values, widgets
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import (
    COURSE_NAMES,
    EXPERIMENT_NAMES,
    LESSON_NAMES,
    NOTHING_DONE,
    PAGE_NAMES,
    PANEL_NAMES,
    PRACTICE,
    Selection,
)

WORDS = Words(
    {
        "list": "Lesson",
        "option": "{number}. {title}",
        "done_option": "✓ {number}. {title}",
        "caption": "{minutes} min · {about}",
        "start": "**Start here** · {caption}",
        "go_on": "**Continue here** · {caption}",
        "at": "{title} · {at} of {n}",
        "in_course": "{title} · {at} of {n} · {gone} of {minutes} min",
        "course": "{n} lessons, about {hours} hours, in an order that builds up.",
        "progress": "{done} of {n} gone through; the link of this page remembers that, so bookmark it.",
        "goal": "About {minutes} minutes. What you can do afterwards: {goal}",
        "known": "What to take with you",
        "next": "Next lesson: {title}",
        "end": "This is the end of the course.",
        "practise": "Practise with new numbers",
        "further": "Continue on your own: {place}",
        "paper": "The course on paper",
        "blanks": "Handout to fill in",
        "solutions": "Handout with solutions",
        "key": "Answer key",
    }
)


ALL = "all"


def choose(selection: Selection) -> Selection:
    """Draw the list at the left; the selection with the lesson that is chosen in it, at its first slide."""
    with st.sidebar:
        selection = _begun(widgets.draw(selection, "course"), selection.course)
        names = names_of(selection)
        widget_values.reset_invalid_choice("lesson", names, selection.lesson)
        if selection.course == ALL:
            _draw_progress(selection)
        name = st.radio(
            WORDS["list"],
            names,
            names.index(widget_values.start("lesson", selection.lesson)),
            format_func=lambda name: _label(name, selection),
            captions=[_caption(name, selection) for name in names],
            key="lesson",
        )
        _papers(selection)
    return selection if name in (None, selection.lesson) else within_course(replace(selection, lesson=name, slide=0))


def _papers(selection: Selection) -> None:
    """Draw the handouts of a course: one file for all that a class has of it."""
    course = course_of(selection)
    if course is None:
        return
    setting = handout.setting(*course_handout.lessons(course.name))
    files = {
        "blanks": partial(course_handout.html, course.name, solutions=False),
        "solutions": partial(course_handout.html, course.name, solutions=True),
        "key": partial(course_handout.key, course.name),
    }
    with st.expander(WORDS["paper"]):
        for name, make in files.items():
            paper = admission.later(handout.NEED, setting, make)
            file = f"{course.name}-{name}.html"
            st.download_button(WORDS[name], paper, file, "text/html", key=f"course-{name}", on_click="ignore")


def _begun(selection: Selection, before: str) -> Selection:
    """Return the selection at the first slide of a course that was chosen just now, which the list then shows."""
    course = course_of(selection)
    if course is None or selection.course == before:
        return selection
    lesson, slide = course.places[0]
    st.session_state["lesson"] = lesson
    return replace(selection, lesson=lesson, slide=slide)


def course_of(selection: Selection) -> Course | None:
    """Return the course that is gone through; None where all lessons are."""
    return COURSES.get(selection.course)


def names_of(selection: Selection) -> list[str]:
    """Return the names of the lessons that are gone through, in their order."""
    course = course_of(selection)
    return [part.lesson for part in course.parts] if course else list(LESSON_NAMES)


def within_course(selection: Selection) -> Selection:
    """Return the selection at a place of its course."""
    course = course_of(selection)
    if course is None:
        return selection
    lesson, slide = course.nearest(selection.lesson, selection.slide)
    return replace(selection, lesson=lesson, slide=slide)


def last_slide(lesson: Lesson, selection: Selection) -> int:
    """Return the last slide of the lesson, in a course that of the part which the course has of it."""
    course = course_of(selection)
    part = [slide for name, slide in course.places if name == selection.lesson] if course else []
    return max(part, default=len(lesson.slides) - 1)


def turned(lesson: Lesson, selection: Selection, by: int) -> tuple[str, int]:
    """Return the lesson and the slide so many slides on: of the course, or else of the lesson; at most its end."""
    course = course_of(selection) if from_file.opened() is None else None
    if course is None:
        return selection.lesson, min(max(selection.slide + by, 0), len(lesson.slides) - 1)
    return course.turned(selection.lesson, selection.slide, by)


def is_end(lesson: Lesson, selection: Selection, by: int) -> bool:
    """Return whether there is no slide so many slides on."""
    return turned(lesson, selection, by) == (selection.lesson, selection.slide)


def counted(lesson: Lesson, selection: Selection) -> tuple[int, int]:
    """Return which slide is shown, counted from 1, of how many: of the course, or else of the lesson."""
    course = course_of(selection)
    if course is None or lesson.name not in LESSONS:
        return ordinal(selection.slide), len(lesson.slides)
    return ordinal(course.places.index((selection.lesson, selection.slide))), len(course.places)


def place(lesson: Lesson, selection: Selection) -> str:
    """Return the title of a lesson with the place in it; in a course, with the place and the time in that."""
    course, (at, n) = course_of(selection), counted(lesson, selection)
    if course is None or lesson.name not in LESSONS:
        return WORDS["at"].format(title=lesson.title, at=at, n=n)
    gone = round(course.gone(selection.lesson, selection.slide))
    return WORDS["in_course"].format(title=lesson.title, at=at, n=n, gone=gone, minutes=course.minutes)


def _draw_progress(selection: Selection) -> None:
    hours = round(sum(lesson.minutes for lesson in LESSONS.values()) / 60)
    course = WORDS["course"].format(n=len(LESSONS), hours=hours)
    done = [name for name in selection.done if name in LESSONS]
    st.caption(f"{course} {WORDS['progress'].format(done=len(done), n=len(LESSONS))}" if done else course)


def _label(name: str, selection: Selection) -> str:
    words = WORDS["done_option" if name in selection.done else "option"]
    title = as_markdown(LESSON_NAMES[name].label)
    return words.format(number=ordinal(names_of(selection).index(name)), title=title)


def _caption(name: str, selection: Selection) -> str:
    caption = WORDS["caption"].format(
        minutes=minutes(LESSONS[name], selection), about=as_markdown(LESSON_NAMES[name].note)
    )
    if name != following(selection.done, names_of(selection)):
        return caption
    return WORDS["start" if selection.done == (NOTHING_DONE,) else "go_on"].format(caption=caption)


def minutes(lesson: Lesson, selection: Selection) -> int:
    """Return the minutes for a lesson, or in a course for the part of it that belongs there."""
    course = course_of(selection)
    parts = course.parts if course else ()
    return next((round(part.minutes) for part in parts if part.lesson == lesson.name), lesson.minutes)


def following(done: tuple[str, ...], names: Sequence[str], after: str = "") -> str:
    """Return the first of some lessons that was not gone through, after one of them; an empty text where there is none.

    >>> following(("bits",), [*LESSONS]), following(("bits",), [*LESSONS], "what_q_k_v")
    ('two_meanings', 'rows_and_columns')
    """
    return next((name for name in names[names.index(after) + 1 if after else 0 :] if name not in done), "")


def gone_through(selection: Selection) -> Selection:
    """Return the selection with its lesson among those that were gone through."""
    return replace(selection, done=(*selection.done, selection.lesson))


def goal(lesson: Lesson, selection: Selection, *, is_brief: bool) -> None:
    """Say on the first slide of a lesson how long it takes and what for, and on that of a course what that is for.

    is_brief  the latter alone, as there is no room for more
    """
    course = course_of(selection)
    begins = course.places[0] if course else (next(iter(LESSONS)), 0)
    if selection.course != PRACTICE and begins == (lesson.name, selection.slide):
        paragraph([COURSE_NAMES[selection.course].note])
    if selection.slide == 0 and not is_brief:
        paragraph([WORDS["goal"].format(minutes=minutes(lesson, selection), goal=lesson.goal)])


def summary(lesson: Lesson, config: Config, selection: Selection) -> None:
    """Say what a learner knows now, and offer what comes next; `config` is the visitor's setting, which is kept."""
    with st.container(key="known", border=True, gap="small"):
        st.markdown(f"**{WORDS['known']}.** {lesson.known}")
        target = after(lesson, selection)
        if target is not None and target.course != selection.course:
            paragraph([WORDS["end"]])
        with st.container(horizontal=True, gap="small"):
            if target is not None:
                label = as_markdown(WORDS["next"].format(title=LESSONS[target.lesson].title))
                st.button(label, key="next-lesson", type="primary", on_click=session_state.adopt, args=(config, target))
            if lesson.name in LESSONS:
                practice = replace(selection, course=PRACTICE)
                st.button(WORDS["practise"], key="practise", on_click=session_state.adopt, args=(config, practice))
            if lesson.further:
                label = as_markdown(WORDS["further"].format(place=destination(lesson.further)))
                target = with_further(selection, lesson)
                st.button(label, key="further", on_click=session_state.adopt, args=(lesson.config, target))


def after(lesson: Lesson, selection: Selection) -> Selection | None:
    """Return the selection at the next lesson that was not gone through; behind a course, at the first of all lessons.

    None behind the last of all, and behind a lesson from a file.
    """
    if lesson.name not in LESSONS:
        return None
    then = following(selection.done, names_of(selection), lesson.name)
    if then or course_of(selection) is None:
        return within_course(replace(selection, lesson=then, slide=0)) if then else None
    then = following(selection.done, list(LESSON_NAMES))
    return replace(selection, course=ALL, lesson=then, slide=0) if then else None


def offer_practice(lesson: Lesson, slide: Slide, selection: Selection) -> None:
    """Draw the way to questions of the same kind with new numbers, where the slide cannot deal them itself.

    The last slide has that in its summary.
    """
    kind = slide.question.kind if slide.question else ""
    if kind in KINDS and slide is not lesson.slides[-1] and not slides.can_be_reseeded(lesson, slide):
        st.button(WORDS["practise"], key="practise-kind", on_click=_practise, args=(selection, kind))


@callback
def _practise(selection: Selection, kind: str) -> None:
    """Go to the next question of a kind in practice; the visitor's setting stays as it is."""
    config, _ = session_state.saved(Config, Selection)
    asked = records.following(practice_panel.record(), Asked(kind, 1, -1), stay=True)
    session_state.adopt(config, replace(practice_panel.with_asked(selection, asked), course=PRACTICE))


def with_further(selection: Selection, lesson: Lesson) -> Selection:
    """Return the selection with what the lesson says of where one can go on, read as a link is."""
    target: Selection
    target, _ = url_codec.apply_changes(selection, [(name, str(value)) for name, value in lesson.further.items()])
    return target


def destination(further: Mapping[str, Any]) -> str:
    """Return the name of the page that a lesson leads to, and of the part of it.

    >>> destination({"page": "experiments", "experiment": "scale"}), destination({"page": "data"})
    ('Experiments: Why divide by √d_k', 'Your data')
    """
    parts = [PAGE_NAMES[further["page"]].label]
    parts += [EXPERIMENT_NAMES[further["experiment"]].label] if "experiment" in further else []
    parts += [PANEL_NAMES[further["panel"]].label] if "panel" in further else []
    return sign(": ").join(parts)
