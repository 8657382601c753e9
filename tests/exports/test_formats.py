"""`trace.save`: every kind of file, of every kind of trace."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from attnviz import TASKS, Config, ConfigError, Trace, learn, of_scores, of_vectors, of_weights, run
from attnviz.classroom.printed import handout
from attnviz.engine.external.traces import is_external
from attnviz.engine.numerics import cancellation
from attnviz.exports import archive
from attnviz.exports.formats import FORMATS, PROGRAMS, ExportTarget, export
from tests.support import scripts
from tests.support.cases import for_each

RNG = np.random.default_rng(3)
TRACES: dict[str, Callable[[], Trace]] = {
    "run": lambda: run(Config(sentence="a cat sat", n_layers=2, d_k=2)),
    "edited": lambda: run(Config(sentence="a cat sat"), edits=[(0, "scores", (1, 2, 0), 3.0)]),
    "given": lambda: run(Config(sentence="a cat sat", d_k=2), {"w_q": np.ones((4, 16, 2))}),
    "weights": lambda: of_weights(RNG.dirichlet(np.ones(3), size=(2, 3, 3)), ["a", "b", "c"]),
    "scores": lambda: of_scores(RNG.normal(size=(2, 3, 3))),
    "vectors": lambda: of_vectors(*RNG.normal(size=(3, 2, 3, 4))),
}
STARTS = {
    "html": b"<!DOCTYPE html>", "svg": b"<?xml", "png": b"\x89PNG", "step.svg": b"<?xml", "step.png": b"\x89PNG",
    "npz": b"PK", "json": b'{"about"', "xlsx": b"PK", "ipynb": b"{",
}  # fmt: skip
PLAIN = [name for name in FORMATS if name not in ("png", "step.png", *PROGRAMS)]


@pytest.mark.slow
@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("kind", PLAIN)
def test_every_trace_is_saved_as_every_kind_of_file(kind: str, trace: str, tmp_path: Path) -> None:
    found = TRACES[trace]()
    if kind == "xlsx":
        pytest.importorskip("xlsxwriter")
    found.save(tmp_path / f"out.{kind}")
    whole = (tmp_path / f"out.{kind}").read_bytes()
    assert whole.startswith(STARTS.get(kind, b""))
    made = export(kind, found)
    assert whole == (made.encode() if isinstance(made, str) else made)


def test_a_file_that_nobody_waits_for_ends_between_its_parts() -> None:
    asked: list[str] = []
    files = {kind: partial(export, kind, run(Config(sentence="a cat sat", d_k=2))) for kind in PLAIN}
    files["handout"] = partial(handout.html, Config(sentence="a cat sat"), solutions=True)
    for kind in ("svg", "step.svg", "npz", "json", "tex", "handout", "xlsx"):
        if kind == "xlsx":
            pytest.importorskip("xlsxwriter")
        asked.clear()
        with cancellation.checked_by(lambda: asked.append("")):
            files[kind]()
        assert len(asked) >= 3, kind  # a head, a row, a step


@for_each("kind", ["npz", "json"])
@for_each("trace", TRACES)
def test_what_is_saved_for_numpy_is_the_trace_to_the_last_bit(trace: str, kind: str, tmp_path: Path) -> None:
    found = TRACES[trace]()
    found.save(str(tmp_path / f"out.{kind}"))
    again = archive.read((tmp_path / f"out.{kind}").read_bytes())
    for layer, other in zip(found.layers, again.layers, strict=True):
        for name in layer:
            np.testing.assert_array_equal(layer[name].array, other[name].array)


def test_a_part_is_named_as_on_the_command_line(tmp_path: Path) -> None:
    trace = TRACES["run"]()
    trace.save(tmp_path / "a.csv", layer=2, step="scores", head=3)
    made = export("csv", trace, ExportTarget(layer=1, step="scores", head=2))
    assert (tmp_path / "a.csv").read_bytes() == str(made).encode()
    with pytest.raises(ConfigError, match="layer is 3; this run has 1 to 2"):
        trace.save(tmp_path / "b.csv", layer=3)


def test_a_script_holds_what_was_changed_when_the_run_was_made(tmp_path: Path) -> None:
    trace = TRACES["edited"]()
    trace.save(tmp_path / "out.py")
    held = scripts.execute((tmp_path / "out.py").read_text(encoding="utf-8"))
    np.testing.assert_array_equal(held.layers[0]["A"], trace["weights"].array)


@for_each("kind", PROGRAMS)
@for_each("trace", ["given", "weights", "scores", "vectors"])
def test_no_program_is_written_that_would_compute_something_else(trace: str, kind: str, tmp_path: Path) -> None:
    found = TRACES[trace]()
    assert is_external(found) or found.given
    with pytest.raises(ConfigError, match=rf"a \.{kind} file computes a run from its setting"):
        found.save(tmp_path / f"out.{kind}")
    assert not list(tmp_path.iterdir())


@for_each("name", ["out", "out.", "out.doc", "svg", ""])
def test_another_name_is_refused_with_those_that_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"does not say what kind of file it is; .*\.html, \.svg"):
        TRACES["weights"]().save(name)


def test_a_folder_that_is_not_there_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be written: no such file or directory"):
        TRACES["weights"]().save(tmp_path / "nowhere" / "out.svg")


@pytest.mark.slow
def test_pixels_are_drawn_where_the_library_is(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    for kind in ("png", "step.png"):
        TRACES["weights"]().save(tmp_path / f"out.{kind}")
        assert (tmp_path / f"out.{kind}").read_bytes().startswith(STARTS[kind])


def test_numpy_opens_what_was_saved(tmp_path: Path) -> None:
    trace = TRACES["run"]()
    trace.save(tmp_path / "out.npz")
    with np.load(io.BytesIO((tmp_path / "out.npz").read_bytes())) as held:
        np.testing.assert_array_equal(held["layer1.weights"], trace["weights"].array)


def test_files_carry_what_was_learned_bit_for_bit() -> None:
    config = TASKS["recall"].config(learn_steps=40)
    trace, layers = run(config), learn(config).at(40)
    drawn = run(TASKS["recall"].config(learn_steps=0))
    held, told = np.load(io.BytesIO(bytes(export("npz", trace)))), json.loads(export("json", trace))
    for n, learned in enumerate(layers):
        for name, array in learned.items():
            entry = f"layer{n}.{name}"
            assert np.asarray(told[entry]).tobytes() == held[entry].tobytes() == array.tobytes()
            assert (array != drawn.layers[n][name].array).any(), "learned, and not as drawn"
