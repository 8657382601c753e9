"""No place of the page computes the same run twice for one move."""

from __future__ import annotations

import importlib
from collections import Counter

import pytest

from attnviz import Config
from attnviz.ui.hosting import recent_runs
from tests.ui.test_app import clean, opened

PLACES = (
    {"page": "compare"},
    {"page": "lessons", "slide": "2"},
    {"page": "assign", "assigned": ""},
    {"page": "experiments", "experiment": "shuffle"},
    {"page": "learn"},
)


@pytest.mark.slow
def test_no_place_computes_the_same_run_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    made, engine = Counter[Config](), importlib.import_module("attnviz.engine.run")
    computed = engine._run

    def counted(config: Config, *given: object) -> object:
        made[config] += 1
        return computed(config, *given)

    monkeypatch.setattr(engine, "_run", counted)
    monkeypatch.setattr(recent_runs, "MOST_BYTES", -1)  # so that none of those made before is there
    for place in PLACES:
        opened(**place)  # what is kept for all visitors is there
        made.clear()
        assert clean(opened(**place)), place
        assert [n for n in made.values() if n > 1] == [], place
        assert made or place["page"] == "learn", place
