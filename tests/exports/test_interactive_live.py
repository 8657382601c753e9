"""What is moved in an interactive file: every number that it shows is then that of a run with what was moved."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import Config, Trace, run
from attnviz.engine.external.traces import of_weights
from attnviz.exports import bundle, interactive_html, interactive_live
from attnviz.exports.bundle import joined
from attnviz.exports.interactive_layers import layers, movable
from attnviz.exports.interactive_live import Live, live
from attnviz.exports.interactive_part import Part, everything, kept
from attnviz.live.knobs import MOVED
from attnviz.live.typed_numbers import KINDS
from attnviz.settings.faults import ConfigError
from attnviz.ui.panels import by_hand
from tests.support import slopes
from tests.support.live_changes import has_grown, setting
from tests.support.small_models import model

SCRIPT = interactive_html.SCRIPT.with_name("moved.js")
ARITHMETIC = (
    *("live/entry.js", "pictures/answer/rows.js", "exports/interactive/typed.js"),
    *("exports/interactive/normalisers.js", "exports/interactive/cell.js"),
)


def alone(path: Path) -> str:
    """A module without its imports, to stand behind those that it imports."""
    text = path.read_text("utf-8")
    for each in (bundle._TYPES, bundle._IMPORT, bundle._EXPORT):
        text = each.sub("", text)
    return text


SCRIPTS = "\n".join([joined(SCRIPT), *(alone(SCRIPT.parents[2] / each) for each in ARITHMETIC)])
"""What moves the numbers of a file, and the arithmetic of its cells."""

CHECK = """
(() => {
  class HTMLScriptElement { text = %(run)s; }
  const document = { getElementById: () => new HTMLScriptElement() };
  %(script)s
  const moves = %(moves)s, after = %(after)s, last = moves.length - 1;
  const off = (name, wanted, found) => {
    let scale = 1, most = 0;
    for (let n = 0; n < wanted.length; n++) {
      const [x, y] = [wanted[n], found[n]];
      if (Number.isFinite(x)) scale = Math.max(scale, Math.abs(x));
      if (Number.isFinite(x) && Number.isFinite(y)) most = Math.max(most, Math.abs(x - y));
      else if (!Object.is(x, y)) most = 1e300;
    }
    return most > 1e-9 * scale ? [`${name}: ${most}`] : [];
  };
  const fresh = (step) => numbersOf({ ...step, numbers: undefined });
  const compared = (wanted) => data.layers.flatMap(({ steps }, layer) =>
    Object.keys(steps).flatMap((name) => off(`${name} ${layer}`, fresh(wanted[layer][name]), numbersOf(steps[name]))));
  const asSaved = JSON.parse(document.getElementById().text).layers.map(({ steps }) => steps);
  for (const [kind, layer, name, cell, value] of moves) {
    view.layer = layer;
    if (kind === "setting") moveSetting(name, value);
    else if (kind === "allowed") allow([[cell[1], cell[2]]], value === 1);
    else if (kind === "head") switchHead(cell[0]);
    else moveNumber(name, cell, value);
  }
  const isEdited = data.live.program.edits.length > 0 || moves.some(([kind]) => kind !== "setting");
  const [n, m] = [data.queries.length, data.keys.length];
  const cellOf = (at) => [at / n / m, (at / m) %% n, at %% m].map(Math.floor);
  const wrong = data.layers.flatMap(({ steps }, layer) => {
    view.layer = layer;
    const cells = Array.from(isEdited ? [] : numbersOf(steps.weights), (_, at) => cellOf(at));
    const told = cells.map((cell) => lines({ name: "weights" }, cell));
    return told.flat().filter(([, text]) => text.includes(words.edited)).map((line) => `${layer} ${line}`);
  });
  const found = [...compared(after), ...wrong], isMoved = view.moved;
  moveBack();
  return { found, moved: isMoved, left: [...compared(asSaved), ...(view.moved ? ["that something was moved"] : [])] };
})()
"""


@dataclass
class Case:
    """A run whose file is moved, what is moved in it, and the run that has to be seen."""

    before: Trace
    moves: list[tuple[str, int, str, tuple[int, ...], float]]
    after: Trace


def moved_there(cases: Sequence[Case], node: str, folder: Path, fault: tuple[str, str] = ("", "")) -> list[Any]:
    """What the files show that is not in the run, and what is left of it once everything was moved back."""
    runs = []
    for each in cases:
        whole = everything(each.before)
        it = what_moves(each.before)
        held = interactive_html.described(each.before) | {"live": movable(it), "layers": [*layers(each.before, whole)]}
        script = SCRIPTS.replace(interactive_html.NO_LINES, interactive_html.lines_of(it)).replace(*fault)
        script = script.replace(interactive_html.NO_FORMULAS, interactive_html._formulas(each.before))
        script = script.replace(interactive_html.NOT_WRITTEN, interactive_html._written(each.before))
        after = [layer["steps"] for layer in layers(each.after, whole)]
        told = {"run": json.dumps(json.dumps(held)), "script": script, "after": json.dumps(after)}
        runs.append(CHECK % (told | {"moves": json.dumps(each.moves)}))
    path = folder / "moved.js"
    path.write_text(f'"use strict";\nconsole.log(JSON.stringify([{",".join(runs)}]));', encoding="utf-8")
    made = subprocess.run([node, str(path)], capture_output=True, encoding="utf-8", check=False)
    assert made.returncode == 0, made.stderr[-2000:]
    return list(json.loads(made.stdout))


def what_moves(trace: Trace) -> Live:
    found = live(trace, everything(trace))
    assert found is not None
    return found


def case_of(at: int) -> Case | None:
    """A random run, with some of its knobs, a few numbers and a cell of the mask moved; None where it cannot be run."""
    dice = random.Random(at)  # noqa: S311 - nothing secret
    config = replace(setting(at, dice), edits=())
    moves: list[Any] = []
    try:
        before = run(config)
        for knob in what_moves(before).knobs:
            name, low, high = knob["name"], knob["low"], min(knob["high"], 3 * abs(knob["value"]) + 1)
            value = dice.randint(low, int(high)) if knob["whole"] else dice.uniform(low, high)
            config = by_hand._with_setting(config, name, value)
            moves.append(("setting", 0, name, (), value))
        edits: list[Any] = []
        for layer in range(config.n_layers if at % 3 else 0):
            name = dice.choice(("scores", "weights", "heads"))
            place, value = dice.choice(slopes.indices(before.layers[layer][name])), dice.uniform(-1, 1)
            edits.append((layer, name, place, value))
            moves.append(("number", layer, name, place, value))
            if layer == 0:
                outputs = before.layers[layer]["heads"]
                head = dice.randrange(outputs.shape[0])
                moves.append(("head", layer, "heads", (head, 0, 0), 0.0))
                edits += [(layer, "heads", place, 0.0) for place in slopes.indices(outputs) if place[0] == head]
            mask = before.layers[0].get("allowed")  # one by head cannot be painted
            if layer == 0 and mask and mask.array.ndim == 2 and "reach" not in {move[2] for move in moves}:
                allowed = before.layers[layer]["allowed"].array
                cell = tuple(dice.randrange(n) for n in allowed.shape)
                may = float(not allowed[cell])
                edits += [(each, "allowed", cell, may) for each in range(config.n_layers)]
                moves.append(("allowed", 0, "allowed", (0, *cell), may))
        after = run(config, edits=edits)
    except ConfigError:
        return None
    return None if has_grown(after) else Case(before, moves, after)


@pytest.mark.slow
def test_what_is_shown_is_a_run_with_what_was_moved(node: str, tmp_path: Path) -> None:
    found = [case for case in map(case_of, range(70)) if case]
    assert len(found) > 45
    moved = {name.partition(".")[0] for case in found for kind, _, name, *_ in case.moves if kind == "setting"}
    assert moved >= {*MOVED, *KINDS, "entmax"}
    shown = moved_there(found, node, tmp_path)
    assert [
        (each, case.before.config, case.moves) for each, case in zip(shown, found) if each["found"] or each["left"]
    ] == []
    assert all(each["moved"] for each in shown)
    wrong = moved_there(found[:20], node, tmp_path, ("[name]: value }", "[name]: 2 * value }"))
    assert any(each["found"] for each in wrong)


def test_a_file_reads_little_more_than_it_draws_and_a_model_is_moved_too(node: str, tmp_path: Path) -> None:
    edited = run(Config(sentence="a b"), edits=[(0, "scores", (0, 0, 1), -np.inf), (0, "values", (1, 0, 2), 0.1)])
    sharp = run(Config(sentence="a b", temperature=0.5), edits=edited.edits)
    moves = [("setting", 0, "temperature", (), 0.5)]
    assert moved_there([Case(edited, moves, sharp)], node, tmp_path)[0]["found"] == []
    small = Config(sentence="the cat sat on the mat", n_heads=8, mask="window", bias="linear", softcap=3.0)
    of_model = model("gpt2")("the cat sat")
    after = model("gpt2")("the cat sat", temperature=0.25)
    case = Case(of_model, [("setting", 0, "temperature", (), 0.25)], after)
    assert moved_there([case], node, tmp_path) == [{"found": [], "moved": True, "left": []}]
    assert what_moves(run(small)).arrays == {}
    assert [knob["name"] for knob in what_moves(run(small)).knobs] == [
        "scale",
        "softcap",
        "bias_slope",
        "reach",
        "temperature",
    ]
    assert "w_o.0" in what_moves(run(replace(small, n_layers=2))).arrays
    assert "temperature" not in [knob["name"] for knob in what_moves(run(replace(small, normaliser="linear"))).knobs]


def test_nothing_is_moved_in_what_no_run_made_or_a_part_or_what_would_be_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace = run(Config(sentence="a b c", n_layers=2))
    assert live(of_weights([[0.5, 0.5]]), everything(of_weights([[0.5, 0.5]]))) is None
    assert live(trace, Part((0,))) is None
    assert live(trace, Part((0,), (1,))) is None
    assert live(trace, everything(trace)) is not None
    monkeypatch.setattr(interactive_live, "MOST_MORE", 1000)
    assert live(trace, everything(trace)) is None
    assert '"live":null' in interactive_html.html(trace)
    assert {step.name for step in kept(trace, 0)} >= {"scores", "weights", "heads"}


def test_no_number_may_be_moved_to_where_another_plan_begins(node: str, tmp_path: Path) -> None:
    before = run(Config(sentence="the cat sat on the mat", softcap=2.0))
    [knob] = [knob for knob in what_moves(before).knobs if knob["name"] == "softcap"]
    assert knob["least"] == 0.1, "at 0 the cap is off, and a run does not divide by it"
    least = replace(before.config, softcap=knob["least"])
    [made] = moved_there([Case(before, [("setting", 0, "softcap", (), 0.1)], run(least))], node, tmp_path)
    assert made["found"] == []


@pytest.mark.parametrize("settings", [{"n_heads": 8}, {"n_heads": 16, "n_layers": 2, "residual": True}])
def test_what_may_be_moved_costs_little_beside_the_numbers(settings: dict[str, Any]) -> None:
    trace = run(Config(sentence="the cat sat on the mat because it was very tired today", **settings))
    it = what_moves(trace)
    numbers = sum(array.size for array in it.arrays.values()) * interactive_live.EXACT
    sent_along = len(json.dumps(movable(it))) - numbers
    script = len(joined(SCRIPT)) + len(interactive_html.lines_of(it))
    assert sent_along + script < 60_000
