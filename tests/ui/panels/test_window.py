"""A long text: an overview of all of it, a window of its cells, and no array sent that is not seen."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import Config, run
from attnviz.engine.records.trace import Trace
from attnviz.pictures import columns, figures
from attnviz.ui.components.pickers import overview
from attnviz.ui.panels import window
from attnviz.ui.session import admission
from attnviz.ui.session.selection import Selection
from tests.support.needs import NEEDS
from tests.support.page_figures import figures as drawn

APP = str(Path(__file__).parents[3] / "app.py")
WORDS = " ".join(f"w{number}" for number in range(1024))


def of(n: int, **more: Any) -> Trace:
    return run(Config(sentence=WORDS, max_tokens=n, **more))


def opened(config: Config, state: dict[str, Any] | None = None, **query: str) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=120)
    setting = {"sentence": config.sentence, "max_tokens": str(config.max_tokens), "n_heads": str(config.n_heads)}
    for name, value in ({"v": "1"} | setting | query).items():
        at.query_params[name] = value
    for name, value in (state or {}).items():
        at.session_state[name] = value
    at.run()
    assert not at.exception
    return at


def page_text(at: AppTest) -> str:
    return "\n".join(element.proto.body for element in at.get("html"))


def sent(at: AppTest) -> int:
    """Bytes of everything that a run sends."""
    kinds = ("bidi_component", "plotly_chart", "html", "markdown", "button", "dataframe", "arrow_data_frame")
    return sum(part.proto.ByteSize() for kind in kinds for part in at.get(kind))


def test_the_overview_holds_the_largest_weight_of_each_block() -> None:
    trace = of(130, n_heads=3, mask=("causal",))
    selection = Selection(from_query=39, from_key=89)
    shown = window.seen(trace, selection)
    found = window.overview(trace, selection, shown)
    assert found is not None
    assert found.start == (39, 89)
    assert found.shown == (window.LENGTH, window.LENGTH)
    block = overview.block_size(130)
    A, allowed = trace["weights"].array, np.tri(130, dtype=bool)
    head, _, numbers = overview.packed(found).partition(b"\0")
    told = json.loads(head)
    side = -(-130 // block)
    blocks = np.frombuffer(numbers, "<f4").reshape(side, side)
    for row in range(side):
        for column in range(side):
            part = np.s_[:, row * block : (row + 1) * block, column * block : (column + 1) * block]
            open_there = np.broadcast_to(allowed, A.shape)[part]
            if not open_there.any():
                assert np.isnan(blocks[row, column])
            else:
                assert blocks[row, column] == np.float32(A[part][open_there].max())
    assert told["high"] == pytest.approx(A.max())
    one = window.overview(trace, replace(selection, focus=1), shown)
    assert one is not None
    np.testing.assert_array_equal(overview.blocks(one.weights, 1)[allowed], A[1][allowed])


def test_the_cells_of_the_window_are_those_of_the_run_and_its_bars_those_of_all_words() -> None:
    trace = of(200, n_heads=2, mask=("no_self",))
    shown = window.seen(trace, Selection(from_query=10, from_key=149))
    found = {stage.name: shown.part(stage) for stage in columns.columns(trace, 0)}
    rows, keys = slice(10, 42), slice(149, 181)
    for name in ("scores", "weights"):
        np.testing.assert_array_equal(found[name].array, trace[name].array[:, rows, keys])
        assert found[name].rows == [f"w{n}" for n in range(10, 42)]
        assert found[name].columns == [f"w{n}" for n in range(149, 181)]
        assert found[name].positions == (tuple(range(10, 42)), tuple(range(149, 181)))
    np.testing.assert_array_equal(found["heads"].array, trace["heads"].array[:, rows])
    whole = next(stage for stage in columns.columns(trace, 0) if stage.name == "weights")
    for ours, theirs, part in zip(figures.bars(found["weights"]), figures.bars(whole), (keys, rows)):
        np.testing.assert_allclose(ours, theirs[:, part])


def test_a_window_stays_where_it_is_for_a_cell_in_it_and_goes_to_one_outside() -> None:
    trace = of(300)
    before = Selection(from_query=99, from_key=99)
    shown = window.seen(trace, before)
    here = window.held(replace(before, query=109, key=104), shown)
    assert (here.from_query, here.from_key) == (99, 99)
    there = window.seen(trace, window.held(replace(before, query=109, key=289), shown))
    assert there.queries == shown.queries
    assert there.keys is not None
    assert 289 in there.keys
    assert window.seen(of(64), before) == window.Seen()
    last = window.seen(trace, Selection(from_query=1023, from_key=1023))
    assert last.queries == last.keys == tuple(range(268, 300))
    assert window.moved(before, shown, (7, 999)) == replace(before, from_query=7, from_key=299)


def test_places_in_a_long_text_are_those_of_all_its_words() -> None:
    shown, whole = window.Seen((5, 6, 7), (9, 10), is_window=True), Selection(head=0, query=6, key=9)
    inside = shown.inside(whole)
    assert (inside.query, inside.key) == (1, 0)
    assert shown.outside(Selection(), inside) == whole
    assert shown.inside(replace(whole, key=11)).query == 1
    assert shown.inside(replace(whole, key=11)).key is None


@pytest.mark.slow
@pytest.mark.parametrize("query", [{}, {"focus": "2"}, {"focus": "1", "query": "700", "key": "30", "head": "1"}])
def test_a_thousand_words_send_no_more_than_is_seen(query: dict[str, str]) -> None:
    at = opened(Config(sentence=WORDS, max_tokens=1024, n_heads=2), **query)
    for picture in drawn(at):
        assert np.asarray(picture["data"][0].get("z", ())).size < 3 * (2 * 33) ** 2
    assert sent(at) < 793_000  # with the scripts of the components


@pytest.mark.slow
def test_what_a_host_has_no_room_for_is_refused_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    large = Config(sentence=WORDS, max_tokens=1024, n_heads=16)
    assert "fewer tokens" in admission.refusal(NEEDS["explore"], large)
    assert not admission.refusal(NEEDS["explore"], replace(large, n_heads=4))
    assert "up to 128" in admission.refusal(NEEDS["compare"], replace(large, n_heads=1), Config())
    assert not admission.refusal(NEEDS["compare"], replace(large, max_tokens=128, n_heads=1), Config())
    at = opened(replace(large, n_heads=1), panel="table")
    assert "one part at a time" in page_text(at)
