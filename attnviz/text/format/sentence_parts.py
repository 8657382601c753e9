"""Sentences in parts: our words and the visitor's tokens, kept apart.

A part is ("text", ours) or ("token", the visitor's), so that a page can set the two apart and never has to put a token
into markdown; `plain` joins them where plain text is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from attnviz.settings.counting import ordinal
from attnviz.settings.language import current_language, sign, translate
from attnviz.text.format.number_format import short

Part = tuple[str, str]
Sentence = tuple[Part, ...]

TEXT, TOKEN = "text", "token"

AND = " and "
CAPITALS = ("de",)
"""Languages that write nouns with a capital."""
QUOTED = "“{token}”"
_BRACED = re.compile(r"\{(\w+)\}")


def plain(sentence: Iterable[Part]) -> str:
    """Return the sentence as plain text, its tokens between quotation marks.

    >>> plain((("token", "it"), ("text", " attends to "), ("token", "cat"), ("text", " (62 %).")))
    '“it” attends to “cat” (62 %).'
    """
    return "".join(translate(QUOTED, token=words) if kind == TOKEN else words for kind, words in sentence)


def name_token(tokens: Sequence[str], position: int) -> Sentence:
    """Return a token, with its position where it stands more than once.

    >>> name_token(("the", "cat", "the"), 2)
    (('token', 'the'), ('text', ' (3)'))
    """
    again = ((TEXT, in_brackets(str(ordinal(position)))),) if tokens.count(tokens[position]) > 1 else ()
    return ((TOKEN, tokens[position]), *again)


def in_brackets(text: str) -> str:
    """Return what stands behind words in brackets, as the current language writes them.

    >>> in_brackets("3")
    ' (3)'
    """
    return sign(" (") + text + sign(")")


def fill(template: str, **values: str | Sentence) -> Sentence:
    """Return a template of ours in which sentences, or words of ours, stand for the names in braces.

    >>> fill("{who} takes {what}.", who=(("token", "{it}"),), what="nothing")
    (('token', '{it}'), ('text', ' takes nothing.'))
    """
    parts: list[Part] = []
    for position, piece in enumerate(template.replace("}", "{").split("{")):
        value = values[piece] if position % 2 else piece
        parts += [(TEXT, value)] if isinstance(value, str) else value
    return merge_parts(parts)


def braced(template: str) -> tuple[str, ...]:
    """Return the names in braces of what a person typed, each once; a number is none.

    >>> braced("{a} of {b} and {a}: {}, {a b}, {0}")
    ('a', 'b')
    """
    return tuple(dict.fromkeys(filter(str.isidentifier, _BRACED.findall(template))))


def fill_typed(template: str, values: Mapping[str, str | Sentence]) -> Sentence:
    """Return what a person typed, with sentences for the names in braces that are known; all else stays as it is.

    >>> plain(fill_typed("{a} of {b} in {c}: {", {"a": (("token", "x"),), "b": "y"}))
    '“x” of y in {c}: {'
    """
    parts: list[Part] = []
    for position, piece in enumerate(_BRACED.split(template)):
        value = values.get(piece, f"{{{piece}}}") if position % 2 else piece
        parts += [(TEXT, value)] if isinstance(value, str) else value
    return merge_parts(parts)


def join_sentences(sentences: Sequence[Sentence]) -> Sentence:
    """Join words as in "a, b and c".

    >>> plain(join_sentences([(("token", "a"),), (("token", "b"),), (("token", "c"),)]))
    '“a”, “b” and “c”'
    """
    parts: list[Part] = []
    for position, sentence in enumerate(sentences):
        if position:
            parts.append((TEXT, translate(AND) if position == len(sentences) - 1 else sign(", ")))
        parts += sentence
    return merge_parts(parts)


def merge_parts(parts: Iterable[Part]) -> Sentence:
    """Return the parts, empty ones left away and neighbouring words of ours made one."""
    merged: list[Part] = []
    for kind, same in groupby((part for part in parts if part[1]), key=lambda part: part[0]):
        named = list(same)
        merged += [(TEXT, "".join(words for _, words in named))] if kind == TEXT else named
    return tuple(merged)


def within_sentence(label: str) -> str:
    """Return a label as it stands inside a sentence: German keeps the capitals of its nouns, others write it small.

    >>> within_sentence("Attention scores")
    'attention scores'
    """
    return label if current_language() in CAPITALS else label[:1].lower() + label[1:]


def rounded_number(x: float) -> str:
    """Return a number in a sentence.

    >>> rounded_number(-0.045678), rounded_number(0.0), rounded_number(float("-inf"))
    ('−0.04568', '0', '−∞')
    """
    return short(float(x))
