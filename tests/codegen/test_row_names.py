"""Nothing outside the tables knows a row by its name, but for what is listed here, each with its reason."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import attnviz
from attnviz import BIASES, MASKS, NORMALISERS, SCORES

PACKAGE = Path(attnviz.__file__).parent
WORDS = {"linear", "formula", "sigmoid", "dot", "softmax", "block", "none", "custom", "window", "general", "cosine"}
"""Names of rows that are also those of functions, initialisers, fields or words of a library."""

ALLOWED = {
    "arithmetic": {},
    "codegen": {},
    "formula": {
        "formula/unknown_names.py": (
            {"sparsemax", "no_self", "alibi", "padding", "causal"},
            "names that people type where a formula stands, and the formula that they mean",
        ),
    },
    "pictures": {},
    "text": {},
    "exports": {
        "exports/mask_code.py": ({"additive"}, "a form of a mask, which PyTorch adds"),
        "exports/script/torch_script.py": ({"causal"}, "PyTorch has an argument for it"),
    },
    "analysis": {
        "analysis/rounding.py": ({"scaled_dot"}, "the scores that are sums of products, which can cancel"),
        "analysis/mask_forms.py": ({"additive"}, "a form of a mask, which PyTorch adds"),
        "analysis/probes/own_attention.py": ({"causal"}, "a way in which a function is asked to attend"),
        "analysis/permutations.py": ({"padding", "no_self"}, "the masks that follow words, not positions"),
        "analysis/why_unlearned.py": ({"hardmax", "location"}, "what a head cannot learn with, and why"),
        "analysis/twins.py": ({"causal"}, "a head that is set by hand is compared under the mask of the run"),
        "analysis/variance_and_sharing.py": ({"scaled_dot"}, "the measurement is of 1 / sqrt(d_k) itself"),
    },
    "classroom": {
        "classroom/marking/item_analysis.py": ({"causal"}, "the name of a lesson"),
        "classroom/practice/checks.py": ({"causal", "no_self"}, "the settings that are dealt"),
        "classroom/wrong_choices/keys.py": ({"scaled_dot"}, "the scores whose sign is that of a product"),
        "classroom/practice/deals.py": (
            {"prefix", "no_self", "scaled_dot", "causal"},
            "the settings that are dealt, and the masks that are drawn",
        ),
        "classroom/practice/of_models.py": ({"scaled_dot"}, "the divisor of the scores whose spread is asked for"),
        "classroom/practice/model_answers.py": ({"causal"}, "what is asked about"),
        "classroom/question_codec.py": ({"causal", "no_self"}, "the changes that a question may ask about"),
    },
    "experiments": {
        "experiments/permutation.py": ({"location"}, "a heading, not the row"),
    },
    "engine": {
        "engine/attention.py": ({"scaled_dot"}, "the default"),
        "engine/external/traces.py": ({"scaled_dot"}, "what a run from outside is taken to have used"),
        "engine/pretrained/pretrained_config.py": (
            {"softmax_with_sink"},
            "the model's own normaliser where its heads have sinks",
        ),
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
        "engine/head_goals.py": ({"causal", "no_self"}, "what a head that is set by hand can do under a mask"),
        "engine/solved_heads.py": ({"causal", "scaled_dot"}, "the setting that heads set by hand are solved for"),
        "engine/tasks/games.py": ({"causal", "additive"}, "the recipe of a task"),
    },
    "models": {
        "models/observed.py": ({"causal"}, "the mask of a model that computes itself"),
        "models/decoder.py": (
            {"causal", "dilated", "global_window", "no_self", "prefix"},
            "what a decoder computes, and the masks that go by positions alone",
        ),
        "models/pairs/one_kind.py": ({"causal"}, "what a decoder computes"),
        "models/families.py": ({"t5"}, "the type of a model in its file"),
        "models/model.py": ({"causal"}, "what these models compute"),
        "models/shapes/shape.py": ({"t5"}, "what these models add to their scores"),
        "models/shapes/llamas.py": ({"causal"}, "a field of a file"),
    },
    "uploads": {
        "uploads/to_trace.py": ({"scaled_dot"}, "what a run from outside is taken to have used"),
    },
    "ui": {
        "ui/pages/compare.py": ({"causal", "additive"}, "comparisons that are offered"),
        "ui/panels/learn/reasons.py": ({"hardmax", "location"}, "the reasons why these cannot be learned with"),
        "ui/panels/learn/ablations.py": (
            {"hardmax", "location"},
            "settings that are offered, as they cannot be learned",
        ),
        "ui/panels/experiment_panels.py": ({"scaled_dot"}, "the measurement is of 1 / sqrt(d_k) itself"),
        "ui/panels/mask_builder.py": ({"additive"}, "a form of a mask, which PyTorch adds"),
        "ui/panels/model.py": ({"causal"}, "what a model that writes on computes"),
        "ui/panels/stage_of_run.py": ({"prefix"}, "the word on a handle"),
        "ui/panels/typed_formula.py": ({"alibi"}, "the name of an example"),
    },
}
"""By folder, the files that name a row: which, and why."""


def names_in(path: Path) -> set[str]:
    """The texts of a module that are the name of a row."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return texts & ({*SCORES, *NORMALISERS, *MASKS, *BIASES} - WORDS)


@pytest.mark.slow  # reads all of the code, as lint does
def test_nothing_outside_the_tables_knows_a_row_by_its_name() -> None:
    files = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    found = {name: names_in(path) for name, path in files.items() if "/" in name and "engine/tables/" not in name}
    listed = {name: rows for folder in ALLOWED.values() for name, (rows, _) in folder.items()}
    assert {name: rows for name, rows in found.items() if rows} == listed


def test_a_row_that_is_not_written_has_a_line() -> None:
    assert all(row.definition or row.written for name, row in NORMALISERS.items() if name != "formula")
    assert all(row.definition.root for name, row in SCORES.items() if name != "formula")


FIELDS = {"score", "normaliser", "mask", "bias", "own_masks", "masks"}
TABLES = {"SCORES", "NORMALISERS", "MASKS", "BIASES"}

DECIDED = {
    "classroom/run_questions.py": ({"custom"}, "cells that a setting lists leave nothing to draw"),
    "analysis/twins.py": ({"causal"}, "a head that is set by hand is compared under the mask of the run"),
    "engine/external/traces.py": (
        {"scaled_dot", "dot"},
        "what a run from outside is taken to have used, or no score at all",
    ),
    "engine/learning/learnable.py": ({"formula"}, "a mask that is typed is not learned under"),
    "engine/run_notes.py": ({"custom"}, "the list of cells may name some that are not there"),
    "engine/cost/sizes.py": ({"dot"}, "the least that a score can need"),
    "engine/head_goals.py": ({"causal", "no_self"}, "what a head that is set by hand can do under a mask"),
    "engine/solved_heads.py": ({"scaled_dot"}, "the setting that heads set by hand are solved for"),
    "exports/script/torch_script.py": ({"causal"}, "PyTorch has an argument for it"),
    "pictures/answer/browser_facts.py": ({"custom"}, "what a mask is called once it is painted"),
    "ui/components/sentence/opening_sentence.py": (
        {"custom"},
        "cells that were painted stay where they are when words move",
    ),
    "ui/panels/model.py": ({"causal"}, "what a model that writes on computes"),
}
"""The files that decide something by the name of a row, words of other meaning too: which, and why.

`none`, with which nothing is chosen, may be asked for anywhere.
"""


def _named(part: ast.AST) -> set[str]:
    found = {node.value for node in ast.walk(part) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return found & ({*SCORES, *NORMALISERS, *MASKS, *BIASES} - {"none"})


def _is_field(part: ast.AST) -> bool:
    """Whether this reads the name of a chosen row: config.score, self.score.name, or a variable of that name."""
    if isinstance(part, ast.Attribute) and part.attr == "name":
        part = part.value
    name = part.attr if isinstance(part, ast.Attribute) else part.id if isinstance(part, ast.Name) else ""
    return name in FIELDS


def decided_in(source: str) -> set[str]:
    """The names of rows by which a source decides: it compares a field with them, or takes them from their table."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            if any(map(_is_field, sides)):
                found |= set().union(*map(_named, sides))
        elif isinstance(node, ast.Match) and _is_field(node.subject):
            found |= set().union(*(_named(case.pattern) for case in node.cases))
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in TABLES:
            found |= _named(node.slice)
    return found


@pytest.mark.slow  # reads all of the code, as lint does
def test_nothing_outside_the_tables_decides_by_the_name_of_a_row() -> None:
    files = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    found = {name: decided_in(source) for name, source in files.items() if "engine/tables/" not in name}
    assert {name: rows for name, rows in found.items() if rows} == {name: rows for name, (rows, _) in DECIDED.items()}


def test_what_decides_by_a_name_is_seen() -> None:
    for source in (
        'config.score == "dot"',
        'if config.normaliser in ("softmax", "linear"): pass',
        'self.row.score.name != "general"',
        'NORMALISERS["sigmoid"]',
        'match config.bias:\n    case "t5": pass',
    ):
        assert decided_in(source), source
    assert not decided_in('config.bias != "none" or config.norm == "linear" or WORDS["window"]')
