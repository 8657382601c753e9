"""The page as the command line starts it: alone, watched, or as several processes behind one port."""

from __future__ import annotations

import argparse
import os
import re
import secrets
import socket
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attnviz import watchdog
from attnviz.engine.cost import estimate as cost
from attnviz.settings.faults import ConfigError, shorten

HERE = Path(__file__).parent
NEEDED = ("streamlit", "plotly", "pandas")
PORT = "8501"
"""That of a page that is watched, where none is given: who watches has to know it."""
STREAMLIT_OPTION = re.compile(r"--[a-zA-Z]+(\.[a-zA-Z]+)+=.*", re.DOTALL)
BEHIND = ("--server.address=127.0.0.1", "--server.port=0", "--logger.hideWelcomeMessage=true")
"""Streamlit's options for a process that gets its visitors from another; it listens for this machine alone."""
SECRET = "STREAMLIT_SERVER_COOKIE_SECRET"  # noqa: S105 - its name

FAULTS = {
    "unknown": "there is no {what}; attnviz {command}--help lists what there is",
    "port": "--port is {given}; choose 1 to 65535",
    "processes": "--processes is {given}; choose 1 to {most}",
    "hand_over": "--processes needs a system where one process can hand a connection to another; Windows is none",
    "tls": "with --processes, TLS has to end in front of the page; leave {given} out",
    "page": 'the page needs {module}, which is not installed; pip install "attnviz[app]" brings it',
}


def unknown(what: str, command: str = "") -> ConfigError:
    """Return the fault of an option that there is not."""
    return ConfigError(FAULTS["unknown"].format(what=shorten(what), command=command))


def start(port: str | None, host: str, rest: Sequence[str]) -> None:
    """Start the page with the settings that it was made for, wherever this is called, until it is stopped.

    Raises ConfigError for what cannot be started so.
    """
    _check(rest)
    from streamlit.web import cli

    flags = [f"--{name}={value}" for name, value in server_settings().items()]
    flags.append(f"--server.address={host}")
    if port is not None:
        flags.append(f"--server.port={checked_port(port)}")
    cli.main(["run", str(HERE / "app.py"), *flags, *rest], prog_name="attnviz")


def _check(rest: Sequence[str]) -> None:
    for what in rest:
        if not STREAMLIT_OPTION.fullmatch(what):
            raise unknown(what)
    for module in NEEDED:
        if find_spec(module) is None:
            raise ConfigError(FAULTS["page"].format(module=module))
    cost.most_bytes(os.environ.get(cost.VARIABLE, ""))


def checked_port(port: str) -> str:
    """Return a port as it was written. Raises ConfigError for what is none."""
    if not (port.isascii() and port.isdecimal() and 1 <= int(port[:6]) <= 65535):
        raise ConfigError(FAULTS["port"].format(given=shorten(port)))
    return port


def watch(port: str | None, host: str, words: Sequence[str]) -> int:
    """Start the page in a process of its own, and anew whenever that ends or hangs; return its exit code."""
    port = checked_port(port or PORT)
    command = [sys.executable, "-m", "attnviz", *(word for word in words if word != "--watch"), f"--port={port}"]
    return watchdog.watched(command, _address(host, port))


def _address(host: str, port: str) -> str:
    """Return the address by which this machine itself reaches the page."""
    asked = "localhost" if host in ("0.0.0.0", "::") else host  # noqa: S104 - every address of the machine
    return f"http://{f'[{asked}]' if ':' in asked else asked}:{port}"


def serve_several(arguments: argparse.Namespace, rest: Sequence[str]) -> int:
    """Start several processes of the page behind one port; return the exit code.

    Raises ConfigError for what cannot be started so.
    """
    from attnviz.ui.hosting import front  # with an event loop, which no other command needs

    port, n = checked_port(arguments.port or PORT), arguments.processes
    if not (n.isascii() and n.isdecimal() and 1 <= int(n[:3]) <= front.MOST):
        raise ConfigError(FAULTS["processes"].format(given=shorten(n), most=front.MOST))
    if not hasattr(socket, "send_fds"):
        raise ConfigError(FAULTS["hand_over"])
    _check(rest)
    for what in rest:
        if what.startswith("--server.ssl"):
            raise ConfigError(FAULTS["tls"].format(given=shorten(what)))
    own = [f"--with={path}" for path in arguments.own_rows or ()]
    own += [f"--model={name}" for name in arguments.offered or ()] + [f"--model-tokens={arguments.model_tokens}"]
    page = [sys.executable, "-m", "attnviz", *own, *rest]
    os.environ.setdefault(SECRET, secrets.token_hex(32))  # one for all, as each may be asked about what another signed

    def command(place: int, file: int) -> list[str]:
        return [*page, f"--replica={place}:{file}"]

    with front.listening(arguments.address, int(port)) as listener:
        print(f"{_address(arguments.address, port)} with {n} processes", flush=True)
        return front.served(int(n), listener, command)


def handed_over(replica: str) -> Sequence[str]:
    """Have the page that is about to start get its visitors from another process; return Streamlit's options for it.

    replica  its place and the file by which it is spoken to, `1:5`; empty where it is alone
    """
    if not replica:
        return ()
    from attnviz.ui import server
    from attnviz.ui.hosting import replica as replicas

    place, file = map(int, replica.split(":"))
    replicas.become(place, file, lambda: server.has_begun() and server.has_room())
    return BEHIND


def server_settings() -> dict[str, str]:
    """Return Streamlit's options by their names in `.streamlit/config.toml`, in a clone or in the package."""
    packaged = HERE / "server" / "config.toml"
    file = packaged if packaged.is_file() else HERE.parent / ".streamlit" / "config.toml"
    return dict(_flat(tomllib.loads(file.read_text(encoding="utf-8"))))


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield before + name, str(value).lower() if isinstance(value, bool) else str(value)
