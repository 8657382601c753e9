"""What is learned has the same bits with every kernel of the matrix library and every number of threads.

Their hashes stand in films.txt, so that another machine, library or version is held to the same ones.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy._core import _multiarray_umath as numpy_core

from attnviz import TASKS, learn
from attnviz.engine.learning import normalisers, scores
from attnviz.engine.numerics import exact

ROOT = Path(__file__).parents[2]
WRITTEN = dict(
    line.rsplit(" ", 1) for line in Path(__file__).with_name("films.txt").read_text(encoding="utf-8").splitlines()
)
"""The hash of each film's last frame, by the task and its steps."""

QUICK = ("backwards 20", "translation 10")
WHOLE = tuple(film for film in WRITTEN if film not in QUICK)

x86 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the kernels are those of x86")


def digest(film: str) -> str:
    """The hash of the parameters after the last step of a film, such as “backwards 20”."""
    name, steps = film.split()
    config = TASKS[name].config(learn_steps=int(steps))
    found = hashlib.sha256()
    for layer in learn(config).at(int(steps)):
        for parameter in sorted(layer):
            found.update(parameter.encode() + layer[parameter].astype("<f8").tobytes())
    return found.hexdigest()


def say(kind: str, *films: str) -> None:
    """Print the hashes, in a process of its own; of films that are learned in plain float64 if `kind` is “float”."""
    if kind == "float":
        exact.rounded = lambda x: x
        scores.exp = normalisers.exp = np.exp
    print(*map(digest, films))


def found(films: tuple[str, ...], kind: str = "exact", **environment: str) -> list[str]:
    """The hashes of films that are learned in a process with these variables."""
    code = "import sys; from tests.engine import test_learned_bits as t; t.say(*sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, kind, *films],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | environment,
    )
    return done.stdout.split()


def written(films: tuple[str, ...]) -> list[str]:
    return [WRITTEN[film] for film in films]


def kernels() -> list[str]:
    """The kernels that this machine can run."""
    cpu = Path("/proc/cpuinfo")
    flags = cpu.read_text(encoding="utf-8") if cpu.exists() else "avx2"
    return ["Prescott", *(["Haswell", "Zen"] if "avx2" in flags else []), *(["SkylakeX"] if "avx512f" in flags else [])]


def test_every_task_is_written_down() -> None:
    assert {film.split()[0] for film in WHOLE} == {*TASKS}


def test_the_bits_are_those_that_are_written_down() -> None:
    assert [digest(film) for film in QUICK] == written(QUICK)


@x86
def test_two_kernels_give_the_same_bits_and_plain_float64_does_not() -> None:
    for kernel in ("Haswell", "Prescott"):
        assert found(QUICK[:1], OPENBLAS_CORETYPE=kernel) == written(QUICK[:1])
    one, other = (found(QUICK[:1], "float", OPENBLAS_CORETYPE=kernel) for kernel in ("Haswell", "Prescott"))
    assert one != other, "the check could not see a difference"


@pytest.mark.nightly
@x86
@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("kernel", kernels())
def test_every_kernel_gives_every_film_the_same_bits(kernel: str, threads: str) -> None:
    assert found(WHOLE, OPENBLAS_CORETYPE=kernel, OPENBLAS_NUM_THREADS=threads) == written(WHOLE)


@pytest.mark.nightly
@x86
def test_so_it_is_without_the_wide_instructions_of_numpy() -> None:
    known, there = numpy_core.__cpu_dispatch__, numpy_core.__cpu_features__
    off = " ".join(name for name in known if there.get(name))
    assert off
    assert found(WHOLE, NPY_DISABLE_CPU_FEATURES=off) == written(WHOLE)


def main() -> None:
    """Write films.txt anew."""
    films = [*QUICK, *(f"{name} {task.game.recipe['learn_steps']}" for name, task in TASKS.items())]
    text = "".join(f"{film} {digest(film)}\n" for film in films)
    Path(__file__).with_name("films.txt").write_text(text, encoding="utf-8")
