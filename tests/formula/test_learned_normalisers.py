"""Numbers of a typed normaliser that are learned: one a head, in every reading the same."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import Config, ConfigError, FormulaError, Trace, attend, gradients, normaliser, run
from attnviz.analysis.variance_and_sharing import spread
from attnviz.arithmetic.backward import jacobian
from attnviz.codegen.script import Script
from attnviz.codegen.words import TORCH
from attnviz.engine.external.traces import of_scores
from attnviz.engine.learning.learnable import obstacle
from attnviz.engine.records.typed_rows import normaliser_of
from attnviz.experiments.masking_methods import masking_trial
from attnviz.exports import archive
from attnviz.exports.script.numpy_script import numpy_script
from attnviz.exports.script.torch_script import torch_script
from attnviz.formula.evaluation.functions import all_slopes
from attnviz.formula.names import NUMBERS, STEPS
from attnviz.formula.reader import parse
from attnviz.live.program import key, program_of
from tests.formula.test_every_reading import BASE, SETTINGS, Line, by_latex
from tests.formula.test_fuzz_of_rows import KINDS
from tests.live.test_live import distances
from tests.support import interactive_file, readings
from tests.support.live_changes import Case
from tests.support.small_models import model

SENTENCE = "the cat saw the dog"
SINK = "exp(x) / (exp(g) + sum(exp(x)))"
LINES = (
    SINK,
    "e = exp(g * (x - max(x))); e / sum(e)",
    "p = relu(x - tau)**2; ratio(p, sum(p))",
    "sigmoid(alpha * x + beta) / n**gamma",
    "r = g / (1 + sum(exp(x))); r * exp(x)",
    "sum(g * j) * x / n",
    "g * j / n",
    "cumsum(g * x) * j + lam / h",
    "relu(x * g - level(x * g, 1))",
    "e = exp(g * x) * top(g * x, 2); e / sum(e)",
    "alpha",
    "lam / n",
    "x * mean(g + j) + norm(x - beta)",
)


def of(line: str = SINK, **more: object) -> Trace:
    return run(
        Config(**{"sentence": SENTENCE, "n_heads": 3, "normaliser": "formula", "normaliser_formula": line} | more)
    )


def drawn(n: int) -> Iterator[str]:
    """Random lines of the generator of normalisers, with learned numbers in them."""
    draw = random.Random(5)  # noqa: S311
    for _ in range(n):
        line = re.sub(r"\b(h|0\.5)\b", lambda _: draw.choice([*NUMBERS]), KINDS["normaliser"](draw))
        if "top" not in line:  # what is equal but for rounding is a tie in one reading and none in the next
            yield line if {*NUMBERS} & {*re.findall(r"\w+", line)} else f"{draw.choice([*NUMBERS])} * ({line})"


def cases(lines: tuple[str, ...]) -> Iterator[Line]:
    """Each line in a setting, with another number in each head."""
    draw = np.random.default_rng(2)
    more = (*SETTINGS["normaliser"], {"n_kv_heads": 1}, {"second_sentence": "a dog"}, {"d_k": (3, 2)})
    for at, text in enumerate(lines):
        try:
            formula = parse(text, "normaliser")
            setting = BASE | more[at % len(more)] | {"normaliser": "formula", "normaliser_formula": text}
            edits = [
                (0, STEPS[n], (h, 0), float(x))
                for n in formula.parameters
                for h, x in enumerate(draw.uniform(0.3, 2, 2))
            ]
            yield Line("normaliser", formula, run(Config(**setting, seed=at, edits=edits)))
        except ConfigError:  # random lines may be too large, or no number for each key
            continue


def test_every_reading_says_the_same(node: str, tmp_path: Path) -> None:
    lines = [*cases((*LINES, *drawn(60)))]
    assert len(lines) > 50
    each = {
        "NumPy": lambda line: readings.by_script(line.trace, numpy_script),
        "cell": lambda line: readings.by_cell(line.trace),
        "LaTeX": by_latex,
    }
    each |= {"workbook": lambda line: readings.by_workbook(line.trace)} if find_spec("xlsxwriter") else {}
    each |= {"PyTorch": lambda line: readings.by_script(line.trace, torch_script)} if find_spec("torch") else {}
    assert readings.disagreeing([line.text for line in lines], lines, each) == []
    found = zip(lines, interactive_file.disagreeing([line.trace for line in lines], node, tmp_path))
    assert {line.text: wrong[0] for line, wrong in found if wrong} == {}


def test_a_number_a_head_is_a_step_and_begins_at_one() -> None:
    trace = of()
    names = [*trace.layers[0]]
    assert trace["score_g"].axes == ("head", "number")
    assert names.index("score_g") == names.index("weights") - 1
    np.testing.assert_array_equal(trace["score_g"].array, np.ones((3, 1)))
    e = np.exp(trace["masked"].array)
    np.testing.assert_allclose(trace["weights"].array, e / (np.e + e.sum(axis=-1, keepdims=True)))


def test_it_can_be_supplied_and_edited_and_all_that_follows_uses_it() -> None:
    given = run(of().config, projections={"score_g": [np.array(x) for x in (0.5, 2.0, 3.0)]})
    e = np.exp(given["masked"].array)
    g = np.exp([0.5, 2.0, 3.0])[:, None, None]
    np.testing.assert_allclose(given["weights"].array, e / (g + e.sum(axis=-1, keepdims=True)))
    edited = run(of().config, edits=[(0, "score_g", (1, 0), 2.0)])
    np.testing.assert_allclose(edited["weights"].array[1], given["weights"].array[1])
    np.testing.assert_array_equal(edited["weights"].array[[0, 2]], of()["weights"].array[[0, 2]])
    again = archive.read(archive.npz(edited))
    np.testing.assert_array_equal(again["weights"].array, edited["weights"].array)
    np.testing.assert_array_equal(again["score_g"].array, edited["score_g"].array)


def test_a_letter_that_another_line_has_too_is_the_same_number() -> None:
    trace = of(bias="formula", bias_formula="-g * abs(i - j) + tau", score="formula", score_formula="alpha * sum(q*k)")
    assert [x for x in trace.layers[0] if x.startswith("score_")] == ["score_alpha", "score_g", "score_tau"]
    slope = gradients(trace, {(0, "weights"): np.ones((3, 5, 5))}).layers[0]["score_g"].array[0, 0]
    up, down = (run(trace.config, edits=[(0, "score_g", (0, 0), 1.0 + way)]) for way in (1e-6, -1e-6))
    assert slope == pytest.approx((up["weights"].array - down["weights"].array).sum() / 2e-6, rel=1e-6)


def test_what_it_promises_holds_for_every_number() -> None:
    promises = {
        SINK: (False, True),
        "g * exp(x) / sum(exp(x))": (False, False),
        "e = exp(g * x); e / sum(e)": (True, False),
    }
    for line, promised in promises.items():
        row = normaliser_of(of(line).config)
        assert (row.sums_to_one, row.leaves_a_rest) == promised, line


def test_what_computes_weights_anew_takes_the_number_of_the_run() -> None:
    trace = run(of(mask="causal").config, edits=[(0, "score_g", (1, 0), 3.0)])
    A, X = trace["weights"].array[1], trace["masked"].array
    np.testing.assert_allclose(masking_trial(trace, 0, 1).weights[0], A)
    matrix, step = jacobian(trace, 0, 1, 3, 0), np.zeros(X.shape)
    step[1, 3, 2] = 1e-6
    fn = normaliser_of(trace.config).fn
    up, down = (fn(X + way, g=np.array([1.0, 3.0, 1.0]))[1, 3] for way in (step, -step))
    np.testing.assert_allclose(matrix[:, 2], (up - down) / 2e-6, atol=1e-8)
    one, other = (spread(each, 0, 8) for each in (trace, run(of(mask="causal").config)))
    assert not np.array_equal(one.weights["root"], other.weights["root"])


def test_attend_takes_it_among_its_parameters() -> None:
    X = np.random.default_rng(3).normal(size=(2, 4, 3))
    mine = normaliser("mine", SINK)
    e = np.exp(attend(X, X, X).masked)
    for g in (np.array([0.5, 2.0]), np.array(0.5)):
        made = attend(X, X, X, normaliser=mine, params={"g": g}).weights
        np.testing.assert_allclose(made, e / (np.exp(g.reshape(-1, 1, 1)) + e.sum(axis=-1, keepdims=True)))
    np.testing.assert_allclose(attend(X, X, X, normaliser=mine).weights, e / (np.e + e.sum(axis=-1, keepdims=True)))
    with pytest.raises(ValueError, match="has no parameter 'tau'"):
        attend(X, X, X, normaliser=mine, params={"tau": 1.0})
    with pytest.raises(ValueError, match="g has shape"):
        attend(X, X, X, normaliser=mine, params={"g": np.ones(3)})


def test_only_numbers_are_learned_there() -> None:
    for line in ("v * x", "W * x", "x * b[j]", "x @ W"):
        with pytest.raises(FormulaError):
            of(line)


def test_what_has_no_such_numbers_says_so() -> None:
    wanted = "learned numbers \\(g\\), which a trained model and given scores lack"
    config = of().config
    with pytest.raises(ConfigError, match=wanted):
        of_scores([[0.0, 1.0]], config=config)
    with pytest.raises(ConfigError, match=wanted):
        model("gpt2")("the cat", normaliser="formula", normaliser_formula=SINK)
    learned = replace(config, task="translation", initialiser="learned")
    assert obstacle(learned).startswith("supports only these normalisers")


def test_slopes_are_what_a_change_does() -> None:
    lines = [*cases(LINES)]
    assert readings.disagreeing([x.text for x in lines], lines, {"slopes": lambda x: readings.by_slopes(x.trace)}) == []


def test_slopes_are_those_of_autograd(torch: Any) -> None:
    draw = np.random.default_rng(4)
    for text in (line for line in LINES if "level" not in line and "top" not in line):
        formula = parse(text, "normaliser")
        X, G = draw.normal(size=(2, 2, 3, 5))
        own = {name: draw.uniform(0.3, 2, size=2) for name in formula.parameters}
        known = {name: torch.tensor(array, requires_grad=True) for name, array in {"x": X, **own}.items()}
        names = {"torch": torch, "i": torch.arange(3)[:, None], "j": torch.arange(5), "h": torch.arange(1, 3), **known}
        names |= {"ratio": lambda a, b: torch.where(b == 0, 0.0, a / torch.where(b == 0, 1.0, b))}
        exec("\n".join(Script(formula, TORCH, heads=True).lines("A")), names)  # noqa: S102
        (names["A"] * torch.tensor(G)).sum().backward()
        into_x, into_own = all_slopes(formula)(G, X, X, **own)
        for name, slope in {"x": into_x, **into_own}.items():
            wanted = 0.0 if known[name].grad is None else known[name].grad.numpy()
            np.testing.assert_allclose(slope, wanted, rtol=1e-9, atol=1e-9, err_msg=text)


def test_a_change_is_followed_where_the_hand_is(node: str, tmp_path: Path) -> None:
    made = []
    for line in cases((*LINES, *drawn(40))):
        before = run(Config(**{**line.trace.config.__dict__, "edits": ()}))
        layer = before.layers[0]
        for name in line.formula.parameters:
            step = STEPS[name]
            edit = (0, step, (len(layer[step].array) - 1, 0), 0.7)
            change = {"step": key((0, step)), "at": len(layer[step].array) - 1, "value": 0.7}
            made.append(Case(line.text, before, run(before.config, edits=[edit]), [change], program_of(before)))
    found = [(distance, step, case.name) for case, (distance, step) in zip(made, distances(made, node, tmp_path))]
    assert [each for each in found if each[0] > 1e-9] == []
    assert len(found) > 50
