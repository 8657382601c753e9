"""A score may be infinite, or none: what a row of weights is then, the page says and all who read it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import Config, Trace, run
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.exports.script.numpy_script import numpy_script
from attnviz.exports.script.torch_script import torch_script
from tests.support import interactive_file, readings

SCORES = ("q@k/0", "0**(i-j)", "q@k+exp(1000)", "(i-j)/0", "log(i-1)", "1 if q@k>0 else 0", "abs(i-j)")
MASKS = (("none",), ("causal",), ("causal", "no_self"))
TYPED = ("e = exp(x - max(x)); e / sum(e)", "relu(x) / n")
SIZES: tuple[dict[str, Any], ...] = ({"sentence": "a b a c d", "d_k": 3}, {"sentence": "a b c", "d_k": (2, 3)})


def runs(is_thorough: bool = False) -> Iterator[Trace]:
    """Every normaliser with every score, under one of the masks in turn, over keys and over queries.

    Any two of the four meet in every way; where it is thorough any three do, in half of all combinations.
    """
    rows = [{"normaliser": name} for name in NORMALISERS if name != "formula"]
    rows += [{"normaliser": "formula", "normaliser_formula": line} for line in TYPED]
    common = {"n_heads": 2, "d_model": 4, "initialiser": "normal", "score": "formula"}
    for at, row in enumerate(rows):
        for k, formula in enumerate(SCORES):
            for m, mask in enumerate(MASKS):
                if not is_thorough and m != (at + k) % len(MASKS):
                    continue
                size, over = SIZES[(at + len(mask)) % 2], ("keys", "queries")[(at + k + m) % 2]
                yield run(Config(**common | row | size, score_formula=formula, mask=mask, normalise_over=over))


def named(trace: Trace) -> str:
    config = trace.config
    return f"{config.normaliser} {config.normaliser_formula} of {config.score_formula}: {config.mask}, {config.d_k}"


def off(reading: Any, traces: list[Trace]) -> list[str]:
    return readings.disagreeing(map(named, traces), traces, {"": reading})


def test_a_score_of_minus_infinity_has_a_weight_of_exactly_0() -> None:
    found = 0
    for trace in runs(is_thorough=True):
        for S, A in zip(trace["masked"].array, trace["weights"].array):
            found += np.isnan(A).any() and np.isneginf(S).any()
            assert (A[np.isneginf(S)] == 0).all(), named(trace)
    assert found > 50


@pytest.mark.parametrize("is_thorough", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_scripts_and_cells_say_what_the_page_shows(is_thorough: bool) -> None:
    traces = list(runs(is_thorough))
    assert off(partial(readings.by_script, write=numpy_script), traces) == []
    assert off(readings.by_cell, traces) == []


def test_so_do_scripts_in_pytorch(torch: Any) -> None:
    assert off(partial(readings.by_script, write=torch_script), list(runs())) == []


def test_so_does_the_interactive_file(node: str, tmp_path: Path) -> None:
    traces = list(runs())
    found = zip(traces, interactive_file.disagreeing(traces, node, tmp_path))
    assert {named(trace): wrong[0] for trace, wrong in found if wrong} == {}
