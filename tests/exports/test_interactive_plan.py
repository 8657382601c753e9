"""The arithmetic of an interactive file is that of the page of a layer: another page, and its lines say it."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attnviz import Config, Trace, run
from attnviz.engine.external.traces import of_scores, of_weights
from attnviz.engine.plan import page
from attnviz.engine.records.step_specs import STEPS, Spec
from attnviz.exports import interactive_layers
from attnviz.exports.interactive_part import everything
from attnviz.live.entries import trees_of_layer
from tests.exports.test_interactive_live import Case, moved_there
from tests.support import interactive_file
from tests.support.other_page import OTHERS, SETTING, of_page

DIFFERENTIAL = {
    'A = step("weights", normalise(S, Q, K, *learned))': "A = step(\n"
    '        "weights", normalise(S, Q, K, *learned) + -0.5 * normalise(only_where(allowed, -0.3 * S), Q, K)\n    )',
}
"""One map less another, as differential attention has it: of other scores, half of them."""
_SCORE = "score(Q, K, *page.score_weights(Q, K))"
MORE = {
    'step("scaled", S * page.scale())': 'step("scaled", S * page.scale() / 3.0 + -1.0 * S)',
    f'"scores", {_SCORE}': f'"scores", {_SCORE.replace("Q, K", "Q + Q, 2.0 * K", 1)}',
    'page.setting("softcap") * tanh(S / page.setting("softcap"))': 'tanh(S / page.setting("group"))',
}
SETTINGS = {
    "one head of keys, bias, mask, cap": SETTING,
    "over queries": replace(SETTING, normalise_over="queries", bias="none", mask=("none",)),
    "sparsemax": replace(SETTING, normaliser="sparsemax", softcap=0.0, position="none", temperature=0.5),
    "hardmax": replace(SETTING, normaliser="hardmax", bias="none", softcap=0.0),
    "additive": replace(SETTING, score="additive", n_layers=2, norm="none", feed_forward="none"),
}


def test_the_file_says_what_another_page_says(node: str, tmp_path: Path, said: pytest.MonkeyPatch) -> None:
    source, files = inspect.getsource(page), dict[str, str]()
    for old, new in {**OTHERS, **DIFFERENTIAL, **MORE}.items():
        assert old in source
        for name, setting in SETTINGS.items():
            files[f"{name}: {new}"] = interactive_file.of_file(of_page(source.replace(old, new), setting, said))
    found = interactive_file.outcomes([*files.values()], node, tmp_path)
    assert {name: wrong[:3] for name, wrong in zip(files, found, strict=True) if wrong} == {}


def test_a_difference_of_two_maps_is_said_with_both(node: str, tmp_path: Path, said: pytest.MonkeyPatch) -> None:
    trace = differential(replace(SETTING, softcap=0.0, bias="none"), said)
    weights = trace["weights"].array
    assert weights.sum(axis=-1) == pytest.approx(0.5)
    [told] = interactive_file.outcomes([interactive_file.of_file(trace, ("weights", (0, 3, 1)))], node, tmp_path)
    first, second, last = (text for title, text in told if title == "Weight")
    one, other, made = (float(text.rpartition(" = ")[2].replace("−", "-")) for text in (first, second, last))
    assert made == weights[0, 3, 1]
    assert one - 0.5 * other == pytest.approx(made, rel=1e-12)


def test_what_is_moved_is_followed_through_both_maps(node: str, tmp_path: Path, said: pytest.MonkeyPatch) -> None:
    cases = []
    for name in ("softmax", "sparsemax", "entmax15"):
        before = differential(replace(SETTING, normaliser=name), said)
        hotter = replace(before.config, temperature=0.4)
        moves = [("setting", 0, "temperature", (), 0.4), ("number", 0, "scores", (1, 3, 2), 2.5)]
        cases.append(Case(before, moves, run(hotter, edits=[(0, "scores", (1, 3, 2), 2.5)])))
    assert [(each["found"], each["moved"]) for each in moved_there(cases, node, tmp_path)] == [([], True)] * 3


def test_a_step_that_the_file_does_not_hold_is_computed_there(
    node: str, tmp_path: Path, said: pytest.MonkeyPatch
) -> None:
    said.setitem(STEPS, "again", Spec("T", ("head", "query", "key"), "signed", "T", "made again"))
    source = inspect.getsource(page)
    old = f'    S = step("scores", {_SCORE})'
    new = f'{old}\n    S = step("again", 2.0 * S + S)'
    assert old in source
    trace = of_page(source.replace(old, new), SETTING, said)
    assert "again" not in next(interactive_layers.layers(trace, everything(trace)))["steps"]
    assert interactive_file.disagreeing([trace], node, tmp_path) == [[]]


def test_what_was_given_has_trees_from_there_on() -> None:
    weights, scores = of_weights(np.eye(2)), of_scores(np.eye(2))
    assert trees_of_layer(weights, 0) == {}
    assert "scores" not in trees_of_layer(scores, 0)
    assert trees_of_layer(scores, 0)["weights"] == ["normalise", "masked"]


def differential(setting: Config, patch: pytest.MonkeyPatch) -> Trace:
    [(old, new)] = DIFFERENTIAL.items()
    source = inspect.getsource(page)
    assert old in source
    return of_page(source.replace(old, new), setting, patch)
