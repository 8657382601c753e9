"""Every field of a setting, moved off its default: scripts, workbook, slopes, interactive file, cells follow the run.

Fields are moved many at a time, which is as strict for what is compared and takes a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import SCORES, Config, Trace, run
from attnviz.exports.script.numpy_script import numpy_script
from attnviz.exports.script.torch_script import torch_script
from tests.support import interactive_file, readings

SMALL: dict[str, Any] = {"sentence": "the cat sat on", "d_model": 5, "n_heads": 2, "d_k": 3, "d_v": 2}
MOVED: dict[str, dict[str, Any]] = {
    "words": {"sentence": "The cats, sat.", "tokeniser": "pieces", "piece_length": 2, "bos": True, "eos": True}
    | {
        "pad_to": 11,
        "mask": "padding",
        "position": "rope",
        "rope_base": 50.0,
        "d_k": 4,
        "embedding": "uniform",
        "seed": 7,
    },
    "own numbers": {"second_sentence": "un deux trois", "embedding": "own", "max_tokens": 3, "position": "none"}
    | {"own_numbers": "1 2; 3 -4; 0.5 0.25", "own_numbers_second": "1 0.5; 3 4; 5 6"},
    "heads": {"n_heads": 4, "n_kv_heads": 2, "d_k": (3, 2), "d_v": (1, 2), "output_projection": False}
    | {"projection_bias": True, "tied": True, "initialiser": "normal"},
    "set by hand": {
        "d_model": 16,
        "d_k": 8,
        "initialiser": "by_hand",
        "patterns": ("first", "same_word"),
        "sharpness": 3.0,
    },
    "solved anew": {"d_model": 16, "d_k": 8, "initialiser": "by_hand", "solved_anew": True, "score": "dot"},
    "learned": {"initialiser": "learned", "task": "backwards", "learn_steps": 3, "learn_rate": 0.05, "learn_batch": 4},
    "typed": {"score": "formula", "score_formula": "sum(v * tanh(q@U + b)) + k @ q", "d_a": 2, "initialiser": "linear"}
    | {"bias": "formula", "bias_formula": "-i * j / h", "mask": "formula", "mask_formula": "j != 1 or i == 2"}
    | {"normaliser": "formula", "normaliser_formula": "sigmoid(x) / n"},
    "knobs": {"normaliser": "entmax", "normaliser_knobs": {"entmax.alpha": 1.7}, "temperature": 0.4, "softcap": 1.5}
    | {"scale": 0.3, "bias": "linear", "bias_slope": 2.0, "mask": "window", "reach": 1},
    "t5": {
        "bias": "t5",
        "t5_n_buckets": 4,
        "t5_max_distance": 65,
        "t5_bidirectional": False,
        "sentence": "a b c d e f g h i j k l m",
    }
    | {"mask": "dilated", "dilation": 3},
    "blocks": {"mask": ("block", "prefix"), "block_size": 2, "prefix_length": 1},
    "global": {
        "mask": ("global_window", "custom"),
        "reach": 0,
        "n_global": 2,
        "custom_cells": "1: 1, 2: 1-2, 3: 2-3, 4: 1",
    },
    "layers": {"n_layers": 2, "residual": True, "norm": "pre", "feed_forward": "swiglu", "d_ff": 3, "score": "additive"}
    | {"normalise_over": "queries", "edits": ((0, "scores", (0, 1, 2), 3.0), (1, "w_v", (1, 1, 1), 2.0))},
}
"""Settings in which every field is moved, with what has to be on for it to matter."""

NOT_MOVED = {
    "model": "a trained model is another computation, which its own tests hold against its library",
    "score_knobs": "no score has a knob",
}


def settings() -> dict[str, Config]:
    return {name: Config(**SMALL | moved) for name, moved in MOVED.items()}


def default_of(field: Any) -> Any:
    return field.default if field.default is not MISSING else field.default_factory()


def arrays(trace: Trace) -> list[tuple[str, bytes]]:
    return [(name, step.array.tobytes()) for steps in (trace.around, *trace.layers) for name, step in steps.items()]


def test_every_field_is_moved_and_moves_the_run() -> None:
    still = []
    runs = {name: (config, arrays(run(config))) for name, config in settings().items()}
    for field in fields(Config):
        if field.name in NOT_MOVED:
            continue
        moving = False
        for config, found in runs.values():
            if getattr(config, field.name) != default_of(field) and not moving:
                try:
                    moving = arrays(run(replace(config, **{field.name: default_of(field)}))) != found
                except ValueError:
                    moving = True  # what is on here needs it
        still += [] if moving else [field.name]
    assert still == [], "give these another value in MOVED, where something else makes them matter"
    assert not any(row.knobs for row in SCORES.values()), "move score_knobs too"


def disagreeing(**each: Callable[[Trace], None]) -> list[str]:
    traces = {name: run(config) for name, config in settings().items()}
    assert all(np.isfinite(trace["output"].array).all() for trace in traces.values())
    return readings.disagreeing(traces, traces.values(), each)


@pytest.mark.slow
def test_every_reading_follows_every_field() -> None:
    more = {"workbook": readings.by_workbook} if find_spec("xlsxwriter") else {}
    numpy = partial(readings.by_script, write=numpy_script)
    assert disagreeing(numpy=numpy, slopes=readings.by_slopes, cell=readings.by_cell, **more) == []


def test_so_does_the_script_in_pytorch(torch: Any) -> None:
    assert disagreeing(pytorch=partial(readings.by_script, write=torch_script)) == []


def test_so_does_the_interactive_file(node: str, tmp_path: Path) -> None:
    traces = {name: run(config) for name, config in settings().items()}
    found = []
    for (name, trace), wrong in zip(traces.items(), interactive_file.disagreeing([*traces.values()], node, tmp_path)):
        edited = tuple(f"layer {layer}, weights {','.join(map(str, index))}:" for layer, _, index, _ in trace.edits)
        found += [f"{name}: {line}" for line in wrong if not edited or not line.startswith(edited)]
    assert found == []
