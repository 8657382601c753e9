"""The steps of the image, carried out one after the other in a system that has nothing but Debian's own Python.

It stands in for the base that the Dockerfile names, which only a registry of images has.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from attnviz import Config
from attnviz.settings import url_codec
from attnviz.ui import link_route
from tests.conftest import missing

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
sys.path.insert(0, str(DEPLOY))

from local import free_port, wait_for  # noqa: E402

Instruction = tuple[str, str]
PIP = ("/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt", "/etc/resolv.conf")
"""What pip and names are told on this machine, which holds in the image while it is built."""


def stages() -> dict[str, list[Instruction]]:
    """The instructions of each stage of the Dockerfile, its base first."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    found: dict[str, list[Instruction]] = {}
    for line in filter(None, re.sub(r"\\\n\s*", "", text).split("\n")):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            found[name] = [(word, base)]
        else:
            found[name].append((word, re.sub(r"\s+", " ", rest)))
    return found


class Image:
    """A system in a folder, and what the instructions so far have set for those to come."""

    def __init__(self, root: Path) -> None:
        self.root, self.user, self.folder = root, "0", "/"
        self.env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
        self.command: list[str] = []
        self.check: list[str] = []

    def inside(self, command: list[str], **more: str) -> list[str]:
        """The command that runs another one there, as its user and in its folder, with processes of its own."""
        own = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={self.root}/proc"]
        at = ["chroot", f"--userspec={self.user}:{self.user}", str(self.root), "env", "-i", f"--chdir={self.folder}"]
        return [*own, *at, *(f"{name}={value}" for name, value in {**self.env, **more}.items()), *command]

    def runs(self, command: list[str], **more: str) -> str:
        done = subprocess.run(self.inside(command, **more), capture_output=True, encoding="utf-8")
        assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def carry_out(self, word: str, rest: str) -> None:
        if word == "ENV":
            self.env |= dict(part.split("=", 1) for part in shlex.split(rest))
        elif word == "RUN":
            told = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
            self.runs(["sh", "-ec", rest], PIP_BREAK_SYSTEM_PACKAGES="1", **told)
        elif word == "COPY":
            *sources, to = rest.split()
            target = self.root / self.folder[1:] / to
            for source in sources:
                if (ROOT / source).is_dir():
                    shutil.copytree(ROOT / source, target, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(ROOT / source, target)
        elif word == "WORKDIR":
            self.folder = rest
            (self.root / rest[1:]).mkdir(parents=True, exist_ok=True)
        elif word == "USER":
            self.user = rest
        elif word == "HEALTHCHECK":
            self.check = json.loads(rest.partition("CMD ")[2])
        elif word == "CMD":
            self.command = json.loads(rest)
        else:
            assert word in ("FROM", "EXPOSE"), f"a test that carries out {word}"


@pytest.fixture
def image(tmp_path: Path) -> Iterator[Image]:
    """The image of the page, as its steps leave it."""
    if os.geteuid():
        missing("another root takes the rights of root")
    if not shutil.which("mmdebstrap"):
        missing("mmdebstrap is not installed")
    page = stages()["page"]
    version = re.fullmatch(r"python:(3\.\d+)\.\d+-slim-(\w+)@.*", page[0][1])
    assert version is not None
    made = Image(tmp_path / "root")
    packages = "python3,python3-pip,python-is-python3,ca-certificates"
    build = ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", f"--include={packages}"]
    build += ['--aptopt=Acquire::Languages "none"', version[2], str(made.root)]
    subprocess.run(build, check=True, stdout=sys.stderr)
    for name in filter(os.path.exists, PIP):
        (made.root / name[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, made.root / name[1:])
    assert made.runs(["python", "-V"]).startswith(f"Python {version[1]}.")
    for instruction in page:
        made.carry_out(*instruction)
    yield made
    shutil.rmtree(made.root)


@pytest.mark.slow
def test_the_steps_of_the_image_end_in_a_page_that_is_served_and_in_the_files_of_its_front(image: Image) -> None:
    _serves_the_page_to_whom_it_gives_no_rights(image)
    for instruction in stages()["static"]:
        image.carry_out(*instruction)
    _has_every_static_file_as_it_is_and_compressed(image.root / "srv/streamlit")


def _serves_the_page_to_whom_it_gives_no_rights(image: Image) -> None:
    port = str(free_port())
    command = [part.replace("8501", port) for part in image.command]
    process = subprocess.Popen(image.inside(command))
    try:
        wait_for(f"http://127.0.0.1:{port}/attnviz/health", process)
        image.runs([part.replace("8501", port) for part in image.check])
        query = url_codec.query_string(Config(sentence="the cat sat", mask="causal"))
        found = {}
        for path in (link_route.PATH, "/"):  # the picture first: what asks for it waits until the package has been read
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}?{query}") as answer:
                found[path] = answer.read()
        assert found[link_route.PATH].startswith(b"\x89PNG")
        assert b"the cat sat" in found["/"]
    finally:
        process.kill()  # and with it all that it has begun, as its options say
        process.wait()
    assert image.runs(["id", "-u"]) == "1000\n"
    for name in ("app.py", "attnviz", ".streamlit", "."):
        assert image.runs(["sh", "-c", f"test -w {name} || echo kept"]) == "kept\n"


def _has_every_static_file_as_it_is_and_compressed(folder: Path) -> None:
    there = {path for path in folder.rglob("*") if path.is_file()}
    small = sorted(path for path in there if path.suffix == ".gz")
    assert {path.suffix for path in (each.with_suffix("") for each in small)} >= {".js", ".css", ".html"}
    assert {each.with_suffix("") for each in small} <= there
    for each in small[:20]:
        assert gzip.decompress(each.read_bytes()) == each.with_suffix("").read_bytes()
