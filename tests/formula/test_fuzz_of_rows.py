"""Random typed masks, biases and normalisers: the run, one number after the other, and the scripts say the same."""

from __future__ import annotations

import math
import random
import re
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from attnviz import Config, ConfigError, Trace, run
from attnviz.exports.script.numpy_script import numpy_script
from attnviz.formula.reader import parse
from tests.support import scripts
from tests.support.cases import for_each

SENTENCE = "the cat and the dog saw the cat"
HEADS = 2


def expression(draw: random.Random, depth: int, names: str) -> str:
    """Return a random expression of the positions, without division by what may be zero."""
    r = draw.random()
    if depth <= 0 or r < 0.3:
        return draw.choice([*names.split(), "2", "0.5", "3"])
    a, b = expression(draw, depth - 1, names), expression(draw, depth - 1, names)
    if r < 0.6:
        return f"({a} {draw.choice('+-*')} {b})"
    if r < 0.75:
        return f"{draw.choice(['abs', 'tanh', 'sin', 'sigmoid', 'relu', 'sign'])}({a})"
    if r < 0.85:
        return f"{draw.choice(['max', 'min', 'ratio'])}({a}, {b})"
    if r < 0.93:
        return f"({a} {draw.choice(['%', '//'])} {draw.choice('23')})"
    return f"({a} if {condition(draw, depth - 1, names, '')} else {b})"


def condition(draw: random.Random, depth: int, names: str, words: str = "token") -> str:
    """Return a random condition, on words too where it is for a mask."""
    r = draw.random()
    if depth <= 0 or r < 0.4:
        a, b = expression(draw, 1, names), expression(draw, 1, names)
        return f"{a} {draw.choice(['<', '<=', '>', '>=', '==', '!='])} {b}"
    if words and r < 0.6:
        token = f"token[{draw.choice(['i', 'j', 'j - 1', 'i + 2'])}]"
        return (
            f"{token} {draw.choice(['==', '!='])} {draw.choice(['token[i]', 'token[j+1]', chr(34) + 'the' + chr(34)])}"
        )
    if words and r < 0.7:
        return f'token[{draw.choice("ij")}] {draw.choice(["in", "not in"])} ("cat", "dog")'
    a, b = condition(draw, depth - 1, names, words), condition(draw, depth - 1, names, words)
    return f"({a} {draw.choice(['and', 'or'])} {b})" if r < 0.9 else f"not ({a})"


def of_row(draw: random.Random, depth: int) -> str:
    """Return a random number for each key of a row."""
    r = draw.random()
    if depth <= 0 or r < 0.2:
        return draw.choice(["x", "x", "x", "j", "i", "n", "h", "0.5"])
    a, b = of_row(draw, depth - 1), of_row(draw, depth - 1)
    if r < 0.4:
        return f"{draw.choice(['sum', 'mean', 'max', 'min', 'norm', 'cumsum'])}(x + {a})"
    if r < 0.45:
        return f"({a} * top(x + {b}, {draw.choice('123')}))"
    if r < 0.6:
        return f"({a} {draw.choice('+-*')} {b})"
    if r < 0.7:
        return f"{a} / (1 + ({b})**2)"
    if r < 0.85:
        return f"{draw.choice(['tanh', 'abs', 'relu', 'sigmoid', 'sin'])}({a})"
    return f"{draw.choice(['max', 'min', 'ratio'])}({a}, {b})" if r < 0.95 else f"({a} if x > {b} else {b})"


KINDS: dict[str, Callable[[random.Random], str]] = {
    "mask": lambda draw: condition(draw, 3, "i j h n n_heads n_query n_key"),
    "bias": lambda draw: expression(draw, 4, "i j h n n_heads n_key"),
    "normaliser": lambda draw: of_row(draw, 4),
}


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def words_of(trace: Trace, h: int, i: int, j: int) -> dict[str, Any]:
    """What a line may name in one cell, in Python's own arithmetic."""
    n_query, n_key = trace["scores"].shape[-2:]
    known: dict[str, Any] = {"i": i, "j": j, "h": h + 1, "n": n_key, "n_query": n_query, "n_key": n_key}
    known |= {"n_heads": HEADS, "abs": abs, "tanh": math.tanh, "sin": math.sin, "sigmoid": sigmoid}
    known |= {"relu": lambda x: max(x, 0), "sign": lambda x: (x > 0) - (x < 0)}
    known |= {"ratio": lambda a, b: a / b if b else 0.0, "max": max, "min": min}
    return known | {"token_i": Near(trace.query_tokens, i), "token_j": Near(trace.key_tokens, j)}


class Near:
    """The token at a place and those near it, by what is added to the place."""

    def __init__(self, tokens: tuple[str, ...], at: int) -> None:
        self.tokens, self.at = tokens, at

    def __getitem__(self, after: int) -> str:
        at = self.at + after
        return self.tokens[at] if 0 <= at < len(self.tokens) else ""


def cell_by_cell(line: str, trace: Trace) -> np.ndarray:
    """The mask or the bias of a line, evaluated by Python itself: the line is the generator's, not a visitor's."""
    code = compile(re.sub(r"token\[([ij])", r"token_\1[0", line), "line", "eval")
    heads, n, m = trace["scores"].shape
    found = [eval(code, words_of(trace, h, i, j)) for h, i, j in np.ndindex(heads, n, m)]  # noqa: S307
    return np.array(found).reshape(heads, n, m)


WRONG = (AssertionError, NameError, TypeError, SyntaxError, ValueError, ArithmeticError, AttributeError, RuntimeError)


def disagreeing(kind: str, n: int, seed: int) -> list[str]:
    """The random lines on which a script, or Python itself, says something else than the run."""
    draw, found, told = random.Random(seed), [], 0  # noqa: S311
    while told < n:
        line = KINDS[kind](draw)
        try:
            parse(line, kind)
            given = {kind: "formula", f"{kind}_formula": line} | ({} if kind == "mask" else {"mask": "causal"})
            trace = run(Config(sentence=SENTENCE, n_heads=HEADS, d_model=4, d_k=2, **given))
        except ConfigError:
            continue
        told += 1
        try:
            compare(kind, line, trace)
        except WRONG as error:
            found.append(f"{line}: {type(error).__name__}: {str(error)[:300]}")
    return found


def compare(kind: str, line: str, trace: Trace) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # forbidden keys are -inf in a script until they are left out
        scripts.compare(trace, scripts.execute(numpy_script(trace.config)), 1e-10, bits=False)
        if find_spec("torch"):
            from attnviz.exports.script.torch_script import torch_script

            scripts.compare(trace, scripts.execute(torch_script(trace.config)), 1e-9, bits=False)
    if kind != "normaliser":
        step = trace["allowed" if kind == "mask" else "bias"].array
        made = np.broadcast_to(step, trace["scores"].shape)  # a mask may be one for all heads
        np.testing.assert_allclose(made, cell_by_cell(line, trace), rtol=1e-10, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_random_lines_say_the_same(kind: str) -> None:
    assert disagreeing(kind, 10, seed=1) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_random_lines_say_the_same(kind: str) -> None:
    assert disagreeing(kind, 60, seed=2) == []


@for_each(
    "kind, line",
    [
        ("bias", "relu((n + h) if not sign(3) <= 2 + n_heads else tanh(3))"),
        ("bias", "((h if 0.5 != n * n else 0.5) + i) % 2"),
        ("bias", "ratio(3 + max(n_key, n_key) // 3, ratio(3, 2))"),
        ("bias", "i // 3 + sign(0.5)"),
    ],
)
def test_what_random_lines_found_stays_right(kind: str, line: str) -> None:
    compare(
        kind, line, run(Config(sentence=SENTENCE, n_heads=HEADS, d_k=2, **{kind: "formula", f"{kind}_formula": line}))
    )
