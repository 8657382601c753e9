"""The stage of a run as bytes: every number in it is that of the run, and every word of it is there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import Config, attend, run
from attnviz.engine.external.traces import forbidden
from attnviz.engine.records.trace import Trace
from attnviz.pictures import columns, step_path
from attnviz.pictures.figures import EXACT_UP_TO
from attnviz.pictures.stage_bytes import unpacked
from attnviz.ui.panels import stage_of_run, window
from attnviz.ui.session.selection import Selection
from tests.support.sample_settings import repeated_words

NOTHING = Selection()
LONG = " ".join(f"w{n}" for n in range(300))


def found(trace: Trace, selection: Selection = NOTHING) -> tuple[dict[str, Any], dict[str, Any]]:
    return unpacked(stage_of_run.stage_of_run(trace, selection))


def same(one: Any, other: Any) -> None:
    """Every bit of numbers that are sent exactly, and those of float32 else."""
    expected = np.asarray(other)
    kind = np.float64 if expected.size <= EXACT_UP_TO else np.float32
    assert one.dtype == kind
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(one, expected.astype(kind).reshape(one.shape))


def test_every_number_is_that_of_the_run() -> None:
    for number in range(20):
        config = replace(repeated_words(number), initialiser="normal", mask="causal" if number % 3 else "none")
        trace = run(config)
        layer = number % len(trace.layers)
        header, arrays = found(trace, Selection(layer=layer, shown=("weights", "queries", "output")[number % 3]))
        steps = trace.layers[layer]
        assert header["layer"] == layer
        assert header["words"] == {"query": [*trace.query_tokens], "key": [*trace.key_tokens]}
        shown = [stage["name"] for stage in header["stages"]]
        assert shown == [
            stage.name for stage in columns.columns(trace, layer, ("weights", "queries", "output")[number % 3])
        ]
        masked = {stage["name"] for stage in header["stages"] if stage["masked"]}
        for name in {*shown, "queries", "keys", "values", "weights", "heads"}:
            hidden = forbidden(steps) if name in masked else False
            same(arrays[name], np.where(hidden, np.nan, steps[name].array))
        for stage in header["stages"]:
            if stage["masked"]:
                everywhere = np.broadcast_to(arrays["forbidden"], arrays[stage["name"]].shape)
                np.testing.assert_array_equal(
                    everywhere.astype(bool), np.broadcast_to(forbidden(steps), everywhere.shape)
                )
        assert {each["name"]: each["shape"] for each in header["path"]}.keys() == {
            node.name for node in step_path.way(trace, layer, header["opening"][0])
        }


def test_a_cell_can_be_computed_from_the_bytes_alone() -> None:
    trace = run(Config(n_heads=3, d_k=2, mask="causal", seed=4))
    _, arrays = found(trace)
    may = arrays["forbidden"][0] == 0
    made = attend(arrays["queries"], arrays["keys"], arrays["values"], allowed=may)
    np.testing.assert_allclose(made.weights, np.nan_to_num(arrays["weights"]), rtol=0, atol=1e-15)
    np.testing.assert_allclose(made.output, arrays["heads"], rtol=0, atol=1e-14)


def test_a_long_text_is_a_window_and_an_overview() -> None:
    trace = run(Config(sentence=LONG, max_tokens=300, n_heads=2))
    selection = Selection(query=200, key=100)
    header, arrays = found(trace, selection)
    seen = window.seen(trace, selection)
    assert (header["is_window"], header["lengths"]) == (True, {"query": 300, "key": 300})
    assert header["positions"] == {"query": list(seen.queries or ()), "key": list(seen.keys or ())}
    part = trace["weights"].array[:, seen.queries][:, :, seen.keys]
    same(arrays["weights"], part)
    same(arrays["queries"], trace["queries"].array[:, seen.queries])
    blocks = arrays["overview"]
    assert header["overview"] == {"block": 8}
    assert blocks.shape == (38, 38)
    assert blocks[0, 0] == np.float32(trace["weights"].array[:, :8, :8].max())
    assert found(run(Config()))[0]["overview"] is None


@pytest.mark.slow
def test_the_largest_text_stays_small() -> None:
    trace = run(Config(sentence="a b c d " * 256, max_tokens=1024, n_heads=2))
    assert len(trace.key_tokens) == 1024
    assert len(stage_of_run.stage_of_run(trace, Selection())) < 100_000


def test_no_choice_of_the_browser_is_in_the_bytes() -> None:
    trace = run(Config(seed=3))
    for looked_at in (Selection(), Selection(focus=1, head=1, query=2, key=1)):
        elsewhere = replace(looked_at, digits=9, panel="table", page="class")
        made = {stage_of_run.stage_of_run(trace, selection) for selection in (looked_at, elsewhere)}
        assert len(made) == 1


def test_what_was_made_for_an_address_is_known_by_its_name_and_its_arrays() -> None:
    trace, selection = run(Config(seed=3, mask="causal")), Selection(head=1)
    assert stage_of_run.at_address(trace, selection) is None
    header, arrays = unpacked(stage_of_run.stage_of_run(trace, selection))
    there = stage_of_run.at_address(trace, replace(selection, panel="table"))
    assert there is not None
    assert there.name == header["name"]
    steps = {name: step.array for name, step in trace.layers[0].items()}
    shared = {name for name in steps if there.has(name, steps[name])}
    assert shared == {"queries", "keys", "values", "heads"}, "where nothing may be seen, a stage has no number"
    assert all(np.array_equal(arrays[name], steps[name]) for name in shared)
    assert not there.has("queries", run(trace.config)["queries"].array), "of another run"
    assert not there.has("nothing", steps["queries"])
    for other in (replace(selection, head=2), replace(selection, query=1), replace(selection, focus=1), Selection()):
        assert stage_of_run.at_address(trace, other) is None
        maps = stage_of_run.maps_at_address(trace, other)
        assert maps is not None, "the stages are the same whatever is chosen in them"
        assert (maps.name, maps.has("queries", steps["queries"])) == (header["maps"], True)
    assert stage_of_run.maps_at_address(trace, replace(selection, colours="common")) is None
    assert stage_of_run.maps_at_address(run(Config(seed=4, mask="causal")), selection) is None


def test_the_name_of_stages_is_that_of_all_that_is_the_same_whatever_is_chosen() -> None:
    chosen = (Selection(), Selection(head=1), Selection(query=2), Selection(head=2, query=1, key=0), Selection(focus=1))
    for config in (Config(seed=3), Config(mask="causal", n_layers=2), Config(seed=5, position="rope", n_heads=2)):
        trace, by_name = run(config), dict[str, bytes]()
        for selection in (*chosen, *(replace(each, colours="common") for each in chosen)):
            header, arrays = unpacked(stage_of_run.stage_of_run(trace, selection))
            same = {name: array.tobytes() for name, array in arrays.items() if not name.startswith("path.")}
            said = repr((header["stages"], sorted(same.items()))).encode()
            assert by_name.setdefault(header["maps"], said) == said
        assert len(by_name) == 2


def test_an_edit_and_an_infinite_number_travel() -> None:
    large = [(0, name, (1, at, 0), -1e200) for name, at in (("queries", 2), ("keys", 0))]
    header, arrays = found(run(Config(seed=3), edits=[*large, (0, "scores", (1, 4, 2), 7.0)]))
    scores = next(stage for stage in header["stages"] if stage["name"] == "scores")
    assert scores["edited"] == [[1, 4, 2]]
    assert arrays["scores"][1, 4, 2] == 7.0
    assert np.isposinf(arrays["scores"][1, 2, 0])


def test_the_edition_follows_the_code_and_the_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(stage_of_run, "PACKAGE", tmp_path)
    names = set[str]()
    for text in ("one", "two"):
        (tmp_path / "run.py").write_text(text, "utf-8")
        stage_of_run.edition.cache_clear()
        names.add(stage_of_run.edition())
    monkeypatch.setattr(stage_of_run.model_registry, "MODELS", {"small": None})
    stage_of_run.edition.cache_clear()
    names.add(stage_of_run.edition())
    stage_of_run.edition.cache_clear()
    assert len(names) == 3


def test_a_run_waits_for_what_is_being_made_of_its_setting() -> None:
    config = Config(seed=91)
    with ThreadPoolExecutor(1) as pool, stage_of_run.being_made(config, Selection()):
        asked = pool.submit(stage_of_run.is_at_address, config, Selection())
        stage_of_run.stage_of_run(run(config), Selection())
    assert asked.result()
    assert not stage_of_run.is_at_address(replace(config, seed=92), Selection())
