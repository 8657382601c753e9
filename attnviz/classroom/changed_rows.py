"""The question which rows of a step change, and its answer in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.classroom.context.question_context import SAME, QuestionContext
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.classroom.wrong_choices import rows as wrong_rows
from attnviz.engine.records.trace import Step
from attnviz.settings.language import Words
from attnviz.text.format.sentence_parts import Sentence, fill, join_sentences, name_token, rounded_number

WORDS = Words(
    {
        "no_row": "No row changes: every number is the same.",
        "one_row": "Only {row} changes, by up to {change}; the others stay as they are.",
        "every_row": "Every row changes; {row} by the most, up to {change}.",
        "new": "Only {row} is new; every other row is what it was.",
        "new_and": "{row} is new, and {rows} changed.",
        "rows": "Changed: {rows}; {row} by the most, up to {change}. The others stay as they are.",
    }
)


def question(runs: QuestionContext, at: Mapping[str, Any]) -> ResolvedQuestion:
    """Return the question which rows of a step are other numbers in another run."""
    step = runs.step(at.get("step", "weights"))
    apart = runs.compared(step.name, at)
    if "head" in at and step.axes[0].endswith("head"):
        apart = apart[runs.index(step, at, step.axes[:1])]
    most = apart.reshape(-1, *apart.shape[-2:]).max(axis=(0, 2))
    tokens = runs.trace.key_tokens if step.axes[-2] == "key" else runs.trace.query_tokens
    rows = tuple(name_token(tokens, position) for position in range(len(tokens)))
    changed = np.flatnonzero(most > SAME).tolist()
    right, columns = frozenset(changed), _columns(apart, step)
    return ResolvedQuestion(
        form="some",
        options=rows,
        right=right,
        solution=(_rows(rows, changed, most),),
        axis=step.axes[-2],
        said_of=lambda chosen: wrong_rows.said(chosen, right, len(rows), columns),
    )


def _columns(apart: Array, step: Step) -> Sequence[int]:
    """Return the columns with a change in them, of a step whose rows and columns are words; none of another."""
    if step.axes[-2:] != ("query", "key"):
        return ()
    found: list[int] = np.flatnonzero(apart.reshape(-1, *apart.shape[-2:]).max(axis=(0, 1)) > SAME).tolist()
    return found


def _rows(rows: Sequence[Sentence], right: Sequence[int], most: Array) -> Sentence:
    """Say which rows change, and how far the furthest; of a longer sentence, which are new."""
    if not right:
        return fill(WORDS["no_row"])
    if np.isinf(most).any():
        new, changed = (join_sentences([rows[at] for at in right if np.isinf(most[at]) == is_new]) for is_new in (1, 0))
        return fill(WORDS["new_and" if changed else "new"], row=new, rows=changed)
    named = join_sentences([rows[position] for position in right])
    words = "every_row" if len(right) == len(rows) else "one_row" if len(right) == 1 else "rows"
    return fill(WORDS[words], rows=named, row=rows[int(most.argmax())], change=rounded_number(float(most.max())))
