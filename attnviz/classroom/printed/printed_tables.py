"""Matrices and arithmetic on paper: tables with cells left blank or filled in, and the lines of one cell."""

from __future__ import annotations

import html as markup
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from attnviz.analysis import rounding
from attnviz.arithmetic.cell import derive
from attnviz.arithmetic.notation.derivation import ArithmeticLine
from attnviz.arrays import Array
from attnviz.classroom.printed import blanks, given_away
from attnviz.classroom.printed.given_away import Printed
from attnviz.engine.records.trace import Step, Trace
from attnviz.lessons.lesson import Question
from attnviz.pictures.static.text_metrics import word
from attnviz.settings.counting import ordinal, ordinals
from attnviz.settings.language import Words, translate
from attnviz.text.captions import NAMES
from attnviz.text.format.html_math import formula, inline
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import QUOTED, within_sentence

MAX_PRINTED_ROWS = 12
"""Rows, and columns, of a matrix that is printed as numbers."""

MASKED_SIGN = "–"
STEPS = ("queries", "keys", "values", "scores", "scaled", "capped", "masked", "weights", "heads")
WORDS = Words({"worked": "One cell, all the way down", "cell": "Head {head}, query {query}, key {key}."})


@dataclass(frozen=True)
class Paper:
    """A handout: with solutions or without, the seed of its blanks, the digits of its numbers, and what is printed."""

    solutions: bool
    seed: int
    digits: int
    printed: Printed = field(default_factory=Printed)

    def number(self, x: float) -> str:
        """Return a number as it is printed; minus infinity is a stroke, as nothing may be attended to there."""
        if not np.isfinite(x):
            return MASKED_SIGN if x == -np.inf else "∞" if x > 0 else "?"
        digits, _, power = f"{x:.{self.digits}g}".partition("e")
        return f"{digits}e{int(power)}".replace("-", "−") if power else digits.replace("-", "−") if x else "0"


def changes(trace: Trace, layer: int, name: str) -> bool:
    """Return whether a step is there and is not the one before it again."""
    steps = trace.layers[layer]
    if name not in steps:
        return False
    before = blanks.CHAIN[: blanks.CHAIN.index(name)] if name in blanks.CHAIN else ()
    return not any(each in steps and np.array_equal(steps[each].array, steps[name].array) for each in before)


def _blank(paper: Paper, trace: Trace, layer: int, step: Step, questions: Sequence[Question]) -> Array:
    chosen = blanks.chosen(trace, layer, step, paper.seed) & ~blanks.to_be_read(trace, layer, step, questions)
    kept = given_away.kept_blank(paper.printed, trace, layer, step, chosen, paper.number)
    return kept | _blanks_in_question(paper, trace, layer, step, questions)


def _blanks_in_question(paper: Paper, trace: Trace, layer: int, step: Step, questions: Sequence[Question]) -> Array:
    blank = blanks.questioned(trace, layer, step, questions)
    return blank | given_away.asked_cells(paper.printed, step, paper.number)


def matrix(
    paper: Paper, trace: Trace, layer: int, step: Step, head: int, questions: Sequence[Question], printed: Sequence[str]
) -> str:
    """Return one head of a step as a table; the step whole, if it has no heads.

    It has blanks if what it follows from is among the steps that are `printed`. What a question asks for is left out
    in any case: where it cannot be worked out, as a grey cell that is not to be filled in. A table of nothing but these
    is left out altogether.
    """
    if step.name in trace.layers[layer]:
        step = replace(step, array=rounding.cleared(trace, layer, step))
    blank = _blanks_in_question(paper, trace, layer, step, questions)
    is_solvable = blanks.can_be_worked_out(step.name, printed)
    if is_solvable:
        blank = _blank(paper, trace, layer, step, questions)
    array = step.array
    if step.axes[0].endswith("head"):
        at = head // trace.config.group_size if step.axes[0] == "kv_head" else head
        array = step.head(at)
        blank = blank[at][tuple(slice(n) for n in array.shape)]
    array, blank = np.atleast_2d(array)[:, :MAX_PRINTED_ROWS], np.atleast_2d(blank)[:, :MAX_PRINTED_ROWS]
    tokens = {"query": trace.query_tokens, "key": trace.key_tokens}
    if blank.all() and not (is_solvable or paper.solutions):
        return ""
    given_away.note(paper.printed, step.name, map(paper.number, array[~blank].tolist()))
    rows = [word(token) for token in tokens.get(step.axes[-2], ())] or [""] * len(array)
    columns = [word(token) for token in tokens.get(step.axes[-1], ())] or [str(n) for n in ordinals(array.shape[1])]
    caption = f"{inline(f'${step.symbol}$')} {markup.escape(within_sentence(NAMES[step.name]))}"
    if step.axes[0].endswith("head") and trace.config.n_heads > 1:
        caption += f", {markup.escape(translate('head {n}', n=ordinal(head)))}"
    top = "".join(f"<th>{markup.escape(name)}</th>" for name in ("", *columns[: array.shape[1]]))
    lines = [
        "".join(_cell(paper, x, hole, is_solvable) for x, hole in zip(line, holes)) for line, holes in zip(array, blank)
    ]
    body = "".join(f"<tr><th>{markup.escape(name)}</th>{line}</tr>" for name, line in zip(rows, lines))
    return f'<table class="matrix part"><caption>{caption}</caption><tr>{top}</tr>{body}</table>'


def mask_grid(trace: Trace, layer: int, *, solutions: bool) -> str:
    """Return the grid in which a mask is to be drawn, or the mask itself: what is forbidden is struck out."""
    allowed = trace.layers[layer]["allowed"].array.astype(bool)
    top = "".join(f"<th>{markup.escape(word(token))}</th>" for token in trace.key_tokens)
    lines = [
        "".join(f'<td class="blank">{MASKED_SIGN if solutions and not cell else ""}</td>' for cell in row)
        for row in allowed.tolist()
    ]
    body = "".join(
        f"<tr><th>{markup.escape(word(name))}</th>{line}</tr>" for name, line in zip(trace.query_tokens, lines)
    )
    return f'<table class="matrix mask part"><tr><th></th>{top}</tr>{body}</table>'


def _cell(paper: Paper, x: float, hole: bool, is_solvable: bool) -> str:
    if not hole:
        return f"<td>{localised(paper.number(float(x)))}</td>"
    if paper.solutions:
        return f'<td class="filled">{localised(paper.number(float(x)))}</td>'
    return f'<td class="{"blank" if is_solvable else "elsewhere"}"></td>'


def worked(paper: Paper, trace: Trace, layer: int, head: int, questions: Sequence[Question]) -> Iterator[str]:
    """Yield the arithmetic of the first weight of a head that was blank, if the run has scores and weights."""
    steps = trace.layers[layer]
    if not {"scores", "weights"} <= set(steps):
        return
    positions = np.argwhere(_blank(paper, trace, layer, steps["weights"], questions)[head])
    query, key = positions[0].tolist() if len(positions) else (0, 0)
    tokens = {"query": trace.query_tokens[query], "key": trace.key_tokens[key]}
    heading = WORDS["cell"].format(
        head=ordinal(head), **{name: translate(QUOTED, token=word(token)) for name, token in tokens.items()}
    )
    yield f"<h3>{WORDS['worked']}</h3><p>{markup.escape(heading)}</p>"
    yield arithmetic(derive(trace, layer, head, query, key, paper.digits).lines)


def arithmetic(lines: Sequence[ArithmeticLine]) -> str:
    """Return the lines that change something, each with its title and sentence."""
    return "".join(
        f'<div class="line"><b>{inline(line.title)}.</b> {inline(line.sentence)}{formula(line.latex)}</div>'
        for line in lines
        if line.active or line.edited
    )
