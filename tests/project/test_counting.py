"""Positions count from 0 everywhere; what people read is turned in `settings/counting.py` and nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "attnviz"
COUNTING = "settings/counting.py"
POSITIONS = {
    "layer",
    "head",
    "kv_head",
    "query",
    "key",
    "dimension",
    "slide",
    "focus",
    "word_b",
    "from_query",
    "from_key",
}
"""Names that hold the position of something."""
SAYS = {"format", "fill", "translate", "str"}
"""Functions that put a number into words."""
NEIGHBOURS = {
    "classroom/known_mistakes.py: runs.layer - 1",
    "arithmetic/cell_position.py: reach + 1",
    "engine/external/layer_plans.py: layer - 1",
    "text/step_names.py: layer - 1",
    "pictures/answer/number_answer.py: layer - 1",
    "pictures/plotly_figure.py: at + 1",
    "engine/tables/biases.py: below + 1",
    "engine/tables/biases.py: 2 * below + 1",
}
"""The layer before, one more than a reach, and the names of Plotly's colour axes: nothing is counted otherwise."""
SHEETS = "exports/workbook/layout.py"
"""The rows of a sheet, which Excel counts from 1."""


def shifts(source: str) -> list[str]:
    """Each place where a position is moved by one, or a number in words is."""
    return [ast.unparse(node) for node in dict.fromkeys(_shifts(ast.parse(source)))]


def _shifts(tree: ast.AST) -> Iterator[ast.expr]:
    ends = {node.upper for node in ast.walk(tree) if isinstance(node, ast.Slice)}  # [head : head + 1] is one head
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and node not in ends and _moves(node) and _name(node.left) in POSITIONS:
            yield node
        if isinstance(node, ast.Call) and _name(node.func) in SAYS:
            yield from filter(_adds_one, [*node.args, *(keyword.value for keyword in node.keywords)])
        if isinstance(node, ast.FormattedValue) and _adds_one(node.value):
            yield node.value


def _moves(node: ast.BinOp) -> bool:
    return isinstance(node.op, (ast.Add, ast.Sub)) and isinstance(node.right, ast.Constant) and node.right.value == 1


def _adds_one(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _moves(node)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.BoolOp):
        return _name(node.values[0])
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def files() -> list[str]:
    return sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


@pytest.mark.slow  # reads all of the code, as lint does
def test_positions_are_turned_in_one_file() -> None:
    found = {f"{file}: {shift}" for file in files() for shift in shifts((PACKAGE / file).read_text("utf-8"))}
    found = {each for each in found if not each.startswith((COUNTING, SHEETS))}
    assert found - NEIGHBOURS == set(), "count with ordinal() and index_of() of settings/counting.py"
    assert NEIGHBOURS - found == set(), "no longer there: take it off the list"


@pytest.mark.parametrize(
    "source", ["layers[selection.layer - 1]", "WORDS['n'].format(n=at + 1)", "f'{i + 1}'", "(selection.head or 1) - 1"]
)
def test_a_position_that_is_turned_elsewhere_is_found(source: str) -> None:
    assert len(shifts(source)) == 1


def test_what_counts_otherwise_is_no_position() -> None:
    assert shifts("last = len(names) - 1; x = at + 1; words.format(last=n - 1)") == []
