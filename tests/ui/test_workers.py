"""Large computations in processes of their own: the same numbers, limits, and an end when nobody waits."""

from __future__ import annotations

import os
import runpy
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import TASKS, Config, run
from attnviz.analysis.seed_average import mean_weights
from attnviz.engine.cost.estimate import Cost
from attnviz.engine.learning import film
from attnviz.engine.numerics import cancellation
from attnviz.engine.numerics.cancellation import Cancelled
from attnviz.engine.records.trace import Trace
from attnviz.exports.formats import ExportTarget, export
from attnviz.settings import language, url_codec
from attnviz.settings.faults import ConfigError
from attnviz.ui.hosting import workers
from attnviz.ui.hosting.workers import Ended, Workers
from attnviz.ui.session import admission
from attnviz.ui.session.run_queue import RunQueue
from tests.support.cases import for_each
from tests.support.needs import NEEDS
from tests.support.sample_settings import repeated_words
from tests.ui.test_app import page_text

MB, SOON = 10**6, 30.0
LARGE = Config(sentence=" ".join(f"w{n}" for n in range(96)), max_tokens=96, n_heads=8, d_model=256, d_k=64, n_layers=4)


@pytest.fixture(scope="module")
def one() -> Iterator[Workers]:
    found = Workers(1, 500 * MB)
    yield found
    found.end()


class Noted:
    """Processes for the page, and the names of what they were asked to call."""

    n = 1

    def __init__(self, pool: Workers) -> None:
        self._pool, self.names = pool, list[str]()

    def __call__(self, make: Any, *given: Any) -> Any:
        self.names.append(getattr(make, "func", make).__name__)
        return self._pool(make, *given)


@pytest.fixture
def noted(one: Workers, monkeypatch: pytest.MonkeyPatch) -> Noted:
    found = Noted(one)
    monkeypatch.setattr(workers, "there", found)
    monkeypatch.setattr(admission, "TURNS", RunQueue())
    return found


def bits(trace: Trace) -> list[tuple[str, bytes]]:
    return [(name, each[name].array.tobytes()) for each in (trace.around, *trace.layers) for name in each]


def opened(**query: str) -> AppTest:
    page = AppTest.from_file("../../app.py", default_timeout=SOON)
    for name, text in query.items():
        page.query_params[name] = text
    return page.run()


@pytest.mark.slow
def test_every_bit_and_every_word_is_that_of_a_run_here(one: Workers) -> None:
    settings = [*map(repeated_words, range(20)), LARGE, replace(LARGE, initialiser="by_hand", max_tokens=24)]
    settings.append(Config(sentence="the cat sat", mask=("causal", "no_self"), model="none-such"))
    try:
        for number, config in enumerate(settings):
            language.set_language(("en", "de")[number % 2])
            here, there = run(config), one(run, config)
            assert bits(there) == bits(here)
            assert (there.config, there.notes, there.query_tokens) == (config, here.notes, here.query_tokens)
            assert not there["weights"].array.flags.writeable
        language.set_language("de")
        faults = []
        for compute in (run, partial(one, run)):
            with pytest.raises(ConfigError) as fault:
                compute(Config(sentence=""))
            faults.append(str(fault.value))
        assert faults[0] == faults[1]
    finally:
        language.set_language("en")


def kills() -> float:
    return workers.counts.numbers().get("attnviz_kills_total ", 0)


@pytest.mark.slow
def test_what_takes_too_much_ends_and_the_next_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, processes = Workers(1, 64 * MB, seconds=1), list[int]()
    for make, given, why in (
        (runpy.run_path, (str(Path(__file__).parents[1] / "support" / "endless.py"),), "slow"),  # the processor
        (np.ones, (400 * MB,), "lost"),  # memory
        (os.kill, (0, signal.SIGKILL), "lost"),
        (os.kill, (0, signal.SIGSTOP), "slow"),  # hangs, and uses nothing
    ):
        processes.append(pool(os.getpid))
        if make is os.kill:
            given = processes[-1], *given[1:]
        monkeypatch.setattr(workers, "PATIENCE", 1 if signal.SIGSTOP in given else SOON)
        start, killed = time.monotonic(), kills()
        with pytest.raises(Ended, match=workers.WORDS[why].split("{")[0][:30]):
            pool(make, *given)
        assert time.monotonic() - start < SOON
        assert kills() == killed + 1
        monkeypatch.setattr(workers, "PATIENCE", SOON)
        assert pool(abs, -3) == 3
    assert len({*processes}) == 4 - 1  # it lives on where memory was refused
    pool.end()


@pytest.mark.slow
def test_what_nobody_waits_for_ends(one: Workers) -> None:
    before, asked = one(os.getpid), list[float]()

    def gone() -> None:
        asked.append(time.monotonic())
        if len(asked) > 2:
            raise Cancelled

    for make, given, stays in ((mean_weights, (LARGE, range(1_000), 0), True), (time.sleep, (60,), False)):
        asked.clear()
        with pytest.raises(Cancelled), cancellation.checked_by(gone):
            one(make, *given)
        assert time.monotonic() - asked[-1] < 3
        assert one(abs, -3) == 3
        assert (one(os.getpid) == before) == stays


@pytest.mark.slow
def test_the_page_has_computed_elsewhere_what_is_large_and_nothing_else(noted: Noted) -> None:
    small, large = opened(), opened(**{name: str(text) for name, text in url_codec.encode(LARGE).items()})
    assert page_text(small)
    assert noted.names == ["run"]
    make = admission.later(
        NEEDS["file/csv"], LARGE, partial(admission._file, "csv", partial(run, LARGE), ExportTarget())
    )
    assert make() == export("csv", run(LARGE), ExportTarget())
    assert noted.names == ["run", "_file"]
    assert page_text(large)


REPEATED = {
    "mean_weights": {"panel": "redeal"},
    "measured": {"page": "experiments", "experiment": "importance"},
    "spreads_of": {"page": "experiments", "experiment": "scale", "trial_vectors": "setting"},
    "outcome": {"page": "experiments", "experiment": "shuffle"},
}


@pytest.mark.slow
@for_each("name", REPEATED)
def test_what_runs_a_setting_often_is_computed_elsewhere_with_the_same_numbers(
    noted: Noted, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(admission, "LARGE", Cost(24 * MB, 0.0))
    monkeypatch.setattr(workers, "there", noted)
    query = REPEATED[name] | {"sentence": "the cat sat on the mat", "mask": "causal"}
    elsewhere = opened(**query)
    assert not elsewhere.exception
    assert name in noted.names
    monkeypatch.setattr(workers, "there", Workers(0, 0))
    here = opened(**query)
    assert page_text(here) == page_text(elsewhere)
    assert [each.value.to_csv() for each in here.dataframe] == [each.value.to_csv() for each in elsewhere.dataframe]
    sent = [[each.proto.bytes for each in page.get("bidi_component")] for page in (here, elsewhere)]
    assert sent[0] == sent[1]


@pytest.mark.slow
def test_what_is_learned_elsewhere_is_kept_here(noted: Noted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "LARGE", Cost(24 * MB, 0.01))
    config = replace(TASKS["backwards"].config(), learn_steps=40, seed=77)
    for steps in (40, 60):
        trace = admission.run_of(replace(config, learn_steps=steps))
        assert film.is_kept(replace(config, learn_steps=steps))
    assert noted.names == ["learned_until"] * 3  # of 10 to 40 steps two frames at a time, and of 50 and 60
    film._FRAMES.clear()
    monkeypatch.setattr(workers, "there", Workers(0, 0))
    assert bits(trace) == bits(run(replace(config, learn_steps=60)))


def test_others_have_turns_while_a_process_computes() -> None:
    turns, computing = RunQueue(long=SOON), threading.Event()

    def elsewhere() -> None:
        with turns.turn(), turns.away():
            computing.set()
            over.wait(SOON)

    over = threading.Event()
    thread = threading.Thread(target=elsewhere, daemon=True)
    thread.start()
    assert computing.wait(SOON)
    start = time.monotonic()
    with turns.turn():
        over.set()
        thread.join(0.2)
        assert thread.is_alive()  # it waits for a turn again
    assert time.monotonic() - start < SOON / 2
    thread.join(SOON)
    assert turns._owner is None


def test_the_number_of_processes_is_what_the_host_says() -> None:
    assert [workers.number(text) for text in ("0", "3", " 2 ")] == [0, 3, 2]
    assert workers.number("") in (0, 1)
    for text in ("-1", "many", "65", "1.5", "\u0663"):
        with pytest.raises(ConfigError, match="0 to 64"):
            workers.number(text)


def test_the_page_says_that_a_computation_was_ended_and_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(make: Any, *given: Any) -> Any:
        raise Ended(workers.WORDS["slow"].format(most=12))

    monkeypatch.setattr(admission, "apart", lambda found, make, *given: ended(make))
    page = opened()
    assert "more than 12 seconds of the processor" in page_text(page)
    assert page.text_input
    assert not page.exception
