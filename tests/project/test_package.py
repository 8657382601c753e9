"""The package as it is installed: built, put into an environment of its own, and used from another folder."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import tomllib
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from attnviz.exports.formats import FORMATS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PATIENCE = 60  # seconds until a server that does not answer counts as broken
IN_FORCE = """
import json, sys
from streamlit import config
from streamlit.web import bootstrap

from attnviz.command import main

bootstrap.run_asgi_app = lambda *given: print(json.dumps([config.get_option(name) for name in sys.argv[1:]]))
main(["--port", "8765"])
"""
DRAWN = """
import sys
from pathlib import Path

import attnviz
from streamlit.testing.v1 import AppTest

at = AppTest.from_file(str(Path(attnviz.__file__).with_name("app.py")), default_timeout=60)
at.query_params["lang"] = "de"
at.run()
maps = [each for each in at.get("bidi_component") if '"attnviz_heatmap"' in each.proto.json]
print(attnviz.__file__, len(at.exception), len(maps), *[slider.label for slider in at.slider])
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built from a copy of what it is made of, so that nothing is left behind here."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("attnviz", ".streamlit"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    (source / ".streamlit" / "secrets.toml").write_text("key = 1", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(out), str(source)]
    done = subprocess.run([*command, *_offline()], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [built] = out.glob("*.whl")
    return built


def _offline() -> list[str]:
    """Build with the setuptools that is here, if it is new enough; otherwise pip fetches one."""
    try:
        here = int(importlib.metadata.version("setuptools").split(".")[0])
    except importlib.metadata.PackageNotFoundError:
        here = 0
    return ["--no-build-isolation"] if here >= 77 else []


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that holds the package alone, and borrows the libraries from here."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, symlinks=os.name != "nt")
    programs = home / ("Scripts" if os.name == "nt" else "bin")
    python = str(programs / "python")
    command = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(command, check=True)
    found = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(subprocess.run([python, "-c", found], capture_output=True, text=True, check=True).stdout.strip())
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "borrowed.pth").write_text("\n".join(sorted(paths)), encoding="utf-8")
    return programs


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with settings of its own, none of which may count."""
    (tmp_path / ".streamlit").mkdir()
    hostile = "[server]\nmaxUploadSize = 999\n[runner]\nfastReruns = true\n[client]\nshowErrorDetails = 'full'\n"
    (tmp_path / ".streamlit" / "config.toml").write_text(hostile, encoding="utf-8")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return tmp_path


def flat(table: dict[str, Any], before: str = "") -> dict[str, Any]:
    """The options of a file by their full names."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        found |= flat(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value}
    return found


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("attnviz/")}
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "attnviz").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert inside == files | {"attnviz/server/config.toml"}


@pytest.mark.parametrize("start", [["attnviz"], ["python", "-m", "attnviz"]], ids=["command", "module"])
def test_the_command_writes_a_run(start: list[str], programs: Path, elsewhere: Path) -> None:
    command = [str(programs / start[0]), *start[1:], "render", "a b c", "--heads", "2", "-o", "out.csv"]
    done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len((elsewhere / "out.csv").read_text(encoding="utf-8").splitlines()) == 1 + 2 * 3 * 3


def test_every_kind_of_file_is_written(programs: Path, elsewhere: Path) -> None:
    code = (
        "import sys; from attnviz.command import main; print([main(['render', '-o', name]) for name in sys.argv[1:]])"
    )
    names = [f"out.{name}" for name in FORMATS]
    command = [str(programs / "python"), "-c", code, *names]
    done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, check=True)
    if not os.environ.get("CI"):  # at a desk, what needs a library that is not there may be missing, if that is said
        assert done.stderr.count("\n") == done.stdout.count("2") == done.stderr.count("pip install")
        names = [name for name, code in zip(names, json.loads(done.stdout)) if code == 0]
    assert {path.name for path in elsewhere.iterdir()} - {".streamlit"} == set(names)


def test_the_settings_are_in_force_elsewhere(programs: Path, elsewhere: Path) -> None:
    written = flat(tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8")))
    written |= {"server.port": 8765, "server.address": "localhost"}
    command = [str(programs / "python"), "-c", IN_FORCE, *written]
    answer = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, check=True)
    assert dict(zip(written, json.loads(answer.stdout))) == written


def test_the_page_is_drawn_elsewhere(programs: Path, elsewhere: Path) -> None:
    command = [str(programs / "python"), "-c", DRAWN]
    answer = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, check=True)
    file, faults, pictures, *labels = answer.stdout.split()
    assert Path(file).is_relative_to(programs.parent)
    assert (faults, pictures) == ("0", "1")
    assert "Köpfe" in labels, "the languages are not in the package"


@pytest.fixture
def port(programs: Path, elsewhere: Path) -> Iterator[int]:
    """The port of a page that the command has started."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(programs / "attnviz"), "--port", str(port)]
    with subprocess.Popen(command, cwd=elsewhere, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        yield port
        process.kill()


def test_the_command_starts_the_page(port: int) -> None:
    last = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=2) as answer:
                assert answer.read() == b"ok"
            return
        except OSError:
            assert time.monotonic() < last, "no page answers"
            time.sleep(0.1)
