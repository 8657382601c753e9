"""A run leaves as a file and comes back the same to the last bit."""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attnviz import Config, ConfigError, of_scores, of_vectors, of_weights, run
from attnviz.engine.records.trace import Trace
from attnviz.exports import archive, tables
from attnviz.exports.tables import FORMULA_STARTS
from attnviz.uploads import npy, read_files
from tests.support.cases import for_each

RNG = np.random.default_rng(5)
A = RNG.dirichlet(np.ones(7), size=(2, 3, 5))
RICH: dict[str, Any] = {
    "sentence": '=1+1 -x "q", the\u00a0\u05d0 \U0001f600',
    "second_sentence": "x y z",
    "mask": ("causal", "window"),
    "score": "additive",
    "projection_bias": True,
    "n_layers": 2,
    "residual": True,
    "norm": "post",
    "feed_forward": "relu",
    "d_k": (3, 2),
    "d_v": 5,
    "n_kv_heads": 2,
    "bias": "alibi",
    "position": "rope",
    "temperature": 0.1,
}
EDITS = ((0, "scores", (0, 1, 1), -np.inf), (0, "scores", (1, 0, 2), 1e9), (0, "weights", (0, 0, 0), 0.3))
TRACES: dict[str, Callable[[], Trace]] = {
    "default": lambda: run(Config()),
    "rich": lambda: run(Config(**RICH)),
    "by hand": lambda: run(Config(initialiser="by_hand")),
    "edited": lambda: run(Config(edits=EDITS)),
    "projections": lambda: run(Config(n_heads=1, d_model=2), {"w_v": np.ones((1, 2, 4))}),
    "weights": lambda: of_weights(A - 0.1, list("abcde"), list("tuvwxyz")),
    "scores": lambda: of_scores(np.where(A > 0.1, A, -np.inf), config=Config(softcap=2.0, mask="causal")),
    "vectors": lambda: of_vectors(RNG.normal(size=(4, 5, 3)), RNG.normal(size=(2, 6, 3)), RNG.normal(size=(2, 6, 2))),
}


def assert_same(left: Trace, right: Trace) -> None:
    for each in dataclasses.fields(Trace):
        if each.name not in ("around", "layers", "result"):
            assert getattr(left, each.name) == getattr(right, each.name), each.name
    assert type(left.config) is type(right.config)
    assert left.result.name == right.result.name
    for ours, theirs in zip((left.around, *left.layers), (right.around, *right.layers), strict=True):
        assert list(ours) == list(theirs)
        for name, step in ours.items():
            other = theirs[name]
            assert step.array.dtype == other.array.dtype
            assert step.array.shape == other.array.shape
            assert np.ascontiguousarray(step.array).tobytes() == other.array.tobytes(), name
            assert dataclasses.replace(step, array=other.array) == other
            assert not other.array.flags.writeable


@for_each("name", TRACES)
def test_out_and_in_again_is_the_same_run(name: str) -> None:
    trace = TRACES[name]()
    assert_same(trace, archive.read(archive.npz(trace)))
    assert_same(trace, archive.read(archive.to_json(trace).encode()))


def test_equal_runs_are_equal_files() -> None:
    first, second = (archive.npz(run(Config(**RICH))) for _ in range(2))
    assert first == second == archive.npz(archive.read(first))
    assert archive.to_json(run(Config())) == archive.to_json(run(Config()))


def test_numpy_alone_opens_the_file_and_finds_everything_by_name() -> None:
    trace = run(Config(**RICH))
    with np.load(io.BytesIO(archive.npz(trace))) as held:
        assert np.array_equal(held["layer1.weights"], trace.layers[1]["weights"].array)
        assert held["layer0.allowed"].dtype == bool
        assert np.array_equal(held["embedded"], trace["embedded"].array)
        about = json.loads(str(held["about"]))
        assert set(held.files) == {"about", *about["steps"]}
    assert about["query_tokens"] == list(trace.query_tokens)
    assert about["steps"]["layer1.weights"]["axes"] == ["head", "query", "key"]
    assert about["setting"]["score"] == "additive"


def test_json_is_strict_and_nested_as_the_axes_are() -> None:
    trace = run(Config(mask="causal", edits=EDITS))
    held = json.loads(archive.to_json(trace), parse_constant=pytest.fail)
    assert held["layer0.masked"][0][0][1] == "-inf"
    assert np.array_equal(held["layer0.weights"], trace["weights"].array)
    assert held["layer0.allowed"][0][:2] == [True, False]


def test_a_saved_run_is_told_from_other_files_and_is_read_as_one_too() -> None:
    trace = of_weights(A)
    for data in (archive.npz(trace), archive.to_json(trace).encode()):
        assert archive.is_archive(data)
    assert not archive.is_archive(b"[[1]]")
    assert list(read_files.read("a.npz", archive.npz(trace)).arrays) == ["layer0.weights", "layer1.weights"]


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """A saved run in which something was changed."""
    held = json.loads(archive.to_json(TRACES["scores"]()))
    change(held)
    return json.dumps(held).encode()


BAD: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no description": (lambda held: held.pop("about"), "not a saved run"),
    "another format": (lambda held: held["about"].update(format="x"), "not a saved run"),
    "a later version": (lambda held: held["about"].update(version=2), "version '2', which is not known"),
    "no steps": (lambda held: held["about"].update(steps={}), "the steps of given attention"),
    "no tokens": (lambda held: held["about"].pop("query_tokens"), "cannot be read .KeyError"),
    "tokens of numbers": (lambda held: held["about"].update(query_tokens=[1] * 5), "cannot be read .AttributeError"),
    "too few tokens": (lambda held: held["about"].update(query_tokens=["a"]), "'query' has size 5, but had 1"),
    "a step is gone": (lambda held: held.pop("layer1.weights"), "does not hold layer1.weights"),
    "an unknown step": (
        lambda held: held["about"]["steps"].update({"layer0.x": {}}),
        "'layer0.x', which is not a step",
    ),
    "an unknown layer": (lambda held: held["about"]["steps"].update({"layer7.scores": {}}), "which is not a step"),
    "another shape": (lambda held: held.update({"layer0.weights": [[[1.0]]]}), "axis 'head' has size 1, but had 3"),
    "no numbers": (lambda held: held.update({"layer0.weights": 3}), "'layer0.weights', which is not a step"),
    "text": (lambda held: held.update({"layer0.weights": [[["x"]]]}), "'x' at position 1, 1, 1 is not a number"),
    "a link": (
        lambda held: held["about"]["steps"]["layer0.weights"].update(formula=r"\href{javascript:alert(1)}{x}"),
        "the formula of weights",
    ),
    "a long formula": (
        lambda held: held["about"]["steps"]["layer0.weights"].update(formula="x" * 5000),
        "the formula of weights",
    ),
    "other axes": (
        lambda held: held["about"]["steps"]["layer0.weights"].update(axes=["query", "head", "key"]),
        "which is not a step",
    ),
    "widths": (
        lambda held: held["about"]["steps"]["layer0.weights"].update(widths={"key": [1, 2, 99]}),
        "has widths",
    ),
    "a setting": (lambda held: held["about"]["setting"].update(n_layers="100"), "the steps of given attention"),
}


@for_each("change, message", BAD.values())
def test_a_file_that_no_run_made_is_refused(change: Callable[[dict[str, Any]], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        archive.read(changed(change))


@for_each("data", [b"", b"\xff", b"[]", b"{", b"[" * 100_000, b"PK\x03\x04", archive.npz(of_weights(A))[:-9]])
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    with pytest.raises(ConfigError, match=r"not a saved run|not a readable NumPy archive"):
        archive.read(data)


def test_a_run_without_a_step_that_every_run_has_is_refused() -> None:
    held = json.loads(archive.to_json(run(Config())))
    for name in ("layer0.values", "embedded"):
        step = held["about"]["steps"].pop(name)
        with pytest.raises(ConfigError, match=f"does not hold {name.removeprefix('layer0.')}"):
            archive.read(json.dumps(held).encode())
        held["about"]["steps"][name] = step


def test_a_budget_holds_for_saved_runs() -> None:
    with pytest.raises(ConfigError, match="would unpack to"):
        archive.read(archive.npz(of_weights(A)), npy.Budget(n_bytes=2_000, n_arrays=9))
    with pytest.raises(ConfigError, match="3 arrays; at most 2"):
        archive.read(archive.npz(of_weights(A)), npy.Budget(n_bytes=10**6, n_arrays=2))


def test_every_member_is_a_plain_array() -> None:
    with zipfile.ZipFile(io.BytesIO(archive.npz(run(Config())))) as held:
        for member in held.infolist():
            assert held.read(member).startswith(npy.MAGIC)
            assert member.date_time == archive.EARLIEST


@for_each("start", FORMULA_STARTS)
def test_no_table_of_given_attention_begins_a_formula(start: str) -> None:
    trace = of_weights(A[..., :5], [f"{start}1", "b", start, "d", "e"])
    step = trace["weights"]
    frames = [
        tables.tidy(step, trace.query_tokens, trace.key_tokens),
        tables.matrix(step, trace.query_tokens, trace.key_tokens, 1),
        tables.row_statistics(trace, 0),
        tables.head_statistics(trace, 0),
        tables.column_sums(trace, 0),
    ]
    for frame in frames:
        for cell in tables.csv(frame).replace("\r\n", ",").split(","):
            assert not cell.strip('"').startswith(start)
