"""Room for a computation: what is refused in words, what waits, and that no session keeps a run."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import TASKS, Config, run
from attnviz.engine.cost import estimate as cost
from attnviz.engine.learning import film
from attnviz.engine.records.trace import Trace
from attnviz.settings import url_codec
from attnviz.ui.hosting import counts, recent_runs
from attnviz.ui.pages.experiments import EXPERIMENTS
from attnviz.ui.pages.registry import PAGES
from attnviz.ui.session import admission
from attnviz.ui.session.run_queue import RunQueue
from attnviz.ui.session.selection import PANEL_NAMES
from tests.engine.test_cost import LARGEST
from tests.support.cases import for_each
from tests.support.needs import NEEDS
from tests.support.page_figures import figures
from tests.ui.pages import test_your_data
from tests.ui.test_app import clean, opened, page_text

PLACES = [
    *({"page": "explore", "panel": name, "head": "1", "query": "1", "key": "1"} for name in PANEL_NAMES),
    *({"page": "experiments", "experiment": name} for name in EXPERIMENTS),
    {"page": "experiments", "experiment": "scale", "trial_vectors": "setting"},
    *({"page": name} for name in PAGES if "/" not in name),
    *({"page": "assign", "desk": name.partition("/")[2]} for name in PAGES if "/" in name),
    {"page": "compare", "b_seed": "5"},
]
LARGEST_LINK = {name: str(text) for name, text in url_codec.encode(Config(**LARGEST)).items()}


def setting(at: AppTest) -> tuple[str, ...]:
    return tuple("".join(at.query_params[name]) for name in ("n_layers", "d_model"))


def runs() -> list[Trace]:
    """Return the runs that are held, but for those that all visitors share."""
    recent_runs.forget()
    gc.collect()
    return [thing for thing in gc.get_objects() if issubclass(type(thing), Trace)]


SOME_PLACES = [pytest.param(place, marks=[pytest.mark.slow] * (n % 6 > 0)) for n, place in enumerate(PLACES)]


@pytest.mark.slow
@pytest.mark.parametrize("place", SOME_PLACES, ids=lambda place: "-".join(place.values()))
def test_no_session_holds_a_run_after_it_was_drawn(place: dict[str, str]) -> None:
    before = {id(each) for each in runs()}
    at = opened(**place, edits="scores.1.1.1.1~2.5")
    assert clean(at)
    assert [each.config for each in runs() if id(each) not in before] == []


@pytest.mark.slow
def test_no_session_holds_a_run_that_was_brought() -> None:
    before = {id(each) for each in runs()}
    at = test_your_data.upload(test_your_data.opened(), "w.npy", test_your_data._npy(np.full((3, 4, 4), 0.25)))
    assert not at.exception
    assert [each.config for each in runs() if id(each) not in before] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "place", [{"page": "explore"}, {"page": "compare"}, {"page": "take"}, {"page": "experiments"}], ids=str
)
def test_a_page_beyond_the_budget_says_what_to_make_smaller_and_keeps_the_setting(
    place: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cost.VARIABLE, "220")
    refused = counts.numbers().get("attnviz_refusals_total large", 0)
    at = opened(**place, **LARGEST_LINK)
    assert clean(at)
    assert counts.numbers()["attnviz_refusals_total large"] > refused
    assert "and the server allows 220 MB for one computation. What would help most: fewer layers or" in page_text(at)
    assert not figures(at)
    assert setting(at) == ("6", "512")
    monkeypatch.setenv(cost.VARIABLE, "2000")  # on a larger host the very same is drawn
    assert "allows" not in page_text(at.run())
    assert setting(at) == ("6", "512")


@pytest.mark.slow
def test_an_experiment_beyond_the_budget_leaves_the_rest_of_the_page() -> None:
    at = opened(page="experiments", experiment="shuffle", **LARGEST_LINK)
    assert clean(at)
    assert "What would help most: fewer layers or" in page_text(at)
    assert at.get("button_group")


def test_lessons_and_your_data_do_not_compute_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cost.VARIABLE, "64")
    for page in ("lessons", "data"):
        at = opened(page=page, **LARGEST_LINK)
        assert clean(at)
        assert "MB" not in page_text(at).replace("5 MB", "")


@pytest.mark.slow
def test_a_file_beyond_the_budget_is_not_offered_and_says_why() -> None:
    large = LARGEST_LINK | {"n_layers": "4"}
    at = opened(page="take", **large)
    assert clean(at)
    assert at.button(key="save-json").disabled
    assert any("What would help most" in caption.value for caption in at.caption)
    assert {"Save .py", "Save .csv"} <= {each.proto.label for each in at.get("download_button")}


@for_each(
    "what, setting, beside",
    [
        ("explore", {"pad_to": 128, "max_tokens": 128, "n_heads": 16}, {}),
        ("explore", {"d_model": 512, "feed_forward": "relu", "d_ff": 1024, "n_layers": 6}, {}),
        (
            "explore",
            {"score": "additive", "d_a": 64, "pad_to": 128, "max_tokens": 128, "n_layers": 6, "n_heads": 16},
            {},
        ),
        ("compare", {}, LARGEST),
        ("explore", LARGEST, {}),
    ],
)
def test_what_is_large_follows_from_the_estimate(what: str, setting: Any, beside: Any) -> None:
    assert admission.is_large(cost.estimate(NEEDS[what], Config(**setting), *([Config(**beside)] if beside else [])))
    assert not admission.is_large(cost.estimate(NEEDS[what], Config(), *([Config()] if beside else [])))


def test_a_file_of_a_large_run_waits_for_large_runs_and_one_of_a_small_run_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns = RunQueue()
    monkeypatch.setattr(admission, "TURNS", turns)
    config, made = Config(**LARGEST), threading.Event()
    with turns.large_run_lock:
        assert admission.later(NEEDS["file/csv"], Config(), lambda: "small")() == "small"
        waiting = threading.Thread(target=admission.later(NEEDS["file/csv"], config, made.set), daemon=True)
        waiting.start()
        assert not made.wait(0.3)
    assert made.wait(30)


def test_learning_is_done_one_at_a_time_and_what_was_learned_is_there_at_once() -> None:
    config = TASKS["backwards"].config(learn_steps=3, seed=41)
    film._FRAMES.clear()
    assert admission.waits(NEEDS["explore"], config)
    trace = run(config)
    assert not any(admission.waits(NEEDS[what], of) for what in ("explore", "learn") for of in (config, trace))


@pytest.mark.slow
def test_deal_again_takes_fewer_seeds_where_the_setting_is_slow_and_says_so() -> None:
    slow = {"n_layers": 1, "feed_forward": "none", "score": "negative_distance"}
    at = opened(panel="redeal", **LARGEST_LINK | {name: str(value) for name, value in slow.items()})
    assert clean(at)
    n = cost.times(Config(**LARGEST | slow), 10)
    assert 2 <= n < 10
    assert f"so the average is over {n} seeds, not 10" in page_text(at)
    at = opened(panel="redeal", layer="6", **LARGEST_LINK)
    assert clean(at)
    assert "takes too long to compute with other seeds" in page_text(at)
