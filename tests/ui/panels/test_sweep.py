"""A setting that moves by itself: the maps follow, and the setting stays as it is until it is stopped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.ui.panels import sweep
from attnviz.ui.session.widget_values import MOVING
from tests.support.address import parameters
from tests.support.page_figures import figures, numbers
from tests.ui.test_app import clean, drawn, opened, page_text

CONFIG = Config(sentence="the cat sat", n_heads=2)
QUERY = {"sentence": "the cat sat", "n_heads": "2"}


def weights(at: Any) -> Any:
    return drawn(numbers(figures(at)[1]))


def of_run(**changes: Any) -> Any:
    return np.sort(run(replace(CONFIG, **changes))["weights"].array.ravel())


@pytest.mark.parametrize(("name", "label"), [("temperature", "Temperature 0.1"), ("seed", "Seed 1")])
def test_the_maps_follow_and_where_it_is_stopped_is_the_setting(name: str, label: str) -> None:
    at = opened(**QUERY)
    at.button(key=f"sweep_{name}").click().run()
    assert clean(at)
    changed = {name: sweep.values(CONFIG, name)[0]}
    np.testing.assert_allclose(weights(at), of_run(**changed))
    assert at.button(key="sweep_stop").label == f"■ {label}"
    assert parameters(at) == {"v": "1", **QUERY}
    if name == "seed":
        field = at.number_input(key=f"{MOVING}-seed")
        assert (field.value, field.disabled) == (1, True), "the field shows what is drawn"
    other = at.button(key="sweep_seed" if name == "temperature" else "sweep_temperature")
    assert other.disabled, "it stays where it is, so that the one that stops stands where the one that started stood"
    at.button(key="sweep_stop").click().run()
    np.testing.assert_allclose(weights(at), of_run(**changed))
    assert at.button(key=f"sweep_{name}").label.startswith("▶ ")
    assert at.number_input(key="seed").value == (1 if name == "seed" else 0)
    kept = {key: value for key, value in parameters(at).items() if key != "v"}
    assert kept == {**QUERY, name: f"{changed[name]:g}"}, "what was shown is the setting now"


@pytest.mark.slow
def test_after_the_last_value_it_is_as_it_was_and_where_another_page_is_opened_what_it_reached_is_kept() -> None:
    at = opened(**QUERY)
    at.session_state[sweep.PLAYED] = "temperature", len(sweep.TEMPERATURES)
    at.run()
    assert clean(at)
    np.testing.assert_allclose(weights(at), of_run())
    assert parameters(at) == {"v": "1", **QUERY}
    at.button(key="sweep_seed").click().run()
    at.segmented_control(key="pick-place").set_value("compare").run()
    assert clean(at)
    assert "A and B are the same" in page_text(at)
    assert at.number_input(key="seed").value == 1
    assert parameters(at)["seed"] == "1"
    assert sweep.PLAYED not in at.session_state

    at = opened(**QUERY)
    at.button(key="sweep_temperature").click().run()
    del at.session_state[sweep.PLAYED]
    at.button(key="sweep_stop").click().run()
    assert clean(at), "a press that comes after the last value is none"


@pytest.mark.parametrize(
    ("query", "offered"),
    [
        ({}, {"seed", "temperature"}),
        ({"initialiser": "learned", "task": "backwards"}, set()),
        ({"panel": "what_if"}, set()),
    ],
)
def test_only_what_matters_moves(query: dict[str, str], offered: set[str]) -> None:
    at = opened(**QUERY | query)
    assert clean(at)
    assert {each.key.removeprefix("sweep_") for each in at.button if (each.key or "").startswith("sweep_")} == offered


def test_values_are_laid_out_until_the_setting_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    session: dict[str, Any] = {sweep.LAID_OUT: ("seed", CONFIG)}
    monkeypatch.setattr(sweep.st, "session_state", session)
    one, other = (sweep.laid_out(replace(CONFIG, seed=seed), ["weights"]) for seed in (0, 3))
    assert one is not None
    assert other is not None
    assert (one["value"], other["value"], one["values"]) == (0, 3, [*range(11)])
    assert one["of"] == other["of"] != (sweep.laid_out(CONFIG, ["scores"]) or {})["of"]
    assert sweep.laid_out(replace(CONFIG, n_heads=3)) is None
    session[sweep.LAID_OUT] = "temperature", CONFIG
    assert (sweep.laid_out(CONFIG) or {})["values"] == [*sweep.TEMPERATURES]
    del session[sweep.LAID_OUT]
    assert sweep.laid_out(CONFIG) is None


def test_seeds_go_round() -> None:
    assert sweep.values(replace(CONFIG, seed=999_995), "seed")[3:6] == [999_999, 0, 1]
