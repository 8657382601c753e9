"""The twenty examples beside the fields, against plain Python written for each, in the run and in every export."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import Config, Trace, run
from attnviz.exports import archive
from attnviz.exports.formats import ExportTarget, export
from attnviz.exports.script.numpy_script import numpy_script
from attnviz.exports.workbook.book import workbook
from attnviz.settings import url_codec
from attnviz.ui.panels.typed_formula import EXAMPLES
from tests.support import scripts, spreadsheets
from tests.support.cases import for_each

SENTENCE = "the king saw the queen and the dog"
WORDS = SENTENCE.split()
HEADS, N, D = 3, len(WORDS), 4
Vector = Sequence[float]


def dot(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b))


def unit(a: Vector) -> Vector:
    length = math.sqrt(dot(a, a))
    return [x / length for x in a]


def through(a: Vector, W: Sequence[Vector]) -> Vector:
    return [sum(x * row[c] for x, row in zip(a, W)) for c in range(len(W[0]))]


def tanh_and_distance(q: Vector, k: Vector, i: int, j: int, own: Any) -> float:
    return sum(math.tanh(a * b) for a, b in zip(q, k)) / math.sqrt(len(k)) - 0.1 * abs(i - j)


def network(q: Vector, k: Vector, i: int, j: int, own: Any) -> float:
    hidden = [math.tanh(a + b) for a, b in zip(through(q, own["score_w"]), through(k, own["score_matrix_u"]))]
    return dot(own["score_v"], hidden)


SCORES: dict[str, Callable[..., float]] = {
    "tanh": tanh_and_distance,
    "manhattan": lambda q, k, i, j, own: -sum(abs(a - b) for a, b in zip(q, k)),
    "temperature": lambda q, k, i, j, own: own["score_g"][0] * dot(unit(q), unit(k)),
    "network": network,
    "largest": lambda q, k, i, j, own: max(a * b for a, b in zip(q, k)),
}
MASKS: dict[str, Callable[[int, int, int], bool]] = {
    "every_third": lambda i, j, h: j <= i and (i - j) % 3 == 0,
    "not_the": lambda i, j, h: WORDS[j] != "the",
    "near": lambda i, j, h: abs(i - j) <= 1,
    "windows": lambda i, j, h: abs(i - j) <= 2**h,
    "follows": lambda i, j, h: j == i or (j > 0 and WORDS[j - 1] == WORDS[i]),
}
BIASES: dict[str, Callable[[int, int, int], float]] = {
    "distance": lambda i, j, h: -abs(i - j) / 2,
    "alibi": lambda i, j, h: -abs(i - j) * 2 ** (-8 * h / HEADS),
    "logarithm": lambda i, j, h: -math.log(1 + abs(i - j)),
    "windows": lambda i, j, h: 0.0 if abs(i - j) <= 2**h else -math.inf,
    "first": lambda i, j, h: 2.0 if j == 0 else 0.0,
}


def quiet(x: Vector) -> Vector:
    exponentials = [math.exp(each - max(x)) for each in x]
    return [e / (1 + sum(exponentials)) for e in exponentials]


def three(x: Vector) -> Vector:
    largest = sorted(range(len(x)), key=lambda at: (-x[at], at))[:3]
    total = sum(math.exp(x[at]) for at in largest)
    return [math.exp(each) / total if at in largest else 0.0 for at, each in enumerate(x)]


def sticks(x: Vector) -> Vector:
    """From the last key to the first."""
    left, made = 1.0, []
    for each in reversed(x):
        made.append(left / (1 + math.exp(-each)))
        left -= made[-1]
    return made[::-1]


NORMALISERS: dict[str, Callable[[Vector], Vector]] = {
    "quiet": quiet,
    "relu": lambda x: [max(each, 0.0) / len(x) for each in x],
    "three": three,
    "sticks": sticks,
    "mean": lambda x: [1 / len(x) for _ in x],
}
OPINIONS: dict[str, Any] = {"score": SCORES, "mask": MASKS, "bias": BIASES, "normaliser": NORMALISERS}
CASES = [(kind, name) for kind, examples in EXAMPLES.items() for name in examples]


def setting(kind: str, name: str) -> Config:
    """The example under a causal mask, so that some keys are forbidden; a mask that is typed stands alone."""
    chosen: dict[str, Any] = {kind: "formula", f"{kind}_formula": EXAMPLES[kind][name]}
    plain = {"mask": "causal"} if kind != "mask" else {}
    return Config(sentence=SENTENCE, n_heads=HEADS, d_model=6, d_k=D, initialiser="linear", **plain | chosen)


def weights(trace: Trace, kind: str, name: str) -> np.ndarray:
    """The weights of the example, one number after the other, from nothing but queries and keys."""
    layer, found = trace.layers[0], np.zeros((HEADS, N, N))
    opinion = OPINIONS[kind][name]
    own = {step: layer[step] for step in layer if step.startswith("score_")}
    for h, i in np.ndindex(HEADS, N):
        q, keys = layer["queries"].head(h).tolist()[i], layer["keys"].head(h).tolist()
        mine = {step: np.asarray(each.head(h)).tolist() for step, each in own.items()}
        may = [j for j in range(N) if (opinion(i, j, h + 1) if kind == "mask" else j <= i)]
        x = [opinion(q, keys[j], i, j, mine) if kind == "score" else dot(q, keys[j]) / math.sqrt(D) for j in may]
        if kind == "bias":
            x = [each + opinion(i, j, h + 1) for each, j in zip(x, may)]
        if kind == "normaliser":
            found[h, i, may] = opinion(x)
        elif may:
            exponentials = [math.exp(each - max(x)) for each in x]
            found[h, i, may] = [e / sum(exponentials) for e in exponentials]
    return found


def test_each_example_has_an_opinion() -> None:
    assert {kind: [*examples] for kind, examples in EXAMPLES.items()} == {k: [*v] for k, v in OPINIONS.items()}


@for_each("kind, name", CASES)
def test_the_run_its_link_and_its_files_give_these_weights(kind: str, name: str) -> None:
    trace = run(setting(kind, name))
    wanted = weights(trace, kind, name)
    np.testing.assert_allclose(trace["weights"].array, wanted, rtol=1e-12, atol=1e-15)
    (again,), problems = url_codec.open_link(url_codec.query_string(trace.config), Config)
    assert (again, problems) == (trace.config, [])
    np.testing.assert_array_equal(archive.read(archive.npz(trace))["weights"].array, trace["weights"].array)
    told = json.loads(export("json", trace, ExportTarget(layer=0, step="weights")))
    assert EXAMPLES[kind][name] in json.dumps(told, ensure_ascii=False).replace('\\"', '"')


@pytest.mark.filterwarnings("ignore:divide by zero")  # what a bias forbids is log(0)
@for_each("kind, name", CASES)
def test_its_script_gives_these_weights(kind: str, name: str) -> None:
    trace = run(setting(kind, name))
    [layer] = scripts.execute(numpy_script(trace.config)).layers
    np.testing.assert_allclose(layer["A"], weights(trace, kind, name), rtol=1e-12, atol=1e-15)


@for_each("kind, name", CASES)
def test_its_script_of_pytorch_gives_these_weights(kind: str, name: str, torch: None) -> None:
    from attnviz.exports.script.torch_script import torch_script

    trace = run(setting(kind, name))
    [layer] = scripts.execute(torch_script(trace.config)).layers
    np.testing.assert_allclose(layer["A"], weights(trace, kind, name), rtol=1e-12, atol=1e-15)


@pytest.mark.slow
def test_its_workbook_gives_these_weights(tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter")
    traces = {f"{kind}_{name}": (kind, name, run(setting(kind, name))) for kind, name in CASES}
    files = {key: spreadsheets.Spreadsheet(workbook(trace)).stripped() for key, (_, _, trace) in traces.items()}
    computed = spreadsheets.recalculated(files, tmp_path)
    for key, (kind, name, trace) in traces.items():
        wanted = weights(trace, kind, name)
        for h in range(HEADS):
            found = np.nan_to_num(computed[key].block(f"weights_1_{h + 1}"))
            np.testing.assert_allclose(found, wanted[h], rtol=1e-9, atol=1e-12, err_msg=key)
