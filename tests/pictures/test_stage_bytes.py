"""The bytes of a stage: Python and the browser read the same out of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz.exports.bundle import joined
from attnviz.pictures import stage_bytes
from attnviz.pictures.stage_bytes import packed, unpacked

SCRIPT = Path(stage_bytes.__file__).with_suffix(".js")
READ = """
const { readFileSync } = require("node:fs");
const read = (bytes) => {
  const { header, arrays } = unpackStage(bytes);
  const bits = ({ values }) => Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString("hex");
  return [header, Object.fromEntries(Object.entries(arrays).map(([name, each]) =>
    [name, { shape: each.shape, axes: each.axes, kind: each.values.constructor.name, bits: bits(each) }]))];
};
const found = [];
for (const path of process.argv.slice(2)) {
  const whole = new Uint8Array(readFileSync(path));
  const within = new Uint8Array(whole.length + 3);
  within.set(whole, 3);
  found.push([read(whole.buffer.slice(whole.byteOffset, whole.byteOffset + whole.length)), read(within.subarray(3))]);
}
for (const wrong of [new Uint8Array(0), new TextEncoder().encode("<!doctype html>")])
  try { unpackStage(wrong); found.push("read"); } catch (error) { found.push(error.message); }
console.log(JSON.stringify(found));
"""
KINDS = {"float64": "Float64Array", "float32": "Float32Array", "int32": "Int32Array", "uint8": "Uint8Array"}


def random_message(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A header and arrays of all types and of any shape, empty ones too, with numbers that are none among them."""
    dice = np.random.default_rng(number)
    arrays: dict[str, Any] = {}
    for at in range(int(dice.integers(0, 7))):
        shape = tuple(int(n) for n in dice.integers(0, 5, dice.integers(0, 4)))
        kind = dice.choice(["float64", "float32", "int32", "uint8", "bool"])
        array = (100 * dice.standard_normal(shape)).astype(kind)
        if array.dtype.kind == "f" and array.size:
            array.flat[0] = dice.choice([np.nan, np.inf, -np.inf, -0.0, 5e-324])
        array = array.T if at % 2 else array
        arrays[f"array {at}"] = [f"axis {n}" for n in range(array.ndim)], array
    return {"words": ["ü", "\U0001f431", "\ud83d", '"', " " * int(dice.integers(0, 9))], "n": number}, arrays


def test_what_is_packed_is_read_again() -> None:
    for number in range(40):
        header, arrays = random_message(number)
        said, found = unpacked(packed(header, arrays))
        assert {name: said[name] for name in header} == header
        assert [*found] == [*arrays]
        for name, (axes, array) in arrays.items():
            assert said["arrays"][name]["axes"] == axes
            assert said["arrays"][name]["at"] % 8 == 0
            np.testing.assert_array_equal(found[name], array)


def test_a_browser_reads_the_same(tmp_path: Path, node: str) -> None:
    messages = [packed(*random_message(number)) for number in range(25)]
    paths = [tmp_path / f"{number}.bin" for number in range(len(messages))]
    for path, message in zip(paths, messages, strict=True):
        path.write_bytes(message)
    script = tmp_path / "read.cjs"
    script.write_text(f'"use strict";\n{joined(SCRIPT)}\n{READ}', "utf-8")
    command = [node, str(script), *map(str, paths)]
    made = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert made.returncode == 0, made.stderr[-2000:]
    *found, empty, page = json.loads(made.stdout)
    assert len(found) == len(messages)
    assert empty == page == "these are not the bytes of a stage"
    for message, (whole, within) in zip(messages, found, strict=True):
        header, arrays = unpacked(message)
        assert whole == within
        assert whole[0]["arrays"] == header["arrays"]
        assert whole[0]["words"][:2] == header["words"][:2]
        for name, array in arrays.items():
            facts = header["arrays"][name]
            expected = {"shape": facts["shape"], "axes": facts["axes"], "kind": KINDS[facts["type"]]}
            assert whole[1][name] == {**expected, "bits": array.tobytes().hex()}


def test_what_cannot_be_told_apart_later_is_refused() -> None:
    for header, arrays in (
        ({}, {"long": (["a"], np.arange(3))}),
        ({}, {"short": (["a", "b"], np.zeros(3))}),
        ({"high": float("nan")}, {}),
    ):
        with pytest.raises(ValueError, match=r"long is int64|short is float64|not JSON compliant"):
            packed(header, arrays)
    with pytest.raises(ValueError, match="not the bytes of a stage"):
        unpacked(b"<!doctype html>")
