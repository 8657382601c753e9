"""Where a number of a step stands, in words: head 2, cat → sat."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.core.language import Words
from attnviz.core.trace import Step, Trace
from attnviz.views.sentences import TEXT, Sentence, filled, naming

WORDS = Words(
    {
        "head": "head {n}, ",
        "place": "{n}",
        "one": "number {column}",
        "counted": "row {row}, column {column}",
        "word": "{row}, column {column}",
        "words": "{row} → {column}",
    }
)


def where(trace: Trace, step: Step, index: Sequence[int]) -> Sentence:
    """The place of a number; `index` counts from 0 and has one entry for each axis.

    >>> from attnviz import Config, run
    >>> from attnviz.views.sentences import plain
    >>> trace = run(Config(sentence="the cat sat"))
    >>> plain(where(trace, trace["weights"], (1, 1, 2)))
    'head 2, “cat” → “sat”'
    >>> plain(where(trace, trace["w_o"], (1, 2)))
    'row 2, column 3'
    """
    by_head = step.axes[0].endswith("head")
    axes, places = step.axes[by_head:], index[by_head:]
    tokens = {"query": trace.query_tokens, "key": trace.key_tokens}
    ends = [_end(tokens.get(axis), at) for axis, at in zip(axes, places)]
    n_words = sum(axis in tokens for axis in axes)
    said = filled(WORDS[("one", "counted", "word", "words")[n_words + (len(axes) > 1)]], **_named(ends))
    head = WORDS["head"].format(n=index[0] + 1) if by_head else ""
    return filled("{head}{said}", head=head, said=said)


def _end(tokens: Sequence[str] | None, at: int) -> Sentence:
    return naming(tokens, at) if tokens else ((TEXT, WORDS["place"].format(n=at + 1)),)


def _named(ends: Sequence[Sentence]) -> dict[str, Sentence]:
    return dict(zip(("column", "row"), reversed(ends)))
