"""The Learn page without a browser: frames, outlines, examples, and what cannot be learned."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import TASKS, Config, learn, run
from attnviz.analysis.best_success import best_success
from attnviz.engine import learning_job
from attnviz.engine.learning import film as films
from attnviz.engine.learning.trainer import Trainer
from attnviz.engine.tasks.games import GAMES
from attnviz.pictures.charts import learning_curves
from attnviz.pictures.stage_bytes import unpacked
from attnviz.settings import url_codec
from attnviz.settings.fields import settings
from attnviz.text.cell_sentence import percent
from attnviz.text.format import number_format
from attnviz.ui.components.stage.picking import Picked
from attnviz.ui.panels.learn import ablations, curves, frame, opening, prediction
from attnviz.ui.session import browser_learner
from attnviz.ui.session.selection import Selection
from tests.support.address import parameters
from tests.support.cases import for_each
from tests.support.page_figures import figures, numbers
from tests.ui.test_app import clean, drawn, expected, opened, page_text


def learning(name: str = "backwards", **more: Any) -> AppTest:
    """The page with a task and changes."""
    query = url_codec.encode(TASKS[name].config(**more))
    return opened(**{"page": "learn"} | {key: text for key, text in query.items() if key != "v"})


def maps(at: AppTest) -> list[np.ndarray]:
    """The numbers of the maps of weights."""
    return [drawn(numbers(figure)) for figure in figures(at) if figure["data"][0]["type"] == "heatmap"]


def test_the_first_film_has_no_notes_on_the_setting_of_a_visitor() -> None:
    empty = {"mask": "custom", "custom_cells": "1: 2", "sentence": "a b c"}
    assert "nothing to attend to" in page_text(opened(**empty))
    assert "nothing to attend to" not in page_text(opened(page="learn", **empty))


def test_the_legend_of_the_curves_has_a_line_for_each_name_and_the_mark_lies_on_the_lines() -> None:
    style = curves.STYLE.read_text("utf-8")
    above = 0
    for chart, top in zip(
        (learning_curves.share_chart([0, 9], [0, 1], [0, 1]), learning_curves.loss_chart([0, 9], [9, 1])),
        map(int, re.findall(r"top: (\d+)px", style)),
        strict=True,
    ):
        layout, names = chart["layout"], chart["data"]
        assert layout["margin"]["t"] >= 19 * len(names)
        assert above + layout["margin"]["t"] == top
        assert layout["height"] - layout["margin"]["t"] - layout["margin"]["b"] == 68
        above += layout["height"]
    assert "height: 68px" in style


def test_in_german_a_comma_stands_in_the_numbers_of_the_curves_and_of_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = TASKS["backwards"].config()
    for language, decimal, signs in (("en", ".", ".,"), ("de", ",", ",\u202f")):
        monkeypatch.setattr(number_format, "current_language", lambda language=language: language)
        charts = learning_curves.loss_chart([0, 9], [9, 1]), learning_curves.share_chart([0, 9], [0, 1], [0, 1])
        assert {chart["layout"]["separators"] for chart in charts} == {signs}
        table = ablations.table(learn(config), {})
        assert all(re.fullmatch(rf"[01]\{decimal}\d\d", each) for each in table.iloc[:, -1])


def test_the_page_opens_with_a_film_without_learning_anything_and_a_task_is_one_press_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    films._FRAMES.clear()
    with monkeypatch.context() as here:
        here.setattr(Trainer, "advance", lambda self: pytest.fail("something is learned"))
        at = opened(page="learn")
    assert clean(at)
    assert "see a head learn it" in page_text(at)
    assert "frame" not in {each.key for each in at.select_slider}
    best = opening.setting()
    for shown, step in zip(maps(at), (0, 20, best.learn_steps), strict=True):
        config = TASKS["translation"].config(learn_steps=step)
        np.testing.assert_allclose(shown, expected(run(config)["weights"].array), atol=1e-7)
    assert parameters(at) == {"v": "1", "page": "learn"}, "the visitor's own setting stays"
    assert [name for name in TASKS if at.button(key=f"task-{name}").proto.type == "primary"] == [opening.TASK]
    at.button(key="task-backwards").click().run()
    at.button(key="predict-go-on").click().run()
    assert clean(at)
    config = TASKS["backwards"].config()
    assert parameters(at) == {"page": "learn", **url_codec.encode(config)}
    np.testing.assert_allclose(maps(at)[0], expected(run(config)["weights"].array), atol=1e-7)
    assert "they mean nothing outside that task" in page_text(at)
    assert "After 80 steps it says: g e f a c d a b." in page_text(at)


def test_a_phone_is_shown_the_last_frame_of_the_opening_and_can_turn_to_the_others() -> None:
    at = opened(page="learn")
    (sent,) = [each.proto for each in at.get("bidi_component") if each.proto.component_name == "attnviz_heatmap"]
    header, _ = unpacked(sent.bytes)
    names = [stage["name"] for stage in header["stages"]]
    assert len(names) == 3
    assert (header["view"]["one_by_one"], header["view"]["first"]) == (True, names[-1])
    assert f"After {opening.setting().learn_steps} steps it says: " in page_text(at)


def test_the_film_of_the_opening_can_be_played() -> None:
    at = opened(page="learn", sentence="a dog")
    at.button(key="film-play").click().run()
    assert clean(at)
    assert at.query_params["initialiser"] == "learned"
    assert at.query_params["learn_steps"] == str(opening.setting().learn_steps)
    assert "After 0 steps it says" in page_text(at)


def test_no_frame_changes_the_charts_that_the_browser_is_told() -> None:
    told = []
    for step in (0, 40, 80):
        at = learning(learn_steps=step)
        charts = [element.proto for element in at.get("plotly_chart")]
        told.append([(chart.id, chart.spec) for chart in charts])
        assert f'data-step="{step}"' in " ".join(element.proto.body for element in at.get("html"))
    assert told[0] == told[1] == told[2]


def test_the_slider_shows_another_frame_and_the_link_keeps_it() -> None:
    at = learning()
    at.select_slider(key="frame").set_value(0).run()
    assert clean(at)
    assert at.query_params["learn_steps"] == "0"
    np.testing.assert_allclose(maps(at)[0], expected(run(TASKS["backwards"].config(learn_steps=0))["weights"].array))
    assert "The right answer would be: g e f a c d a b." in page_text(at)


def test_another_example_is_a_sentence_of_the_task() -> None:
    at = learning("translation")
    before = at.query_params["second_sentence"]
    at.button(key="another").click().run()
    assert clean(at)
    shown = at.query_params
    assert shown["second_sentence"] != before
    game = GAMES["translation"]
    assert game.answers(shown["sentence"].split(), shown["second_sentence"].split()) is not None
    first = shown["second_sentence"]
    at.button(key="another").click().run()
    assert at.query_params["second_sentence"] != first


def test_no_button_has_the_name_of_a_field() -> None:
    fields = {item.name for record in (Config, Selection) for item in settings(record)}
    assert not fields & {button.key for at in (opened(page="learn"), learning()) for button in at.button}


@pytest.mark.slow
def test_outlines_have_a_key_where_there_are_any() -> None:
    for at in (opened(page="learn"), learning()):
        assert "Outlined: where a person would look." in page_text(at)
    assert "Outlined" not in page_text(learning("recall", sentence="tom red"))


def test_outlines_stand_where_the_last_layer_should_look() -> None:
    config = TASKS["recall"].config(learn_steps=1)
    one, two = frame.maps(run(config), ["a", "b"])
    assert one.wanted == ()
    assert two.wanted == ((0, 8, 3),)
    assert frame.maps(run(TASKS["recall"].config(sentence="tom zebra", learn_steps=1)), ["a", "b"])[-1].wanted == ()


@pytest.mark.slow
def test_what_is_taken_away_is_learned_beside_and_listed() -> None:
    at = learning("translation")
    names = {str(option.content) for option in at.get("button_group")[-1].proto.options}
    assert "One layer" not in names
    at.session_state["tries"] = ["position"]
    at.run()
    assert clean(at)
    assert (len(maps(at)), len(at.dataframe)) == (1, 0), "it is predicted before it is shown"
    at.session_state["guess-translation-position"] = "few"
    at.run()
    assert "of the words are right; you predicted: less than half." in page_text(at)
    assert "No positions: the score of two words is the same wherever they stand." in page_text(at)
    at.session_state["guess-translation-position"] = "part"
    at.run()
    assert clean(at)
    assert "as you predicted." in page_text(at)
    for tries in ([], ["position"]):  # a run that does not draw the field in between, as while a browser learns
        at.session_state["tries"] = tries
        at.run()
    assert clean(at)
    assert "as you predicted." in page_text(at)
    b = run(TASKS["translation"].config(position="none"))
    np.testing.assert_allclose(maps(at)[1], expected(b["weights"].array), atol=1e-7)
    table = at.dataframe[0].value
    assert list(table.iloc[:, 0]) == ["as set", "No positions"]
    assert list(table.iloc[1, 1:3]) == ["never", "never"]
    assert int(table.iloc[0, 1]) <= 60


@pytest.mark.slow
def test_playing_shows_the_frames_one_after_the_other_and_stops_at_the_best() -> None:
    at = learning(learn_rate=0.03, learn_steps=20)
    best = learn(TASKS["backwards"].config(learn_rate=0.03)).best
    assert 20 < best < 80
    at.button(key="film-play").click().run()
    assert clean(at)
    assert at.query_params["learn_steps"] == str(best)
    for step in (*range(0, best, 10), best):
        shown = run(TASKS["backwards"].config(learn_rate=0.03, learn_steps=step))
        np.testing.assert_allclose(maps(at)[0], expected(shown["weights"].array))
        at.run()
    assert [button.label for button in at.button if button.key == "film-play"] == ["Play"]


@pytest.mark.slow
def test_one_press_shows_the_best_frame() -> None:
    at = learning("dates")
    at.button(key="best").click().run()
    assert clean(at)
    assert at.query_params["learn_steps"] == str(learn(TASKS["dates"].config()).best)


def test_a_sentence_that_is_no_example_is_not_judged() -> None:
    at = learning("recall", sentence="tom red")
    assert clean(at)
    assert "No example of the task looks like this sentence" in page_text(at)
    assert "All of it is right" not in page_text(at)
    assert "Your own sentence may use these words: tom, ann, bob" in at.button(key="another").help


def test_what_comes_with_the_package_is_shown_without_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    films._FRAMES.clear()
    monkeypatch.setattr(Trainer, "advance", lambda self: pytest.fail("something is learned"))
    at = learning("induction")
    assert clean(at)
    assert "On 200 new sentences: 100 % of the words right" in page_text(at)
    with pytest.raises(pytest.fail.Exception):
        learn(TASKS["induction"].config(seed=1))
    films._FRAMES.clear()


def test_what_cannot_be_learned_is_said() -> None:
    at = learning(score="cosine")
    assert clean(at)
    assert "Nothing is learned in this setting, because the trainer supports only these scores" in page_text(at)
    assert "frame" not in {each.key for each in at.select_slider}


@pytest.mark.slow
def test_too_few_numbers_for_the_words_are_said_with_what_they_cost() -> None:
    share = best_success(TASKS["translation"].config(d_model=8))
    assert share < 0.5
    assert f"would get only {percent(share)} of the words right" in page_text(learning("translation", d_model=8))
    plain = page_text(learning("recall", d_model=8, learn_steps=10))
    assert "would get only" not in plain
    assert "numbers" not in page_text(learning("translation"))


def test_own_words_may_be_outside_the_task() -> None:
    at = learning(sentence="a zebra b")
    assert clean(at)
    assert "“zebra” is not a word of the task “Backwards”" in page_text(at)


def test_what_would_take_too_long_is_refused() -> None:
    at = learning("recall", learn_steps=2000)
    assert clean(at)
    assert "This would keep the server busy" in page_text(at)
    assert "fewer steps of learning" in page_text(at)


def answered(config: Config, last: int) -> tuple[learning_job.Job, dict[str, Any]]:
    """A job, and what a browser sends back for it: every number is 0."""
    job = learning_job.job(config, last, config.learn_steps)
    assert job is not None
    numbers = np.full((len(job.steps) * sum(job.sizes), 3), [0, 0, 16], dtype=np.uint8)
    return job, {
        "key": job.key,
        "steps": [*job.steps],
        "figures": [[1.0, 0.5, 0.25]] * (len(job.steps) + 1),
        "exponents": [[0] * len(job.sizes)] * len(job.steps),
        "numbers": base64.b64encode(numbers.tobytes()).decode(),
    }


def test_an_own_setting_is_handed_to_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[bytes] = []
    monkeypatch.setattr(browser_learner, "is_offered", True)
    monkeypatch.setattr(browser_learner, "_component", lambda **more: sent.append(more["data"]))
    monkeypatch.setattr(Trainer, "advance", lambda self: pytest.fail("the server learns"))
    at = learning(seed=11)
    assert clean(at)
    assert json.loads(sent[-1].partition(b"\0")[0])["steps"] == [*range(10, 81, 10)]
    assert "task-dates" in {button.key for button in at.button}
    assert "frame" not in {each.key for each in at.select_slider}
    at.run()
    assert sent[-1] == sent[0], "it would begin anew"
    job, answer = answered(TASKS["backwards"].config(seed=11), 80)
    found = learning_job.received(answer, job)
    assert found is not None
    at.session_state[browser_learner._FILMS] = {job.config: learning_job.ReceivedFrames(found, job)}
    at.run()
    assert clean(at)
    assert "50 % of the words right, 25 % of the weight" in page_text(at)
    np.testing.assert_allclose(maps(at)[0], 1 / 8)


def test_what_the_browser_sends_is_kept_if_it_is_a_film_and_else_the_server_learns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job, answer = answered(TASKS["backwards"].config(seed=12), 80)
    for sent, kept in ((answer, 1), (answer | {"numbers": "AAAA"}, 0)):
        state: dict[str, Any] = {browser_learner._PENDING: ("", (job, b"")), browser_learner.KEY: {"film": sent}}
        monkeypatch.setattr(browser_learner.st, "session_state", state)
        browser_learner._film_changed()
        assert len(state.get(browser_learner._FILMS, {})) == kept
        assert bool(state.get(browser_learner._FAILED)) == (not kept)
        browser_learner._film_changed()  # the same once more is of no job


@pytest.mark.slow
def test_a_link_makes_the_server_learn_no_longer_than_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as here:
        here.setattr(Trainer, "advance", lambda self: pytest.fail("the server learns"))
        for name in ("recall", "induction"):
            at = learning(name, seed=13, learn_steps=400)
            assert clean(at)
            assert "it begins only if you want it" in page_text(at)
    monkeypatch.setattr(browser_learner, "FREE", 0.01)
    at = learning(seed=14)
    assert "it begins only if you want it" in page_text(at)
    at.button(key="learn-on-server").click().run()
    assert clean(at)
    assert "On 200 new sentences" in page_text(at)


@for_each("hostile", [{"task": "chess"}, {"learn_steps": "1e99"}, {"learn_rate": "nan"}, {"frame": "9"}])
def test_hostile_links_open(hostile: dict[str, str]) -> None:
    at = opened(**{"page": "learn", "initialiser": "learned", "learn_batch": "1", "score": "cosine"} | hostile)
    assert clean(at)
    assert Config().score == "scaled_dot"


def slid(at: AppTest) -> bool:
    return any(str(each.key).startswith("frame") for each in at.select_slider)


def test_a_task_asks_for_a_prediction_before_anything_is_learned_and_one_click_leaves_it_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as here:
        here.setattr(Trainer, "advance", lambda self: pytest.fail("it learns before it asks"))
        at = opened(page="learn", seed="31")
        at.button(key="task-backwards").click().run()
        assert clean(at)
        assert "has learned nothing yet" in page_text(at)
        assert not slid(at)
        untrained = run(TASKS["backwards"].config(seed=31, learn_steps=0))
        np.testing.assert_allclose(maps(at)[0], expected(untrained["weights"].array), atol=1e-7)
        assert at.button(key="predict-go-on").label == "Skip the prediction"
    at = opened(page="learn")
    for name in ("backwards", "dates"):
        at.button(key=f"task-{name}").click().run()
        if name == "backwards":
            at.button(key="predict-go-on").click().run()
        assert clean(at)
        assert slid(at), "whoever has left it out is not asked again"
        assert "has learned nothing yet" not in page_text(at)
        assert parameters(at) == {"page": "learn", **url_codec.encode(TASKS[name].config())}


@for_each("steps", [0, 40, 80])
def test_a_link_to_a_frame_opens_that_frame_and_asks_nothing_before(steps: int) -> None:
    at = learning("backwards", learn_steps=steps)
    assert clean(at)
    assert slid(at)
    assert "has learned nothing yet" not in page_text(at)
    config = TASKS["backwards"].config(learn_steps=steps)
    np.testing.assert_allclose(maps(at)[0], expected(run(config)["weights"].array), atol=1e-7)


@for_each("name", TASKS)
def test_the_row_that_is_asked_about_has_an_answer_and_its_darkest_cell_moves(name: str) -> None:
    config = TASKS[name].config()
    before, after = (run(replace(config, learn_steps=step)) for step in (0, learn(config).best))
    asked = prediction.dark(before, after)
    assert asked is not None
    answers = GAMES[name].answers(before.query_tokens, before.key_tokens)
    assert answers is not None
    assert answers.counts[0, asked.row]
    first, last = (each.layers[-1]["weights"].array.argmax(axis=-1) for each in (before, after))
    moves = (first != last).any(axis=0) & answers.counts[0]
    assert moves[asked.row] or not moves.any()


def test_the_darkest_cell_is_predicted_before_the_film_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    at = opened(page="learn")
    at.button(key="task-backwards").click().run()
    assert clean(at)
    config = TASKS["backwards"].config()
    before, after = (run(replace(config, learn_steps=step)) for step in (0, learn(config).best))
    asked = prediction.dark(before, after)
    assert asked is not None
    A = after.layers[-1]["weights"].array
    assert asked.cells[0] == max(range(A.shape[2]), key=lambda column: A[0, asked.row, column])
    other = next(row for row in range(A.shape[1]) if row != asked.row)
    for row, column, said, label in (
        (other, 0, "That is another row", "Skip the prediction"),
        (asked.row, asked.cells[0], "You pointed at “g”. You may point at another cell", "Let it learn"),
    ):
        pick = Picked("layer0", 0, row, column)
        with monkeypatch.context() as here:
            here.setattr(prediction.picking, "picked", lambda key, stages, pick=pick: pick)
            at.run()
        assert clean(at)
        assert said in page_text(at)
        assert at.button(key="predict-go-on").label == label
        assert not slid(at)
    at.button(key="predict-go-on").click().run()
    assert clean(at)
    assert slid(at)
    assert "that is where it went" in page_text(at)
    assert parameters(at) == {"page": "learn", **url_codec.encode(config)}
    at.button(key="task-dates").click().run()
    assert "has learned nothing yet" in page_text(at), "another task has another question"
    at.button(key="task-backwards").click().run()
    assert slid(at), "whoever has answered is not asked again"
    wrong = next(column for column in range(A.shape[2]) if column not in asked.cells)
    assert "its largest weight" in "".join(
        text for _, text in prediction._verdict(before, asked, wrong, learn(config).best)
    )


def test_a_film_from_a_link_can_be_predicted_as_well_and_goes_on_where_it_was() -> None:
    at = learning("backwards", learn_steps=40)
    at.button(key="predict-cell").click().run()
    assert clean(at)
    assert "has learned nothing yet" in page_text(at)
    at.button(key="predict-go-on").click().run()
    assert parameters(at)["learn_steps"] == "40"
