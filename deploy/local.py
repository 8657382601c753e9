"""The hosted site on one machine and without containers: nginx in front of replicas, as in compose.yaml.

    python deploy/local.py --replicas 2 --port 8080

Needs nginx 1.22 or newer on the path and the packages of the page. Everything is as the images have it, but for the
places that differ by machine: nginx's port, its temporary files, the static files and the replicas' addresses.
"""

from __future__ import annotations

import argparse
import itertools
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SETTINGS = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_MMAP_THRESHOLD_": "131072"}  # as the Dockerfile says, and why
PATIENCE = 30.0  # seconds until what does not answer counts as broken


_ports = itertools.count(11_000 + os.getpid() * 16 % 20_000)
"""Below the ports that the system hands out by itself, and from another place in every process: a port that is free
when asked for is then still free when the server has started. Above 10,080, which browsers refuse to open."""


def free_port() -> int:
    """Return a port that nothing listens on; never the same twice in a process."""
    for port in _ports:
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("unreachable: the count has no end")


def wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until an address answers; raises RuntimeError if the process ends or takes too long."""
    last = time.monotonic() + PATIENCE
    while time.monotonic() < last and process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(address, timeout=1):  # noqa: S310
            return
        time.sleep(0.05)
    raise RuntimeError(f"{address} does not answer; see the log beside it")


@dataclass
class Replica:
    """One process of the page, which can be killed and started again; what it prints is kept in `log`.

    `within` is a command that starts the command after it, to set bounds: ("prlimit", "--nofile=256").
    """

    log: Path
    secret: str
    script: Path = ROOT / "app.py"
    address: str = "127.0.0.1"
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    within: tuple[str, ...] = ()

    def start(self) -> None:
        python = [*self.within, sys.executable]
        command = [*python, "-m", "streamlit", "run", str(self.script), f"--server.port={self.port}"]
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        given = SETTINGS | {"STREAMLIT_SERVER_COOKIE_SECRET": self.secret, "PYTHONPATH": path, "ATTNVIZ_FRAMES": "self"}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603
                [*command, f"--server.address={self.address}"], cwd=ROOT, env=os.environ | given, stdout=log, stderr=log
            )
        wait_for(f"http://127.0.0.1:{self.port}/_stcore/health", self.process)

    def kill(self) -> None:
        """End it as a crash would."""
        if self.process:
            self.process.kill()
            self.process.wait()


@dataclass(frozen=True)
class Site:
    """A running site: its address, its replicas, and the folder of its logs."""

    url: str
    replicas: tuple[Replica, ...]
    folder: Path


def configured(folder: Path, port: int, ports: list[int]) -> Path:
    """nginx.conf and what it includes, in `folder`, with the places of this machine."""
    streamlit = find_spec("streamlit")
    if streamlit is None or streamlit.origin is None:
        raise RuntimeError("streamlit is not installed; install requirements.txt first")
    static = folder / "static"  # a copy, since nginx's workers may be a user who cannot read the packages
    shutil.copytree(Path(streamlit.origin).parent / "static", static)
    places = {
        "/etc/nginx/mime.types": str(folder / "mime.types"),
        "/dev/stdout": str(folder / "access.log"),
        "/srv/streamlit": str(static),
        "/tmp/nginx": str(folder / "nginx"),  # noqa: S108
        "listen 8080": f"listen 127.0.0.1:{port}",
    }
    text = (HERE / "nginx/nginx.conf").read_text(encoding="utf-8")
    for there, here in places.items():
        if there not in text:
            raise RuntimeError(f"nginx.conf no longer says {there}")
        text = text.replace(there, here)
    shutil.copy("/etc/nginx/mime.types", folder)
    for name, bounds in (("upstream", "max_fails=2 fail_timeout=15s"), ("health", "max_fails=0")):
        lines = [f"zone {name} 256k;\n", *(f"server 127.0.0.1:{each} {bounds};\n" for each in ports)]
        (folder / f"{name}.conf").write_text("".join(lines), encoding="utf-8")  # the workers count together, as there
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    return folder / "nginx.conf"


@contextmanager
def site(n_replicas: int = 2, port: int | None = None, script: Path = ROOT / "app.py") -> Iterator[Site]:
    """A running site, ended with all its processes when the block is left."""
    port = port or free_port()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="attnviz-")))
        folder.chmod(0o755)  # nginx's workers may be another user
        secret = secrets.token_hex(32)
        replicas = tuple(Replica(folder / f"page-{number}.log", secret, script) for number in range(1, n_replicas + 1))
        for replica in replicas:
            stack.callback(replica.kill)
            replica.start()
        conf = configured(folder, port, [replica.port for replica in replicas])
        with (folder / "nginx.log").open("ab") as log:
            command = ["nginx", "-p", str(folder), "-c", str(conf), "-g", "daemon off;"]
            nginx = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603
        stack.callback(nginx.wait)
        stack.callback(nginx.terminate)
        wait_for(f"http://127.0.0.1:{port}/healthz", nginx)
        yield Site(f"http://127.0.0.1:{port}", replicas, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--port", type=int, default=8080)
    asked = parser.parse_args()
    with site(asked.replicas, asked.port) as running, suppress(KeyboardInterrupt):
        print(f"{running.url} with {asked.replicas} replicas; logs in {running.folder}; Ctrl-C ends it")
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
