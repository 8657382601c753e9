"""The one rule of the house: a folder imports only from the folders below it, and no files of a folder in a circle."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "attnviz"
HOUSE = {
    "settings": "",
    "formula": ". evaluation facts",
    "codegen": "",
    "engine": "numerics rows tables/scores tables/normalisers tables tasks records plan pretrained learning . external "
    "cost backward",
    "models": "shapes tokenisers images pairs .",
    "live": "",
    "analysis": ". circuits corpus probes",
    "lessons": "",
    "arithmetic": "notation .",
    "uploads": "",
    "text": "format .",
    "pictures": "layout . answer charts static",
    "exports": "script workbook . paper",
    "classroom": "context wrong_choices next_word . writing marking practice printed",
    "experiments": "",
    "ui": "hosting session/browser session components components/pickers components/sentence components/answer "
    "components/stage panels panels/classroom panels/depth panels/learn panels/lesson pages .",
}
"""The folders of the package from the ground up, and inside some the folders in them, of which `.` is its own files.

Each may import from those that stand before it, and from itself.
"""
FLOORS = tuple(
    top if inside == "." else f"{top}/{inside}" for top, insides in HOUSE.items() for inside in insides.split() or ["."]
)

Sources = Mapping[str, str]


def sources() -> dict[str, str]:
    """Every file of a folder of the package by its path, `engine/run.py`."""
    files = (path.relative_to(PACKAGE) for path in PACKAGE.glob("*/**/*.py"))
    return {file.as_posix(): (PACKAGE / file).read_text(encoding="utf-8") for file in sorted(files)}


def folder(file: str) -> str:
    return file.rpartition("/")[0]


@cache
def imported(source: str) -> tuple[str, ...]:
    """The dotted names that a source imports, those inside functions too."""
    return tuple(_imported(source))


def _imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant))


def imports(files: Sources) -> dict[str, set[str]]:
    """The files of the package that each of its files imports."""
    modules = {f"attnviz.{file.removesuffix('.py').replace('/', '.')}": file for file in files}
    return {file: {modules[name] for name in imported(source) if name in modules} for file, source in files.items()}


def climbs(files: Sources, floors: tuple[str, ...] = FLOORS) -> list[str]:
    """What is wrong, as sentences: each import of a folder that stands above, and what to do about it."""
    return [
        f"{file} imports {other}, but {folder(other)}/ stands above {folder(file)}/. Move what it needs down into "
        f"{folder(file)}/ or below, or {file} up into {folder(other)}/ or above."
        for file, others in imports(files).items()
        for other in sorted(others)
        if floors.index(folder(other)) > floors.index(folder(file))
    ]


def circles(files: Sources) -> list[str]:
    """Each circle of imports, once, as a -> b -> a."""
    graph, done, found = imports(files), set[str](), []

    def walk(file: str, way: tuple[str, ...]) -> None:
        if file in way:
            found.append(" -> ".join((*way[way.index(file) :], file)))
        elif file not in done:
            for other in sorted(graph[file]):
                walk(other, (*way, file))
            done.add(file)

    for file in graph:
        walk(file, ())
    return found


def streamlit_outside_ui(files: Sources) -> list[str]:
    return [
        file
        for file, source in files.items()
        if not file.startswith("ui/") and any(name.split(".")[0] == "streamlit" for name in imported(source))
    ]


FILES = sources()


def test_every_folder_has_a_floor() -> None:
    there = {folder(file) for file in FILES}
    assert there == set(FLOORS), "name the folder in HOUSE, above all that it imports and below all that import it"


def test_the_plan_in_the_documentation_is_the_house() -> None:
    section = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    plan = [line for line in section.partition("`app.py` opens")[0].splitlines() if line.startswith("    ")]
    assert re.findall(r"  (\w+)/ ", "\n".join(plan)) == list(HOUSE)
    assert len(plan) == 10


@pytest.mark.slow
def test_imports_only_go_down() -> None:
    faults = climbs(FILES)
    assert not faults, "\n".join(faults)


@pytest.mark.slow
def test_no_files_import_each_other_in_a_circle() -> None:
    faults = circles(FILES)
    assert not faults, "\n".join(faults)


def test_only_the_page_imports_streamlit() -> None:
    assert streamlit_outside_ui(FILES) == []


@pytest.mark.parametrize(
    "line",
    [
        "from attnviz.text import captions",
        "from attnviz.text.captions import NAMES",
        "import attnviz.text.captions",
        'importlib.import_module("attnviz.text.captions")',
    ],
)
def test_the_rule_can_fail(line: str) -> None:
    files = {"text/captions.py": "from attnviz.engine.run import run", "engine/run.py": f"def run():\n    {line}"}
    [fault] = climbs(files)
    assert fault.startswith("engine/run.py imports text/captions.py, but text/ stands above engine/.")
    assert circles(files) == ["text/captions.py -> engine/run.py -> text/captions.py"]
    assert climbs({**files, "engine/run.py": ""}) == circles({**files, "engine/run.py": ""}) == []


def test_the_check_for_streamlit_can_fail() -> None:
    files = {
        "ui/main.py": "import streamlit as st",
        "text/captions.py": "def f():\n    from streamlit import cache_data",
    }
    assert streamlit_outside_ui(files) == ["text/captions.py"]


def test_the_check_sees_the_imports_that_are_there() -> None:
    assert "engine/tables/masks.py" in imports(FILES)["engine/recorded_layer.py"]


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that a fresh Python holds after a statement."""
    code = f"{statement}; import sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    return set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout.split()
    )


HEAVY = {"plotly", "pandas", "streamlit", "scipy", "torch"}


RUN = "from attnviz import Config, run; run(Config())"


@pytest.mark.parametrize("statement", ["import attnviz", RUN])
def test_attnviz_loads_nothing_heavier_than_numpy(statement: str) -> None:
    assert loaded_by(statement) & HEAVY == set()


@pytest.mark.slow
def test_the_check_for_heavy_imports_can_fail() -> None:
    assert loaded_by(f"{RUN}; import pandas") & {"numpy", *HEAVY} == {"numpy", "pandas"}


def test_one_module_says_what_an_array_is() -> None:
    spelled = re.compile(r"^\w+ = np\.ndarray$|NDArray\[|(->|[:|]) np\.ndarray\b", re.MULTILINE)
    assert [path.name for path in PACKAGE.rglob("*.py") if spelled.search(path.read_text(encoding="utf-8"))] == [
        "arrays.py"
    ]
