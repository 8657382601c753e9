"""The program of the browser: what follows from a changed number is what a run with that number records."""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.engine.external.traces import of_weights
from attnviz.engine.plan import page, plans
from attnviz.engine.plan.values import Value
from attnviz.exports.bundle import joined
from attnviz.live import program
from attnviz.live.program import arrays_of, program_of
from tests.support.live_changes import Case, _entry, cases_of
from tests.support.slopes import steps_of
from tests.support.small_models import NAMES, given, model

SCRIPT = Path(program.__file__).with_name("live.js")
CASES, BATCH = 2000, 250
CHECK = """
const fs = require("fs");
const [, , cases, floats] = process.argv;
const bytes = fs.readFileSync(floats);
const numbers = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
const arraysOf = (places) => Object.fromEntries(places.map(([name, from, to]) => [name, numbers.subarray(from, to)]));
const off = (wanted, found) => {
  if (!found || found.length !== wanted.length) return Infinity;
  let scale = 1, most = 0;
  for (let n = 0; n < wanted.length; n++) {
    const [x, y] = [wanted[n], found[n]];
    if (!Number.isFinite(x)) most = Object.is(x, y) ? most : Infinity;
    else {
      scale = Math.max(scale, Math.abs(x));
      most = Math.max(most, Number.isNaN(y) ? Infinity : Math.abs(x - y));
    }
  }
  return most / scale;
};
const found = JSON.parse(fs.readFileSync(cases)).map(({ program, changes, before, given, after }) => {
  const arrays = arraysOf(before), kept = Object.entries(arrays).map(([name, array]) => [name, array.slice()]);
  const whole = Object.entries(arraysOf(given)).map(([step, array]) => ({ step, array }));
  const made = { ...arrays, ...compile(program).follow(arrays, [...changes, ...whole]) };
  let worst = 0, step = "";
  for (const [name, array] of Object.entries(arraysOf(after))) {
    const distance = off(array, made[name]);
    if (distance > worst) [worst, step] = [distance, name];
  }
  if (kept.some(([name, array]) => off(array, arrays[name]) > 0)) [worst, step] = [Infinity, "an array that was given"];
  return [worst === Infinity ? 1e300 : worst, step];
});
console.log(JSON.stringify(found));
"""


def distances(cases: Sequence[Case], node: str, folder: Path, script: str = "") -> list[tuple[float, str]]:
    """How far what node computes is from the run, of the scale of the step that is furthest off, and that step."""
    floats: list[np.ndarray] = []
    length = 0

    def placed(arrays: dict[str, np.ndarray]) -> list[tuple[str, int, int]]:
        nonlocal length
        places = []
        for name, array in arrays.items():
            floats.append(np.ravel(array))
            places.append((name, length, length + array.size))
            length += array.size
        return places

    told = [
        {"program": each.program, "changes": each.changes, "given": placed(each.given)}
        | {"before": placed(arrays_of(each.before)), "after": placed(arrays_of(each.after))}
        for each in cases
    ]
    paths = folder / "live.js", folder / "cases.json", folder / "floats"
    paths[0].write_text(f'"use strict";\n{script or joined(SCRIPT)}\n{CHECK}', encoding="utf-8")
    paths[1].write_text(json.dumps(told), encoding="utf-8")
    np.concatenate(floats).tofile(paths[2])
    done = subprocess.run([node, *map(str, paths)], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return [(worst, step) for worst, step in json.loads(done.stdout)]


def cases(first: int = 0) -> Iterator[Case]:
    for at in count(first):
        yield from cases_of(at)


@pytest.mark.slow(seconds=36)
def test_what_follows_from_a_change_is_what_a_run_records(node: str, tmp_path: Path) -> None:
    found, left = [], cases()
    for _ in range(CASES // BATCH):
        batch = list(islice(left, BATCH))
        found += [
            (f"{distance:.1e} at {step}", each.name)
            for each, (distance, step) in zip(batch, distances(batch, node, tmp_path), strict=True)
            if distance > 1e-9
        ]
    assert found == []


def test_so_it_is_in_every_family_of_models(node: str, tmp_path: Path) -> None:
    """A number of each step of a layer, one at a time, so that what follows is told from what does not."""
    found = []
    for name in (*NAMES, "vit"):
        read = given(name, "the cat saw")
        made, dice = model(name), random.Random(name)  # noqa: S311 - nothing secret
        before = made(read)
        program = program_of(before)
        tried = [each for each in steps_of(before) if each[0] in (None, 0) and each[1] != "allowed"]
        edits = [
            (layer, step, tuple(dice.randrange(n) for n in array.shape), dice.randrange(-64, 65) / 64)
            for layer, step, array in tried
        ]
        tries = [Case(name, before, made(read, edits=[e]), [_entry(before, e)], program) for e in edits]
        off = distances(tries, node, tmp_path)
        found += [(f"{far:.1e} at {at}", name, e) for e, (far, at) in zip(edits, off, strict=True) if far > 1e-9]
    assert found == []


MUTANTS = {
    "out[o] = a[p] + b[q]": "out[o] = a[p] - b[q]",
    "out[o] = b[q] ? a[p] : -Infinity": "out[o] = b[q] ? a[p] : 0",
    "region[axes[axis]] = [place, place + 1]": "region[axes[axis]] = [place, place]",
    "t3 += y * k3": "t3 -= y * k3",
    "for (const { at, value } of edits) out[at] = value;": "",
}
"""Faults of the script, each of which some case must show."""


@pytest.mark.slow
def test_a_fault_of_the_script_is_seen(node: str, tmp_path: Path) -> None:
    script, few = joined(SCRIPT), list(islice(cases(), 100))
    for right, wrong in MUTANTS.items():
        assert script.count(right) == 1, right
        found = distances(few, node, tmp_path, script.replace(right, wrong))
        assert any(distance > 1e-9 for distance, _ in found), right


def test_a_line_that_is_changed_is_no_other_program() -> None:
    config = Config(sentence="the cat sat", mask="window", bias="linear", normaliser="entmax", position="rope")
    moved = {"temperature": 0.5, "scale": 2.0, "reach": 0, "bias_slope": 3.0, "rope_base": 9.0}
    one, other = (
        program_of(run(each))
        for each in (config, replace(config, **moved, normaliser_knobs={"entmax.alpha": 1.5}))  # type: ignore[arg-type]
    )
    assert one["steps"] == other["steps"]
    changed = {name for name, value in one["settings"].items() if value != other["settings"][name]}
    assert changed == {*moved, "entmax.alpha"}


def test_a_number_that_the_page_names_is_followed(node: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = page.side_by_side
    monkeypatch.setattr(page, "side_by_side", lambda Z: Value("setting", name="group") * said(Z))
    plans.layer_plan.cache_clear()
    try:
        config = Config(sentence="the cat sat", n_heads=4, n_kv_heads=2)
        before, after = run(config), run(config, edits=[(0, "values", (0, 0, 0), 2.0)])
        change = {"step": "values.0", "at": 0, "value": 2.0}
        [(distance, step)] = distances([Case("", before, after, [change], program_of(before))], node, tmp_path)
    finally:
        plans.layer_plan.cache_clear()
    assert distance < 1e-12, step


def test_nothing_is_computed_that_needs_random_numbers_words_or_a_solver() -> None:
    trace = run(Config(sentence="the cat sat", bias="t5", mask=("causal", "custom"), n_layers=2))
    given = {step["name"].split(".")[0] for step in program_of(trace)["steps"] if step["made"] is None}
    assert given == {"token_embeddings", "positions", "w_q", "w_k", "w_v", "w_o", "allowed", "bias"}


def test_numbers_that_were_uploaded_have_no_program() -> None:
    with pytest.raises(ValueError, match="were uploaded"):
        program_of(of_weights([[0.5, 0.5]]))


def test_no_name_of_the_script_is_one_of_another_that_may_stand_beside_it() -> None:
    package = Path(program.__file__).parents[1]
    declared = re.compile(r"^(?:export )?(?:const|let|function|class) (?:[{\[]([^}\]]*)[}\]]|(\w+))", re.MULTILINE)

    def names(paths: Iterable[Path]) -> set[str]:
        found = [each for path in paths for each in declared.findall(path.read_text("utf-8"))]
        return {name for pair in found for name in re.findall(r"\w+", pair[0] or pair[1])}

    others = [path for path in package.rglob("*.js") if path.parent != SCRIPT.parent]
    assert "follow" not in names(SCRIPT.parent.glob("*.js"))
    assert "compile" in names(SCRIPT.parent.glob("*.js"))
    assert names(SCRIPT.parent.glob("*.js")) & names(others) == set()
