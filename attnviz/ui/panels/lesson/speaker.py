"""Speaker notes of a slide, in a window of their own, with the answer before the class sees it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import streamlit as st

from attnviz.classroom import slides
from attnviz.classroom.context.hints import HINTS
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.courses import Course
from attnviz.lessons.inert_markdown import inert
from attnviz.lessons.lesson import Lesson, Slide
from attnviz.settings.language import Words, full_stop, sign
from attnviz.text.format.html_math import as_markdown
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import TEXT, Sentence, plain
from attnviz.ui.panels.lesson import path
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "heading": "Notes: {title} · {at} of {n}",
        "previous": "Previous",
        "next": "Next",
        "own": "This window is for you alone: show the slide in another one. In one browser they turn together.",
        "question": "The question",
        "answer": "The answer",
        "often": "Often said",
        "mistake": "{number}: {hint}",
        "try": "To try, once it is answered",
        "try_now": "To try",
        "goal": "About {minutes} minutes. Afterwards they can: {goal}",
        "then": "Next slide",
        "time": "At the end of this slide about {gone} of {minutes} minutes have passed.",
        "pair": "Half a minute for everyone alone, half a minute with a neighbour, then hands.",
        "pause": "Now a break of {minutes} minutes.",
        "last": "That was the last slide. They now know: {known}",
    }
)
SENTENCE_ENDS = re.compile(r"(?<!\bal)(?<!\bz\.B)[.?] ")  # not behind an abbreviation, as in "Vaswani et al. 2017"
PAIR = 1
"""Minutes of what is said of a question, without the hands: of a course, each slide that asks has more than that."""
TITLE = 90
"""Characters of a slide that stand for it."""


def page(lesson: Lesson, selection: Selection, turn: Callable[[int], None]) -> Selection:
    """Draw the notes of one slide; return the selection on a slide that there is. `turn` goes on by so many slides."""
    n = len(lesson.slides)
    at = min(selection.slide, n - 1)
    with st.container(horizontal=True, vertical_alignment="center"):
        back, on = (path.is_end(lesson, replace(selection, slide=at), by) for by in (-1, 1))
        st.button(WORDS["previous"], key="previous-slide", shortcut="Left", on_click=turn, args=(-1,), disabled=back)
        st.button(WORDS["next"], key="next-slide", shortcut="Right", on_click=turn, args=(1,), disabled=on)
    slide = lesson.slides[at]
    shown = run(lesson.on(slide))
    with st.container(key="speaker"):
        number, of = path.counted(lesson, replace(selection, slide=at))
        st.markdown(as_markdown(f"#### {WORDS['heading'].format(title=lesson.title, at=number, n=of)}"))
        for line in _lines(lesson, slide, shown, path.minutes(lesson, selection)):
            st.markdown(line)
        course = path.course_of(selection)
        if course is None or lesson.name not in LESSONS:
            st.markdown(_next(lesson, at))
        else:
            for line in _in_course(course, lesson, at):
                st.markdown(line)
    paragraph([WORDS["own"]])
    return replace(selection, slide=at)


def _lines(lesson: Lesson, slide: Slide, shown: Trace, minutes: int) -> Iterator[str]:
    """Yield the paragraphs of the notes of a slide, with numbers as they are written in the language.

    A question names words of the sentence and of the file, so that what leads nowhere in each may do so together.
    """
    yield from (localised(inert(each)) for each in _paragraphs(lesson, slide, shown, minutes))


def _paragraphs(lesson: Lesson, slide: Slide, shown: Trace, minutes: int) -> Iterator[str]:
    if slide is lesson.slides[0]:
        yield WORDS["goal"].format(minutes=minutes, goal=lesson.goal)
    if slide.notes:
        yield as_markdown(slides.fill_numbers(slide.notes, shown))
    if slide.question is not None:
        yield from _question(resolve(slide.question, shown, run(lesson.config)), shown)
    else:
        yield slides.fill_numbers(slide.text, shown)
    if slide.control is not None and slide.control.moves:
        yield f"**{WORDS['try' if slide.question else 'try_now']}{full_stop()}** " + sign("; ").join(
            move.label + sign(": ") + sign(", ").join(choice.label for choice in move.choices)
            for move in slide.control.moves
        )


def _question(resolved: ResolvedQuestion, shown: Trace) -> Iterator[str]:
    yield f"**{WORDS['question']}.** {_typeset(resolved.words)}"
    solution = sign(" ").join(_typeset(sentence) for sentence in resolved.solution if sentence)
    why = slides.fill_numbers(resolved.why, shown) if resolved.why else ""
    yield f"**{WORDS['answer']}.** {solution} {why}"
    answers: dict[str, str] = {}
    for each in resolved.mistakes:
        answers.setdefault(
            slides.format_number(each.value),
            WORDS["mistake"].format(number=slides.format_number(each.value), hint=HINTS[each.name]),
        )
    if answers:
        yield f"**{WORDS['often']}.**\n" + "".join(f"\n* {each}" for each in answers.values())


def _typeset(sentence: Sentence) -> str:
    """Return a sentence as markdown, with the names of matrices in words of ours as formulas."""
    return plain((kind, as_markdown(words) if kind == TEXT else words) for kind, words in sentence)


def _in_course(course: Course, lesson: Lesson, at: int) -> Iterator[str]:
    """Yield what a class does with the slide, when it ends, and what comes next."""
    if at == 0 and course.places[0] == (lesson.name, at):
        yield course.note
    if lesson.slides[at].question is not None:
        yield WORDS["pair"]
    yield WORDS["time"].format(gone=round(course.gone(lesson.name, at)), minutes=course.minutes)
    pause = course.pause(lesson.name, at)
    if pause:
        yield WORDS["pause"].format(minutes=pause)
    name, number = course.turned(lesson.name, at, 1)
    if (name, number) == (lesson.name, at):
        yield WORDS["last"].format(known=lesson.known)
    else:
        then, slide = LESSONS[name], LESSONS[name].slides[number]
        yield f"**{WORDS['then']}.** {title(slide, run(then.on(slide)))}"


def _next(lesson: Lesson, at: int) -> str:
    following = next(iter(lesson.slides[at:][1:]), None)
    if following is None:
        return WORDS["last"].format(known=lesson.known)
    return f"**{WORDS['then']}.** {title(following, run(lesson.on(following)))}"


def title(slide: Slide, trace: Trace) -> str:
    """Return the title of a slide: its first sentence, shortened if it is long."""
    text = slides.fill_numbers(slide.text.split("\n")[0], trace)
    first = SENTENCE_ENDS.split(text)[0]
    if "$" in first or len(first) <= TITLE:
        return first
    return first[:TITLE].rsplit(" ", 1)[0] + " …"
