"""A setting or a lesson as a handout: with blanks, or with solutions.

One HTML file of shapes and text, without a script and without anything from elsewhere; any browser prints it. All of
its numbers are those of the run. Formulas are letters with sub- and superscripts, which print everywhere.
"""

from __future__ import annotations

import html as markup
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from attnviz.classroom import open_questions, question_codec, slides
from attnviz.classroom.next_word.readings import is_reading
from attnviz.classroom.printed import asked_for, printed_pictures, printed_question
from attnviz.classroom.printed.printed_tables import MAX_PRINTED_ROWS, STEPS, Paper, changes, mask_grid, matrix, worked
from attnviz.classroom.question_codec import Asked, Item
from attnviz.classroom.question_kinds import resolve
from attnviz.engine.cost.need import Need
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.run import run
from attnviz.lessons.lesson import Lesson, Question, Slide
from attnviz.pictures.stages import side_by_side
from attnviz.pictures.static.text_metrics import drawable
from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.language import Words, aside, current_language, sign, tag
from attnviz.settings.url_codec import query_string
from attnviz.text import step_names
from attnviz.text.format.html_math import inline, named, prose, quoting, sentence
from attnviz.text.format.number_format import localised
from attnviz.text.headline import headline

WORDS = Words(
    {
        "title": "Attention, step by step",
        "name": "Name",
        "date": "Date",
        "solutions": "with solutions",
        "sentence": "The sentence: {sentence}",
        "second": "It attends to: {sentence}",
        "numbers": "The numbers",
        "layer": "Layer {n}. ",
        "head": "{layer}Head {n}",
        "blanks": "Framed cells are to be worked out: about a quarter of the scores, weights and outputs, chosen by "
        "seed {seed}, and what a question asks for. Numbers are rounded to {digits} significant digits; a dash stands "
        "where a query may not attend.",
        "filled": "Former blanks are bold and framed. Numbers are rounded to {digits} significant digits after the "
        "arithmetic.",
        "wide": "The matrices of this setting are too large for paper; a sentence of up to {n} words fits.",
        "questions": "Questions",
        "slide": "{n}",
        "key": "Answer key",
        "elsewhere": "A grey cell is left out because a question elsewhere asks for it.",
        "setting": "The same numbers on a screen: put this after the question mark of the page's address: {link}",
    }
)
NEED = Need(held=2, made=3, drawn=40, busy=0.5, slow_drawn=35e-6, excludes_models=True, any_length=True)
PAGE = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
SMALL = MAX_PRINTED_ROWS
"""Rows, and columns, of a matrix that stands as numbers beside the text of a lesson."""

READ = ("queries", "keys", "values")
HARMLESS = ("ends", "foreseen")
"""What is read off a language model and answers no question of a handout by itself."""


def setting(*lessons: Lesson) -> Config:
    """Return the setting of lessons that says where their handout can be made: with a model, where a slide has one.

    The weights of a model are in the process of the page alone.
    """
    settings = [lesson.on(slide) for lesson in lessons for slide in lesson.slides]
    return next((each for each in settings if each.model), lessons[0].config)


def html(
    source: Config | Lesson,
    *,
    solutions: bool,
    title: str = "",
    text: str = "",
    questions: Sequence[Item] = (),
    words: Sequence[str] = (),
    seed: int = 0,
    digits: int = 4,
) -> str:
    """Return a setting, or a lesson, as one HTML file to be printed.

    solutions  whether blanks are filled in, questions answered, and their arithmetic shown
    title, text, questions  of an assignment; a lesson has its own
    words      of the questions where these do not ask in their own
    seed       chooses the cells that are blank
    digits     significant digits, 2 to 17

    Raises ConfigError for a setting that cannot be run, ValueError for digits outside the range.
    """
    if not 2 <= digits <= 17:
        raise ValueError(f"digits is {digits}; choose 2 to 17")
    asked = question_codec.asked(questions, words)
    paper = replace(_empty(source, asked, seed, digits), solutions=solutions)
    body = list(_body(paper, source, asked))
    if isinstance(source, Lesson):
        title, head = source.title, f"<p>{inline(source.about)}</p>"
    else:
        head = f'<p class="given">{markup.escape(text)}</p>' if text else ""
    title = drawable(title) or WORDS["title"]
    words = aside(title, WORDS["solutions"]) if solutions else title
    typeset = named(markup.escape(words)) if isinstance(source, Lesson) else markup.escape(words)
    heading = f"<h1>{typeset}</h1>{'' if solutions else who()}{head}"
    whole = "\n".join([heading, *body])
    return PAGE.format(language=tag(current_language()), title=markup.escape(words), style=style(), body=whole)


def _empty(source: Config | Lesson, items: Sequence[Asked], seed: int, digits: int) -> Paper:
    """Return the handout with blanks: what its questions ask for, and what is printed on it.

    A cell that is printed after all may be the blank of another position, so it is gone through until nothing is new.
    """
    paper = Paper(False, seed, digits)
    for question, trace, baseline in _questions_with_runs(source, items):
        paper.printed.note_question(question, trace, baseline, paper.number)
    before = None
    while before != (paper.printed.seen, paper.printed.named):
        before = dict(paper.printed.seen), set(paper.printed.named)
        list(_body(paper, source, items))
    return paper


def _questions_with_runs(
    source: Config | Lesson, items: Sequence[Asked]
) -> Iterator[tuple[Question, Trace, Trace | None]]:
    if isinstance(source, Lesson):
        baseline = run(source.config)
        yield from ((slide.question, run(source.on(slide)), baseline) for slide in source.slides if slide.question)
        return
    trace = run(source)
    yield from ((question_codec.to_question(*item, layers=len(trace.layers)), trace, None) for item in items)


def _body(paper: Paper, source: Config | Lesson, items: Sequence[Asked]) -> Iterator[str]:
    return _lesson(paper, source) if isinstance(source, Lesson) else _setting(paper, source, items)


def key(lesson: Lesson) -> str:
    """Return the answers to the questions of a lesson as one HTML file, apart from the handout."""
    baseline = run(lesson.config)
    title = lesson.title + sign(": ") + WORDS["key"]
    lines = []
    for n, slide in enumerate(lesson.slides, 1):
        if slide.question is None:
            continue
        trace = run(lesson.on(slide))
        resolved = resolve(slide.question, trace, baseline, worked=False)
        words, *explanation = (
            sentence((kind, drawable(part)) for kind, part in each)
            for each in (resolved.words, *resolved.solution)
            if each
        )
        answer = localised(sign(" ").join(explanation))
        grid = mask_grid(trace, slide.layer, solutions=True) if resolved.form == "mask" else ""
        lines.append(f'<div class="key"><b class="n">{n}</b>{words}<p><b>{answer}</b></p>{grid}</div>')
    whole = "\n".join([f"<h1>{named(markup.escape(title))}</h1>", *lines])
    return PAGE.format(language=tag(current_language()), title=markup.escape(title), style=style(), body=whole)


@cache
def style() -> str:
    """Return the style of a handout."""
    return Path(__file__).with_name("handout.css").read_text("utf-8")


def who() -> str:
    """Return where a name and a date are written."""
    return '<div class="who">' + "".join(f"<span>{WORDS[name]}</span>" for name in ("name", "date")) + "</div>"


def _setting(paper: Paper, config: Config, items: Sequence[Asked]) -> Iterator[str]:
    trace = run(config)
    questions = [question_codec.to_question(*item, layers=len(trace.layers)) for item in items]
    for name, text in (("sentence", config.sentence), ("second", config.second_sentence)):
        if text.strip():
            yield f'<p class="given">{markup.escape(WORDS[name].format(sentence=drawable(text)))}</p>'
    yield f'<p class="small">{quoting(sign(" ").join(headline(trace)))}</p>'
    shown = side_by_side(trace, 0) if paper.solutions else slides.pictures(trace, 0, READ)
    yield printed_pictures.html(paper, shown)
    yield from _numbers(paper, trace, questions)
    if questions:
        yield f"<h2>{WORDS['questions']}</h2>"
    for n, question in enumerate(questions, 1):
        yield printed_question.html(paper, str(n), question, trace, None)
    yield f'<p class="small">{markup.escape(WORDS["setting"].format(link=query_string(config)))}</p>'


def _about_blanks(paper: Paper) -> str:
    if paper.solutions:
        return WORDS["filled"].format(seed=paper.seed, digits=paper.digits)
    return f"{WORDS['blanks'].format(seed=paper.seed, digits=paper.digits)} {WORDS['elsewhere']}"


def _numbers(paper: Paper, trace: Trace, questions: Sequence[Question]) -> Iterator[str]:
    """Yield the matrices of every head that a question names, of the first if none does."""
    yield f"<h2>{WORDS['numbers']}</h2>"
    if max(len(trace.query_tokens), len(trace.key_tokens)) > MAX_PRINTED_ROWS:
        yield f"<p>{WORDS['wide'].format(n=MAX_PRINTED_ROWS)}</p>"
        return
    yield f'<p class="small">{_about_blanks(paper)}</p>'
    positions = {(index_of(q.at.get("layer", 1)), index_of(q.at.get("head", 1))) for q in questions} or {(0, 0)}
    fitting = [(layer, head) for layer, head in sorted(positions) if layer < len(trace.layers)]
    for layer, head in ((layer, head) for layer, head in fitting if head < trace.config.n_heads):
        deep = WORDS["layer"].format(n=ordinal(layer)) if len(trace.layers) > 1 else ""
        yield f"<h3>{WORDS['head'].format(layer=deep, n=ordinal(head))}</h3>"
        steps = [trace.layers[layer][name] for name in STEPS if changes(trace, layer, name)]
        yield _tables(paper, trace, layer, steps, head, questions)
        if paper.solutions:
            yield from worked(paper, trace, layer, head, questions)


def _tables(
    paper: Paper,
    trace: Trace,
    layer: int,
    steps: Sequence[Step],
    head: int,
    questions: Sequence[Question],
    printed: Sequence[str] = (),
) -> str:
    printed = [*printed, *(step.name for step in steps)]
    tables = (matrix(paper, trace, layer, step, head, questions, printed) for step in steps)
    return f'<div class="tables">{"".join(tables)}</div>'


def _lesson(paper: Paper, lesson: Lesson) -> Iterator[str]:
    baseline = run(lesson.config)
    yield f'<p class="small">{quoting(sign(" ").join(headline(baseline)))}{sign(" ")}{_about_blanks(paper)}</p>'
    questions = [(lesson.on(slide), slide.question) for slide in lesson.slides if slide.question]
    before: dict[Config, set[tuple[str, int, int]]] = {}
    for n, slide in enumerate(lesson.slides, 1):
        trace = run(lesson.on(slide))
        drawn = trace
        if slide.question is not None and not paper.solutions:
            drawn = open_questions.run_of(slide.question, baseline, trace)
        text = slides.fill_numbers(
            asked_for.slide_text(paper, slide.text, trace, asked_for.of_run(trace, questions)), trace
        )
        words = text if paper.solutions else paper.printed.see_words(text)
        yield f"<section><h2>{WORDS['slide'].format(n=n)}</h2>{prose(localised(words))}"
        same = asked_for.of_run(drawn, questions)
        same += asked_for.of_run(baseline, questions) if slide.beside and slide.question is None else []
        yield from _slide(paper, slide, baseline, trace, drawn, same, before)
        if slide.question is not None:
            yield printed_question.html(paper, str(n), slide.question, trace, baseline)
        yield "</section>"


def _slide(
    paper: Paper,
    slide: Slide,
    baseline: Trace,
    trace: Trace,
    drawn: Trace,
    same: Sequence[Question],
    before: dict[Config, set[tuple[str, int, int]]],
) -> Iterator[str]:
    """Yield the steps of a slide: small ones as numbers, others as pictures.

    Before a question only what gives no answer.

    before  by settings, the numbers that are on the handout so far, as step, layer and head; these are added to it
    """
    layer, question = slide.layer, slide.question
    open_question = question is not None and not paper.solutions
    names = slide.steps
    if open_question and question and not open_questions.is_whole(question):
        names = open_questions.open_steps(slide, resolve(question, trace, baseline))
    if slide.beside and not open_question:
        shown = [name for name in names if not asked_for.shows_mask(paper, name, same)]
        yield from (
            printed_pictures.html(paper, slides.comparison_row(baseline, trace, layer, name), name) for name in shown
        )
        return
    trace, by_name = drawn, step_names.steps(drawn, layer)
    head = index_of(question.at.get("head", 1)) if question else 0
    steps = [by_name[name] for name in names if name in by_name]
    small = [step for step in steps if max(step.shape[-2:]) <= SMALL and step.array.ndim > 1]
    if small:
        printed = before.setdefault(trace.config, set())
        printed |= {(step.name, layer, head) for step in small}
        printed_steps = [name for name, *position in printed if position == [layer, head]]
        yield _tables(paper, trace, layer, small, head, same, printed_steps)
    large = [
        step.name for step in steps if step not in small and not asked_for.gives_away(paper, trace, layer, step, same)
    ]
    large += [name for name in names if is_reading(name) and (paper.solutions or name in HARMLESS)]
    if large:
        yield printed_pictures.html(paper, slides.pictures(trace, layer, large))
