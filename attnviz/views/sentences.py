"""Sentences in parts: our words and the visitor's tokens, kept apart.

A part is ("text", ours) or ("token", the visitor's), so that a page can set the two apart and never has to put a token
into markdown; `plain` joins them where plain text is wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attnviz.core.language import WRITTEN, say, spoken

Part = tuple[str, str]
Sentence = tuple[Part, ...]

TEXT, TOKEN = "text", "token"

COMMA, AND = ", ", " and "
PLACE = " ({n})"
"""Which one is meant where a token stands more than once; counted from 1."""
QUOTED = "“{token}”"


def plain(sentence: Iterable[Part]) -> str:
    """The sentence as plain text, its tokens between quotation marks.

    >>> plain((("token", "it"), ("text", " takes 62 % from "), ("token", "cat"), ("text", ".")))
    '“it” takes 62 % from “cat”.'
    """
    return "".join(say(QUOTED, token=words) if kind == TOKEN else words for kind, words in sentence)


def naming(tokens: Sequence[str], place: int) -> Sentence:
    """A token, with its position where it stands more than once.

    >>> naming(("the", "cat", "the"), 2)
    (('token', 'the'), ('text', ' (3)'))
    """
    again = ((TEXT, PLACE.format(n=place + 1)),) if tokens.count(tokens[place]) > 1 else ()
    return ((TOKEN, tokens[place]), *again)


def filled(template: str, **values: str | Sentence) -> Sentence:
    """A template of ours in which sentences, or words of ours, stand for the names in braces.

    >>> filled("{who} takes {what}.", who=(("token", "{it}"),), what="nothing")
    (('token', '{it}'), ('text', ' takes nothing.'))
    """
    parts: list[Part] = []
    for place, piece in enumerate(template.replace("}", "{").split("{")):
        value = values[piece] if place % 2 else piece
        parts += [(TEXT, value)] if isinstance(value, str) else value
    return merged(parts)


def joined(sentences: Sequence[Sentence]) -> Sentence:
    """a, b and c.

    >>> plain(joined([(("token", "a"),), (("token", "b"),), (("token", "c"),)]))
    '“a”, “b” and “c”'
    """
    parts: list[Part] = []
    for place, sentence in enumerate(sentences):
        if place:
            parts.append((TEXT, say(AND) if place == len(sentences) - 1 else COMMA))
        parts += sentence
    return merged(parts)


def merged(parts: Iterable[Part]) -> Sentence:
    """The parts, empty ones left away and neighbouring words of ours made one."""
    found: list[Part] = []
    for kind, words in parts:
        if kind == TEXT and found and found[-1][0] == TEXT:
            found[-1] = (TEXT, found[-1][1] + words)
        elif words:
            found.append((kind, words))
    return tuple(found)


def inside(label: str) -> str:
    """A label as it stands inside a sentence: English writes it small there, German keeps the capitals of its nouns.

    >>> inside("Attention scores")
    'attention scores'
    """
    return label[:1].lower() + label[1:] if spoken() == WRITTEN else label


def rounded(x: float) -> str:
    """A number in a sentence: three digits are enough there, and a minus is a minus.

    >>> rounded(-0.04567), rounded(0.0), rounded(float("-inf"))
    ('−0.0457', '0', '−∞')
    """
    return f"{x:.3g}".replace("-", "−").replace("inf", "∞") if x else "0"
