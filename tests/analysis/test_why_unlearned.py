"""Why a head cannot learn: each reason holds in the runs that it names, and not where nothing was taken away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from attnviz import Config
from attnviz.analysis.why_unlearned import REASONS, reason
from attnviz.engine.learn import TASKS, learn
from attnviz.ui.panels.learn import reasons
from attnviz.ui.panels.learn.ablations import CHIPS, WITHOUT


def task(name: str) -> Config:
    """The setting that learns a task, a few steps of it: what holds, holds from the start."""
    return replace(TASKS[name].config(), learn_steps=10)


def test_a_hardmax_leaves_queries_and_keys_where_they_were() -> None:
    config = task("dates")
    without = replace(config, normaliser="hardmax")
    found = reason("hardmax", config, without)
    assert found is not None
    assert found.numbers["moved"] > 1e-3
    assert np.allclose(found.before["weights"].array, found.after["weights"].array, rtol=0, atol=1e-5)
    assert reason("hardmax", config, config) is None
    film = learn(without)
    assert np.allclose(film.at(0)[0]["w_q"], film.at(film.steps[-1])[0]["w_q"], rtol=0, atol=1e-6)


def test_without_positions_a_score_is_the_same_wherever_the_words_stand() -> None:
    for name in ("translation", "backwards"):
        config = task(name)
        found = reason("position", config, replace(config, position="none"))
        assert found is not None
        one, other = found.before["scores"].array[0], found.after["scores"].array[0]
        n, m = one.shape
        for i in range(n):
            for j in range(m):
                row = i if config.second_sentence else n - 1 - i
                assert one[i, j] == pytest.approx(other[row, m - 1 - j], abs=1e-9)
        assert reason("position", config, config) is None


def test_a_location_based_score_does_not_read_the_words() -> None:
    config = task("dates")
    found = reason("location", config, replace(config, score="location"))
    assert found is not None
    assert found.before.key_tokens != found.after.key_tokens
    assert np.array_equal(found.before["scores"].array, found.after["scores"].array)
    assert reason("location", config, config) is None


def test_in_one_layer_a_key_knows_its_own_word_alone() -> None:
    config = task("coreference")
    assert config.n_layers == 2
    found = reason("layers", config, replace(config, n_layers=1))
    assert found is not None
    assert found.numbers["moved"] > 1e-3
    assert np.allclose(found.before["keys"].array[:, 1], found.after["keys"].array[:, 1], rtol=0, atol=1e-9)


def test_every_reason_has_words_and_pictures_and_what_has_none_has_no_reason() -> None:
    assert reasons.WHY.keys() == REASONS.keys()
    assert REASONS.keys() <= CHIPS.keys()
    config = task("coreference")
    assert reason("heads", config, replace(config, **WITHOUT["heads"])) is None
    for name in ("hardmax", "layers"):
        found = reason(name, config, replace(config, **WITHOUT[name]))
        assert found is not None
        assert reasons.sentence(found, CHIPS[name]).startswith(CHIPS[name])
        assert "{" not in reasons.sentence(found, CHIPS[name])
        assert len(reasons.pictures(found)) == 2
