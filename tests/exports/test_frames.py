"""Steps as other libraries take them: NumPy, pandas, xarray, Plotly; and a notebook with fifty traces."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from attnviz import Config, Trace, gradients, load, of_weights, run
from attnviz.exports import archive
from attnviz.exports.formats import export
from tests.support.interactive_file import unpacked

SETTING = Config(sentence="the cat saw the dog", n_heads=2, d_v=(3, 1), mask="causal", score="general", n_layers=2)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return run(SETTING)


def test_numpy_takes_a_step_for_its_array(trace: Trace) -> None:
    step = trace["weights"]
    assert np.asarray(step) is step.array
    assert not np.shares_memory(np.array(step), step.array)
    assert np.array(step).flags.writeable
    assert np.asarray(step, dtype=np.float32).dtype == np.float32
    assert np.array(step, copy=False) is step.array
    with pytest.raises(ValueError, match="copy"):
        np.array(step, dtype=np.float32, copy=False)
    np.testing.assert_array_equal(np.sum(step, axis=-1), step.array.sum(axis=-1))


def test_every_step_is_a_table_with_its_words_and_names(trace: Trace) -> None:
    slopes = gradients(trace, {(1, "output"): np.ones(trace["output"].shape)})
    again = archive.read(export("npz", trace))
    every = [*trace.around.values(), *trace.layers[1].values(), slopes.layers[1]["scores"], again["weights"]]
    assert {len(step.axes) for step in every} == {2, 3}
    for step in every:
        table, numbers = step.to_pandas(), step.array.astype(float)
        for axis, widths in step.true_widths.items():
            place = [slice(None)] * numbers.ndim
            for head, width in enumerate(widths):
                place[0], place[step.axes.index(axis)] = slice(head, head + 1), slice(width, None)
                numbers[tuple(place)] = np.nan
        np.testing.assert_array_equal(table.to_numpy(float).reshape(step.shape), numbers)
        assert [*table.index.names, table.columns.name][-1].startswith(step.axes[-1])
        assert len({*table.index.names, table.columns.name}) == len(step.axes)
    weights = trace["weights"].to_pandas()
    assert weights.index.names == ["head", "query"]
    assert weights.loc[(1, "dog"), "cat"] == trace["weights"].array[1, 4, 1]
    assert weights.loc[(0, "saw"), ["the", "the (2)"]].tolist() == trace["weights"].array[0, 2, [0, 3]].tolist()
    assert load("small")("the king saw")["g_f"].to_pandas().columns.tolist() == ["g_f"]


def test_xarray_has_the_same_names_or_is_asked_for(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, Any] = {}
    monkeypatch.setitem(
        sys.modules, "xarray", SimpleNamespace(DataArray=lambda numbers, **more: made.update(more, n=numbers))
    )
    trace["score_w"].to_xarray()
    assert (made["name"], made["dims"]) == ("score_w", ["head", "d_k", "d_k_2"])
    trace["weights"].to_xarray()
    np.testing.assert_array_equal(made["n"], trace["weights"].array)
    assert made["coords"]["key"] == ["the", "cat", "saw", "the (2)", "dog"]
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install xarray\. step\.to_pandas\(\) has the same names"):
        trace["weights"].to_xarray()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "attnviz\[app\]"'):
        trace["weights"].to_pandas()


def test_a_figure_of_any_step_has_its_numbers_and_says_what_is_not_there(trace: Trace) -> None:
    for name in [*trace.around, *trace.layers[0]]:
        step = {**trace.around, **trace.layers[0]}[name]
        drawn = trace.figure(name, layer=0).data
        by_head = step.axes[0].endswith("head")
        assert len(drawn) == (len(step.array) if by_head else 1)
        for head, each in enumerate(drawn):
            there, given = np.isfinite(each.z), np.atleast_2d(step.head(head) if by_head else step.array)
            np.testing.assert_array_equal(np.asarray(each.z)[there], given[there])
            assert "%{z" in each.hovertemplate
    [one] = trace.figure(head=-1).data
    assert one.z[4, 1] == trace.layers[1]["weights"].array[1, 4, 1]
    for wrong, error in (({"step": "weight"}, KeyError), ({"layer": 2}, IndexError), ({"head": 2}, IndexError)):
        with pytest.raises(error, match=r"no step 'weight'; choose one of|choose 0 to 1|has 0 to 1"):
            trace.figure(**wrong)


def test_a_notebook_with_fifty_traces_stays_small(trace: Trace) -> None:
    """A frame is packed: 54 KB for a sentence, where the interactive file has three times as much."""
    for each in (trace, of_weights(np.eye(5), SETTING.sentence.split())):
        drawn = each._repr_html_()
        assert unpacked(drawn).startswith("<!DOCTYPE html>")
        assert 50 * len(drawn.encode()) < 2_750_000
        assert len(drawn) < len(unpacked(drawn)) / 2


def test_a_table_goes_on_to_arrow(trace: Trace) -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.Table.from_pandas(trace["weights"].to_pandas().reset_index())
    assert table.column_names[:2] == ["head", "query"]
    assert isinstance(trace["weights"].to_pandas(), pd.DataFrame)
