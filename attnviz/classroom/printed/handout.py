"""A setting or a lesson as a sheet of paper: with blanks, or with solutions.

One HTML file of shapes and text, without a script and without anything from elsewhere; any browser prints it. All of
its numbers are those of the run. Formulas are letters with sub- and superscripts, which print everywhere.
"""

from __future__ import annotations

import html as markup
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from attnviz.classroom import open_questions, question_codec, slides
from attnviz.classroom.printed import blanks
from attnviz.classroom.printed.printed_tables import LARGEST, STEPS, Paper, arithmetic, changes, matrix, worked
from attnviz.classroom.question_codec import Item
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.run import run
from attnviz.lessons.lesson import Lesson, Question, Slide
from attnviz.pictures.stage_record import Stage
from attnviz.pictures.stages import side_by_side
from attnviz.pictures.static.svg import picture
from attnviz.pictures.static.text_metrics import drawable
from attnviz.settings.language import Words, current_language
from attnviz.settings.url_codec import link
from attnviz.text import step_names
from attnviz.text.headline import headline
from attnviz.text.html_math import inline, prose
from attnviz.text.sentences import plain

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
        "seed {seed}, and what a question asks for. Numbers are rounded to {digits} digits; a stroke stands where a "
        "query may not attend.",
        "filled": "What was blank stands in bold in a frame. Numbers are rounded to {digits} digits after the "
        "arithmetic.",
        "wide": "The matrices of this setting are too large for paper; a sentence of up to {n} words fits.",
        "questions": "Questions",
        "slide": "{n}",
        "key": "Answer key",
        "elsewhere": "A grey cell is left out because a question elsewhere asks for it.",
        "answer": "Answer:",
        "unanswerable": "This setting has no answer to it: {why}.",
        "setting": "The same numbers on a screen: put this after the question mark of the page's address: {link}",
    }
)
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
SMALL = LARGEST
"""Rows, and columns, of a matrix that stands as numbers beside the text of a lesson."""

WIDTH = 900
BLANK = "____"
READ = ("queries", "keys", "values")


def html(
    source: Config | Lesson,
    *,
    solutions: bool,
    title: str = "",
    text: str = "",
    questions: Sequence[Item] = (),
    seed: int = 0,
    digits: int = 4,
) -> str:
    """Return a setting, or a lesson, as one HTML file to be printed.

    solutions  whether blanks are filled in, questions answered, and their arithmetic shown
    title, text, questions  of an assignment; a lesson has its own
    seed       chooses the cells that are blank
    digits     significant digits, 2 to 17

    Raises ConfigError for a setting that cannot be run, ValueError for digits outside the range.
    """
    if not 2 <= digits <= 17:
        raise ValueError(f"digits is {digits}; choose 2 to 17")
    paper = Paper(solutions, seed, digits)
    if isinstance(source, Lesson):
        title, body = source.title, list(_lesson(paper, source))
        head = f"<p>{inline(source.about)}</p>"
    else:
        head = f'<p class="given">{markup.escape(text)}</p>' if text else ""
        body = list(_setting(paper, source, questions))
    title = drawable(title) or WORDS["title"]
    words = f"{title}, {WORDS['solutions']}" if solutions else title
    heading = f"<h1>{markup.escape(words)}</h1>{'' if solutions else _who()}{head}"
    whole = "\n".join([heading, *body])
    return PAGE.format(language=current_language(), title=markup.escape(words), style=_style(), body=whole)


def key(lesson: Lesson) -> str:
    """Return the answers to the questions of a lesson as one HTML file, apart from the sheet."""
    own = run(lesson.config)
    title = f"{lesson.title}: {WORDS['key']}"
    lines = []
    for n, slide in enumerate(lesson.slides, 1):
        if slide.question is None:
            continue
        found = resolve(slide.question, run(lesson.on(slide)), own, worked=False)
        sentences = " ".join(plain(sentence) for sentence in found.solution if sentence)
        words, answer = (markup.escape(drawable(each)) for each in (plain(found.words), sentences))
        lines.append(f'<div class="key"><b class="n">{n}</b>{words}<p><b>{answer}</b></p></div>')
    whole = "\n".join([f"<h1>{markup.escape(title)}</h1>", *lines])
    return PAGE.format(language=current_language(), title=markup.escape(title), style=_style(), body=whole)


@cache
def _style() -> str:
    return Path(__file__).with_name("handout.css").read_text("utf-8")


def _who() -> str:
    return '<div class="who">' + "".join(f"<span>{WORDS[name]}</span>" for name in ("name", "date")) + "</div>"


def _setting(paper: Paper, config: Config, items: Sequence[Item]) -> Iterator[str]:
    trace = run(config)
    questions = [question_codec.to_question(item, layers=len(trace.layers)) for item in items]
    for name, sentence in (("sentence", config.sentence), ("second", config.second_sentence)):
        if sentence.strip():
            yield f'<p class="given">{markup.escape(WORDS[name].format(sentence=drawable(sentence)))}</p>'
    yield f'<p class="small">{markup.escape(" ".join(headline(trace)))}</p>'
    shown = side_by_side(trace, 0) if paper.solutions else slides.pictures(trace, 0, READ)
    yield _picture(shown)
    yield from _numbers(paper, trace, questions)
    if questions:
        yield f"<h2>{WORDS['questions']}</h2>"
    for n, question in enumerate(questions, 1):
        yield _question(paper, str(n), question, trace, None)
    yield f'<p class="small">{markup.escape(WORDS["setting"].format(link=link(config)))}</p>'


def _about_blanks(paper: Paper) -> str:
    if paper.solutions:
        return WORDS["filled"].format(seed=paper.seed, digits=paper.digits)
    return f"{WORDS['blanks'].format(seed=paper.seed, digits=paper.digits)} {WORDS['elsewhere']}"


def _numbers(paper: Paper, trace: Trace, questions: Sequence[Question]) -> Iterator[str]:
    """Yield the matrices of every head that a question names, of the first if none does."""
    yield f"<h2>{WORDS['numbers']}</h2>"
    if max(len(trace.query_tokens), len(trace.key_tokens)) > LARGEST:
        yield f"<p>{WORDS['wide'].format(n=LARGEST)}</p>"
        return
    yield f'<p class="small">{_about_blanks(paper)}</p>'
    places = {(q.at.get("layer", 1) - 1, q.at.get("head", 1) - 1) for q in questions} or {(0, 0)}
    fitting = [(layer, head) for layer, head in sorted(places) if layer < len(trace.layers)]
    for layer, head in ((layer, head) for layer, head in fitting if head < trace.config.n_heads):
        deep = WORDS["layer"].format(n=layer + 1) if len(trace.layers) > 1 else ""
        yield f"<h3>{WORDS['head'].format(layer=deep, n=head + 1)}</h3>"
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
    own = run(lesson.config)
    yield f'<p class="small">{markup.escape(" ".join(headline(own)))} {_about_blanks(paper)}</p>'
    before: dict[Config, set[tuple[str, int, int]]] = {}
    for n, slide in enumerate(lesson.slides, 1):
        trace = run(lesson.on(slide))
        alike = [each for each in lesson.slides if (each.change, each.fault) == (slide.change, slide.fault)]
        same = [each.question for each in alike if each.question]
        yield f"<section><h2>{WORDS['slide'].format(n=n)}</h2>{prose(_slide_text(paper, slide, trace, same))}"
        yield from _slide(paper, slide, own, trace, same, before)
        if slide.question is not None:
            yield _question(paper, str(n), slide.question, trace, own)
        yield "</section>"


def _slide_text(paper: Paper, slide: Slide, trace: Trace, questions: Sequence[Question]) -> str:
    """Return the text with its numbers; without those that a question of the lesson asks for."""
    if paper.solutions:
        return slides.fill_numbers(slide.text, trace)
    text = slides.NUMBER.sub(
        lambda found: BLANK if _is_questioned(trace, found[1], found[2], questions) else found[0], slide.text
    )
    return slides.fill_numbers(text, trace)


def _is_questioned(trace: Trace, name: str, place: str, questions: Sequence[Question]) -> bool:
    if name in trace.around:
        return False
    layer, *index = (int(number) - 1 for number in place.split(".")[1:])
    step = step_names.steps(trace, layer)[name]
    return bool(blanks.questioned(trace, layer, step, questions)[tuple(index)])


def _slide(
    paper: Paper,
    slide: Slide,
    own: Trace,
    trace: Trace,
    same: Sequence[Question],
    before: dict[Config, set[tuple[str, int, int]]],
) -> Iterator[str]:
    """Yield the steps of a slide: small ones as numbers, others as pictures.

    Before a question only what gives no answer.

    before  by settings, the numbers that are on the sheet so far, as step, layer and head; these are added to it
    """
    layer, question = slide.layer - 1, slide.question
    open_question = question is not None and not paper.solutions
    names = slide.steps
    if open_question and question:
        trace = open_questions.run_of(question, own, trace)
        names = (
            names
            if open_questions.is_whole(question)
            else open_questions.open_steps(slide, resolve(question, trace, own))
        )
    if slide.beside and not open_question:
        yield from (_picture(slides.beside(own, trace, layer, name)) for name in names)
        return
    found = step_names.steps(trace, layer)
    head = question.at.get("head", 1) - 1 if question else 0
    steps = [found[name] for name in names if name in found]
    small = [step for step in steps if max(step.shape[-2:]) <= SMALL and step.array.ndim > 1]
    if small:
        printed = before.setdefault(trace.config, set())
        printed |= {(step.name, layer, head) for step in small}
        there = [name for name, *place in printed if place == [layer, head]]
        yield _tables(paper, trace, layer, small, head, same, there)
    large = [step.name for step in steps if step not in small and not _gives_away(paper, trace, layer, step, same)]
    if large:
        yield _picture(slides.pictures(trace, layer, large))


def _gives_away(paper: Paper, trace: Trace, layer: int, step: Step, questions: Sequence[Question]) -> bool:
    return not paper.solutions and bool(blanks.questioned(trace, layer, step, questions).any())


def _picture(shown: Sequence[Stage]) -> str:
    if not shown:
        return ""
    return f'<div class="part">{picture(shown, width=WIDTH).partition("?>")[2].strip()}</div>'


def _question(paper: Paper, n: str, question: Question, trace: Trace, own: Trace | None) -> str:
    try:
        found = resolve(question, trace, own)
    except ValueError as error:
        why = WORDS["unanswerable"].format(why=markup.escape(str(error)))
        return f'<div class="question"><b class="n">{n}</b>{why}</div>'
    options = "".join(
        f"<li{_right(paper, found, place)}>{markup.escape(drawable(plain(option)))}</li>"
        for place, option in enumerate(found.options)
    )
    listed = f'<ul class="options">{options}</ul>' if options else ""
    words = markup.escape(drawable(plain(found.words)))
    rest = _solved(found, trace) if paper.solutions else _room(found)
    return f'<div class="question"><b class="n">{n}</b>{words}{listed}{rest}</div>'


def _right(paper: Paper, found: ResolvedQuestion, place: int) -> str:
    return ' class="right"' if paper.solutions and place in found.right else ""


def _room(found: ResolvedQuestion) -> str:
    answer = f'<p>{WORDS["answer"]} <span class="answer"></span></p>' if found.form == "number" else ""
    return f'{answer}<div class="room"></div>'


def _solved(found: ResolvedQuestion, trace: Trace) -> str:
    words = "".join(f"<p>{markup.escape(drawable(plain(sentence)))}</p>" for sentence in found.solution if sentence)
    why = prose(slides.fill_numbers(found.why, trace)) if found.why else ""
    return words + why + arithmetic(found.lines)
