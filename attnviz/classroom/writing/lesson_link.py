"""A lesson file in a link: packed by deflate, as base64url, with a check. It opens on every server and for ever."""

from __future__ import annotations

import base64
import binascii
import zlib
from hashlib import blake2b

from attnviz.lessons.read_lesson import MAX_LESSON_CHARACTERS
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

VERSION = "1"
MOST_CHARACTERS = 5_500
"""Of a field: with all else a link holds 6,000."""
MOST_BYTES = 4 * MAX_LESSON_CHARACTERS
CHECK = 6

FAULTS = Words(
    {"cut": "The lesson in this link was cut or changed on its way; ask for the link again, or for the file."}
)


def pack(text: str) -> str:
    """Return the text of a lesson as a field of a link; empty where it is too long for one."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(text.encode("utf-8", "replace")) + packer.flush()
    payload = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    field = f"{VERSION}{_check(payload)}{payload}"
    return field if len(field) <= MOST_CHARACTERS else ""


def unpack(field: str) -> str:
    """Return the text of a lesson; raises ConfigError, in one sentence, for a field that is not whole."""
    check, payload = field[1 : 1 + CHECK], field[1 + CHECK :]
    if field[:1] != VERSION or check != _check(payload):
        raise ConfigError(FAULTS["cut"])
    try:
        packed = base64.b64decode(payload + "=" * (-len(payload) % 4), "-_", validate=True)
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        text = unpacker.decompress(packed, MOST_BYTES).decode()
    except (binascii.Error, zlib.error, UnicodeDecodeError):
        raise ConfigError(FAULTS["cut"]) from None
    if not unpacker.eof:
        raise ConfigError(FAULTS["cut"])
    return text


def _check(payload: str) -> str:
    return blake2b(payload.encode("utf-8", "replace"), digest_size=CHECK // 2).hexdigest()
