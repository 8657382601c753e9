"""A browser that learns: the head forms in it, the page stays free, and the film is to the last bit the server's."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import urlencode

import pytest

from attnviz import TASKS, learn, run
from attnviz.engine import learning_job
from attnviz.settings import link_check, url_codec
from attnviz.ui.panels.learn import prediction
from tests.browser_idle import QUIET

pytestmark = pytest.mark.browser

SENT = """() => {
  window.films = [];
  const Real = window.Worker;
  window.Worker = function (url) {
    const worker = new Real(url);
    worker.addEventListener("message", ({ data }) => data.film && window.films.push(data.film));
    return worker;
  };
}"""


def test_backwards_is_learned_in_the_worker_with_our_bits(app: Any, browser_page: Any) -> None:
    config = TASKS["backwards"].config(seed=3)
    browser_page.add_init_script(f"({SENT})()")
    address = link_check.checked({"page": "learn", **url_codec.encode(config)})
    browser_page.goto(f"{app.url}/?{urlencode(address)}")
    browser_page.get_by_text("On 200 new sentences: 100 % of the words right").wait_for()
    (answer,) = browser_page.evaluate("window.films")
    job = learning_job.job(config, 80, 80)
    assert job is not None
    found = learning_job.received(answer, job)
    assert found is not None
    frames, film = learning_job.ReceivedFrames(found, job), learn(config)
    assert frames.kept(80) == film.steps
    for step in film.steps:
        theirs, ours = (hashed(each) for each in (frames.layers(step), film.at(step)))
        assert theirs == ours, step
    assert run(config)["w_q"].array.tobytes() == frames.layers(80)[0]["w_q"].tobytes()


RESTS = "document.querySelector('.st-key-learn .attn-canvas').style.visibility === 'hidden'"
"""Plotly has drawn the maps."""
TAGGED = "() => [...document.querySelectorAll('.attn-stage, .js-plotly-plot')].map((chart) => chart.tag ?? '')"


def test_no_chart_is_built_anew_while_the_film_is_played(app: Any, browser_page: Any) -> None:
    config = TASKS["translation"].config()
    address = link_check.checked({"page": "learn", **url_codec.encode(config)})
    browser_page.goto(f"{app.url}/?{urlencode(address)}")
    browser_page.locator(".st-key-learn [data-stage=layer0] .attn-cells").wait_for(state="attached")
    browser_page.locator(".st-key-learn-loss .js-plotly-plot .trace").first.wait_for(state="attached")
    browser_page.evaluate(QUIET)
    browser_page.wait_for_function(RESTS)
    browser_page.evaluate(
        "document.querySelectorAll('.attn-stage, .js-plotly-plot').forEach((chart, n) => (chart.tag = `kept${n}`))"
    )
    # The film asks for its next frame before a slow browser has heard where the slider stands now.
    browser_page.context.new_cdp_session(browser_page).send("Emulation.setCPUThrottlingRate", {"rate": 12})
    browser_page.get_by_role("button", name="Play", exact=True).click()
    browser_page.locator(".attn-mark[data-step='0']").wait_for(state="attached")
    browser_page.locator(f".attn-mark[data-step='{learn(config).best}']").wait_for(state="attached")
    assert browser_page.evaluate(TAGGED) == ["kept0", "kept1", "kept2", "kept3"]
    mark, axis = browser_page.evaluate(
        """(step) => {
          const chart = document.querySelector(".st-key-learn-loss .js-plotly-plot");
          const axis = chart._fullLayout.xaxis;
          const left = chart.getBoundingClientRect().left + axis._offset + axis.d2p(step);
          return [document.querySelectorAll(".attn-mark i")[1].getBoundingClientRect().left, left];
        }""",
        learn(config).best,
    )
    assert abs(mark - axis) < 2


def test_a_frame_of_the_slider_is_told_everywhere_and_back_leads_to_the_one_before(app: Any, browser_page: Any) -> None:
    address = link_check.checked({"page": "learn", **url_codec.encode(TASKS["backwards"].config())})
    browser_page.goto(f"{app.url}/?{urlencode(address)}")
    browser_page.locator(".st-key-learn [data-stage=layer0] .attn-cells").wait_for(state="attached")

    slider = browser_page.get_by_test_id("stMain").get_by_role("slider", name="Steps of learning")

    def shown(step: int) -> None:
        browser_page.wait_for_url(f"**learn_steps={step}&**")
        browser_page.get_by_text(f"After {step} steps it says").wait_for()
        browser_page.get_by_text(f"learned in {step} steps").wait_for()
        browser_page.locator(f".attn-mark[data-step='{step}']").wait_for(state="attached")

    slider.press("ArrowLeft")
    shown(70)
    slider.press("ArrowLeft")
    shown(60)
    browser_page.go_back()
    shown(70)
    slider.press("ArrowRight")
    shown(80)


def test_maps_follow_the_slider_without_a_word_of_the_server(app: Any, browser_page: Any) -> None:
    address = link_check.checked({"page": "learn", **url_codec.encode(TASKS["backwards"].config())})
    browser_page.goto(f"{app.url}/?{urlencode(address)}")
    browser_page.locator(".st-key-learn [data-stage=layer0] .attn-cells").wait_for(state="attached")
    browser_page.evaluate(QUIET)
    slider = browser_page.get_by_test_id("stMain").get_by_role("slider", name="Steps of learning")
    slider.press("ArrowLeft")
    browser_page.locator(".st-key-learn-frames").wait_for(state="attached")
    browser_page.get_by_text("After 70 steps it says").wait_for()
    browser_page.evaluate(QUIET)
    browser_page.evaluate("() => { WebSocket.prototype.send = () => {}; }")
    for step in (60, 50):
        slider.press("ArrowLeft")
        weights = run(TASKS["backwards"].config(learn_steps=step))["weights"].array[0]
        browser_page.wait_for_function(
            """([largest]) => {
              const z = document.querySelector(".st-key-learn [data-stage=layer0]").picture.filled.z;
              const held = z.flatMap((row) => [...row]).filter((x) => x === x);
              return Math.abs(Math.max(...held) - largest) < 1e-6;
            }""",
            arg=[float(weights.max())],
        )


def hashed(layers: list[dict[str, Any]]) -> str:
    parts = (layer[name].astype("<f8").tobytes() for layer in layers for name in sorted(layer))
    return hashlib.sha256(b"".join(parts)).hexdigest()


def test_a_cell_is_predicted_in_the_untrained_map_and_then_the_browser_learns(app: Any, browser_page: Any) -> None:
    """Of a seed without a film: nothing has learned before the question, and all of it is learned after a press."""
    browser_page.add_init_script(f"({SENT})()")
    browser_page.goto(f"{app.url}/?v=1&page=learn&seed=4")
    browser_page.locator(".st-key-task-backwards button").click()
    go_on = browser_page.locator(".st-key-predict-go-on button")
    go_on.get_by_text("Skip the prediction").wait_for()
    cells = browser_page.locator(".st-key-learn-predicted [data-map=layer0]")
    cells.wait_for()
    browser_page.evaluate(QUIET)
    row = prediction.row_of(run(TASKS["backwards"].config(seed=4, learn_steps=0)))
    box = cells.bounding_box()
    assert row is not None
    browser_page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + (row + 0.5) / 8 * box["height"])
    go_on.get_by_text("Let it learn").wait_for()
    assert browser_page.evaluate("window.films.length") == 0
    go_on.click()
    browser_page.get_by_text("On 200 new sentences").wait_for()
    browser_page.get_by_text("You pointed at “").wait_for()
    assert browser_page.evaluate("window.films.length") == 1
