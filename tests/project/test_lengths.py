"""No Python file of the package is long, no function, and no folder is crowded."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "attnviz"
MOST_LINES, MOST_OF_A_FUNCTION, MOST_IN_A_FOLDER = 320, 46, 16
PUBLIC = ("attend",)
"""Functions whose docstrings say the shape and unit of a dozen arguments, and whose bodies are short."""


def long_functions(source: str, most: int = MOST_OF_A_FUNCTION) -> list[str]:
    """The functions of a source that take more lines than that."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    return [each.name for each in functions if (each.end_lineno or 0) - each.lineno + 1 > most]


def test_no_file_is_long() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert len(lengths) > 200
    assert {path.relative_to(PACKAGE).as_posix(): n for path, n in lengths.items() if n > MOST_LINES} == {}


@pytest.mark.slow  # reads all of the code, as lint does
def test_no_function_is_long() -> None:
    found = {name for path in PACKAGE.rglob("*.py") for name in long_functions(path.read_text("utf-8"))}
    assert found <= {*PUBLIC}
    assert long_functions("def f():\n    x = 1\n    return x", 2) == ["f"]
    assert long_functions("def f():\n    x = 1\n    return x", 3) == []


def crowded(files: Iterable[Path], most: int = MOST_IN_A_FOLDER) -> dict[str, int]:
    """The folders with more parts than that; a part may have Python, a script and a style sheet of one name."""
    parts = {path.with_suffix("") for path in files if path.suffix in {".py", ".js", ".css"}}
    counts = Counter(part.parent.as_posix() for part in parts if part.name != "__init__")
    return {folder: n for folder, n in counts.items() if n > most}


def test_no_folder_is_crowded() -> None:
    assert crowded(PACKAGE.rglob("*")) == {}, "a room inside it, named for what goes together there"
    assert crowded([Path("a/b.py"), Path("a/b.js"), Path("a/c.py"), Path("a/__init__.py")], 1) == {"a": 2}
    assert crowded([Path("a/b.py"), Path("a/b.js"), Path("a/c.py")], 2) == {}
