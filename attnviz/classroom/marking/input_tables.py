"""The steps that the answer to a question follows from, as plain tables of HTML within the text of the question."""

from __future__ import annotations

import html

import numpy as np

from attnviz.arrays import Array
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.trace import Step, Trace
from attnviz.lessons.lesson import Question
from attnviz.settings.counting import index_of, ordinal, ordinals
from attnviz.settings.language import translate
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.format.html_math import quoting
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import within_sentence

MOST_NUMBERS = 600
"""Numbers of a table that stands in a question; 24 words by 24."""
DIGITS = 4
"""Decimals that are written: fewer would move an answer out of its tolerance."""
FORBIDDEN = "−∞"


def tables(trace: Trace, question: Question, ask: ResolvedQuestion) -> str:
    """Return the steps that an answer follows from, each as a table; without those that are too large for one."""
    layer, head = (index_of(int(question.at.get(name, 1))) for name in ("layer", "head"))
    steps = step_names.steps(trace, layer)
    shown = [steps[name] for name in dict.fromkeys(ask.inputs) if name in steps]
    return "".join(_of_step(trace, step, question, head) for step in shown)


def _of_step(trace: Trace, step: Step, question: Question, head: int) -> str:
    """Return the head that is asked about, or all of them where the question names none."""
    if not step.axes[0].endswith("head"):
        return _table(trace, step, np.atleast_2d(step.array), "")
    group = trace.config.group_size if step.axes[0] == "kv_head" else 1
    heads = [head // group] if "head" in question.at else range(len(step.array))
    parts = [(at, step.head(at)) for at in heads]
    return "".join(_table(trace, step, array, translate("head {n}", n=ordinal(at))) for at, array in parts)


def _table(trace: Trace, step: Step, array: Array, of: str) -> str:
    if array.size > MOST_NUMBERS or array.ndim != 2:
        return ""
    tokens = {"query": trace.query_tokens, "key": trace.key_tokens}
    rows = tokens.get(step.axes[-2]) or [""] * len(array)
    columns = tokens.get(step.axes[-1]) or [str(n) for n in ordinals(array.shape[1])]
    named = f"{within_sentence(NAMES[step.name])} {step_names.plain(step.symbol)}{f', {of}' if of else ''}"
    top = "".join(f"<th>{html.escape(name)}</th>" for name in ("", *columns[: array.shape[1]]))
    body = "".join(f"<tr><th>{html.escape(name)}</th>{_cells(line)}</tr>" for name, line in zip(rows, array))
    return f'<table border="1" cellpadding="4"><caption>{quoting(named)}</caption><tr>{top}</tr>{body}</table>'


def _cells(line: Array) -> str:
    return "".join(f"<td>{_number(float(x))}</td>" for x in line)


def _number(x: float) -> str:
    """Return a number as it is written in a table.

    >>> _number(-0.25), _number(3.0), _number(float("-inf")), _number(-1e-9)
    ('−0.25', '3', '−∞', '0')
    """
    if not np.isfinite(x):
        return FORBIDDEN if x < 0 else "∞"
    text = f"{x:.{DIGITS}f}".rstrip("0").rstrip(".")
    return localised("0" if text in ("-0", "") else text.replace("-", "−"))
