"""The scripts of the page as a file that the server hands out: compressed once, and kept by a browser for ever.

Over the socket of a page they would come again with every visit, and not compressed. Where nothing hands them out, as
in a test that has no server, they come that way all the same.
"""

from __future__ import annotations

import gzip
import hashlib

PATH = "attnviz/scripts-{digest}.js"

_files: dict[str, bytes] = {}
_is_served = False


def serve() -> None:
    """Note that this process hands them out, before the first visitor comes."""
    global _is_served
    _is_served = True


def is_served() -> bool:
    """Return whether pages of this process can ask for them."""
    return _is_served


def keep(text: str) -> str:
    """Keep a script and return its address, below that of the page."""
    digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    _files[digest] = _files.pop(digest, b"") or gzip.compress(text.encode(), mtime=0)
    return PATH.format(digest=digest)


def address() -> str:
    """Return the address of what was kept last, which is what pages are given; empty if nothing was."""
    return PATH.format(digest=next(reversed(_files))) if _files else ""


def found(digest: str) -> tuple[bytes, bool]:
    """Return a script, compressed, and whether it is the one that was asked for: else it is what was kept last.

    Another one is asked for by a page of another replica, in the minutes in which a new version takes their places.
    Raises StopIteration where nothing was kept.
    """
    if digest in _files:
        return _files[digest], True
    return next(reversed(_files.values())), False
