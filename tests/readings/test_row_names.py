"""Nothing outside the tables knows a row by its name, but for what is listed here, each with its reason."""

from __future__ import annotations

import ast
from pathlib import Path

import attnviz
from attnviz import BIASES, MASKS, NORMALISERS, SCORES

PACKAGE = Path(attnviz.__file__).parent
WORDS = {"linear", "formula", "sigmoid", "dot", "softmax", "block", "none", "custom", "window", "general", "cosine"}
"""Names of rows that are also those of functions, initialisers, fields or words of a library."""

ALLOWED = {
    "arithmetic": {},
    "readings": {},
    "formula": {},
    "pictures": {},
    "text": {},
    "exports": {
        "exports/mask_code.py": ({"additive"}, "a form of a mask, which PyTorch adds"),
        "exports/script/inputs.py": ({"padding", "alibi", "t5"}, "what is computed first: words, slopes, buckets"),
        "exports/script/torch_script.py": ({"causal"}, "PyTorch has an argument for it"),
    },
    "analysis": {
        "analysis/mask_forms.py": ({"additive"}, "a form of a mask, which PyTorch adds"),
        "analysis/permutations.py": ({"padding", "no_self"}, "the masks that follow words, not places"),
        "analysis/twins.py": ({"causal"}, "a head that is set by hand is compared under the mask of the run"),
        "analysis/variance_and_sharing.py": ({"scaled_dot"}, "the measurement is of 1 / sqrt(d_k) itself"),
    },
    "classroom": {
        "classroom/question_codec.py": ({"causal", "no_self"}, "the changes that a question may ask about"),
    },
    "experiments": {
        "experiments/permutation.py": ({"location"}, "a heading, not the row"),
    },
    "engine": {
        "engine/attention.py": ({"scaled_dot"}, "the default"),
        "engine/external.py": ({"scaled_dot"}, "what a run from outside is taken to have used"),
        "engine/learning/normalisers.py": (
            {"quiet_softmax", "hardmax"},
            "the same bits on every machine: a second arithmetic in two languages, for the rows that can be learned",
        ),
        "engine/learning/scores.py": (
            {"scaled_dot", "additive", "gaussian", "location"},
            "the same bits on every machine: a second arithmetic in two languages, for the rows that can be learned",
        ),
        "engine/records/config.py": ({"scaled_dot"}, "the default"),
        "engine/solved_head_notes.py": ({"causal"}, "the name of a sentence"),
        "engine/solved_heads.py": ({"causal", "no_self"}, "what a head that is set by hand can do under a mask"),
        "engine/tasks/tasks.py": ({"causal", "additive"}, "the recipe of a task"),
    },
    "models": {
        "models/forward.py": ({"scaled_dot"}, "what these models compute"),
        "models/model.py": ({"causal"}, "what these models compute"),
        "models/shapes.py": ({"causal"}, "a field of a file"),
    },
    "uploads": {
        "uploads/to_trace.py": ({"scaled_dot"}, "what a run from outside is taken to have used"),
    },
    "ui": {
        "ui/main.py": ({"no_self"}, "the opening setting"),
        "ui/pages/compare.py": ({"causal", "additive"}, "comparisons that are offered"),
        "ui/panels/learning/tries.py": (
            {"hardmax", "location"},
            "settings that are offered, as they cannot be learned",
        ),
        "ui/panels/experiment_panels.py": ({"scaled_dot"}, "the measurement is of 1 / sqrt(d_k) itself"),
        "ui/panels/mask_builder.py": ({"additive"}, "a form of a mask, which PyTorch adds"),
        "ui/panels/model.py": ({"causal"}, "what a model that writes on computes"),
        "ui/panels/typed.py": ({"alibi"}, "the name of an example"),
    },
}
"""By folder, the files that name a row: which, and why."""


def names_in(path: Path) -> set[str]:
    """The texts of a module that are the name of a row."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return texts & ({*SCORES, *NORMALISERS, *MASKS, *BIASES} - WORDS)


def test_nothing_outside_the_tables_knows_a_row_by_its_name() -> None:
    files = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    found = {name: names_in(path) for name, path in files.items() if "/" in name and "engine/tables/" not in name}
    listed = {name: rows for folder in ALLOWED.values() for name, (rows, _) in folder.items()}
    assert {name: rows for name, rows in found.items() if rows} == listed


def test_a_row_that_is_not_written_has_a_line() -> None:
    assert all(row.definition or row.written for name, row in NORMALISERS.items() if name != "formula")
    assert all(row.definition.root for name, row in SCORES.items() if name != "formula")
