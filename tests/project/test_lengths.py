"""No Python file of the package is long, and no function."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "attnviz"
MOST_LINES, MOST_OF_A_FUNCTION = 320, 46
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


def test_no_function_is_long() -> None:
    found = {name for path in PACKAGE.rglob("*.py") for name in long_functions(path.read_text("utf-8"))}
    assert found <= {*PUBLIC}
    assert long_functions("def f():\n    x = 1\n    return x", 2) == ["f"]
    assert long_functions("def f():\n    x = 1\n    return x", 3) == []
