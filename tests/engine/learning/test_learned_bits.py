"""What is learned has the same bits with every kernel of the matrix library and every number of threads.

The hashes of the films that come with the package stand beside these, those of a few frames in films.txt here, so that
another machine, library or version is held to the same ones.
"""

from __future__ import annotations

import itertools
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from numpy._core import _multiarray_umath as numpy_core

from attnviz import TASKS, learn, run
from attnviz.engine.learning import learnable, normalisers, scores, shipped_films, trainer
from attnviz.engine.learning.frames import LearnedFrames
from attnviz.engine.numerics import exact

ROOT = Path(__file__).parents[3]
QUICK = dict(
    line.rsplit(" ", 1) for line in Path(__file__).with_name("films.txt").read_text(encoding="utf-8").splitlines()
)
"""The hash of the first frames of films, by the task and its steps."""

WHOLE = {f"{name} {TASKS[name].game.recipe['learn_steps']}": found for name, found in shipped_films.hashes().items()}
"""The hash of every film that comes with the package."""

WRITTEN = QUICK | WHOLE

FIRST = ("backwards 20",)

EVERY_PART = {
    **{"n_layers": 2, "residual": True, "n_heads": 4, "n_kv_heads": 2, "d_k": 5, "d_v": 3, "d_model": 20},
    **{"position": "rope", "bias": "alibi", "softcap": 3.7, "score": "additive", "normaliser": "quiet_softmax"},
    **{"projection_bias": True, "temperature": 0.7},
}
"""A setting in which a layer has every part that learning knows."""

x86 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the kernels are those of x86")


def digest(film: str) -> str:
    """The hash of the parameters of a film such as “backwards 20”, learned here and now."""
    name, steps = film.split()
    learned = LearnedFrames(learnable.what_is_learned(TASKS[name].config()), run)
    learned.until(int(steps))
    return shipped_films.digest(learned.frames)


def say(kind: str, *names: str) -> None:
    """Print the hashes, in a process of its own; of films that are learned in plain float64 if `kind` is “float”."""
    if kind == "float":
        exact.rounded = trainer.rounded = lambda x: x  # type: ignore[attr-defined]
        scores.exp = normalisers.exp = np.exp
    print(*map(digest, names))


def found(names: Iterable[str], kind: str = "exact", **environment: str) -> list[str]:
    """The hashes of films learned in a process with these variables."""
    code = "import sys; from tests.engine.learning import test_learned_bits as t; t.say(*sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, kind, *names],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | environment,
    )
    return done.stdout.split()


def written(names: Iterable[str]) -> list[str]:
    return [WRITTEN[name] for name in names]


def kernels() -> list[str]:
    """The kernels that this machine can run."""
    cpu = Path("/proc/cpuinfo")
    flags = cpu.read_text(encoding="utf-8") if cpu.exists() else "avx2"
    return ["Prescott", *(["Haswell", "Zen"] if "avx2" in flags else []), *(["SkylakeX"] if "avx512f" in flags else [])]


def test_every_task_is_written_down() -> None:
    assert {film.split()[0] for film in WHOLE} == {*TASKS}


def test_the_bits_are_those_that_are_written_down() -> None:
    assert [digest(film) for film in QUICK] == written(QUICK)


def test_the_bits_of_a_layer_with_every_part_are_those_that_they_were() -> None:
    config = learnable.what_is_learned(TASKS["recall"].config(**EVERY_PART))
    learned = LearnedFrames(config, run)
    learned.until(4)
    assert (
        shipped_films.digest({4: learned.trainer.vector})
        == "d307c74ac4de8ac4109628fe743977c2d04e3c202af1fd27a41597949fe54bc4"
    )


@pytest.mark.slow
@x86
def test_plain_float64_has_other_bits_with_another_kernel() -> None:
    one, other = (found(FIRST, "float", OPENBLAS_CORETYPE=kernel) for kernel in ("Haswell", "Prescott"))
    assert one != other, "the check could not see a difference"


@pytest.mark.slow
@x86
@pytest.mark.parametrize(("kernel", "threads"), [*zip(kernels(), itertools.cycle("12"))])
def test_every_kernel_gives_every_film_the_same_bits(kernel: str, threads: str) -> None:
    """The whole of it by the two that differ most, the first frames by the others."""
    films = WHOLE if kernel in ("Prescott", kernels()[-1]) else QUICK
    assert found(films, OPENBLAS_CORETYPE=kernel, OPENBLAS_NUM_THREADS=threads) == written(films)


@pytest.mark.slow
@x86
def test_so_it_is_without_the_wide_instructions_of_numpy() -> None:
    known, there = numpy_core.__cpu_dispatch__, numpy_core.__cpu_features__
    off = " ".join(name for name in known if there.get(name))
    assert off
    assert found(QUICK, NPY_DISABLE_CPU_FEATURES=off) == written(QUICK)


def test_films_come_with_the_package_as_they_were_learned() -> None:
    for name, task in TASKS.items():
        film = learn(task.config())
        assert film.steps == learnable.kept_steps(task.game.recipe["learn_steps"])
        assert (
            shipped_films.digest({step: joined(film.at(step)) for step in film.steps}) == shipped_films.hashes()[name]
        )
    assert sum(path.stat().st_size for path in shipped_films.FOLDER.iterdir()) <= 3_000_000


def joined(layers: list[dict[str, np.ndarray]]) -> np.ndarray:
    return np.concatenate([layer[name].ravel() for layer in layers for name in sorted(layer)])


def test_frames_that_come_with_the_package_are_those_that_are_learned() -> None:
    config = TASKS["backwards"].config()
    learned = LearnedFrames(learnable.what_is_learned(config), run)
    learned.until(20)
    film = learn(config)
    for step in (0, 10, 20):
        assert joined(film.at(step)).tobytes() == learned.frames[step].tobytes()
        at = film.steps.index(step)
        assert (film.loss[at], film.right[at], film.crisp[at]) == tuple(vars(learned.evaluate_frame(step)).values())


def test_a_film_with_another_hash_is_learned_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    config = learnable.what_is_learned(TASKS["backwards"].config())
    assert len(LearnedFrames(config, run).with_shipped().frames) == 9
    monkeypatch.setattr(shipped_films, "hashes", lambda: {"backwards": "0" * 64})
    assert len(LearnedFrames(config, run).with_shipped().frames) == 1


def main() -> None:
    """Write films.txt anew; the hashes of whole films are written by tools/films.py."""
    text = "".join(f"{film} {digest(film)}\n" for film in QUICK)
    Path(__file__).with_name("films.txt").write_text(text, encoding="utf-8")
