"""The page's own JavaScript for the maps, run by node without a page: many questions in one process."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from attnviz.exports.bundle import joined
from attnviz.pictures.stage_record import Stage
from attnviz.ui.components.stage.heatmap import Lettering, message
from attnviz.ui.components.stage.heatmap import _words as words
from tests.support.placement import Shape

ROOT = Path(__file__).parents[2] / "attnviz"
MODULES = {
    "ui/components/sentence/hand/edited_words.js": "moved, replaced, textOf",
    "pictures/stage_bytes.js": "unpackStage",
    "pictures/layout/placement.js": "place, placed",
    "ui/components/stage/ahead/ahead.js": "addressOf, saysTheSame",
    "ui/components/stage/ahead/preview.js": "dataAhead",
    "ui/components/stage/maps.js": "alone, mapOf, shapeOf, stagesOf",
    "ui/components/stage/heading.js": "heading",
    "ui/components/stage/room.js": "roomFor",
}
MAIN = """
import { readFileSync } from "node:fs";
const number = (key, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value);
const plain = (key, value) => number(key, ArrayBuffer.isView(value) ? Array.from(value) : value);
const read = (message) => {
  const { header, arrays } = unpackStage(new Uint8Array(Buffer.from(message, "base64")));
  return stagesOf(header.stages, arrays, []);
};
const ANSWERS = {
  place: ({ shapes, width, height, focused }) => place(shapes, width, height, focused),
  room: ({ view, measured, has }) => roomFor(view, measured, has),
  address: ({ follow, said }) => addressOf(follow, new Map(Object.entries(said))),
  before: ({ field, text }) => saysTheSame(field, text),
  moved: ({ words, from, to }) => textOf(moved(words, from, to), words),
  dropped: ({ words, from }) => textOf(words.filter((_, at) => at !== from), words),
  replaced: ({ words, from, text }) =>
    textOf(words.map((word, at) => (at === from ? replaced(word, text) : word)), words),
  ahead: ({ data, sent }) => dataAhead(data, sent),
  heading: ({ message, about, words }) => heading(read(message)[0], about, words),
  maps: ({ message, width, height, head, heads, dark }) => {
    const stages = read(message).map((stage) => (head === null ? stage : alone(stage, head, heads)));
    const { tilings } = placed(stages.map(shapeOf), width, height, head !== null);
    return stages.map((stage, at) => ({ tiling: tilings[at], ...mapOf(stage, tilings[at], dark) }));
  },
};
const asked = JSON.parse(readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify(asked.map((each) => ANSWERS[each.ask](each)), plain));
"""


def answers(asked: Sequence[Mapping[str, Any]]) -> list[Any]:
    """What the page's script answers to each question; numbers that JSON has not are strings."""
    node = shutil.which("node")
    if node is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("node is not installed")
    with tempfile.TemporaryDirectory() as folder:
        main = Path(folder) / "main.js"
        paths = {os.path.relpath(ROOT / path, folder): names for path, names in MODULES.items()}
        imports = [f'import {{ {names} }} from "{path}";' for path, names in paths.items()]
        main.write_text("\n".join(imports) + "\n", "utf-8")
        script = Path(folder) / "script.mjs"
        script.write_text(joined(main) + MAIN, "utf-8")
        given = json.dumps(list(asked))
        made = subprocess.run([node, str(script)], input=given, capture_output=True, encoding="utf-8", check=False)
    assert made.returncode == 0, made.stderr
    return list(json.loads(made.stdout))


def sent(*stages: Stage) -> str:
    """Stages as the page sends them."""
    return base64.b64encode(message(stages, {})).decode()


def shape(outline: Shape) -> dict[str, Any]:
    """The size of a stage as the script has it."""
    return asdict(outline)


def heading(stage: Stage, **about: Any) -> str:
    """The heading of a stage as HTML."""
    usual = {"left": 0, "block": 1, "fold": 1, "switches": False, "room": 10_000, "gap": 16, "turns": []}
    about = {**usual, "saysMasked": True, "isOneLine": False, "lines": [], "sizes": [], "height": 40, **about}
    asked = {"ask": "heading", "message": sent(stage), "about": about, "words": words(Lettering())}
    return str(answers([asked])[0])
