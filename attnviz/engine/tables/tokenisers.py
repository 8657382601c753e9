"""A sentence becomes a tuple of tokens."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from attnviz.settings.rows import Choice, table

BOS, EOS, PAD = "<bos>", "<eos>", "<pad>"
SPECIAL = (BOS, EOS, PAD)

JOINER = "\u200d"  # zero width joiner: what stands on either side is one picture


def _extends(character: str) -> bool:
    """Return whether this belongs to the character before it.

    A combining mark, a variation or skin-tone selector, a tag.
    """
    code = ord(character)
    return (
        unicodedata.category(character) in ("Mn", "Me", "Mc")
        or character in (JOINER, "\u200c")
        or 0x1F3FB <= code <= 0x1F3FF
        or 0xE0020 <= code <= 0xE007F
        or 0xFF9E <= code <= 0xFF9F
    )


def _is_flag_letter(character: str) -> bool:
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def _is_pictograph(character: str) -> bool:
    """Close enough to Unicode's Extended_Pictographic: the symbols that a joiner can bind."""
    symbol = unicodedata.category(character) == "So" or 0x1F000 <= ord(character) <= 0x1FAFF
    return symbol and not _is_flag_letter(character)


PREPENDED = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
"""Arabic and Kaithi number signs, which belong to what follows them."""


def _hangul(character: str) -> str:
    """Return L, V or T for a Hangul letter by its position in a syllable, LV or LVT for a syllable, else nothing."""
    code = ord(character)
    if 0xAC00 <= code <= 0xD7A3:
        return "LV" if (code - 0xAC00) % 28 == 0 else "LVT"
    for kind, ranges in (
        ("L", ((0x1100, 0x115F), (0xA960, 0xA97C))),
        ("V", ((0x1160, 0x11A7), (0xD7B0, 0xD7C6))),
        ("T", ((0x11A8, 0x11FF), (0xD7CB, 0xD7FB))),
    ):
        if any(low <= code <= high for low, high in ranges):
            return kind
    return ""


HANGUL_JOINS = {("L", "L"), ("L", "V"), ("L", "LV"), ("L", "LVT"), ("V", "V"), ("V", "T"), ("LV", "V"), ("LV", "T")} | {
    ("LVT", "T"),
    ("T", "T"),
}


def _joins(cluster: str, character: str) -> bool:
    """Return whether `character` continues the grapheme cluster so far (Unicode Annex 29, section 3.1.1)."""
    last = cluster[-1]
    if last == "\r" and character == "\n":
        return True
    if unicodedata.category(last) == "Cc" or unicodedata.category(character) == "Cc":
        return False
    if _extends(character) or ord(last) in PREPENDED or (_hangul(last), _hangul(character)) in HANGUL_JOINS:
        return True
    if last == JOINER and _is_pictograph(character):
        return _is_pictograph(cluster.rstrip(JOINER)[0]) if cluster.rstrip(JOINER) else False
    return _is_flag_letter(character) and len(cluster) % 2 == 1 and all(map(_is_flag_letter, cluster))


def graphemes(text: str) -> tuple[str, ...]:
    """Split a text into characters as a reader counts them: joined emoji and combining marks stay whole.

    Unicode Annex 29's extended grapheme clusters, by the properties that Python's own tables know.

    >>> [len(cluster) for cluster in graphemes("ne\\u0301e")]
    [1, 2, 1]
    """
    if text.isascii() and "\r" not in text:
        return tuple(text)  # nothing else joins there, and nearly every text is such a one
    clusters: list[str] = []
    for character in text:
        if clusters and _joins(clusters[-1], character):
            clusters[-1] += character
        else:
            clusters.append(character)
    return tuple(clusters)


UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # iteration and closing marks and the zero of Chinese and Japanese
    (0x3040, 0x30FF),  # hiragana, katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),  # Han
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9D),  # katakana of half width
    (0x1B000, 0x1B16F),
    (0x20000, 0x323AF),
)
"""Blocks of the letters that are written without spaces between words (Unicode Annex 14, classes ID, CJ and SA)."""


def is_unspaced(cluster: str) -> bool:
    """Return whether a character belongs to a script that leaves no spaces between words.

    >>> [is_unspaced(character) for character in "猫ก고a1"]
    [True, True, False, False, False]
    """
    code = ord(cluster[0])
    return code >= UNSPACED[0][0] and any(low <= code <= high for low, high in UNSPACED) and cluster[0].isalnum()


def _kind(cluster: str) -> str:
    """Classify a cluster: a space, an apostrophe, part of a word, or a sign that stands alone."""
    first = cluster[0]
    if first.isspace() or unicodedata.category(first) == "Cc":
        return "space"
    if first in "'\u2019":
        return "apostrophe"
    return "word" if first.isalnum() or first == "_" else "sign"


def _special(text: str) -> Iterator[tuple[str, bool]]:
    """Yield `text` cut at the special tokens: pairs of a piece and whether it is one of them."""
    while text:
        starts = [(text.find(token), token) for token in SPECIAL if token in text]
        start, token = min(starts, default=(len(text), ""))
        if start:
            yield text[:start], False
        if token:
            yield token, True
        text = text[start + len(token) :]


def words(text: str) -> tuple[str, ...]:
    """Return words, and every other sign by itself; an apostrophe inside a word belongs to it.

    Where a script leaves no spaces between words, no list of words is at hand to find them by: each character is a
    token.

    >>> words("It didn't (really) rain.")
    ('It', "didn't", '(', 'really', ')', 'rain', '.')
    >>> words("猫 and 小猫")
    ('猫', 'and', '小', '猫')
    """
    return _at_spaces_and_signs(text, splits_unspaced=True)


def _at_spaces_and_signs(text: str, *, splits_unspaced: bool) -> tuple[str, ...]:
    tokens: list[str] = []
    for piece, is_special in _special(text):
        tokens += [piece] if is_special else _words(piece, splits_unspaced)
    return tuple(tokens)


def _words(text: str, splits_unspaced: bool) -> list[str]:
    clusters = graphemes(text)
    kinds = [_kind(cluster) for cluster in clusters] + ["space"]
    tokens: list[str] = []
    inside = False
    for position, cluster in enumerate(clusters):
        kind = kinds[position]
        if kind == "apostrophe":
            kind = "word" if inside and kinds[position + 1] == "word" else "sign"
        if kind == "word" and inside and not (splits_unspaced and is_unspaced(cluster)):
            tokens[-1] += cluster
        elif kind != "space":
            tokens.append(cluster)
        inside = kind == "word" and not (splits_unspaced and is_unspaced(cluster))
    return tokens


def whitespace(text: str) -> tuple[str, ...]:
    """Split a text at spaces.

    >>> whitespace("The mat.")
    ('The', 'mat.')
    """
    return tuple(text.split())


def characters(text: str) -> tuple[str, ...]:
    """Return every character as a reader sees it; spaces count, other white space and control characters do not.

    >>> characters("a b")
    ('a', ' ', 'b')
    """
    tokens: list[str] = []
    for piece, is_special in _special(text):
        tokens += [piece] if is_special else [c for c in graphemes(piece) if c == " " or _kind(c) != "space"]
    return tuple(tokens)


def pieces(text: str, *, piece_length: int) -> tuple[str, ...]:
    """Return words cut into pieces of at most `piece_length` characters; a piece that continues a word starts with ##.

    The ## is WordPiece's mark; the cuts are by length alone, with no vocabulary behind them.

    >>> pieces("attention heads", piece_length=4)
    ('atte', '##ntio', '##n', 'head', '##s')
    """
    tokens: list[str] = []
    for word in _at_spaces_and_signs(text, splits_unspaced=False):
        clusters = (word,) if word in SPECIAL else graphemes(word)
        for start in range(0, len(clusters), piece_length):
            tokens.append(("##" if start else "") + "".join(clusters[start : start + piece_length]))
    return tuple(tokens)


def with_special_tokens(
    tokens: tuple[str, ...], *, bos: bool, eos: bool, pad_to: int, max_tokens: int
) -> tuple[str, ...]:
    """Return the tokens between <bos> and <eos>, cut to `max_tokens` and filled with <pad> up to `pad_to`.

    >>> with_special_tokens(("a", "b"), bos=True, eos=False, pad_to=5, max_tokens=64)
    ('<bos>', 'a', 'b', '<pad>', '<pad>')
    """
    room = max(max_tokens - bos - eos, 0)
    line = (BOS,) * bos + tokens[:room] + (EOS,) * eos
    return (line + (PAD,) * (min(pad_to, max_tokens) - len(line)))[:max_tokens]


TOKENISERS = table(
    Choice(
        "words",
        "Words and punctuation",
        words,
        r"\text{The mat.} \to \text{The},\ \text{mat},\ \text{.}",
        "Every word is a token, and so is every punctuation mark. Chinese, Japanese, Thai, Lao, Khmer and Burmese "
        "leave no spaces between words: there, every character is a token.",
        "Jurafsky and Martin, Speech and Language Processing, 3rd ed. draft, section 2.5",
    ),
    Choice(
        "whitespace",
        "Split at spaces",
        whitespace,
        r"\text{The mat.} \to \text{The},\ \text{mat.}",
        "Everything between two spaces is a token.",
        "Python documentation, str.split",
    ),
    Choice(
        "characters",
        "Characters",
        characters,
        r"\text{mat} \to \text{m},\ \text{a},\ \text{t}",
        "Every character is a token; joined emoji and accents stay whole.",
        "Unicode Standard Annex 29, Unicode Text Segmentation, section 3",
    ),
    Choice(
        "pieces",
        "Pieces of words",
        pieces,
        r"\text{attention} \to \text{atte},\ \text{\#\#ntio},\ \text{\#\#n}",
        "Words are cut into pieces of equal length: like a subword tokeniser, but with no learned vocabulary.",
        "The ## mark: Wu et al. 2016, arXiv:1609.08144, section 4.1, as written in BERT",
        uses=("piece_length",),
    ),
)
