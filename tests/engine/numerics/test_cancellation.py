"""A computation that nobody waits for ends between two of its parts; where nobody says so, none ever does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from attnviz import TASKS, Config, run
from attnviz.analysis import importance
from attnviz.engine.backward.gradients import gradients
from attnviz.engine.learning import film
from attnviz.engine.numerics import cancellation, fixed_order
from attnviz.engine.numerics.cancellation import Cancelled

SMALL = Config(sentence="a b c d e f", n_layers=2, n_heads=3)
BY_HAND = replace(SMALL, initialiser="by_hand", d_model=24)
COMPUTATIONS: dict[str, Callable[[], object]] = {
    "layers and heads": lambda: run(SMALL),
    "heads that are solved": lambda: run(BY_HAND),
    "a large product": lambda: fixed_order.product(np.ones((200, 200)), np.ones((200, 200))),
    "a decomposition": lambda: fixed_order.svd(np.random.default_rng(5).normal(size=(31, 29))),
    "slopes": lambda: gradients(run(SMALL), {(0, "output"): np.ones((6, SMALL.d_model))}),
    "each key forbidden": lambda: importance.measure(run(SMALL), 1),
    "steps of learning": lambda: film.film_of(TASKS["backwards"].config(learn_steps=30, seed=23), run),
}


@pytest.mark.parametrize("what", COMPUTATIONS)
def test_a_computation_ends_at_each_of_many_places(what: str) -> None:
    def counted(most: float) -> int:
        asked = 0

        def check() -> None:
            nonlocal asked
            asked += 1
            if asked > most:
                raise Cancelled

        fixed_order._many.cache_clear()
        film._FRAMES.clear()
        with cancellation.checked_by(check):
            COMPUTATIONS[what]()
        return asked

    whole = counted(np.inf)
    assert whole > 25
    for most in (0, whole // 2, whole - 1):
        with pytest.raises(Cancelled):
            counted(most)
    assert counted(np.inf) == whole  # nothing half made was kept


def test_a_film_that_was_ended_anywhere_goes_on_with_every_frame() -> None:
    task = TASKS["backwards"]
    begun, longer = (task.config(learn_steps=steps, seed=23) for steps in (5, 15))
    places = 0
    while True:
        left = places

        def check() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Cancelled

        film._FRAMES.clear()
        film.film_of(begun, run)
        try:
            with cancellation.checked_by(check):
                film.film_of(longer, run)
        except Cancelled:
            places += 1
        else:
            break
        found = film.film_of(longer, run)
        assert [len(found.at(step)) for step in found.steps] == [longer.n_layers] * len(found.steps)
    assert places >= 10


def test_nobody_asks_outside_of_the_block() -> None:
    with pytest.raises(Cancelled), cancellation.checked_by(_cancel):
        run(SMALL)
    assert run(SMALL).layers


def _cancel() -> None:
    raise Cancelled
