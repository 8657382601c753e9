"""What is kept of a run through a model: the same bits again, one layer at a time, and no more than is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from attnviz import Trace
from attnviz.engine.records.trace import result_of
from attnviz.models import forward
from attnviz.models.run_cache import RUNS, Kept, KeptRuns
from attnviz.settings.language import set_language
from tests.support.cases import for_each
from tests.support.small_models import NAMES, model

WORDS = "the king and the queen saw a dog"


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    RUNS.clear()
    yield
    RUNS.clear()


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A 1 for each layer that is computed."""
    found: list[int] = []
    whole = forward.layer

    def layer(*args: Any) -> np.ndarray:
        found.append(1)
        return whole(*args)

    monkeypatch.setattr(forward, "layer", layer)
    return found


def same(a: Trace, b: Trace) -> None:
    assert (a.notes, a.edits, a.query_tokens) == (b.notes, b.edits, b.query_tokens)
    for one, other in zip((a.around, *a.layers), (b.around, *b.layers), strict=True):
        assert list(one) == list(other)
        for name in one:
            np.testing.assert_array_equal(one[name].array, other[name].array)
            assert one[name].formula == other[name].formula
    np.testing.assert_array_equal(a.result.array, b.result.array)


@for_each("name", NAMES)
def test_a_run_from_what_was_kept_has_the_same_bits(name: str) -> None:
    edits = [(0, "weights", (0, 1, 0), 0.5)]
    for more in ({}, {"edits": edits}, {"mask": "causal", "temperature": 2.0}):
        first = model(name)(WORDS, **more)  # type: ignore[arg-type]
        assert RUNS.n_bytes > 0
        same(model(name)(WORDS, **more), first)  # type: ignore[arg-type]


def test_only_the_layer_that_is_looked_at_is_computed(computed: list[int]) -> None:
    whole = model("bert")(WORDS)
    assert len(computed) == len(whole.layers) == 2
    again = model("bert")(WORDS)
    assert "weights" in again.layers[1]
    assert list(again.layers[1]) == list(whole.layers[1])
    np.testing.assert_array_equal(result_of(again.layers[0]).array, again.layers[0]["ff_added_normed"].array)
    assert len(computed) == 2
    np.testing.assert_array_equal(again.layers[1]["weights"].array, whole.layers[1]["weights"].array)
    assert again.layers[1]["scores"].array is not None
    assert len(computed) == 3
    with pytest.raises(KeyError):
        again.layers[0]["no such step"]
    assert len(computed) == 3


def test_another_setting_is_another_run(computed: list[int]) -> None:
    for more in ({}, {"mask": "causal"}, {"temperature": 2.0}, {"edits": [(0, "scores", (0, 0, 0), 3.0)]}):
        model("bert")(WORDS, **more)  # type: ignore[arg-type]
    assert len(computed) == 8
    model("bert")(WORDS + " run")
    assert len(computed) == 10


def test_the_notes_are_in_the_language_of_the_visitor() -> None:
    english = model("bert")(WORDS, max_tokens=4).notes
    set_language("de")
    try:
        assert model("bert")(WORDS, max_tokens=4).notes != english
    finally:
        set_language("en")
    assert model("bert")(WORDS, max_tokens=4).notes == english


def kept(n: int) -> Kept:
    return Kept(((),), (result_of(model("bert")(" ".join(["dog"] * n)).layers[0]),), (), ())


def test_no_more_is_kept_than_is_allowed_and_what_was_wanted_last_stays() -> None:
    one = kept(4)
    runs = KeptRuns(2 * one.n_bytes)
    for key in "abc":
        runs.put(key, one)
        assert runs.get("a") is not None or key == "c" or key == "a"
    assert [runs.get(key) is not None for key in "abc"].count(True) == 2
    assert runs.get("a") is one
    assert runs.n_bytes == 2 * one.n_bytes
    runs.put("large", kept(30))
    assert runs.get("large") is None
    assert runs.get("a") is one
    runs.clear()
    assert (runs.get("a"), runs.n_bytes) == (None, 0)
