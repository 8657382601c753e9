"""A question on paper: its words, its options, and room for an answer, or the answer with its arithmetic."""

from __future__ import annotations

import html as markup

from attnviz.classroom import slides
from attnviz.classroom.printed.printed_tables import Paper, arithmetic
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.trace import Trace
from attnviz.lessons.lesson import Question
from attnviz.pictures.static.text_metrics import drawable
from attnviz.settings.language import Words
from attnviz.text.format.html_math import prose, sentence
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import plain

LISTED = ("one", "some", "order")
"""Forms whose options are printed: those of the others are the cells of a picture, or the stops of a slider."""
WORDS = Words({"answer": "Answer:", "unanswerable": "This setting has no answer to it: {why}."})


def html(paper: Paper, n: str, question: Question, trace: Trace, baseline: Trace | None) -> str:
    """Return a question on paper: with room to write, or answered.

    baseline  the run of the lesson's own setting
    """
    try:
        resolved = resolve(question, trace, baseline)
    except ValueError as error:
        why = WORDS["unanswerable"].format(why=markup.escape(str(error)))
        return f'<div class="question"><b class="n">{n}</b>{why}</div>'
    options = "".join(
        f"<li{_right(paper, resolved, position)}>{markup.escape(drawable(plain(option)))}</li>"
        for position, option in enumerate(resolved.options)
    )
    listed = f'<ul class="options">{options}</ul>' if options and resolved.form in LISTED else ""
    parts = [(kind, drawable(part)) for kind, part in resolved.words]
    words = sentence(parts if paper.solutions else [(kind, paper.printed.see_words(part)) for kind, part in parts])
    rest = _solved(resolved, trace) if paper.solutions else _room(resolved)
    return f'<div class="question"><b class="n">{n}</b>{words}{listed}{rest}</div>'


def _right(paper: Paper, resolved: ResolvedQuestion, position: int) -> str:
    return ' class="right"' if paper.solutions and position in resolved.right else ""


def _room(resolved: ResolvedQuestion) -> str:
    answer = f'<p>{WORDS["answer"]} <span class="answer"></span></p>' if resolved.form == "number" else ""
    return f'{answer}<div class="room"></div>'


def _solved(resolved: ResolvedQuestion, trace: Trace) -> str:
    lines = ([(kind, drawable(part)) for kind, part in each] for each in resolved.solution if each)
    words = "".join(f"<p>{sentence(each)}</p>" for each in lines)
    why = prose(localised(slides.fill_numbers(resolved.why, trace))) if resolved.why else ""
    return words + why + arithmetic(resolved.lines)
