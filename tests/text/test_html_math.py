"""Formulas and texts as HTML: every command that the arithmetic and the lessons write, and nothing unescaped."""

from __future__ import annotations

import re

import pytest
import streamlit as st

from attnviz import NORMALISERS, SCORES, Config, run
from attnviz.arithmetic.cell import derive
from attnviz.lessons.catalogue import LESSONS
from attnviz.settings.language import set_language
from attnviz.text.format import html_math, line_breaks
from attnviz.text.format.html_math import formula, inline, prose, quoting, sentence
from attnviz.text.format.number_format import localised_latex
from attnviz.ui.session import notices
from tests.support.cases import for_each


def plain(html: str) -> str:
    return re.sub("<[^>]*>", "", html)


@for_each(
    "latex, expected",
    [
        (r"\hat s_{4,1}", "<i>\u015d</i><sub>4,1</sub>"),
        (r"1.5 \times 10^{-7}", "1.5 × 10<sup>−7</sup>"),
        (r"e^{-\infty} < 1", "<i>e</i><sup>−∞</sup> &lt; 1"),
        (r"\left(\frac{a}{2}\right)", '(<span class="over"><span><i>a</i></span><span>2</span></span>)'),
        (r"\mathrm{NaN}", "NaN"),
        (r"a_i", "<i>a</i><sub><i>i</i></sub>"),
        ("a_", "<i>a</i><sub></sub>"),
    ],
)
def test_a_formula(latex: str, expected: str) -> None:
    assert formula(latex) == expected


def test_lines_are_aligned_where_they_say() -> None:
    found = formula("\\begin{aligned}\nx &= 1 \\\\\n&\\quad + 2\n\\end{aligned}")
    assert re.findall("<td>(.*?)</td>", found) == ["<i>x</i>", "= 1", "", "\u2003 + 2"]


@pytest.mark.slow
@for_each(
    "score, normaliser",
    [*((score, "softmax") for score in SCORES), *(("scaled_dot", normaliser) for normaliser in NORMALISERS)],
)
def test_the_arithmetic_leaves_no_command_and_keeps_every_digit(score: str, normaliser: str) -> None:
    config = Config(sentence="a b c", n_heads=1, score=score, normaliser=normaliser, softcap=2.0, position="rope")
    for line in derive(run(config), 0, 0, 2, 1).lines:
        html = formula(line.latex)
        assert not re.search(r"[\\{}&$]", plain(html).replace("&lt;", ""))
        for tag in ("sub", "sup", "span", "table", "i"):
            assert html.count(f"<{tag}>") + html.count(f"<{tag} ") == html.count(f"</{tag}>")
        assert re.findall(r"\d+\.\d+", line.latex) == re.findall(r"\d+\.\d+", html)


def test_the_texts_of_all_lessons_leave_no_mark() -> None:
    for slide in (slide for lesson in LESSONS.values() for slide in lesson.slides):
        for text in filter(None, (slide.text, slide.question.why if slide.question else "")):
            assert not re.search(r"\*\*|\$|\\|`|\|--", plain(prose(text)))


def test_texts_are_escaped_and_marked() -> None:
    assert inline("**a $x<y$** `<b>` *c*") == "<b>a <i>x</i>&lt;<i>y</i></b> <code>&lt;b&gt;</code> <i>c</i>"
    table = prose("| a | b |\n|---|---|\n| 1 | **2** |")
    assert table == '<table class="told"><tr><th>a</th><th>b</th></tr><tr><td>1</td><td><b>2</b></td></tr></table>'


def test_what_is_quoted_stands_as_it_is_and_turns_nothing_around() -> None:
    said = "V and W_O are random; W_Q is “W_Q <b>” and “القط 3”."
    wanted = "V and <i>W</i><sub><i>O</i></sub> are random; <i>W</i><sub><i>Q</i></sub> is “W_Q &lt;b&gt;” and "
    assert quoting(said) == wanted + "“<bdi>القط 3</bdi>”."
    assert sentence([("token", "القط"), ("text", " (2) attends")]) == "“<bdi>القط</bdi>” (2) attends"


def test_a_note_and_the_line_over_the_pictures_are_written_so(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(st, "html", drawn.append)
    notices.notice("row 1, “القط”: W_K")
    notices.paragraph(["V and W_O are random."])
    assert ["<bdi>القط</bdi>" in drawn[0], "<sub><i>K</i></sub>" in drawn[0], "<sub><i>O</i></sub>" in drawn[1]] == [
        True
    ] * 3


def test_numbers_in_formulas_have_a_comma_where_the_language_writes_one() -> None:
    latex = r"s_{2,1} = (0.5,\; -1.25) \cdot 3 + 1.435 \\ 2.3.2"
    assert localised_latex(latex) == latex
    set_language("de")
    try:
        assert localised_latex(latex) == r"s_{2,1} = (0{,}5;\; -1{,}25) \cdot 3 + 1{,}435 \\ 2.3.2"
        assert localised_latex(r"s_{2,1},\; 4") == r"s_{2,1},\; 4"
        assert html_math.formula(r"\frac{0.5}{2}") == html_math.FRACTION.format(top="0,5", bottom="2")
        drawn = line_breaks.table(derive(run(Config(sentence="a b")), 0, 0, 1, 1).lines[0].latex)
        assert not re.search(r"\d\.\d", localised_latex(drawn))
        assert re.search(r"\d\{,\}\d", localised_latex(drawn))
    finally:
        set_language("en")
