"""The last runs are made once for the stage at an address and for the page, and take no more room than they may."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any

from attnviz import Config, run
from attnviz.engine.records.trace import Trace
from attnviz.settings.language import set_language
from attnviz.ui.hosting import recent_runs
from attnviz.ui.panels import stage_of_run
from attnviz.ui.session.selection import Selection

CONFIG = Config(sentence="the cat sat", n_heads=2)


def test_a_run_and_what_was_made_of_it_is_there_for_the_next_who_asks() -> None:
    made: list[Config] = []

    def trace_of(config: Config, n_bytes: float = 1.0) -> Trace:
        def make() -> Trace:
            made.append(config)
            return run(config)

        return recent_runs.run_of(config, n_bytes, make)

    first = trace_of(CONFIG)
    assert trace_of(Config(sentence="the cat sat", n_heads=2)) is first
    assert made == [CONFIG]
    shown = stage_of_run.shown(first, Selection())
    assert stage_of_run.shown(first, Selection(digits=3)) is shown, "the pictures do not depend on that"
    assert stage_of_run.shown(first, Selection(query=1, key=0)) is shown, "all words are shown"
    others: dict[str, Any] = {"shown": "queries", "colours": "common"}
    for name, value in others.items():
        assert stage_of_run.shown(first, replace(Selection(), **{name: value})) is not shown, name
    for n in range(3 * recent_runs.MOST_MADE):
        recent_runs.made_once(first, n, object)
    assert stage_of_run.shown(first, Selection()) is not shown, "what was made last is kept"
    set_language("de")
    assert trace_of(CONFIG) is not first, "a run says what a reader should know of it"
    set_language("en")
    assert trace_of(CONFIG) is first
    assert made == [CONFIG, CONFIG]
    made.clear()
    alone = run(CONFIG)
    assert stage_of_run.shown(alone, Selection()) is not stage_of_run.shown(alone, Selection()), "that is not kept"
    large = [replace(CONFIG, seed=seed) for seed in (1, 2, 3)]
    kept = [weakref.ref(trace_of(config, recent_runs.MOST_BYTES / 2)) for config in large]
    del first, shown
    gc.collect()
    assert [each() is not None for each in kept] == [False, True, True]
    trace_of(CONFIG, recent_runs.MOST_BYTES + 1)
    assert [each() is not None for each in kept] == [False, True, True], "what takes more than all may is not kept"
    trace_of(CONFIG)
    assert made == [*large, CONFIG, CONFIG]
