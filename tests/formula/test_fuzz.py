"""Random typed lines: the array, the lines of NumPy and PyTorch, and one cell at a time say the same."""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from attnviz.codegen.script import Script
from attnviz.codegen.words import NUMPY, TORCH, Words, helpers
from attnviz.formula.evaluation.arrays import Part, of_score
from attnviz.formula.evaluation.numbers import Numbers, scores
from attnviz.formula.graph import Formula
from tests.formula.generator import lines

HEADS, QUERIES, KEYS, WIDTH = 2, 3, 4, 3
SIZES = {"d_q": WIDTH, "d_k": WIDTH, "key": KEYS}
CLOSE = 1e-10
BROKEN = (NameError, TypeError, SyntaxError, IndexError, RuntimeError, AttributeError)


class Case:
    """A formula with numbers for everything that it needs."""

    def __init__(self, formula: Formula, seed: int) -> None:
        draws = np.random.default_rng(seed)
        self.formula = formula
        self.Q, self.K = draws.normal(size=(HEADS, QUERIES, WIDTH)), draws.normal(size=(HEADS, KEYS, WIDTH))
        self.parameters = {
            name: draws.normal(size=(HEADS, *(SIZES.get(axis, WIDTH) for axis in formula.axes_of(name))))
            for name in formula.parameters
        }
        self.wanted = scores(formula, of_score(formula, self.Q, self.K, self.parameters))

    def differs(self, value: Any, head: int | None = None) -> bool:
        wanted = self.wanted if head is None else self.wanted[head]
        value = np.broadcast_to(np.asarray(value, dtype=float), wanted.shape)
        return not np.allclose(value, wanted, rtol=CLOSE, atol=CLOSE, equal_nan=True)

    def by_script(self, words: Words, head: int | None = None) -> Any:
        """What the lines of a script give, for one head or for all."""
        at = (lambda a: a) if head is None else (lambda a: a[head])
        script = Script(self.formula, words, heads=head is None)
        code = "\n".join(script.lines("S"))
        is_torch = words is TORCH
        module = __import__("torch") if is_torch else np
        array = (lambda a: module.as_tensor(np.asarray(a))) if is_torch else (lambda a: a)
        arrays = {"Q": at(self.Q), "K": at(self.K), **{name: at(a) for name, a in self.parameters.items()}}
        positions = {"i": np.arange(QUERIES)[:, None], "j": np.arange(KEYS)[None, :], "h": np.arange(1, HEADS + 1)}
        if head is not None:
            positions["h"] = np.array(head + 1)
        sizes = dict.fromkeys(("d_q", "d_k", "d_a", "d_b", "d_c", "d_e", "d_f", "d_g", "d_h"), WIDTH)
        space = {name: array(a) if np.ndim(a) else a for name, a in {**arrays, **positions}.items()}
        space |= sizes | {"n": KEYS, "n_key": KEYS, "n_query": QUERIES, "n_heads": HEADS, "math": math}
        space[words.np] = module
        if is_torch:
            module.set_default_dtype(module.float64)
        try:
            with np.errstate(all="ignore"):
                exec("\n".join([*helpers(code, words).values(), code]), space)  # noqa: S102
        finally:
            if is_torch:
                module.set_default_dtype(module.float32)
        return space["S"]

    def by_cell(self) -> np.ndarray:
        """Every score by itself, from one query and one key."""
        made = np.zeros(self.wanted.shape)
        for h, i, j in np.ndindex(made.shape):
            own = {name: a[h : h + 1] for name, a in self.parameters.items()}
            q, k = self.Q[h : h + 1, i : i + 1], self.K[h : h + 1, j : j + 1]
            cell = Part(i, j, QUERIES, KEYS, (h,), HEADS)
            made[h, i, j] = Numbers(of_score(self.formula, q, k, own, cell))(self.formula.root).item()
        return made


def disagreeing(n: int, seed: int) -> list[str]:
    found = []
    for at, formula in enumerate(lines(n, seed)):
        case = Case(formula, at)
        opinions = [("numpy, one head", lambda case=case: case.by_script(NUMPY, 1), 1)]
        opinions += [("numpy", lambda case=case: case.by_script(NUMPY), None), ("cell", case.by_cell, None)]
        if find_spec("torch"):
            opinions.append(("torch", lambda case=case: case.by_script(TORCH), None))
        for name, opinion, head in opinions:
            try:
                wrong = "" if not case.differs(opinion(), head) else "other numbers"
            except (ArithmeticError, ValueError, *BROKEN) as error:
                wrong = repr(error)
            if wrong:
                found.append(f"{name}: {formula.text}: {wrong}: {Script(formula, heads=True).lines('S')}")
    return found


@pytest.mark.filterwarnings("ignore")
def test_random_lines_say_the_same_in_every_reading() -> None:
    assert disagreeing(80, seed=0) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_many_random_lines_say_the_same_in_every_reading() -> None:
    assert disagreeing(1000, seed=1) == []
