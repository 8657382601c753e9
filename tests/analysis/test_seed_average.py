"""Dealt again and again, a random pattern fades."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.analysis.seed_average import mean_weights

CONFIG = Config(sentence="one two three four", n_heads=3)


def test_the_mean_is_the_mean() -> None:
    by_hand = [run(replace(CONFIG, seed=seed))["weights"].array for seed in (5, 6, 9)]
    np.testing.assert_allclose(mean_weights(CONFIG, (5, 6, 9)), (by_hand[0] + by_hand[1] + by_hand[2]) / 3)


def test_one_seed_is_the_run_itself() -> None:
    assert (mean_weights(CONFIG, (0,)) == run(CONFIG)["weights"].array).all()


def test_a_random_pattern_fades_towards_equal_shares() -> None:
    one, many = (np.ptp(mean_weights(CONFIG, range(n))) for n in (1, 60))
    assert many < one / 3


def test_what_is_set_by_hand_does_not_fade() -> None:
    fixed = replace(CONFIG, embedding="one_hot", initialiser="identity")
    assert (mean_weights(fixed, range(4)) == run(fixed)["weights"].array).all()


def test_without_seeds_there_is_no_mean() -> None:
    with pytest.raises(ValueError, match="give one or more"):
        mean_weights(CONFIG, ())
