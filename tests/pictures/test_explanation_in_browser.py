"""The browser explains a cell in the words and numbers of Python, from the arrays of the stage alone."""

from __future__ import annotations

import inspect
import json
import random
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import BIASES, MASKS, NORMALISERS, SCORES, Config, ConfigError, Trace, run
from attnviz.arithmetic.cell import derive
from attnviz.engine.plan import page
from attnviz.exports.bundle import joined
from attnviz.live.program import arrays_of
from attnviz.pictures import stage_bytes
from attnviz.pictures.answer import browser_facts, explanation_parts
from attnviz.pictures.answer.explanation import column, explanation, most_telling
from attnviz.settings.language import set_language
from attnviz.text.query_sentences import query_weights
from attnviz.ui.components.answer import drawer
from attnviz.ui.components.sentence import opening_sentence
from tests.support.other_page import OTHERS, SETTING, of_page
from tests.support.sample_settings import repeated_words

SCRIPT = Path(browser_facts.__file__).with_name("explanation.js")
SETTINGS, CELLS = 60, 5
TYPED = ("2 * (q @ k) + norm(q)", "sum(tanh(q * k + b)) / d_k", "q @ W @ k - sum(abs(q - k)) * alpha", "i - j + h")
TYPED_NORMALISERS = ("exp(x) / (1 + sum(exp(x)))", "relu(x) / n + j * 0.01", "e = exp(x - max(x)); e / sum(e)")
ASK = """
const { readFileSync } = require("node:fs");
const { pathToFileURL } = require("node:url");
(async () => {
  const found = [];
  for (const { file, cells } of JSON.parse(readFileSync(process.argv[2], "utf-8"))) {
    const stage = unpackStage(new Uint8Array(readFileSync(file)));
    const text = encodeURIComponent(stage.header.answer.functions);
    const functions = (await import(`data:text/javascript,${text}`)).default;
    const known = new Cells(stage, functions);
    found.push(cells.map((cell) => { try { return explanation(known, cell); } catch (error) { return error.stack; } }));
  }
  console.log(JSON.stringify(found));
})();
"""


def any_setting(number: int) -> Config:
    """A setting of any rows, masks, widths and typed lines."""
    dice = random.Random(number)  # noqa: S311 - nothing secret
    config = repeated_words(number)
    typed: dict[str, Any] = {
        "score_formula": dice.choice(TYPED),
        "normaliser_formula": dice.choice(TYPED_NORMALISERS),
        "mask_formula": dice.choice(("j <= i + 1", "j < i + h")),
        "bias_formula": dice.choice(("-abs(i - j) / h", "-g * abs(i - j)")),
    }
    masks = tuple(dict.fromkeys(dice.choice([*MASKS]) for _ in range(dice.randint(1, 3))))
    changes: dict[str, Any] = {
        "mask": masks if "none" not in masks else ("none",),
        "bias": dice.choice([*BIASES]),
        "score": dice.choice([*SCORES]),
        "normaliser": dice.choice([*NORMALISERS]),
        "scale": dice.choice((None, None, 0.25, 3.0, 1e-7, 900.0)),
        "position": dice.choice(("none", "rope", "sinusoidal")),
        **typed,
    }
    return replace(config, **changes)


def some_edits(trace: Trace, number: int) -> list[Any]:
    """Numbers that are changed by hand in the steps that the browser reads, or before them."""
    dice = random.Random(number)  # noqa: S311 - nothing secret
    layer = number % len(trace.layers)
    widths = {"queries": min(trace.config.key_widths()), "keys": min(trace.config.key_widths())}
    widths |= {name: min(trace.config.value_widths()) for name in ("values", "heads")}
    steps = [step for name, step in trace.layers[layer].items() if name in browser_facts.READ]
    return [
        (layer, step.name, tuple(map(dice.randrange, (*step.shape[:-1], widths.get(step.name, step.shape[-1])))), x)
        for step, x in ((step, dice.uniform(-2, 2)) for step in dice.choices(steps, k=5))
    ]


def asked(trace: Trace, dice: random.Random, layer: int) -> list[dict[str, Any]]:
    """Cells, those whose scores or weights were set by hand among them, a row and an entry of an output."""
    ours = [index for at, step, index, _ in trace.edits if at == layer and step in ("scores", "weights")]
    heads, n, m = trace.layers[-1]["weights"].shape
    cells = [
        {"head": dice.randrange(heads), "query": dice.randrange(n), "key": dice.randrange(m)} for _ in range(CELLS)
    ]
    row = {"head": dice.randrange(heads), "query": dice.randrange(n), "key": None}
    column = {"head": dice.randrange(heads), "query": None, "key": dice.randrange(m)}
    return [*(dict(zip(("head", "query", "key"), at)) for at in ours), *cells, row, {**row, "dimension": 0}, column]


def wanted(trace: Trace, layer: int, cell: dict[str, Any]) -> dict[str, Any]:
    """What Python makes of it."""
    head, query, key = cell["head"], cell["query"], cell["key"]
    if query is None:
        return json.loads(json.dumps(column(trace, layer, head, key)))
    at = most_telling(trace, layer, head, query) if key is None else key
    found = explanation(
        trace, derive(trace, layer, head, query, at), key=key is not None, dimension=cell.get("dimension")
    )
    return json.loads(json.dumps(found))


def differences(made: Any, wanted: Any, path: str = "") -> list[str]:
    """Where two values differ: numbers by more than rounding, all else at all."""
    if isinstance(made, dict) and isinstance(wanted, dict) and made.keys() == wanted.keys():
        return [each for name in wanted for each in differences(made[name], wanted[name], f"{path}.{name}")]
    if isinstance(made, list) and isinstance(wanted, list) and len(made) == len(wanted):
        pairs = enumerate(zip(made, wanted, strict=True))
        return [each for at, pair in pairs for each in differences(*pair, f"{path}[{at}]")]
    are_numbers = all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in (made, wanted))
    if are_numbers and abs(made - wanted) <= 1e-12 * abs(wanted):
        return []
    return [] if made == wanted and not are_numbers else [f"{path}: {made!r} for {wanted!r}"]


def disagreeing(traces: list[tuple[str, Trace, int]], node: str, folder: Path) -> list[str]:
    """The settings and cells of which the browser says something else."""
    dice = random.Random(1)  # noqa: S311 - nothing secret
    questions, answers = [], []
    for number, (name, trace, layer) in enumerate(traces):
        data = browser_facts.cells_of(trace, layer)
        if data is None:
            continue
        (folder / f"{number}.bin").write_bytes(stage_bytes.packed(data.header | {"head": data.head}, data.arrays))
        cells = asked(trace, dice, layer)
        questions.append({"file": str(folder / f"{number}.bin"), "cells": cells})
        answers.append([(f"{name} {cell}", wanted(trace, layer, cell)) for cell in cells])
    (folder / "asked.json").write_text(json.dumps(questions), "utf-8")
    script = "\n".join([joined(Path(stage_bytes.__file__).with_suffix(".js")), joined(SCRIPT), ASK])
    (folder / "explain.cjs").write_text(f'"use strict";\n{script}', "utf-8")
    command = [node, str(folder / "explain.cjs"), str(folder / "asked.json")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    made = json.loads(done.stdout)
    assert len(made) == len(answers) > len(traces) / 2
    return [
        f"{name}{found}"
        for each, those in zip(made, answers, strict=True)
        for said, (name, should) in zip(each, those, strict=True)
        for found in differences(said, should)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "de"])
def test_every_answer_is_that_of_python(
    language: str, node: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: set_language("en"))
    set_language(language)
    traces = []
    for number in range(SETTINGS if language == "en" else SETTINGS // 4):
        config = any_setting(number)
        with np.errstate(all="ignore"):
            try:
                trace = run(config)
                trace = run(config, edits=some_edits(trace, number)) if number % 2 else trace
            except ConfigError:
                continue
        traces.append((f"setting {number}", trace, number % len(trace.layers)))
    assert len(traces) > SETTINGS / 8
    assert disagreeing(traces, node, tmp_path) == []


@pytest.mark.parametrize("normaliser", [each for each in NORMALISERS if each != "formula"])
def test_a_weight_that_was_set_by_hand_is_said_to_be(normaliser: Any, node: str, tmp_path: Path) -> None:
    before = run(Config(sentence="the cat sat on the mat", normaliser=normaliser))
    trace = run(before.config, edits=[(0, "weights", (0, 2, 1), -1.5)])
    share = next(
        each for each in wanted(trace, 0, {"head": 0, "query": 2, "key": 1})["lines"] if each["name"] == "share"
    )
    was = explanation_parts.number(float(before["weights"].array[0, 2, 1]))
    assert share["value"] == "−1.500"
    assert share["note"] == f"set by hand; computed from the scores it would be {was}"
    assert disagreeing([(normaliser, trace, 0)], node, tmp_path) == []


ASK_MASKED = """
const { readFileSync } = require("node:fs");
console.log(JSON.stringify(JSON.parse(process.argv[2]).map((file) => {
  const cells = new Cells(unpackStage(new Uint8Array(readFileSync(file))), {});
  return cells.facts.d_k.map((_, h) => cells.facts.visible.query.map((_, i) => cells.maskedRow(h, i).map(String)));
})));
"""


def test_the_scores_of_another_page_enter_the_normaliser(node: str, tmp_path: Path, said: pytest.MonkeyPatch) -> None:
    source, files, made = inspect.getsource(page), [], []
    for old, new in OTHERS.items():
        assert old in source
        trace = of_page(source.replace(old, new), SETTING, said)
        data = browser_facts.cells_of(trace, 0)
        assert (data is None) == ("3 * score" in new or "* mix" in new or "/ 4" in new), new
        if data is not None:
            files.append(tmp_path / f"{len(files)}.bin")
            files[-1].write_bytes(stage_bytes.packed(data.header | {"head": data.head}, data.arrays))
            made.append(trace["masked"].array)
    script = "\n".join([joined(Path(stage_bytes.__file__).with_suffix(".js")), joined(SCRIPT), ASK_MASKED])
    (tmp_path / "masked.cjs").write_text(f'"use strict";\n{script}', "utf-8")
    command = [node, str(tmp_path / "masked.cjs"), json.dumps([*map(str, files)])]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    for found, wanted_there in zip(json.loads(done.stdout), made, strict=True):
        numbers = np.array([[[float(x) for x in row] for row in head] for head in found])
        assert np.allclose(numbers, wanted_there, rtol=1e-12, atol=0)


HELD = Path(drawer.__file__).with_name("held_cells.js")
SENTENCE = Path(opening_sentence.__file__).with_name("weight_rows.js")
ASK_HELD = """
const { readFileSync } = require("node:fs");
(async () => {
  const found = [];
  for (const { file, cells, changes, layer, arrays, opening } of JSON.parse(readFileSync(process.argv[2], "utf-8"))) {
    const stage = unpackStage(new Uint8Array(readFileSync(file)));
    const text = encodeURIComponent(stage.header.answer.functions);
    const functions = (await import(`data:text/javascript,${text}`)).default;
    const numbers = ({ values, ...array }) => ({ ...array, values: Float64Array.from(values, Number) });
    const held = { changes, layer, array: (name) => (arrays[name] ? numbers(arrays[name]) : null) };
    const now = heldStage(stage, held), known = now && new Cells(now, functions);
    const { weights, kinds } = heldRows(held, opening);
    const said = known && cells.map((cell) => explanation(known, cell));
    found.push({ said, weights: [...weights].map(String), kinds });
  }
  console.log(JSON.stringify(found));
})();
"""
BEFORE: dict[str, Any] = {"sentence": "the cat sat on the mat", "n_heads": 2, "n_layers": 2, "mask": "causal"}
MOVES: tuple[tuple[dict[str, Any], str, float], ...] = (
    ({}, "temperature", 0.4),
    ({"score": "additive"}, "temperature", 2.0),
    ({"normaliser": "sparsemax"}, "scale", 1.7),
    ({"d_k": (2, 3)}, "scale", -0.3),
    ({"softcap": 3.0}, "softcap", 0.8),
    ({"normaliser": "sigmoid", "bias": "linear"}, "bias_slope", 1.5),
    ({"normaliser": "linear"}, "scores", 2.5),
    ({"bias": "alibi"}, "scores", -1.25),
    ({"position": "none", "n_kv_heads": 1}, "queries", 0.75),
    ({"normaliser": "formula", "normaliser_formula": "e = exp(x); e / sum(e)"}, "scores", 1.5),
    ({"normalise_over": "queries", "mask": "none", "score": "formula", "score_formula": "0 * i"}, "temperature", 2.0),
)
"""What is added to a setting, the number that is held, and what it is moved to."""
ASIDE: tuple[tuple[dict[str, Any], str, float], ...] = (
    ({}, "capped", 0.5),
    ({"normaliser": "entmax"}, "entmax.alpha", 1.7),
)
"""And what no line explains."""


def moved(before: Trace, name: str, value: float) -> tuple[Trace, dict[str, Any]]:
    """The run of the setting in which a number of the last layer is another, and the change as the browser has it."""
    config, layer = before.config, len(before.layers) - 1
    if name in before.layers[layer]:
        step = before.layers[layer][name]
        index = (1, 3, 1)
        change = {"step": f"{name}.{layer}", "at": int(np.ravel_multi_index(index, step.shape)), "value": value}
        return run(config, edits=[(layer, name, index, value)]), change
    knob: dict[str, Any] = {"normaliser_knobs": {name: value}} if "." in name else {name: value}
    return run(replace(config, **knob)), {"setting": name, "value": value}


def test_what_is_said_of_held_numbers_is_what_is_said_of_the_run_with_them(node: str, tmp_path: Path) -> None:
    dice, questions, answers = random.Random(3), [], []  # noqa: S311 - nothing secret
    for number, (more, name, value) in enumerate((*MOVES, *ASIDE)):
        before = run(Config(**BEFORE | more))
        (after, change), layer = moved(before, name, value), len(before.layers) - 1
        data = browser_facts.cells_of(before, layer)
        assert data is not None
        (tmp_path / f"{number}.bin").write_bytes(stage_bytes.packed(data.header | {"head": data.head}, data.arrays))
        was, now = arrays_of(before), arrays_of(after)
        arrays = {
            step: {"axes": [], "shape": found.shape, "values": [*map(str, np.ravel(found).tolist())]}
            | {"isMoved": not np.array_equal(found, was[name])}
            for name, found in now.items()
            for step in [name.removesuffix(f".{layer}")]
            if step != name
        }
        weights = query_weights(after, layer, 1)
        cells = asked(after, dice, 0)
        opening = {"head": 1, "positions": None, "queries": weights.queries, "keys": None}
        questions.append(
            {"file": str(tmp_path / f"{number}.bin"), "cells": cells, "changes": [change], "layer": layer}
            | {"arrays": arrays, "opening": opening | {"promises": bool(weights.is_promised)}}
        )
        answers.append(
            {
                "said": [wanted(after, layer, cell) for cell in cells] if number < len(MOVES) else None,
                "weights": [float(x) for x in np.where(weights.masked, np.nan, weights.weights).ravel()],
                "kinds": [weights.kind(query) for query in range(len(weights.queries))],
            }
        )
    (tmp_path / "asked.json").write_text(
        json.dumps(questions).replace('"inf"', '"Infinity"').replace('"-inf"', '"-Infinity"'), "utf-8"
    )
    parts = (Path(stage_bytes.__file__).with_suffix(".js"), SCRIPT, HELD, SENTENCE)
    script = "\n".join([*map(joined, parts), ASK_HELD])
    (tmp_path / "held.cjs").write_text(f'"use strict";\n{script}', "utf-8")
    done = subprocess.run(
        [node, str(tmp_path / "held.cjs"), str(tmp_path / "asked.json")],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for made, should, (_, name, _) in zip(json.loads(done.stdout), answers, (*MOVES, *ASIDE), strict=True):
        np.testing.assert_array_equal([*map(float, made["weights"])], should["weights"], err_msg=name)
        assert made["kinds"] == should["kinds"], name
        assert differences(made["said"], should["said"], name) == []
