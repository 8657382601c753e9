"""The program of a run at an address: what a browser gets to compute with, and where it gets nothing."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.exports.bundle import joined
from attnviz.live import program
from attnviz.live.program import arrays_of
from attnviz.settings import url_codec
from attnviz.ui import live_route, stage_route
from attnviz.ui.shared_answers import SharedAnswers
from tests.ui.test_stage_route import Answered, answer

SCRIPT = Path(program.__file__).with_name("live.js")
EDITS = ((0, "scores", (1, 2, 0), 1.5), (0, "masked", (0, 1, 1), -np.inf))
CONFIG = Config(
    sentence="the cat sat down",
    n_heads=3,
    mask=("causal", "window"),
    bias="alibi",
    normaliser="entmax",
    n_layers=2,
    edits=EDITS,
)
COMPUTED = """
const fs = require("fs");
const { header, given } = JSON.parse(fs.readFileSync(process.argv[2]));
const arrays = Object.fromEntries(Object.entries(given).map(([name, numbers]) => [name, Float64Array.from(numbers)]));
const edits = header.program.edits.map((edit) => ({ ...edit, value: Number(edit.value) }));
const settings = { ...header.program.settings, ...header.lines };
const live = compile({ ...header.program, edits, settings });
const whole = Object.entries(arrays).map(([step, array]) => ({ step, array }));
const made = { ...arrays, ...live.follow(arrays, whole) };
const texts = Object.entries(made).map(([name, array]) => [name, [...array].map(String)]);
console.log(JSON.stringify(Object.fromEntries(texts)));
"""


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: SharedAnswers[stage_route.Asked] = SharedAnswers(live_route._made, most_bytes=10**6, most_making=4)
    monkeypatch.setattr(live_route, "ANSWERS", answers)


def asked(config: Config, **how: str) -> Answered:
    return answer(urlencode(url_codec.encode(config)), path=live_route.PATH, **how)


def test_all_numbers_of_a_run_follow_from_what_is_sent(node: str, tmp_path: Path) -> None:
    found = asked(CONFIG)
    header, given = found.stage
    trace = run(CONFIG)
    names = {*arrays_of(trace)}
    assert {*given} < names
    assert not any(name.startswith(("scores", "masked", "weights", "heads")) for name in given)
    script, told = tmp_path / "live.js", tmp_path / "told.json"
    script.write_text(f'"use strict";\n{joined(SCRIPT)}\n{COMPUTED}', encoding="utf-8")
    told.write_text(
        json.dumps({"header": header, "given": {name: array.ravel().tolist() for name, array in given.items()}})
    )
    done = subprocess.run([node, str(script), str(told)], capture_output=True, encoding="utf-8", check=True)
    made = {name: np.array([float(text) for text in numbers]) for name, numbers in json.loads(done.stdout).items()}
    assert {"scores.0", "masked.1", "weights.1", "heads.1", "output.1"} <= {*made}
    for name, numbers in made.items():
        np.testing.assert_allclose(numbers, arrays_of(trace)[name].ravel(), rtol=1e-9, atol=1e-12, err_msg=name)


def test_it_is_read_limited_and_kept_as_a_stage_is(monkeypatch: pytest.MonkeyPatch) -> None:
    below = answer("v=2&seed=5", path=f"/a/folder{live_route.PATH}")
    assert below.status == 200
    assert below.headers["x-content-type-options"] == "nosniff"
    assert below.headers["content-type"] == "application/octet-stream"
    kept = asked(replace(CONFIG, seed=3))
    assert kept.headers["cache-control"] == "private, no-cache"
    for query, says in (
        ("nonsense=1", "There is no setting called"),
        ("v=2&mask_formula=__import__('os')&mask=formula", "__import__"),
        ("x" * 9000, "at most 8,000"),
    ):
        found = answer(query, path=live_route.PATH)
        assert (found.status, found.headers["cache-control"]) == (400, "no-store")
        assert says in found.text
    monkeypatch.setattr(live_route, "MOST_GIVEN", 10)
    large = asked(replace(CONFIG, seed=4), accept_language="de")
    assert (large.status, "10" in large.text) == (400, True)
