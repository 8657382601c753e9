"""What reads a row's line knows no row by its name; what no line says stands in one table of each reading."""

from __future__ import annotations

import ast
from pathlib import Path

import attnviz
from attnviz import MASKS, NORMALISERS, SCORES
from attnviz.arithmetic import written_lines
from attnviz.exports import interactive_html
from attnviz.exports.script import rows
from attnviz.exports.workbook import normaliser_formulas

PACKAGE = Path(attnviz.__file__).parent
WORDS = {"linear", "formula", "sigmoid", "dot", "softmax", "block", "none", "custom"}
"""Names of rows that are also those of functions, initialisers, fields or words of a library."""


def names_in(path: Path) -> set[str]:
    """The texts of a module that are the name of a row."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return texts & ({*SCORES, *NORMALISERS, *MASKS} - WORDS)


READINGS = ("readings", "formula", "arithmetic", "exports", "pictures", "text")


def test_readings_know_no_row_by_its_name() -> None:
    found = {}
    for folder in READINGS:
        for path in (PACKAGE / folder).rglob("*.py"):
            found[path.relative_to(PACKAGE).as_posix()] = names_in(path)
    written = {name: names for name, names in found.items() if names}
    sorts = {"sparsemax", "entmax15", "hardmax"}
    for table in (rows.WRITTEN, normaliser_formulas.WRITTEN, interactive_html.WRITTEN, written_lines.WRITTEN):
        assert set(table) == sorts
    others = {
        "arithmetic/cell_position.py": {"window"},  # that of a trained model
        "exports/mask_code.py": {"additive"},  # a form of a mask, which PyTorch adds
        "exports/script/inputs.py": {"padding"},  # the words that are looked at
        "exports/script/rows.py": {"padding"},
        "exports/script/torch_script.py": {"causal"},  # PyTorch has an argument for it
    }
    assert {name: names - sorts for name, names in written.items() if names - sorts} == others


def test_a_row_that_is_not_written_has_a_line() -> None:
    without = {name for name, row in NORMALISERS.items() if row.definition is None}
    assert without <= {*rows.WRITTEN, "formula"}
    assert all(row.definition.root for name, row in SCORES.items() if name != "formula")
