"""The comments of a script, and the descriptions of its functions, in the language of the page.

Code is the same in every language, and so are the names of steps and axes. Rows of tables and the writers of lines say
their comments in English, as they write them; here each is looked up when the script is put together.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from textwrap import wrap
from unicodedata import east_asian_width

from attnviz.settings.language import WRITTEN, Words, current_language, translate

COMMENT = 112
"""Columns of a comment that stands above lines."""

NEVER_FIRST, NEVER_LAST = "，。：；？！、）”", "（“"
"""The signs that no line of Chinese begins with, and those that none ends with."""

_ENGLISH = (
    # of the setting and its inputs
    "of each head",
    "of each key/value head",
    "head h uses the keys and values of h // {n}",
    "head h uses key/value head h // {n}",
    "query and key",
    "the heads, counted from 1",
    "for each query the keys that it may attend to",
    "changed by hand",
    "one for each key/value head",
    "made by hand, too",
    "what the next layer reads",
    "{name}: of the layers with the index {layers}",
    "the folder of the model: config.json, model.safetensors, its tokeniser",
    "{name}: its name where this was made, which does not hand out its files",
    "put your copy's folder here",
    "of each word, behind the last token",
    "the model squeezes them",
    "stands in this spare word",
    # of bias by distance
    "those of {n} heads",
    "every other one of {n}",
    "so many distances have a bucket of their own",
    "the other buckets begin at {formula}",
    "and ever wider ranges",
    "keys after the query count as distance 0",
    "keys after the query have buckets of their own",
    "biases are off",
    # of scores and weights
    "for every pair",
    "a row with nothing allowed ...",
    "... has weights that are all zeros, not 0 / 0",
    "A forbidden value takes no part: 0 times infinity would be no number.",
    "the keys that take part",
    "the 1 in the denominator is a key with score 0",
    "what lies 1 below the largest never gets anything",
    "if the first 1, 2, 3 ... get something",
    "so many do",
    "so many get something",
    "no score is larger",
    "what is equal but for rounding is equal",
    "infinities are no spread",
    "NaN is none of them",
    "QR leaves the signs open",
    # of PyTorch's own calls
    "Scores, mask, softmax and A @ V in one call; A is only there to be looked at.",
    "In attn_mask True means MAY look here; in nn.MultiheadAttention it means may NOT.",
    "is_causal is j <= i, both counted from the first.",
    "Without scale= the scores would be divided by the root of d_k.",
    "Older versions give NaN where nothing is allowed.",
    "a mask of numbers is added to the scores",
    # what functions do
    "64 random bits for every index of the shape: a hash of seed and name, mixed with each index by SplitMix64.",
    "Uniform on [0, 1).",
    "Standard normal, by Box and Muller; snapped to a grid, as processors differ in the last bit of log and cos.",
    "Zeros and ones, equally likely.",
    "Uniform on [-a, a) with a = sqrt(6 / (d_in + d_out)).",
    "Uniform on [-a, a) with a = 1 / sqrt(d_in): what torch.nn.Linear starts with.",
    "The columns of G (its rows, if they are fewer) made orthonormal.",
    "Numbers from their bytes, in base64.",
    "Numbers of a kind from their bytes, in base64.",
    "Heads of different width in one array, filled up with zeros, which change no product and no sum.",
    "The vectors of the token's groups of one to three letters, between boundary marks, added up.",
    "Sine and cosine of the position, side by side, at ever longer wavelengths.",
    "Columns 2i and 2i + 1 of row p, rotated by the angle p * base^(-2i / d).",
    "Columns i and i + half of row p, rotated by the angle p * frequencies[i]; those behind them stay.",
    "Each row minus its mean, over its standard deviation.",
    "Each row over the root of its mean square.",
    "The row of each token in all heads over the root of their mean square.",
    "The softmax of each row, of which the n largest stay, as they are or divided by their sum.",
    "x times the normal distribution function of x.",
    "GELU with a tanh for the normal distribution function.",
    "x times its sigmoid, which is (1 + tanh(x / 2)) / 2.",
    "min(x, 7) times the sigmoid of 1.702 times that.",
    "x within -7 and 7, and 1 more.",
    "Each row over its length; a row of zeros stays.",
    "x / y, and 0 where y is 0.",
    "The number t of each row with sum(max(x - t, 0)**p) = 1, binary digit by digit.",
    "Whether each is one of the n largest of its row; of equal ones the earlier is the larger.",
    "1 / (1 + e^-x); the exponential of what is never positive cannot overflow.",
    "max(z / 2 - tau, 0)^2 along the last axis, tau such that the sum is 1.",
    "max(z - tau, 0) along the last axis, tau such that the sum is 1.",
)
COMMENTS = Words({text: text for text in _ENGLISH})

_BESIDE = re.compile(r'(?m)^(?P<code>.*  |[ ]*)# (?P<comment>.+)$|^(?P<indent>[ ]+)"""(?P<does>[^"\n]+)"""$')


def in_language(code: str) -> str:
    """Return code with its comments in the language of the page; what the table does not have stays as it is.

    >>> in_language("S = Q @ K.T  # for every pair")
    'S = Q @ K.T  # for every pair'
    """
    return code if current_language() == WRITTEN else _BESIDE.sub(_translated, code)


def wrapped(text: str, width: int) -> list[str]:
    """Return a text in lines of so many columns, of which a Han character takes two.

    >>> wrapped("rows are queries", 11), wrapped("行是查询，列是键。", 10)
    (['rows are', 'queries'], ['行是查询，', '列是键。'])
    """
    if not any(map(_is_wide, text)):
        return wrap(text, width)
    lines = [""]
    for piece in _pieces(text):
        if lines[-1] and _columns(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return [line.rstrip() for line in lines]


def _pieces(text: str) -> list[str]:
    """Return a text in pieces between which a line may end: behind spaces, and beside a Han character.

    >>> _pieces("头（a b）。")
    ['头', '（a ', 'b）。']
    """
    pieces = [text[:1]]
    for before, character in pairwise(text):
        is_han = _is_wide(before) or _is_wide(character)
        held = character in NEVER_FIRST or before in NEVER_LAST or character == " "
        if not held and (before == " " or is_han):
            pieces.append("")
        pieces[-1] += character
    return pieces


def _columns(text: str) -> int:
    return sum(1 + _is_wide(character) for character in text)


def _is_wide(character: str) -> bool:
    return east_asian_width(character) in "WF"


def _translated(match: re.Match[str]) -> str:
    if match["does"]:
        return f'{match["indent"]}"""{_said(match["does"])}"""'
    return f"{match['code']}# {_said(match['comment'])}"


def _said(english: str) -> str:
    if english in COMMENTS:
        return translate(english)
    for pattern, text in _patterns():
        if found := pattern.fullmatch(english):
            return translate(text, **found.groupdict())
    return english


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return the comments that have something to fill in, each with what finds it."""
    with_names = [text for text in COMMENTS if "{" in text]
    return [(re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(text))), text) for text in with_names]
