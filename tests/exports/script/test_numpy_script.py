"""The exported NumPy script: run, and every step held against the engine's own."""

from __future__ import annotations

import ast
import builtins
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from attnviz import BIASES, MASKS, Config, ConfigError, run
from attnviz.engine.learning.learnable import learns
from attnviz.engine.records.step_specs import STEPS
from attnviz.exports.script import rows as script_rows
from attnviz.exports.script.numpy_script import numpy_script
from tests.support import scripts
from tests.support.cases import for_each


@pytest.mark.slow
@for_each("name", scripts.SETTINGS)
def test_the_script_computes_what_the_page_shows(name):
    config, trace = scripts.traced(name)
    scripts.compare(trace, scripts.execute(numpy_script(config)), 1e-12, bits=True)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 30, 10))
def test_so_it_does_where_rows_of_all_tables_meet(first):
    for number in range(first, first + 10):
        config, trace = scripts.traced(number)
        scripts.compare(trace, scripts.execute(numpy_script(config)), 1e-12, bits=True)


def test_grouped_heads_whose_score_reads_no_key_have_the_weights_of_the_page():
    for normaliser in ("hardmax", "softmax"):
        config = Config(
            sentence="a b c d", n_heads=4, n_kv_heads=2, normaliser=normaliser, score="formula", score_formula="sum(q)"
        )
        scripts.compare(run(config), scripts.execute(numpy_script(config)), 1e-12, bits=False)


def test_every_table_has_its_lines():
    code = {
        "embedding": script_rows.EMBEDDINGS,
        "position": script_rows.POSITIONS,
        "initialiser": script_rows.INITIALISERS,
        "feed_forward": script_rows.FEED_FORWARDS,
    }
    for field, rows in code.items():
        assert list(rows) == [name for name in scripts.TABLES[field] if name in rows]
        lines = {name for name, row in scripts.TABLES[field].items() if getattr(row, "typed", None)}
        assert set(rows) == set(scripts.TABLES[field]) - lines
    assert {name for name, row in MASKS.items() if row.script} >= {name for name, row in MASKS.items() if not row.line}
    assert {name for name, row in BIASES.items() if row.script} == set(BIASES) - {"none", "formula"}
    assert set(script_rows.NORMS) == set(scripts.TABLES["norm"]) - {"none"}
    assert set(script_rows.VECTORS) == set(script_rows.STARTS) == set(script_rows.INITIALISERS)
    assert set(script_rows.VARIABLES) == set(STEPS)


@for_each("name", ["plain", "by_hand_induction", "three_layers", "ragged_additive", "edits_layers", "learned_layers"])
def test_it_reads_well(name):
    lines = numpy_script(scripts.config(name)).splitlines()
    assert max(map(len, lines)) <= 120
    assert not [line for line in lines if line != line.rstrip()]
    modules = {line.split()[1] for line in lines if line.startswith(("import ", "from "))}
    assert modules <= {"math", "base64", "hashlib", "numpy"}


def test_it_holds_only_what_the_setting_needs():
    script = numpy_script(
        Config(sentence="a b", embedding="one_hot", initialiser="identity", position="none", score="dot")
    )
    assert not [word for word in ("SEED", "blake2b", "math", "def ", "M =", "temperature") if word in script]
    defined = {node.name for node in ast.walk(ast.parse(numpy_script(Config()))) if isinstance(node, ast.FunctionDef)}
    assert defined == {"bits", "uniform", "normal", "glorot", "sinusoidal"}
    assert len(numpy_script(Config()).splitlines()) < 120


@pytest.mark.slow
def test_every_name_that_it_gives_is_used_and_every_line_fits():
    for name in scripts.SETTINGS:
        script = numpy_script(scripts.config(name))
        assert max(map(len, script.splitlines())) <= 120, name
        tree = ast.parse(script)
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        given = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        sizes = {"d_model", "n_heads"} | ({"d_k", "d_v", "d_a"} if learns(scripts.config(name)) else set())
        assert given - read <= {*script_rows.VARIABLES.values(), "i", "j", "_", *sizes}, name
        assert read - given - set(dir(builtins)) <= {
            *{node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)},
            *{node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)},
            *("np", "math", "blake2b", "b64decode"),
        }, name


@for_each("sentence", scripts.HOSTILE)
@for_each("tokeniser", ["words", "whitespace"])
def test_no_sentence_is_anything_but_strings(sentence, tokeniser):
    setting = {"sentence": sentence, "second_sentence": sentence[::-1], "tokeniser": tokeniser}
    plain = {"embedding": "one_hot", "initialiser": "identity", "position": "none", "score": "dot"}
    config = Config(**setting, **({"embedding": "spelling"} if tokeniser == "words" else plain), d_model=2, n_heads=1)
    script = numpy_script(config)
    script.encode("utf-8")
    assert not set(script) & set("\u202e\u2066\u200f\u2028\u2029\x00\x1b")
    tree = ast.parse(script)
    trace = run(config)
    assigned = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and "tokens" in node.targets[0].id
    }
    assert {name: tuple(value) for name, value in assigned.items()} == {
        "tokens": trace.query_tokens,
        "tokens_kv": trace.key_tokens,
    }
    harmless = numpy_script(replace(config, sentence="a", second_sentence="b"))
    assert _shape_of(script) == _shape_of(harmless)
    scripts.compare(trace, scripts.execute(script), 1e-12, bits=True)


def _shape_of(script: str) -> list[str]:
    """The statements of a script without the constants in them."""
    return [
        type(statement).__name__ + "".join(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
        for statement in ast.parse(script).body
    ]


def test_it_runs_by_itself_and_prints_the_weights(tmp_path):
    config = Config(sentence="it's so 漢字 \u202e \ud800", mask="causal", n_layers=2, residual=True)
    file = tmp_path / "attention.py"
    file.write_text(numpy_script(config), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", str(file)], capture_output=True, check=True, cwd=tmp_path
    )
    assert done.stderr == b""
    with np.printoptions(precision=3, suppress=True, linewidth=120):
        assert done.stdout.decode().strip() == str(run(config)["weights"].array)


def test_a_setting_that_cannot_be_run_says_so():
    with pytest.raises(ConfigError, match="no tokens"):
        numpy_script(Config(sentence=" "))
