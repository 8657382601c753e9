"""The questions of an assignment for the question bank of Moodle, as the XML that its importer reads.

A number becomes a numerical question, options become multiple choice, own words an essay. What is said of a known
mistake is the feedback of the answer that it leads to, so a learner on the platform reads what one on the page does.
What the answer follows from stands in the question as a table. Different numbers for every student become several
versions of each question, in a category of their own, from which a quiz draws one at random.
"""

from __future__ import annotations

import html
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from attnviz.classroom.context.hints import HINTS, HOW
from attnviz.classroom.marking import assignments, input_tables
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.question_codec import to_question
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.cost.need import Need
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.exports import links
from attnviz.lessons.lesson import Question
from attnviz.settings.counting import ordinal, ordinals
from attnviz.settings.language import Words, sign
from attnviz.settings.plain_text import clean
from attnviz.settings.url_codec import query_string
from attnviz.text.format.html_math import sentence
from attnviz.text.format.sentence_parts import TEXT, plain
from attnviz.text.headline import headline

VERSIONS = (1, 5, 10, 20)
"""How many versions of each question there may be, each with other numbers."""
MOST_RIGHT = 10
"""Options that are right together, at most: the platform knows no share of points below a tenth but a few."""
WITHOUT_FORM = ("order", "mask", "slider")
MOST_NAME = 200
NEED = Need(held=2, made=1, drawn=10, busy=0.2, any_length=True)

WORDS = Words(
    {
        "title": "Attention",
        "question": "Question {n}",
        "version": "{name}, version {n}",
        "sentence": "The sentence: {sentence}",
        "second": "It attends to: {sentence}",
        "nothing": "None of them",
        "forbidden": "−∞ stands where a query may not attend.",
        "see": "See the same setting on a screen",
    }
)


def left_out(questions: Sequence[ResolvedQuestion | str]) -> tuple[int, ...]:
    """Return the numbers, from 1, of the questions that the platform has no form for, or this run no answer to."""
    return tuple(
        n
        for n, ask in enumerate(questions, 1)
        if isinstance(ask, str) or ask.form in WITHOUT_FORM or len(ask.right) > MOST_RIGHT
    )


def xml(config: Config, task: Assignment, versions: int = 1, address: str = "") -> str:
    """Return the questions of an assignment as one file for Moodle's question bank.

    versions  of each question, where students have different numbers
    address   of the page, for a link to the setting; empty for none
    """
    given, digest = assignments.teacher_setting(config, task)[0], assignments.digest(config, task)
    settings = [assignments.with_seed(given, task, digest, f"version {n}") for n in ordinals(versions)]
    banks: list[list[ET.Element]] = [[] for _ in task.task_questions]
    for n, setting in enumerate(settings if versions > 1 else [given], 1):  # one run at a time is in memory
        trace = run(setting)
        questions = assignments.resolved_questions(task, trace, worked=False)
        out = left_out(questions)
        for at, (item, ask) in enumerate(zip(task.asked, questions)):
            if ordinal(at) in out or isinstance(ask, str):
                continue
            name = WORDS["question"].format(n=ordinal(at))
            called = WORDS["version"].format(name=name, n=n) if versions > 1 else name
            text = "".join(_text(trace, to_question(*item, layers=len(trace.layers)), ask, address))
            banks[at].append(_question(called + sign(": ") + plain(ask.words), text, ask, task.points[at]))
    return _file(task, banks, apart=versions > 1)


def _file(task: Assignment, banks: Sequence[Sequence[ET.Element]], *, apart: bool) -> str:
    """Return the questions in their categories: one for all, or one for the versions of each."""
    quiz, title = ET.Element("quiz"), _name(task.task_title or WORDS["title"])
    for at, bank in enumerate(banks):
        if apart or at == 0:
            question = ET.SubElement(quiz, "question", type="category")
            within = [_name(WORDS["question"].format(n=ordinal(at)))] if apart else []
            _written(question, "category", "/".join(["$course$", "top", title, *within]))
            _written(question, "info", html.escape(clean(task.task_text, 5)), "html")
        quiz.extend(bank)
    ET.indent(quiz)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(quiz, encoding="unicode")}\n'


def _name(text: str) -> str:
    """Return a text as the name of a question or a category, in which a slash divides."""
    return " ".join(clean(text).split())[:MOST_NAME].replace("/", "//")


def _text(trace: Trace, question: Question, ask: ResolvedQuestion, address: str) -> Iterator[str]:
    """Yield what stands in a question: its words, the sentence, and what the answer follows from."""
    config = trace.config
    yield f"<p><b>{sentence(ask.words)}</b></p>"
    for name, text in (("sentence", config.sentence), ("second", config.second_sentence)):
        if text.strip():
            yield f"<p>{html.escape(WORDS[name].format(sentence=clean(text)))}</p>"
    yield f"<p>{html.escape(headline(trace)[0])}</p>"
    tables = input_tables.tables(trace, question, ask)
    yield tables
    if input_tables.FORBIDDEN in tables:
        yield f"<p>{WORDS['forbidden']}</p>"
    if address:
        whole = html.escape(links.page_address(address, query_string(config)))
        yield f'<p><a href="{whole}">{WORDS["see"]}</a></p>'


def _question(name: str, text: str, ask: ResolvedQuestion, points: float) -> ET.Element:
    kinds = {"number": "numerical", "text": "essay"}
    element = ET.Element("question", type=kinds.get(ask.form, "multichoice"))
    _written(element, "name", _name(name)[: MOST_NAME + 40])
    _written(element, "questiontext", text, "html")
    _written(element, "generalfeedback", sign(" ").join(map(sentence, ask.solution)), "html")
    for tag, value in (("defaultgrade", f"{points:g}"), ("penalty", "0.3333333"), ("hidden", "0")):
        ET.SubElement(element, tag).text = value
    if ask.form == "number":
        _numbers(element, ask)
    elif ask.form == "text":
        for tag, value in (("responseformat", "plain"), ("responserequired", "1"), ("responsefieldlines", "5")):
            ET.SubElement(element, tag).text = value
    else:
        _choices(element, ask)
    return element


def _numbers(element: ET.Element, ask: ResolvedQuestion) -> None:
    """Write the right number, those of known mistakes with what is said of them, and what is said of any other."""
    _answer(element, 100, f"{ask.value:.10g}", "", max(ask.tolerance, 1e-9))
    for each in ask.mistakes:
        near = ask.nearness(each.value)
        if near:
            _answer(element, 0, f"{each.value:.10g}", HINTS[each.name], near)
    _answer(element, 0, "*", HOW.get(ask.how, ""), 0)


def _choices(element: ET.Element, ask: ResolvedQuestion) -> None:
    """Write the options; of several that are right together each has its share, and one that is wrong takes as much."""
    several = ask.form == "some"
    flags = {"single": "false" if several else "true", "shuffleanswers": "false", "answernumbering": "none"}
    for tag, value in flags.items():
        ET.SubElement(element, tag).text = value
    part = 100 / max(len(ask.right), 1) if several else 100
    for at, option in enumerate(ask.options):
        is_right = at in ask.right
        said = "" if is_right or several else ask.mistake((at,)) or HOW.get(ask.how, "")
        _answer(element, part if is_right else -part if several else 0, sentence(option), said, is_html=True)
    if several:
        _answer(element, -100 if ask.right else 100, html.escape(WORDS["nothing"]), "", is_html=True)


def _answer(
    element: ET.Element, fraction: float, text: str, said: str, tolerance: float | None = None, is_html: bool = False
) -> None:
    form = "html" if is_html else "plain_text"
    answer = ET.SubElement(element, "answer", {"fraction": f"{fraction:.7g}", "format": form})
    ET.SubElement(answer, "text").text = text
    _written(answer, "feedback", sentence([(TEXT, said)]) if said else "", "html")
    if tolerance is not None:
        ET.SubElement(answer, "tolerance").text = f"{tolerance:.10g}"


def _written(element: ET.Element, tag: str, text: str, form: str = "") -> None:
    part = ET.SubElement(element, tag, {"format": form} if form else {})
    ET.SubElement(part, "text").text = text
