"""Short links: a setting in a few characters, without a database.

A code holds all of a setting and a check, so it opens on every server and for ever. The setting is written as
`name=value` one after the other, each behind a NUL, and taken apart into the pieces of a list that never changes: names
with their values, words, pairs of letters, and all bytes. A piece is coded by its place in the list, by five bits to
fourteen. (Deflate, with the same pieces as its dictionary, makes codes half as long again: it takes eight bits for a
letter and three bytes for a name.)

    1      the edition of the list, `short_link_pieces.txt`: another one gets another character
    ...    the places, as base64url, the last character filled up with ones
    abcd   four characters of a digest of what was written
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words
from attnviz.settings.link_check import CHECK, VERSION, checked

FAULTS = Words(
    {
        "edition": "The short link {given} begins with a character that is not known here; it should be {edition}. It "
        "may be of a newer edition, or not whole. Ask for it again, or for the long link.",
        "changed": "The short link {given} is not whole, or was changed on its way: its end does not fit the rest. Ask "
        "for it again, or for the long link.",
        "long": "This short link has {n:,} characters, and at most {most:,} can be read.",
    }
)
EDITION = "1"
PIECES = Path(__file__).with_name("short_link_pieces.txt")
TIERS = (("00", 3), ("01", 4), ("10", 6), ("110", 7), ("111", 11))
"""How the place of a piece begins, and the bits behind that: the first 8 pieces take 5 bits, the next 16 take 6."""
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
MOST_CHARACTERS, MOST_BYTES = 6_000, 6_000
"""Of a code, and of what it stands for: about as many as a link has."""
DIGEST = 4


def pack(query: Mapping[str, str]) -> str:
    """Return the code of an address; empty where it has none, as it is too long or no address.

    >>> pack({"v": "2", "mask": "causal", "c": "v76n"})
    '1LA_mgyv'
    """
    plain = {name: text for name, text in query.items() if name != CHECK}
    try:
        written = "".join(f"\0{name}={text}" for name, text in plain.items()).encode()
    except UnicodeEncodeError:  # half of a character
        return ""
    is_clear = written.count(b"\0") == len(plain) and not any("=" in name for name in plain)
    if not is_clear or len(written) > MOST_BYTES:
        return ""
    bits = "".join(_codes()[piece] for piece in _apart(written))
    bits += "1" * (-len(bits) % 6)
    places = "".join(ALPHABET[int(bits[at : at + 6], 2)] for at in range(0, len(bits), 6))
    code = EDITION + places + _digest(written)
    return code if len(code) <= MOST_CHARACTERS else ""


def unpack(code: str) -> dict[str, str]:
    """Return the address that a code stands for, with the check of a link.

    Raises ConfigError for a code that is not whole.
    """
    if len(code) > MOST_CHARACTERS:
        raise ConfigError(FAULTS["long"].format(n=len(code), most=MOST_CHARACTERS))
    if not code.startswith(EDITION):
        raise ConfigError(FAULTS["edition"].format(given=shorten(code), edition=EDITION))
    written = _together(code[len(EDITION) : -DIGEST])
    try:
        query = dict(parameter.split("=", 1) for parameter in written.decode().split("\0")[1:])
    except ValueError:
        query = {}
    if code[-DIGEST:] != _digest(written) or VERSION not in query:
        raise ConfigError(FAULTS["changed"].format(given=shorten(code)))
    return checked(query)


def _digest(written: bytes) -> str:
    return base64.b32encode(hashlib.blake2b(written, digest_size=5).digest()).decode().lower()[:DIGEST]


@cache
def _codes() -> dict[bytes, str]:
    """Return the bits of every piece, the shortest first."""
    lines = PIECES.read_text("ascii").splitlines()
    pieces = iter([line.encode().decode("unicode_escape").encode("latin-1") for line in lines])
    return {
        piece: f"{start}{place:0{length}b}"
        for start, length in TIERS
        for place, piece in zip(range(1 << length), pieces)
    }


@cache
def _pieces() -> dict[str, bytes]:
    return {bits: piece for piece, bits in _codes().items()}


@cache
def _lengths() -> tuple[int, ...]:
    return tuple(sorted({len(piece) for piece in _codes()}))


def _apart(written: bytes) -> list[bytes]:
    """Return the pieces that take the fewest bits together."""
    codes = _codes()
    best: list[tuple[int, int]] = [(0, 0)]  # bits up to each byte, and the length of the piece that ends there
    for end in range(1, len(written) + 1):
        ways = ((length, codes.get(written[end - length : end])) for length in _lengths() if length <= end)
        best.append(min((best[end - length][0] + len(bits), length) for length, bits in ways if bits))
    pieces, end = [], len(written)
    while end:
        length = best[end][1]
        pieces.append(written[end - length : end])
        end -= length
    return pieces[::-1]


def _together(code: str) -> bytes:
    """Return what is written in a code, as far as it can be read and as there is room for.

    Signs that no code has, such as the end of a line in a mail, are passed over: the digest tells whether all is there.
    """
    bits = "".join(f"{ALPHABET.index(each):06b}" for each in code if each in ALPHABET)
    written, at = bytearray(), 0
    while len(written) <= MOST_BYTES:
        start, length = next(((start, length) for start, length in TIERS if bits.startswith(start, at)), ("", 0))
        end = at + len(start) + length
        piece = _pieces().get(bits[at:end])
        if piece is None:
            break
        written += piece
        at = end
    return bytes(written)
