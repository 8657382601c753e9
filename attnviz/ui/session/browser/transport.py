"""Messages to a browser: sent at once, and in a form that costs little.

asyncio turns Nagle's algorithm off on the connections that it accepts, but only where the listening socket names its
protocol, and Streamlit's names none (socket.socket(family=...)). So the second of two short messages waits until the
first is acknowledged, which a browser's system delays by some 40 ms: more than all the rest of a move takes. uvloop,
which a host installs, turns it off on every connection by itself.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

_OPEN_FILES = Path("/dev/fd")  # where a system has it; elsewhere answers are slower, and nothing else


@cache
def send_at_once() -> None:
    """Set TCP_NODELAY on the sockets of this process, once; those that a listening one will accept inherit it.

    Where Streamlit runs on uvloop there is no need, and no socket is touched.
    """
    if "uvloop" in sys.modules or not _OPEN_FILES.is_dir():
        return
    for name in os.listdir(_OPEN_FILES):
        with suppress(OSError, ValueError):
            if stat.S_ISSOCK(os.fstat(int(name)).st_mode):  # anything else `socket` refuses, and its copy stays open
                with socket.socket(fileno=os.dup(int(name))) as connection:
                    _send_at_once(connection)


def _send_at_once(connection: socket.socket) -> None:
    if connection.family in (socket.AF_INET, socket.AF_INET6) and connection.type == socket.SOCK_STREAM:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def packed(data: Mapping[str, Any], numbers: bytes | None = None) -> bytes:
    """Pack data for a component as JSON in bytes: a mapping Streamlit would search for data frames in every run.

    Numbers follow after a zero byte, which JSON never holds, as they lie in memory: as text they would be a third
    longer, and take more time to write, to compress and to read than all else of a picture.

    >>> packed({"key": "a"}, b"12")
    b'{"key":"a"}\\x0012'
    """
    header = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    return header if numbers is None else header + b"\0" + numbers
