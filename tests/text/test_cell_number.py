"""The numbers in cells: one text for a number, whether Python draws it or the browser."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np

from attnviz.exports.bundle import joined
from attnviz.text.format import cell_number
from attnviz.ui.components import stage

CANVAS = "{ getContext: () => ({ measureText: (text) => ({ width: text.length }) }) }"
PAGE = f"const document = {{ createElement: () => ({CANVAS}) }};"


def test_a_number_in_a_cell_reads_the_same_in_a_file_and_on_the_screen(node: str) -> None:
    draws = np.random.default_rng(7)
    numbers = [0.0, 0.125, -0.125, 2.5, -2.5, 1.005, 1e-9, -0.004, 0.005, 0.995, 99_999.5, *draws.normal(0, 30, 200)]
    shares = [0.0, 0.0049, 0.005, 0.0499, 0.05, 0.125, 0.9949, 0.995, 1.0, *draws.random(200)]
    sets = [[1.0, -2.0], [0.5, -12.0], [1e5], [0.1, 123.4], []]
    code = f"""{PAGE}
{joined(Path(stage.__file__).with_name("ink.js"))}
const [numbers, shares, sets] = {json.dumps([numbers, shares, sets])};
console.log(JSON.stringify([
  [0, 1, 2].map((n) => numbers.map((number) => short(number, n))),
  [20, 30].map((room) => shares.map((number) => share(number, room))),
  [1, 3, 5, 7, 9].map((room) => sets.map((each) => decimals(each, room))),
]));"""
    made = subprocess.run([node, "-e", code], check=True, capture_output=True, encoding="utf-8")
    assert json.loads(made.stdout) == [
        [[cell_number.written(number, places) for number in numbers] for places in range(3)],
        [[cell_number.share(number, room) for number in shares] for room in (20, 30)],
        [
            [cell_number.places(each, lambda text, room=room: len(text) <= room) for each in sets]
            for room in (1, 3, 5, 7, 9)
        ],
    ]
