"""A question on paper: its words, its options, and room for an answer, or the answer with its arithmetic."""

from __future__ import annotations

import html as markup

from attnviz.classroom import slides
from attnviz.classroom.printed.printed_tables import Paper, arithmetic, mask_grid
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.trace import Trace
from attnviz.lessons.lesson import Question
from attnviz.pictures.static.text_metrics import drawable
from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.language import Words
from attnviz.text.format.html_math import prose, sentence
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import Sentence, plain

WITH_NOTE = ("order", "cell", "mask", "slider")
LISTED = ("one", "some", "order", "slider")
"""Forms whose options are printed: those of the others are the cells of a picture or of a mask."""
WORDS = Words(
    {
        "answer": "Answer:",
        "unanswerable": "This setting has no answer to it: {why}.",
        "order": "Number the keys.",
        "cell": "Circle the cell in the table, or write down its row and its column.",
        "mask": "Strike out what is forbidden.",
        "slider": "At least one of these values is right.",
    }
)


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
        f"<li{_right(paper, resolved, position)}>{_rank(paper, resolved, position)}{_named(option)}</li>"
        for position, option in enumerate(resolved.options)
    )
    listed = f'<ul class="options">{options}</ul>' if options and resolved.form in LISTED else ""
    parts = [(kind, drawable(part)) for kind, part in resolved.words]
    words = sentence(parts if paper.solutions else [(kind, paper.printed.see_words(part)) for kind, part in parts])
    grid = ""
    if resolved.form == "mask":
        grid = mask_grid(trace, index_of(question.at.get("layer", 1)), solutions=paper.solutions)
    rest = _solved(resolved, trace) if paper.solutions else _room(resolved)
    return f'<div class="question"><b class="n">{n}</b>{words}{listed}{grid}{rest}</div>'


def _named(option: Sentence) -> str:
    return markup.escape(drawable(localised(plain(option))))


def _rank(paper: Paper, resolved: ResolvedQuestion, position: int) -> str:
    """Return the number of a key in its order, where the order is given."""
    if not paper.solutions or position not in resolved.in_order:
        return ""
    return f"<b>{ordinal(resolved.in_order.index(position))}.</b> "


def _right(paper: Paper, resolved: ResolvedQuestion, position: int) -> str:
    return ' class="right"' if paper.solutions and position in resolved.right else ""


def _room(resolved: ResolvedQuestion) -> str:
    answer = f'<p>{WORDS["answer"]} <span class="answer"></span></p>' if resolved.form == "number" else ""
    how = f'<p class="small">{WORDS[resolved.form]}</p>' if resolved.form in WITH_NOTE else ""
    room = "" if resolved.form == "mask" else '<div class="room"></div>'
    return f"{how}{answer}{room}"


def _solved(resolved: ResolvedQuestion, trace: Trace) -> str:
    lines = ([(kind, drawable(part)) for kind, part in each] for each in resolved.solution if each)
    words = "".join(f"<p>{sentence(each)}</p>" for each in lines)
    why = prose(localised(slides.fill_numbers(resolved.why, trace))) if resolved.why else ""
    return words + why + arithmetic(resolved.lines)
