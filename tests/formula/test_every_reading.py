"""Every typed line in every reading: run, cell, scripts, JavaScript, workbook and LaTeX agree."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import Config, ConfigError, Trace, run
from attnviz.codegen.latex import latex
from attnviz.exports.script.numpy_script import numpy_script
from attnviz.exports.script.torch_script import torch_script
from attnviz.formula.graph import Formula
from attnviz.formula.names import NUMBERS, STEPS
from attnviz.formula.reader import parse
from tests.codegen.test_javascript import NORMALISERS
from tests.formula import generator
from tests.formula.test_fuzz_of_rows import KINDS
from tests.support import interactive_file, latex_reader, readings

BASE: dict[str, Any] = {
    "sentence": "the cat saw the",
    "d_model": 2,
    "n_heads": 2,
    "d_k": 3,
    "d_v": 1,
    "d_a": 3,
    "initialiser": "normal",
    "output_projection": False,
}
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "score": ({}, {"second_sentence": "a dog"}, {"d_k": (3, 2)}, {"n_kv_heads": 1, "mask": "causal"}),
    "mask": ({}, {"second_sentence": "the dog ran"}, {"n_kv_heads": 1}),
    "bias": ({"mask": "causal"}, {"second_sentence": "a dog"}),
    "normaliser": ({"mask": ("causal", "no_self")}, {"temperature": 0.7}, {"normalise_over": "queries"}),
}
"""What lines of each kind are run in, one after the other."""

WRITTEN_BY_HAND: dict[str, Sequence[str]] = {
    "score": (
        *generator.WRITTEN_BY_HAND,
        "log(7 / 0) - sum(q*k)",
        "sum(q) * (1 if (-2)**0.5 < 1 else 2) + (-1)**(1/3)",
        "exp(1000) * sum(k) + sin(1/0) + 5 % 0",
    ),
    "mask": (
        'token[j] != "the"',
        "j <= i and (i - j) % 3 == 0",
        "not (j == i or i * (n % -3) < 0)",
        'token[i] in ("cat", "dog") or i // 0.1 > j * 9',
        "token[j - 1] == token[i] and j <= i or j == 0",
        "j <= i and i - j < 2**h",
        "h % 2 == 0 or i // h == j // n_heads and token[j] != 'the'",
        "j < n_heads",
        'token[i + 9] == token[j+2] or token[j-2] != token[j] or token[i-1] == token[i + 1] or token[j - 9] != ""',
    ),
    "bias": (
        "i * (h % -2)",
        "1 // 0.1 + (i + 1) // 0.1",
        "-abs(i-j) * 2**(-8*h/n_heads)",
        "0.3 % 0.1 * j - -i",
        "j / n",
        "-g * abs(i - j) / h",
        "d = abs(i - j); -exp(alpha) * log(1 + exp(beta) * d)",
        "tau if j == 0 else gamma * (lam - j)",
    ),
    "normaliser": (
        *(*NORMALISERS, "x - mean(x)", "e = exp(x - max(x)); ratio(e, sum(e))", "x / (n - 1)", "1 / n"),
        *("exp(x) / (exp(g) + sum(exp(x)))", "p = relu(x - tau); ratio(p, sum(p) + lam * j)"),
    ),
}


@dataclass(frozen=True)
class Line:
    """A typed line and its run."""

    kind: str
    formula: Formula
    trace: Trace

    @property
    def text(self) -> str:
        return f"{self.kind}: {self.formula.text}"


def written(kind: str) -> Iterator[Line]:
    """The lines that are written by hand, each in one setting; all that go wrong when a reading is wrong."""
    for at, text in enumerate(WRITTEN_BY_HAND[kind]):
        yield typed(kind, text, at)


def drawn(kind: str, n: int, seed: int) -> Iterator[Line]:
    """Random lines that can be run."""
    draw, made = random.Random(seed), 0  # noqa: S311
    scores = (formula.text for formula in generator.lines(10 * n + 100, seed)[len(generator.WRITTEN_BY_HAND) :])
    while made < n:
        text = next(scores) if kind == "score" else KINDS[kind](draw)
        try:
            yield typed(kind, text, made)
        except ConfigError:
            continue
        made += 1


def typed(kind: str, text: str, at: int) -> Line:
    setting = BASE | SETTINGS[kind][at % len(SETTINGS[kind])]
    return Line(kind, parse(text, kind), run(Config(**setting, seed=at, **{kind: "formula", f"{kind}_formula": text})))


def by_latex(line: Line) -> None:
    """The formula as the page draws it, read back and computed for the cells of one query and of one key."""
    trace, read = line.trace, latex_reader.read(latex(line.formula))
    step = {"score": "scores", "mask": "allowed", "bias": "bias", "normaliser": "weights"}[line.kind]
    wanted = trace[step].array
    n, m = wanted.shape[-2:]
    for i, j in {(i, (i + 1) % m) for i in range(n)} | {(n - 1, j) for j in range(m)}:
        cell = cell_of(line, i, j)
        if cell is None:
            continue
        with np.errstate(all="ignore"):
            found = np.asarray(read(cell), dtype=float)
        recorded = wanted[i, j] if wanted.ndim == 2 else wanted[0, i, j]
        close, where = readings.CLOSE, f"{latex(line.formula)}, {i}, {j}"
        np.testing.assert_allclose(found, recorded, rtol=close, atol=close, err_msg=where)


def cell_of(line: Line, i: int, j: int) -> latex_reader.Cell | None:
    """What the first head has for a query and a key; None where the key is forbidden, which no formula says."""
    trace, formula = line.trace, line.formula
    n, m = trace["scores"].shape[-2:]
    names: dict[str, Any] = {"i": i, "h": 1, "n": m, "n_key": m, "n_query": n, "n_heads": 2, "d_k": 3, "d_q": 3, "d": 3}
    along: dict[str, np.ndarray] = {"token": np.array(trace.key_tokens, dtype=object)}
    names |= {"token": trace.query_tokens[i]}
    for axis, at, tokens in (("i", i, trace.query_tokens), ("j", j, trace.key_tokens)):
        near = {after: at + after for after in range(-9, 10) if after}
        names |= {f"token_{axis}{after:+}": tokens[to] if 0 <= to < len(tokens) else "" for after, to in near.items()}
    keys = tuple(range(m))
    if line.kind == "score":
        names["q"], along["k"] = trace["queries"].array[0, i], trace["keys"].array[0]
        for name, parameter in formula.parameters.items():
            array = trace[STEPS[name]].head(0)
            if parameter.role in ("rows", "columns", "list"):
                called = name.lower() if parameter.role != "list" else name
                along[called] = array.T if parameter.role == "columns" else array
            else:
                names[name] = array.item() if name in NUMBERS else array
    if line.kind in ("bias", "normaliser"):
        names |= {name: trace[STEPS[name]].head(0).item() for name in formula.parameters}
    if line.kind == "normaliser":
        X = trace["masked"].array[0] / trace.config.temperature
        X, (i, j) = (X.T, (j, i)) if trace.config.normalise_over == "queries" else (X, (i, j))
        keys = tuple(np.flatnonzero(~np.isneginf(X[i])).tolist())
        if j not in keys:
            return None
        along["x"] = X[i]
        names |= {"i": i, "n": len(keys)}
    zero = any(word in formula.text for word in ("ratio", "unit"))
    return latex_reader.Cell(names, along, j, keys, 3, zero)


READINGS: dict[str, Callable[[Line], None]] = {
    "NumPy": lambda line: readings.by_script(line.trace, numpy_script),
    "cell": lambda line: readings.by_cell(line.trace),
    "LaTeX": by_latex,
}
if find_spec("xlsxwriter"):
    READINGS["workbook"] = lambda line: readings.by_workbook(line.trace)


def disagreeing(lines: Sequence[Line], each: Mapping[str, Callable[[Line], None]]) -> list[str]:
    """What each reading says otherwise than the run, of each line."""
    return readings.disagreeing([line.text for line in lines], lines, each)


def all_lines(n: int) -> list[Line]:
    """Every line that is written by hand and n random ones of each kind."""
    return [line for kind in SETTINGS for line in (*written(kind), *drawn(kind, n, seed=3))]


@pytest.mark.slow
def test_every_line_says_the_same_in_every_reading() -> None:
    assert disagreeing(all_lines(0), READINGS) == []


def test_so_do_random_lines_and_all_in_javascript(node: str, tmp_path: Path) -> None:
    lines = all_lines(8)
    assert disagreeing([*lines], READINGS) == []
    found = zip(lines, interactive_file.disagreeing([line.trace for line in lines], node, tmp_path))
    assert {line.text: wrong[0] for line, wrong in found if wrong} == {}


def test_all_say_the_same_in_pytorch(torch: Any) -> None:
    assert disagreeing(all_lines(25), {"PyTorch": lambda line: readings.by_script(line.trace, torch_script)}) == []
