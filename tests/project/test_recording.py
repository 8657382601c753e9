"""The net under a change of the layer: two recordings of one package are equal, and what differs is told."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tools.recording import __main__, difference, parts, settings
from tools.recording.runs import TABLES
from tools.recording.writing import written, zipped

SMALL = {
    "sentence": "the cat sat",
    "d_model": 3,
    "n_heads": 2,
    "d_k": [2, 1],
    "d_v": 2,
    "n_layers": 2,
    "mask": ["causal"],
}
Entries = dict[str, bytes]


def recorded(folder: Path, *only: str, **changes: Any) -> Path:
    """A recording of one small setting."""
    for part in only:
        (folder / part).mkdir(parents=True, exist_ok=True)
    assert written(folder, only, ("small", {"config": SMALL | {"mask": ["causal"]} | changes})) == []
    return folder


def told(folder: Path, part: str, change: Callable[[Entries], Any]) -> str:
    """What is told of a recording and of one that differs as `change` leaves its entries."""
    for name in ("one", "other"):
        recorded(folder / name, part)
    file = folder / "other" / part / "small.zip"
    with zipfile.ZipFile(file) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change(entries)
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return "\n".join(difference.compared(folder / "one", folder / "other"))


def test_a_number_that_changed_by_one_bit_is_told(tmp_path: Path) -> None:
    def change(entries: Entries) -> None:
        array = np.load(io.BytesIO(entries["layer 1/scores.npy"]))
        array[1, 2, 0] = np.nextafter(array[1, 2, 0], 9)
        file = io.BytesIO()
        np.save(file, array)
        entries["layer 1/scores.npy"] = file.getvalue()

    text = told(tmp_path, "arrays", change)
    assert "arrays: scores.npy: 1 of 1 settings, 1 differences" in text
    assert "small, layer 1/scores.npy: 1 of 18, most at (1, 2, 0): " in text
    assert [*difference.compared(tmp_path / "one", tmp_path / "other", close=1e-12)] == []


def test_a_number_that_is_none_is_told(tmp_path: Path) -> None:
    def change(entries: Entries) -> None:
        array = np.load(io.BytesIO(entries["layer 0/output.npy"]))
        array[0, 0] = np.nan
        file = io.BytesIO()
        np.save(file, array)
        entries["layer 0/output.npy"] = file.getvalue()

    assert "largest inf, relative inf" in told(tmp_path, "arrays", change)


def test_a_line_that_changed_is_told(tmp_path: Path) -> None:
    def change(entries: Entries) -> None:
        entries["file.py"] = entries["file.py"].replace(b"S_scaled = scale * S  #", b"S_scaled = 2 * scale * S  #")

    text = told(tmp_path, "scripts", change)
    assert "scripts: file.py: 1 of 1 settings, 1 differences\n  small, file.py:\n" in text
    assert re.search(r"\n    -    (S_scaled = )(scale \* S  #.*)\n    \+    \1(2 \* )\2\n", text)


def test_numbers_of_a_text_may_be_close_and_nothing_else_may() -> None:
    assert difference.are_close("a 0.3, -2", "a 0.30000000000000004, -2", 1e-12)
    for other in ("a 0.3001, -2", "a 0.3, 2", "b 0.3, -2", "a 0.3", "a 0.3, -2, 0.1"):
        assert not difference.are_close("a 0.3, -2", other, 1e-12), other
    assert not difference.are_close("a 0.3", "a 0.30000000000000004", 0.0)


def test_another_order_of_steps_is_told(tmp_path: Path) -> None:
    def change(entries: Entries) -> None:
        order = entries["layer 0/order.txt"].split()
        at = order.index(b"queries")
        entries["layer 0/order.txt"] = b"\n".join([*order[:at], order[at + 1], order[at], *order[at + 2 :]])

    text = told(tmp_path, "arrays", change)
    assert "arrays: order.txt: 1 of 1 settings, 1 differences" in text
    assert "    +keys\n     queries\n    -keys\n" in text


def test_a_step_or_a_setting_that_is_missing_is_told(tmp_path: Path) -> None:
    text = told(tmp_path, "arrays", lambda entries: entries.pop("layer 0/concat.txt"))
    assert "small: 1 only in the first: layer 0/concat.txt" in text
    (tmp_path / "other" / "arrays" / "small.zip").unlink()
    assert "other lacks 1 settings: small" in "\n".join(difference.compared(tmp_path / "one", tmp_path / "other"))


@pytest.mark.slow
def test_two_recordings_are_equal_in_every_part_and_another_setting_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, same = (recorded(tmp_path / name, *parts.PARTS) for name in ("one", "same"))
    assert __main__.main(["compare", str(one), str(same)]) == 0
    assert capsys.readouterr().out == "equal\n"
    other = recorded(tmp_path / "other", *parts.PARTS, scale=0.5)
    assert __main__.main(["compare", str(one), str(other)]) == 1
    differing = {line.partition(":")[0] for line in capsys.readouterr().out.splitlines() if re.match(r"\w+: ", line)}
    assert differing >= {"arrays", "gradients", "cells", "scripts", "latex", "files", "pictures", "interactive"}


def test_what_raises_is_recorded_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "arrays").mkdir()
    assert written(tmp_path, ["arrays"], ("odd", {"config": {"n_heads": 99}})) == [
        "run: ConfigError: n_heads is 99; choose 1 to 16"
    ]
    with zipfile.ZipFile(tmp_path / "arrays" / "odd.zip") as archive:
        assert b"n_heads is 99" in archive.read("raised.txt")
    other = recorded(tmp_path / "other", "arrays")
    (other / "arrays" / "small.zip").rename(other / "arrays" / "odd.zip")
    text = "\n".join(difference.compared(tmp_path, other, only=("arrays",)))
    assert re.fullmatch(
        r"\narrays: raised.txt: 1 of 1 (.*\n)*    -ConfigError: n_heads.*\n    \+nothing is raised", text
    )
    assert __main__.main(["record", str(tmp_path), "--only", "arays"]) == 2
    assert "there is no part arays" in capsys.readouterr().out


def test_the_settings_hold_every_row_and_survive_json() -> None:
    every = settings.every(400, TABLES)
    assert json.loads(json.dumps(every)) == every
    for field, rows in TABLES.items():
        chosen = [setting["config"].get(field, ()) for setting in every.values() if "config" in setting]
        counts = {row: sum(row == each or (isinstance(each, list) and row in each) for each in chosen) for row in rows}
        assert min(counts.values()) >= 6, (field, counts)
    assert settings.ROWS.keys() - {"normalise_over"} == TABLES.keys()


def test_a_row_that_came_later_leaves_the_other_settings_as_they_were() -> None:
    later = {**TABLES, "score": (*TABLES["score"], "new"), "mask": (*TABLES["mask"], "odd")}
    before, after = settings.every(20, TABLES), settings.every(20, later)
    assert {name: after[name] for name in before} == before
    more = [after[name]["config"] for name in after.keys() - before.keys()]
    assert len(more) == 12
    assert {each["score"] for each in more if each["score"] == "new"} == {"new"}
    assert sum(each["mask"] == ["odd"] for each in more) == 6


def test_equal_entries_are_equal_files() -> None:
    entries = {"a.txt": "1", "b.npy": np.eye(2)}
    assert zipped(entries) == zipped(dict(entries))
    assert list(difference._entries(zipped(entries))) == ["a.txt", "b.npy"]
