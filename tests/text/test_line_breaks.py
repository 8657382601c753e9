"""Formulas that break at the edge of the window: nothing of them is lost, and no break falls inside a term."""

from __future__ import annotations

import re

import pytest

from attnviz import NORMALISERS, SCORES, Config, run
from attnviz.arithmetic.cell import derive
from attnviz.text.format.line_breaks import breakable, in_text, rows, table
from tests.support.cases import for_each

MARKS = re.compile(r"[{}]|\\allowbreak|\\displaystyle|\s")


def bare(latex: str) -> str:
    """A formula without what only holds it together."""
    return MARKS.sub("", latex)


@pytest.mark.slow
@for_each(
    "score, normaliser",
    [*((score, "softmax") for score in SCORES), *(("scaled_dot", normaliser) for normaliser in NORMALISERS)],
)
def test_no_part_of_a_formula_is_lost(score: str, normaliser: str) -> None:
    trace = run(Config(score=score, normaliser=normaliser, d_k=11, mask="causal", bias="alibi", position="rope"))
    for line in derive(trace, 0, 1, 4, 2, 6).lines:
        body = line.latex.removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}")
        written = re.sub(r" \\\\\n(&\\quad (?!\\text))?", " ", body).replace("&", "")
        found = "".join(left + breakable(right) for left, right in rows(line.latex))
        assert bare(found) == bare(written)
        assert found.count("{") == found.count("}")


@for_each(
    "latex, expected",
    [
        ("= -0.5 + 2 - 3", "= -0.5 + 2 - 3"),
        (r"1.5 \cdot (-2) - 3 \cdot 4", r"{1.5 \cdot (-2)} - {3 \cdot 4}"),
        (r"-2.5 \times 10^{-9} + 1", r"-{2.5 \times 10^{-9}} + 1"),
        (r"e^{-2.5 \times 10^{-9}}", r"e^{-{2.5 \times 10^{-9}}}"),
        (r"0.12345678901234567 \cdot 1.2345678901234567", r"0.12345678901234567 \cdot 1.2345678901234567"),
        (r"(1,\; -\infty \cdot 2)", r"(1,\;\allowbreak -{\infty \cdot 2})"),
        (r"2 \cdot \cos(0.5) - (-1) \cdot \sin(0.5)", r"{2 \cdot \cos(0.5)} - {(-1) \cdot \sin(0.5)}"),
        (r"\frac{12.5}{3.5 \cdot 2}", r"\frac{12.5}{3.5 \cdot 2}"),
    ],
)
def test_terms_are_held_together(latex: str, expected: str) -> None:
    assert breakable(latex) == expected


def test_a_stroke_in_a_formula_does_not_end_the_cell_of_the_table() -> None:
    trace = run(Config(score="cosine"))
    for line in derive(trace, 0, 0, 1, 2).lines:
        lines = table(line.latex).splitlines()
        assert lines[:2] == ["| | |", "|-:|:-|"]
        assert all(each.count("|") == 3 for each in lines)


def test_a_formula_of_one_row_stands_in_a_line_of_text() -> None:
    assert in_text("a = b") == r"$\displaystyle a = b$"
    assert rows("a = b") == [("", "a = b")]
