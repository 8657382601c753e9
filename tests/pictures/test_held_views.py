"""What the browser writes and draws around the maps while a number is held is what Python would."""

from __future__ import annotations

import json
import random
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from attnviz import BIASES, MASKS, NORMALISERS, SCORES, Config, Trace, run
from attnviz.engine.external.traces import forbidden
from attnviz.exports.bundle import joined
from attnviz.pictures import stages, step_path, thumbnails

FORMULA = Path(stages.__file__).with_name("weights_formula.js")
THUMBNAIL = Path(thumbnails.__file__).with_suffix(".js")
ASK = """
const { formulas, pictures } = JSON.parse(require("fs").readFileSync(process.argv[2]));
const numberOf = (text) => (typeof text === "string" ? Number(text) : text);
console.log(JSON.stringify([
  formulas.map(weightsFormula),
  pictures.map(({ values, shape, hidden, kind }) => [
    ...thumbnail(values.map(numberOf), shape, (at) => hidden[at] === 1, kind),
  ]),
]));
"""


def test_formulas_and_small_pictures_are_those_of_python(node: str, tmp_path: Path) -> None:
    numbers = [(None, 0.0, 1.0), (0.25, 12.5, 0.0123456789), (1e3, 3.0, 100.0), (-2e-7, 0.1, 99.99999)]
    rows = product(("scaled_dot", "dot", "additive"), ("none", "alibi"), numbers)
    configs = [Config(score=s, bias=b, scale=x, softcap=c, temperature=t) for s, b, (x, c, t) in rows]  # type: ignore[arg-type]
    traces = [run(each) for each in settings()]
    small = [each for trace in traces for each in pictured(trace)]
    told = {"formulas": [*map(stages.weights_formula_facts, configs)], "pictures": [asked for asked, _ in small]}
    (tmp_path / "told.json").write_text(json.dumps(told), "utf-8")
    (tmp_path / "held.js").write_text(f'"use strict";\n{joined(FORMULA)}\n{joined(THUMBNAIL)}\n{ASK}', "utf-8")
    command = [node, str(tmp_path / "held.js"), str(tmp_path / "told.json")]
    made = json.loads(subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout)
    assert made[0] == [*map(stages.weights_formula, configs)]
    assert len(small) > 100
    assert made[1] == [wanted for _, wanted in small]


def settings() -> list[Config]:
    dice = random.Random(31)  # noqa: S311 - nothing secret
    plain = [name for name in MASKS if name not in ("formula", "custom")]
    words = ["the", "cat", "sat", "on", "the", "warm", "mat", "while", "it", "rained"]
    found = []
    for seed in range(12):
        config = Config(sentence=" ".join(words[: dice.randint(1, 10)]), seed=seed, n_heads=4, n_kv_heads=2, d_v=(3, 5))
        rows: dict[str, Any] = {"score": SCORES, "mask": plain, "bias": BIASES, "normaliser": NORMALISERS}
        chosen = {name: dice.choice([each for each in table if each != "formula"]) for name, table in rows.items()}
        found.append(replace(config, **chosen))
    long = Config(sentence=" ".join(f"word{at}" for at in range(70)), mask="causal", max_tokens=70)
    return [*found, long, replace(long, d_model=60, n_heads=1)]


def pictured(trace: Trace) -> list[tuple[dict[str, Any], list[int]]]:
    """Each step of the path in the last head: what the browser is asked with, and the picture that Python makes."""
    head, steps = trace.config.n_heads - 1, {**trace.around, **trace.layers[0]}
    found = []
    for node in step_path.way(trace, 0, head):
        step = steps[node.name]
        by_head = step.axes[0].endswith("head")
        array = np.atleast_2d(step.head(head * step.shape[0] // (head + 1)) if by_head else step.array)
        hidden = np.zeros(array.shape, bool)
        if node.name == "weights":
            hidden = np.broadcast_to(forbidden(trace.layers[0]), step.shape)[head]
        kind = {"isSigned": node.kind == "signed", "isSquare": step.axes[-2:] == ("query", "key")}
        values = [
            value if np.isfinite(value) else str(value).replace("inf", "Infinity") for value in array.ravel().tolist()
        ]
        asked = {"values": values, "shape": array.shape, "hidden": hidden.ravel().astype(int).tolist(), "kind": kind}
        found.append((asked, node.picture.ravel().tolist()))
    return found
