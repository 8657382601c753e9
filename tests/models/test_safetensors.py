"""Files of arrays: what they hold, and what is said of those that are cut, that lie, or that are of another kind."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import ConfigError
from attnviz.models import safetensors
from attnviz.models.safetensors import Tensors, shaped

X = np.arange(6, dtype="<f4").reshape(2, 3)
GOOD = {"x": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}

EMPTY = {"dtype": "F64", "shape": [0, 4], "data_offsets": [24, 24]}


def written(folder: Path, header: Any, numbers: bytes = X.tobytes(), name: str = "model.safetensors") -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    (folder / name).write_bytes(len(text).to_bytes(8, "little") + text + numbers)
    return folder


def test_arrays_are_read_from_the_file_as_they_lie(tmp_path: Path) -> None:
    header = {
        "__metadata__": {"format": "pt"},
        **GOOD,
        "empty": {"dtype": "F64", "shape": [0, 4], "data_offsets": [24, 24]},
    }
    tensors = Tensors(written(tmp_path, header))
    assert list(tensors) == ["x", "empty"]
    np.testing.assert_array_equal(tensors["x"], X)
    assert tensors["empty"].shape == (0, 4)
    assert not tensors["x"].flags.writeable
    assert isinstance(tensors["x"], np.memmap)


@pytest.mark.parametrize("kind", ["F64", "F32", "F16", "I64", "I32", "U8", "BOOL"])
def test_every_type_of_numbers(kind: str, tmp_path: Path) -> None:
    dtype = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}[kind]
    x = np.array([1, 0, 1]).astype(dtype)
    header = {"x": {"dtype": kind, "shape": [3], "data_offsets": [0, x.nbytes]}}
    np.testing.assert_array_equal(Tensors(written(tmp_path, header, x.tobytes()))["x"], x)


def test_bfloat16_is_the_upper_half_of_float32(tmp_path: Path) -> None:
    x = np.array([1.0, -2.5, 3.140625, 0.0, np.inf], dtype=np.float32)
    halves = (x.view(np.uint32) >> 16).astype("<u2")
    header = {"x": {"dtype": "BF16", "shape": [5], "data_offsets": [0, 10]}}
    np.testing.assert_array_equal(Tensors(written(tmp_path, header, halves.tobytes()))["x"], x)


def test_arrays_may_lie_in_several_files_and_each_in_one(tmp_path: Path) -> None:
    written(tmp_path, GOOD, name="a.safetensors")
    written(tmp_path, {"y": GOOD["x"]}, name="b.safetensors")
    assert set(Tensors(tmp_path)) == {"x", "y"}
    written(tmp_path, GOOD, name="c.safetensors")
    with pytest.raises(ConfigError, match="'x' stands in two files"):
        Tensors(tmp_path)


@pytest.mark.parametrize(
    "whole",
    [
        b"", b"\x01", b"\x00" * 8, (2**40).to_bytes(8, "little") + b"{}", b"\xff" * 8,
        (99).to_bytes(8, "little") + b"{}",
        (3).to_bytes(8, "little") + b"abc", (2).to_bytes(8, "little") + b"[]", (4).to_bytes(8, "little") + b"null",
        (2).to_bytes(8, "little") + b"\xff\xfe", (100_000).to_bytes(8, "little") + b"[" * 100_000,
    ],
    ids=lambda whole: f"{len(whole)} bytes {whole[:12]!r}",
)  # fmt: skip
def test_a_file_that_is_none_is_refused_in_a_sentence(whole: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(whole)
    with pytest.raises(ConfigError, match=r"model\.safetensors is not a .safetensors file, or is cut short"):
        Tensors(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"data_offsets": [0, 25]}, {"data_offsets": [0, 20]}, {"data_offsets": [-4, 20]}, {"data_offsets": [24, 0]},
        {"data_offsets": [4, 28]}, {"data_offsets": [0]}, {"data_offsets": [0, 24, 24]}, {"data_offsets": None},
        {"data_offsets": [0.0, 24.0]}, {"data_offsets": [False, 24]}, {"data_offsets": [0, 2**70]},
        {"shape": [2, 4]}, {"shape": [-2, -3]}, {"shape": [2**40, 2**40]}, {"shape": "23"}, {"shape": [1] * 9},
        {"shape": [2.0, 3]}, {"shape": [2**63, 2]}, {"shape": None},
    ],
    ids=str,
)  # fmt: skip
def test_a_header_that_lies_is_refused_before_anything_is_looked_up(changes: dict[str, Any], tmp_path: Path) -> None:
    written(tmp_path, {"x": GOOD["x"] | changes})
    with pytest.raises(ConfigError, match="says of 'x' what cannot be"):
        Tensors(tmp_path)


@pytest.mark.parametrize("kind", ["F8_E4M3", "f4", "", None, 4, ["F32"], {"F32": 1}])
def test_another_type_is_named(kind: object, tmp_path: Path) -> None:
    written(tmp_path, {"x": GOOD["x"] | {"dtype": kind}})
    with pytest.raises(ConfigError, match=r"holds 'x' as .*which is not read here; save the model in float32"):
        Tensors(tmp_path)


def test_what_is_no_description_is_refused(tmp_path: Path) -> None:
    for entry in ([], "F32", None, 3):
        with pytest.raises(ConfigError, match="says of 'x' what cannot be"):
            Tensors(written(tmp_path, {"x": entry}))


@given(st.binary(max_size=120))
def test_no_bytes_end_in_anything_but_a_sentence(tmp_path_factory: pytest.TempPathFactory, rest: bytes) -> None:
    folder = tmp_path_factory.mktemp("bytes")
    (folder / "model.safetensors").write_bytes(len(rest).to_bytes(8, "little") + rest)
    with pytest.raises(ConfigError):
        Tensors(folder)["x"]


def test_arrays_that_share_bytes_are_refused(tmp_path: Path) -> None:
    half = {"dtype": "F32", "shape": [2], "data_offsets": [16, 24]}
    with pytest.raises(ConfigError, match="says of 'y' what cannot be"):
        Tensors(written(tmp_path, GOOD | {"y": half}))
    empty = {"dtype": "F32", "shape": [0, 2**40], "data_offsets": [8, 8]}
    assert Tensors(written(tmp_path, GOOD | {"y": empty}))["y"].size == 0


def test_a_header_that_says_something_twice_is_refused(tmp_path: Path) -> None:
    entry = json.dumps(GOOD["x"])
    header = f'{{"x": {entry}, "x": {entry}}}'.encode()
    (tmp_path / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(24))
    with pytest.raises(ConfigError, match="its header does not fit"):
        Tensors(tmp_path)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/nowhere", path)])
def test_what_is_no_file_is_not_waited_for(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "model.safetensors")
    with pytest.raises(ConfigError, match=r"model\.safetensors cannot be read: it is no file"):
        Tensors(tmp_path)


@pytest.mark.parametrize(
    ("kind", "number"),
    [("F64", b"\0\0\0\0\0\0\xf8\x7f"), ("F32", b"\0\0\x80\xff"), ("F16", b"\0\x7c"), ("BF16", b"\xc0\x7f")],
)
def test_numbers_that_are_none_are_found_wherever_they_stand(
    kind: str, number: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safetensors, "BLOCK", 16)
    n, size = 24 // len(number), len(number)
    entry = {"dtype": kind, "shape": [n], "data_offsets": [0, 24]}
    for at in (None, 0, n - 1):
        whole = bytearray(24)
        if at is not None:
            whole[at * size : (at + 1) * size] = number
        tensors = Tensors(written(tmp_path, {"x": entry}, bytes(whole)))
        if at is None:
            tensors.check_finite()
            continue
        with pytest.raises(ConfigError, match=r"holds 'x' with numbers that are infinite or none at all"):
            tensors.check_finite()


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(ConfigError, match=r"pytorch_model\.bin, which may run any program when it is opened"):
        Tensors(tmp_path)


def test_a_folder_without_a_file_and_a_name_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"holds no \.safetensors file; save the model with model.save_pretrained"):
        Tensors(tmp_path)
    tensors = Tensors(written(tmp_path, GOOD))
    with pytest.raises(ConfigError, match="the model has no array 'y'"):
        tensors["y"]
    with pytest.raises(ConfigError, match=r"'x' has shape \(2, 3\); this model's config.json makes it \(3, 2\)"):
        shaped(tensors, "x", 3, 2)
