"""Text of a lesson without what would lead away from it, whoever wrote it.

A lesson may set words in bold, write formulas, code, lists and tables. Markdown knows many more ways to draw a link or
a picture, and the page would draw them: in brackets, by a name that is explained elsewhere, in angle brackets, and out
of bare addresses, also of those that are put together from escaped signs or references such as `&#46;`. Each of them
needs two signs beside each other; one that is not seen is put between, so that what was written is read as it was
written, in Markdown and out of it.
"""

from __future__ import annotations

import re

JOINER, HAIR = "\u2060", "\u200a"
"""A word joiner, which has no width, and a hair space: where a name begins, a joiner would be part of it."""

_LIVE = re.compile(
    r"""
    (?<=\])(?=[(\[])                                 # [words](address), [words][name]
    | (?<=[^\]]\])(?=:) | (?<=\\\]\])(?=:)           # [name]: address; a number of the run is [[scores.1.1.1.1]]
    | (?<=!)(?=\[)                                   # a picture
    | (?<=<)(?=[A-Za-z][A-Za-z0-9+.-]{1,31}\\*:)     # <scheme:address>
    | (?<=:)(?=\\*/\\*/)                             # https://address
    | (?<=[Ww]{3})(?=\\*\.)                          # www.address
    | (?<=\S@)(?=[^\s\u2060])                        # name@address
    | (?<=&)(?=\#?\w{1,40};)                         # &colon;
    | (?<=\#)(?=\s|$)                                # a heading, which is a link to itself
    | (?m:^(?=[ ]*(?:=+|-+)[ ]*$))                   # the line under a heading
    """,
    re.VERBOSE,
)


_NAMED = re.compile(r"(?<=:)(?=[A-Za-z][\w+/-]{0,60}[:\[])")
"""A colour, as in :red[words], and a picture, as in :rocket:."""


def inert(text: str) -> str:
    """Return a text of which Markdown makes no link, no picture, no colour and no heading.

    >>> inert("**bold**, $a < b$ and [[scores.1.1.1.1]]: as they are")
    '**bold**, $a < b$ and [[scores.1.1.1.1]]: as they are'
    >>> inert("[here](x.test), www.x.test").split(JOINER)
    ['[here]', '(x.test), www', '.x.test']
    """
    return _NAMED.sub(HAIR, _LIVE.sub(JOINER, text))
