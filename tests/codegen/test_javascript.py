"""Formulas as functions of JavaScript, run by node."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz.codegen.javascript import helpers, javascript
from attnviz.formula.evaluation.arrays import of_normaliser
from attnviz.formula.evaluation.numbers import weights
from attnviz.formula.reader import parse
from tests.formula.generator import lines
from tests.formula.test_fuzz import HEADS, KEYS, QUERIES, WIDTH, Case

NODE = shutil.which("node")
CHECK = """
const near = (a, b) => (Number.isNaN(b) ? Number.isNaN(a) : a === b || Math.abs(a - b) <= 1e-10 + 1e-10 * Math.abs(b));
const back = (x) => (x === "NaN" ? NaN : x === "Infinity" ? Infinity : x === "-Infinity" ? -Infinity : x);
const wrong = cases.filter(([f, cells, wanted]) => !cells.every((c, n) => near(Number(f(c).value), back(wanted[n]))));
console.log(JSON.stringify(wrong.map((each) => each[3])));
"""

NORMALISERS = (
    "e = exp(x - max(x)); e / sum(e)",
    "best = x == max(x); best / sum(best)",
    "m = max(max(x), 0); e = exp(x - m); e / (exp(-m) + sum(e))",
    "p = relu(x); ratio(p, sum(p))",
    "relu(x - level(x, 1))",
    "relu(x / 2 - level(x / 2, 2))**2",
    "relu(x) / n + min(x) * norm(x) - mean(x) + (i - j) % 3 + sum(x * j)",
    "e = exp(x - max(x)) * top(x, 2); e / sum(e)",
    "p = sigmoid(x); p * exp(sum(log(1 - p)) - cumsum(log(1 - p)))",
    "cumsum(x) + cumsum(x * cumsum(j)) - cumsum(x > 0)",
    "cumsum(x)",
    "x if top(x, 1) or not top(relu(x) * 0, 2) else cumsum(top(j % 2, 3))",
)


pytestmark = pytest.mark.usefixtures("node")


def finite(value: float) -> Any:
    """A number as JSON can hold it."""
    return value if math.isfinite(value) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")


def wrong(cases: list[tuple[str, list[dict[str, Any]], list[float], str]], path: Path) -> list[str]:
    """The lines whose function gives other numbers than are wanted."""
    listed = ",\n".join(
        f"[{source}, {json.dumps(cells)}, {json.dumps([finite(x) for x in wanted])}, {json.dumps(text)}]"
        for source, cells, wanted, text in cases
    )
    script = path / "run.js"
    script.write_text(f'"use strict";\n{helpers(listed)}\nconst cases = [{listed}];\n{CHECK}', encoding="utf-8")
    done = subprocess.run([str(NODE), str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def cells(case: Case) -> list[dict[str, Any]]:
    """What each function is told, a cell after the other."""
    found, sizes = [], dict.fromkeys(case.formula.sizes, WIDTH)
    for h, i, j in np.ndindex(HEADS, QUERIES, KEYS):
        cell: dict[str, Any] = {"q": case.Q[h, i].tolist(), "k": case.K[h, j].tolist(), "sizes": sizes}
        cell |= {"i": i, "j": j, "h": h + 1, "n": KEYS, "n_key": KEYS, "n_query": QUERIES, "n_heads": HEADS}
        cell |= {"d_q": WIDTH, "d_k": WIDTH}
        for name, parameter in case.formula.parameters.items():
            array = case.parameters[name][h]
            array = array[j] if parameter.role in ("rows", "list") else array
            cell[name] = (array[:, j] if parameter.role == "columns" else array).tolist()
        found.append(cell)
    return found


def disagreeing(n: int, seed: int, path: Path) -> list[str]:
    cases = []
    for at, formula in enumerate(lines(n, seed)):
        case = Case(formula, at)
        cases.append((javascript(formula), cells(case), case.wanted.reshape(-1).tolist(), formula.text))
    return wrong(cases, path)


@pytest.mark.slow
def test_1000_random_lines_say_the_same(tmp_path: Path) -> None:
    assert disagreeing(1000, 1, tmp_path) == []


def test_normalisers_say_the_same_where_keys_are_forbidden(tmp_path: Path) -> None:
    X = np.random.default_rng(3).normal(size=(1, 3, 5))
    X[0, 1, :2] = -np.inf
    cases = []
    for text in NORMALISERS:
        formula = parse(text, "normaliser")
        A = weights(formula, of_normaliser(X))[0]
        arguments, wanted = [], []
        for i, j in np.argwhere(np.isfinite(X[0])).tolist():
            seen = np.flatnonzero(np.isfinite(X[0, i])).tolist()
            cell = {"x": X[0, i, seen].tolist(), "places": seen, "j": seen.index(j), "n": len(seen), "i": i}
            arguments.append(cell | {"h": 1, "n_key": 5, "n_query": 3, "n_heads": 1})
            wanted.append(float(A[i, j]))
        cases.append((javascript(formula), arguments, wanted, text))
    assert wrong(cases, tmp_path) == []


def test_names_of_the_visitor_are_none_of_the_language(tmp_path: Path) -> None:
    cases = []
    for name in ("let", "new", "arguments", "eval", "this", "constructor", "__proto__", "d", "sumOf", "c_"):
        formula = parse(f"{name} = tanh(q*k); sum({name}) * sum({name} * {name})")
        case = Case(formula, 1)
        cases.append((javascript(formula), cells(case), case.wanted.reshape(-1).tolist(), name))
    assert wrong(cases, tmp_path) == []


def test_quotients_are_cut_off_where_python_cuts_them_off(tmp_path: Path) -> None:
    cases = []
    for text in ("(i + 1) // 0.1", "(i - j) // 0.3 + h % 0.1", "0.5 // 0.1 - (j + 1) // -0.1", "i // (j - 1)"):
        formula = parse(f"{text} + 0 * sum(q)")
        case = Case(formula, 1)
        cases.append((javascript(formula), cells(case), case.wanted.reshape(-1).tolist(), text))
    assert wrong(cases, tmp_path) == []
