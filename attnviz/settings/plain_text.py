"""Text as typed or out of a link, without characters that no font shows."""

from __future__ import annotations

_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))

_DROPPED = {code: None for code in _CONTROLS if chr(code) not in "\t\n"}


def clean(text: str, lines: int = 1) -> str:
    """Return `text` without controls and bidi overrides; lone surrogates become U+FFFD.

    Joiners and variation selectors stay, as emoji and many scripts need them.

    >>> clean("a\\x00b\\ud800") == "ab\\ufffd"
    True
    """
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    shown = whole.replace("\r\n", "\n").replace("\r", "\n").translate(_DROPPED)
    return shown if lines > 1 else shown.replace("\n", " ")
