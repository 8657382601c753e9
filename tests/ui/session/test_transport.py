"""Answers are sent at once, also on connections that come later."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from types import ModuleType

import pytest

from attnviz.ui.session.browser import transport


def at_once(connection: socket.socket) -> bool:
    return bool(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere what is accepted inherits nothing")
def test_a_socket_that_names_no_protocol_and_all_that_it_accepts_send_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "uvloop", raising=False)
    with socket.socket(family=socket.AF_INET) as listening:  # as Streamlit makes its own
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        assert not at_once(listening)
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as before:
            assert not at_once(before)
            transport.send_at_once.__wrapped__()
            assert at_once(listening)
            assert at_once(before)
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as after:
            assert at_once(after)


def test_where_uvloop_does_it_no_socket_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", ModuleType("uvloop"))
    with socket.socket(family=socket.AF_INET) as listening:
        transport.send_at_once.__wrapped__()
        assert not at_once(listening)


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="the system does not list open files")
def test_other_open_files_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "uvloop", raising=False)
    left, right = socket.socketpair()
    with left, right, open(__file__) as file, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        before = len(os.listdir("/dev/fd"))
        transport.send_at_once.__wrapped__()
        assert len(os.listdir("/dev/fd")) == before
        left.sendall(b"still here")
        assert right.recv(10) == b"still here"
        assert file.readline()
        assert datagrams.fileno() > 0
