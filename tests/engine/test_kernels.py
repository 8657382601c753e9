"""The same numbers and the same notes from every kernel of the matrix library, and without NumPy's wide instructions.

Each kernel adds up in another order; without wide instructions sines and exponentials have other last bits.
"""

from __future__ import annotations

import itertools
import json
import os
import platform
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy._core import _multiarray_umath as numpy_core

from attnviz import BIASES, POSITIONS, SCORES, Config, run
from attnviz.engine.tables import scores
from tests.support.sample_settings import repeated_words

ROOT = Path(__file__).parents[2]
KERNELS = ("Haswell", "Nehalem", "Sandybridge", "Zen")
COMPARED = 40
OPENING = Config(initialiser="by_hand")
BY_HAND = [name for name, row in SCORES.items() if row.fn.__module__.startswith(scores.__name__)]
"""Scores that are written out; what a typed line computes is left to the matrix library."""


def settings(n: int) -> list[Config]:
    """Return the opening, one with ties, and `n` more to compare: half of them random, half with heads set by hand."""
    found = [OPENING, replace(OPENING, sentence="a rose is a rose is a rose", position="none", normaliser="hardmax")]
    for number in range(n):
        position, bias = list(POSITIONS)[number % len(POSITIONS)], list(BIASES)[number // 5 % len(BIASES)]
        mask = (("none", "causal", "window")[number // 3 % 3],)
        config = replace(repeated_words(number), position=position, bias=bias, mask=mask, pad_to=0)
        if number % 2:
            config = replace(config, initialiser="by_hand", score=BY_HAND[number % len(BY_HAND)])
        found.append(config)
    return found


def write(file: str, n: int) -> None:
    """Write the weights and the notes of every setting, as a process of its own does it."""
    arrays, notes = {}, []
    for number, config in enumerate(settings(COMPARED)):
        trace = run(config)
        arrays |= {f"{number} {layer}": steps["weights"].array for layer, steps in enumerate(trace.layers)}
        notes.append(trace.notes)
    np.savez(file, **arrays, notes=json.dumps(notes))


@cache
def made(folder: Path, **environment: str) -> dict[str, np.ndarray]:
    """What a process of its own writes, in an environment with these variables."""
    file = str(folder / f"{'-'.join(environment.values())}.npz".replace(" ", "-"))
    code = f"import sys; from tests.engine import test_kernels as t; t.write(sys.argv[1], {COMPARED})"
    subprocess.run([sys.executable, "-c", code, file], check=True, cwd=ROOT, env=os.environ | environment)
    with np.load(file) as arrays:
        return dict(arrays)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the kernels are those of x86")
def test_every_kernel_gives_the_same_numbers_and_notes(folder: Path):
    one, *others = (
        made(folder, OPENBLAS_CORETYPE=kernel, OPENBLAS_NUM_THREADS=threads)
        for kernel, threads in zip(KERNELS, itertools.cycle("12"))
    )
    for other in others:
        assert json.loads(str(other["notes"])) == json.loads(str(one["notes"]))
    for number, config in enumerate(settings(COMPARED)):
        same = config.initialiser == "by_hand" and config.score in BY_HAND
        near = {"rtol": 0, "atol": 0 if same else 1e-12, "err_msg": str(config)}
        for layer in range(config.n_layers):
            for other in others:
                np.testing.assert_allclose(other[f"{number} {layer}"], one[f"{number} {layer}"], **near)


@pytest.mark.slow
def test_without_wide_instructions_what_is_promised_holds(folder: Path):
    known, there = numpy_core.__cpu_dispatch__, numpy_core.__cpu_features__
    off = " ".join(name for name in known if there.get(name))
    if not off:
        pytest.skip("this processor has none to do without")
    one = made(folder, OPENBLAS_CORETYPE=KERNELS[0], OPENBLAS_NUM_THREADS="1")
    other = made(folder, NPY_DISABLE_CPU_FEATURES=off)
    assert json.loads(str(other["notes"])) == json.loads(str(one["notes"]))
    for number, config in enumerate(settings(COMPARED)):
        near = 1e-9 if config.initialiser == "by_hand" else 1e-12
        for layer in range(config.n_layers):
            name = f"{number} {layer}"
            np.testing.assert_allclose(other[name], one[name], rtol=0, atol=near, err_msg=str(config))
