"""Labels for a number's position in a step: head 2, cat → sat."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.engine.records.trace import Step, Trace
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text.format.sentence_parts import TEXT, Sentence, fill, merge_parts, name_token

WORDS = Words(
    {
        "head": "head {n}, ",
        "position": "{n}",
        "one": "number {column}",
        "counted": "row {row}, column {column}",
        "word": "{row}, column {column}",
        "words": "{row} → {column}",
    }
)


def position_label(trace: Trace, step: Step, index: Sequence[int]) -> Sentence:
    """Return the position of a number; `index` counts from 0 and has one entry for each axis.

    >>> from attnviz import Config, run
    >>> from attnviz.text.format.sentence_parts import plain
    >>> trace = run(Config(sentence="the cat sat"))
    >>> plain(position_label(trace, trace["weights"], (1, 1, 2)))
    'head 2, “cat” → “sat”'
    >>> plain(position_label(trace, trace["w_o"], (1, 2)))
    'row 2, column 3'
    """
    return _position(step, index, [_end(trace, axis, at) for axis, at in _inside(step, index)])


def where_in_both(a: Trace, b: Trace, step: Step, position: Sequence[int], position_in_b: Sequence[int]) -> Sentence:
    """Return the position of a number in two runs; what is called otherwise in the second has both names.

    >>> from attnviz import Config, run
    >>> from attnviz.text.format.sentence_parts import plain
    >>> a, b = (run(Config(sentence=words)) for words in ("the cat sat", "the dog sat"))
    >>> plain(where_in_both(a, b, a["weights"], (1, 1, 2), (1, 1, 2)))
    'head 2, “cat” / “dog” → “sat”'
    """
    ends = []
    for (axis, at), (_, other) in zip(_inside(step, position), _inside(step, position_in_b)):
        one, two = _end(a, axis, at), _end(b, axis, other)
        is_same = one == two or (at == other and one[0] == two[0])
        ends.append(one if is_same else merge_parts((*one, (TEXT, " / "), *two)))
    return _position(step, position, ends)


def _inside(step: Step, index: Sequence[int]) -> list[tuple[str, int]]:
    """Return the axes of a step but that of its heads, and the positions along them."""
    by_head = step.axes[0].endswith("head")
    return list(zip(step.axes[by_head:], index[by_head:]))


def _position(step: Step, index: Sequence[int], ends: Sequence[Sentence]) -> Sentence:
    n_words = sum(axis in ("query", "key") for axis, _ in _inside(step, index))
    position = fill(WORDS[("one", "counted", "word", "words")[n_words + (len(ends) > 1)]], **_named(ends))
    head = WORDS["head"].format(n=ordinal(index[0])) if step.axes[0].endswith("head") else ""
    return fill("{head}{said}", head=head, said=position)


def _end(trace: Trace, axis: str, at: int) -> Sentence:
    tokens = {"query": trace.query_tokens, "key": trace.key_tokens}.get(axis)
    return name_token(tokens, at) if tokens else ((TEXT, WORDS["position"].format(n=ordinal(at))),)


def _named(ends: Sequence[Sentence]) -> dict[str, Sentence]:
    return dict(zip(("column", "row"), reversed(ends)))
