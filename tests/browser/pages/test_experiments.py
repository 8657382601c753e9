"""The Experiments page in a real browser: every question is opened, and a number of its answer is read."""

from __future__ import annotations

import re
from typing import Any

import pytest

from attnviz import Config, run
from attnviz.analysis import permutations, variance_and_sharing
from attnviz.engine.tables.normalised_axes import NORMALISED_AXES
from attnviz.experiments import axis_and_sharing as words
from attnviz.experiments import permutation
from attnviz.pictures.charts import variance_charts
from attnviz.text.format.number_format import short
from attnviz.text.format.sentence_parts import plain
from attnviz.ui.session.selection import EXPERIMENT_NAMES
from tests.browser_idle import QUIET, go_to
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

CONFIG = Config(sentence="dogs chase small cats", n_heads=3)
QUERY = "v=1&page=experiments&sentence=dogs+chase+small+cats&n_heads=3"


def settled(page: Any, part: str) -> None:
    """Wait until the address says so: it is written when the run is through; and until the page has come to rest."""
    page.wait_for_function("part => location.search.includes(part)", arg=part)
    page.evaluate(QUIET)


def press(page: Any, label: str) -> None:
    page.get_by_role("radio", name=label).or_(page.get_by_role("button", name=label, exact=True)).first.click()


def as_set(sentence: str) -> str:
    """The text of a sentence on the page, where the k of d_k is a subscript."""
    return sentence.replace("d_k", "dk")


def test_every_question_is_opened_and_answered_in_numbers(browser_page: Any, app: Any) -> None:
    page, trace = browser_page, run(CONFIG)
    go_to(page, f"{app.url}/?{QUERY}")
    sides = {side: run(Config(sentence=CONFIG.sentence, n_heads=3, normalise_over=side)) for side in NORMALISED_AXES}
    variants = [run(Config(sentence=CONFIG.sentence, n_heads=3, n_kv_heads=n)) for n in (3, 1)]
    found = permutations.reordered(Config(sentence=CONFIG.sentence, n_heads=3), (3, 2, 1, 0))
    assert found is not None
    answers = {
        "Which axis sums to one": ("axis", "trial", "keys", words.axis_sentences(sides, 0)[1]),
        "Why divide by": (
            "scale",
            "trial",
            "root",
            variance_charts.of_spread(trace, variance_and_sharing.spread(trace, 0, 16))[0],
        ),
        "Sharing keys and values": ("sharing", "trial", "kv1", words.sharing_sentences(variants, 0)[0]),
        "Does order matter": ("shuffle", "trial", "on", plain(permutation.order_sentences("on", found))),
    }
    for label, (name, maps, stage, sentence) in answers.items():
        press(page, label)
        settled(page, f"experiment={name}")
        page.wait_for_selector(f".st-key-{maps} [data-stage={stage}] .attn-focus")
        page.get_by_text(as_set(sentence)).first.wait_for()


def test_the_width_is_moved_and_the_charts_follow(browser_page: Any, app: Any) -> None:
    page = browser_page
    go_to(page, f"{app.url}/?{QUERY}&experiment=scale")
    page.wait_for_selector(".st-key-chart-spread .js-plotly-plot")
    page.get_by_role("slider", name="Width of queries and keys in the experiment").focus()
    page.keyboard.press("ArrowLeft")
    settled(page, "trial_d_k=15")
    found = variance_and_sharing.spread(run(CONFIG), 0, 15)
    said = f"At d_k = 15 the scores have standard deviation {short(found.scores['one'])}"
    page.get_by_text(as_set(said)).wait_for()
    page.wait_for_function(
        "() => document.querySelector('.st-key-chart-spread .js-plotly-plot')?.data?.[0]?.x?.includes?.(15)"
    )
    assert page.evaluate("document.querySelectorAll('.st-key-chart-largest .legendtext').length") == 3


def test_an_order_is_kept_and_back_undoes_it(browser_page: Any, app: Any) -> None:
    page = browser_page
    go_to(page, f"{app.url}/?{QUERY}&experiment=shuffle")
    page.get_by_text("Reordered: cats small chase dogs").wait_for()
    page.get_by_role("button", name="Use this order").click()
    settled(page, "sentence=cats+small+chase+dogs")
    page.get_by_text("Reordered: dogs chase small cats").wait_for()
    page.go_back()
    page.get_by_text("Reordered: cats small chase dogs").wait_for()
    field = page.get_by_role("textbox", name="Sentence", exact=True)
    page.wait_for_function("field => field.value === 'dogs chase small cats'", arg=field.element_handle())


@for_each("experiment", ["axis", "scale", "sharing", "shuffle"])
def test_nothing_scrolls_sideways_on_a_phone(browser_page: Any, app: Any, experiment: str) -> None:
    page = browser_page
    page.set_viewport_size({"width": 390, "height": 844})
    go_to(page, f"{app.url}/?{QUERY}&n_heads=8&experiment={experiment}")
    page.wait_for_selector("[class*=st-key-trial] .attn-focus")
    page.get_by_text(re.compile("Use |standard deviation")).first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_every_experiment_has_its_picture_in_the_window(browser_page: Any, app: Any) -> None:
    page = browser_page
    for name in EXPERIMENT_NAMES:
        go_to(page, f"{app.url}/?v=1&page=experiments&experiment={name}")
        box = page.locator("[data-stage] .attn-box").first.bounding_box()
        assert box["y"] < 360, name
        assert box["y"] + box["height"] <= page.viewport_size["height"], name
