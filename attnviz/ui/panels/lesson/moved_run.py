"""The setting that a slider in a question has moved, by which the pictures beside the question are drawn."""

from __future__ import annotations

import streamlit as st

from attnviz.classroom.new_forms import Slider
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.classroom.run_questions import slider_of
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.lessons.lesson import Slide
from attnviz.ui.panels.lesson import question as question_panel


def moved(config: Config, slider: Slider, question: ResolvedQuestion, at: str) -> Config:
    """Return a setting as the slider stands, before its widget is drawn; once answered, at what was said."""
    held = st.session_state.setdefault(question_panel.answer_key(at), slider.start)
    if question_panel.is_revealed(at):
        answer = question_panel.given(at)[1]
        held = min(answer) if isinstance(answer, tuple) else min(question.right)
    return slider.moved(config, held if held in range(len(slider.stops)) else slider.start)


def of_slide(slide: Slide, question: ResolvedQuestion | None, trace: Trace, at: str) -> Trace:
    """Return the run of a slide as the slider of its question has moved it; the same where there is none."""
    if question is None or slide.question is None or question.form != "slider":
        return trace
    return run(moved(trace.config, slider_of(trace, slide.question.at), question, at))
