"""The same numbers and the same notes from every kernel of the matrix library: each adds up in another order."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attnviz import BIASES, POSITIONS, SCORES, Config, run
from attnviz.engine.tables import scores
from tests.support.sample_settings import repeated_words

ROOT = Path(__file__).parents[2]
KERNELS = ("Haswell", "Nehalem", "Sandybridge", "Zen")
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
    for number, config in enumerate(settings(n)):
        trace = run(config)
        arrays |= {f"{number} {layer}": steps["weights"].array for layer, steps in enumerate(trace.layers)}
        notes.append(trace.notes)
    np.savez(file, **arrays, notes=json.dumps(notes))


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the kernels are those of x86")
def test_every_kernel_gives_the_same_numbers_and_notes(tmp_path: Path):
    made, n = {}, 80
    code = f"import sys; from tests.engine import test_kernels as t; t.write(sys.argv[1], {n})"
    for kernel in KERNELS:
        file = str(tmp_path / f"{kernel}.npz")
        environment = os.environ | {"OPENBLAS_CORETYPE": kernel}
        subprocess.run([sys.executable, "-c", code, file], check=True, cwd=ROOT, env=environment)
        with np.load(file) as arrays:
            made[kernel] = dict(arrays)
    one, *others = made.values()
    for other in others:
        assert json.loads(str(other["notes"])) == json.loads(str(one["notes"]))
    for number, config in enumerate(settings(n)):
        same = config.initialiser == "by_hand" and config.score in BY_HAND
        near = {"rtol": 0, "atol": 0 if same else 1e-12, "err_msg": str(config)}
        for layer in range(config.n_layers):
            for other in others:
                np.testing.assert_allclose(other[f"{number} {layer}"], one[f"{number} {layer}"], **near)
