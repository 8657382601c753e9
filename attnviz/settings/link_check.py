"""The check at the end of a link: what was cut or changed on the way is noticed, and mended where it can be.

Chats end a link at a sign that they do not know, and mail programs write some signs anew. A link that lost a part opens
all the same, with other settings; four characters made from the whole link tell that it did. They are made from names
and values alone, so that order, spelling and the parameters of others do not count.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

VERSION, WITHOUT, CHECK = "v", "without", "c"
ADDED = ("lang", "play")
"""Parameters that people add to a link by hand; no number depends on them, and no check."""

_AMPS = re.compile(r"\A(?:amp;)+")

LENGTH = 4
SINCE = 2
"""The version from which on every link ends with a check."""


def checked(query: Mapping[str, str]) -> dict[str, str]:
    """Return the address with its check at the end.

    >>> checked({"v": "2", "mask": "causal"})
    {'v': '2', 'mask': 'causal', 'c': 'v76n'}
    """
    plain = {name: text for name, text in query.items() if name != CHECK}
    return {**plain, CHECK: _of(plain)}


def _of(query: Mapping[str, str]) -> str:
    lines = "\n".join(f"{name}={query[name]}" for name in sorted(query) if name not in (CHECK, *ADDED))
    digest = hashlib.blake2b(lines.encode("utf-8", "surrogatepass"), digest_size=5).digest()
    return base64.b32encode(digest).decode().lower()[:LENGTH]


def fault(query: Mapping[str, Any], names: Collection[str]) -> str:
    """Return "cut" where the check is missing, "changed" where it does not fit, else nothing.

    `names` are those of the settings; other parameters do not count. An address of an older version has no check, and
    one without a version was written by hand.
    """
    given = {name: _text(query[name]) for name in query if name in names or name in (VERSION, WITHOUT, CHECK)}
    check = given.get(CHECK, "")
    if CHECK in given and len(check) == LENGTH:
        return "" if check == _of(given) else "changed"
    version = given.get(VERSION, "")
    is_old = CHECK not in given and (VERSION not in given or version in map(str, range(1, SINCE)))
    return "" if is_old else "cut"


def _text(value: Any) -> str:
    value = value[-1] if isinstance(value, (list, tuple)) and value else value
    return value if isinstance(value, str) else ""


def heal(query: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return the address as it was before a mail program or a page wrote `&` as `&amp;` or `;`, or encoded it twice.

    Signs of the text around it that have grown to its end are taken off. That, and what was encoded twice, is told by
    its check alone. An address that nothing happened to comes back as it is.
    """
    known = {*names, VERSION, WITHOUT, CHECK}
    healed: dict[str, Any] = {}
    for name, value in _apart(query, known):
        if name in healed:
            healed[name] = healed[name] if isinstance(healed[name], list) else [*_listed(healed[name])]
            healed[name] += _listed(value)
        else:
            healed[name] = [*value] if isinstance(value, list) else value
    check = _text(healed.get(CHECK))
    if check[LENGTH:] and not check[LENGTH].isalnum():  # what a sentence or a bracket put behind the link
        ended = {**healed, CHECK: [check[:LENGTH]]}
        healed = healed if fault(ended, names) else ended
    if fault(healed, names) == "changed":
        once_more = {name: [unquote_plus(_text(value))] for name, value in healed.items()}
        if not fault(once_more, names):
            return once_more
    return healed


def _apart(query: Mapping[str, Any], known: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Yield the parameters, with those that had grown together taken apart."""
    for name, value in query.items():
        name = name.removeprefix("?") if isinstance(name, str) else name
        if isinstance(name, str) and "=" in name and not _text(value):  # the whole address was encoded once more
            yield from ((each, [text]) for each, text in parse_qsl(name, keep_blank_values=True))
        elif name == VERSION and ";" in _text(value):  # which stands first in a link, so the others are in it
            parts = _split(_text(value), known)
            yield VERSION, [parts[0]]
            yield from ((each, [text]) for each, _, text in (part.partition("=") for part in parts[1:]))
        else:
            name = _without_amp(name)
            if name or _text(value):
                yield name, value


def _split(text: str, known: Collection[str]) -> list[str]:
    """Split a text at each semicolon that stands before the name of a setting."""
    parts: list[list[str]] = [[]]
    for piece in text.split(";"):
        if "=" in piece and piece.partition("=")[0] in known:
            parts.append([])
        parts[-1].append(piece)
    return [";".join(pieces) for pieces in parts]


def _without_amp(name: Any) -> Any:
    return _AMPS.sub("", name) if isinstance(name, str) else name


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
