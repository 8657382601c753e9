"""What a visitor changes in a run of a trained model, in a browser: the numbers in the maps are the engine's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.engine.pretrained.model_registry import MODELS
from attnviz.models import hosting
from attnviz.settings import url_codec
from attnviz.ui.session.selection import Selection
from tests.browser_idle import QUIET, go_to
from tests.support.small_models import FOLDER

pytestmark = pytest.mark.browser

NAMES = [f"{name}={FOLDER / name}" for name in ("bert", "gpt2")]
NUMBERS = """(map) => [...document.querySelectorAll(`${map} .attn-layer text`)].map((text) => text.textContent)
  .filter((text) => /^(0?\\.\\d\\d|1)$/.test(text))"""


@pytest.fixture(scope="module")
def site(server: Callable[..., Any]) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ATTNVIZ_MODELS", os.pathsep.join(NAMES))
        yield server("app.py")


@pytest.fixture(autouse=True)
def offered() -> Iterator[None]:
    """The same models in this process, which computes what the page has to show."""
    hosting.offer(NAMES)
    yield
    MODELS.clear()


def setting(page: Any) -> tuple[Config, Selection]:
    """What the address says now."""
    query = {name: values[-1] for name, values in parse_qs(urlsplit(page.url).query).items()}
    found, problems = url_codec.decode(query, Config, Selection)
    assert problems == []
    return found


def in_address(page: Any, name: str, value: str | None = None) -> None:
    page.wait_for_url(
        lambda url: name in (params := parse_qs(urlsplit(url).query)) and value in (None, params[name][-1])
    )
    page.evaluate(QUIET)


def weights(config: Config, layer: int, head: int | None = None) -> list[str]:
    """The weights of a layer as maps write them; what is masked or rounds to 0 is not written."""
    A = run(config).layers[layer]["weights"].array
    A = A if head is None else A[head : head + 1]
    return [f"{x:.2f}".removeprefix("0").removesuffix(".00") for x in A.ravel() if x >= 0.005]


def shown(page: Any, key: str, stage: str, wanted: list[str]) -> None:
    page.evaluate(QUIET)
    drawn = f".st-key-{key} [data-stage={stage}]"
    page.locator(f"{drawn} .attn-layer text").first.wait_for()
    assert page.evaluate(NUMBERS, drawn) == wanted


def opened(browser_page: Any, site: Any, **query: str) -> Any:
    page = browser_page
    go_to(page, f"{site.url}/?{urlencode({'v': '1', 'model': 'bert', 'sentence': 'the cat sat'} | query)}")
    return page


def test_a_matrix_that_is_changed_changes_all_that_follows(browser_page: Any, site: Any) -> None:
    page = opened(browser_page, site, panel="what_if", step="weights", layer="2", focus="1")
    before, _ = setting(page)
    shown(page, "explore", "weights", weights(before, 1, 0))
    page.get_by_role("radio", name="1", exact=True).or_(page.get_by_role("button", name="1", exact=True)).first.click()
    in_address(page, "focus")
    page.get_by_text("Paste or upload a whole matrix").click()
    n = len(run(before).query_tokens)
    area = page.locator(".st-key-pasted_matrix textarea")
    area.fill("\n".join(" ".join("1" if j == n - 1 - i else "0" for j in range(n)) for i in range(n)))
    area.press("Control+Enter")
    page.get_by_role("button", name="Set these numbers").click()
    in_address(page, "edits")
    config, _ = setting(page)
    np.testing.assert_array_equal(run(config).layers[0]["weights"].array[0], np.eye(n)[::-1])
    shown(page, "explore", "weights", ["1"] * n)
    edits = parse_qs(urlsplit(page.url).query)["edits"][-1]
    page.goto("about:blank")  # so that a link with them is opened anew
    opened(page, site, focus="1", layer="2", edits=edits)
    assert weights(config, 1, 0) != weights(before, 1, 0)
    shown(page, "explore", "weights", weights(config, 1, 0))


def test_a_cell_that_is_closed_is_closed_in_every_layer(browser_page: Any, site: Any) -> None:
    page = opened(browser_page, site, panel="mask", layer="2", focus="2")
    page.locator("[role=grid] [role=row]").nth(2).locator("[role=gridcell]").nth(0).click()
    in_address(page, "mask", "custom")
    config, _ = setting(page)
    assert [run(config).layers[i]["weights"].array[0, 1, 0] for i in (0, 1)] == [0.0, 0.0]
    shown(page, "explore", "weights", weights(config, 1, 1))


def test_a_temperature_sharpens_the_models_own_weights(browser_page: Any, site: Any) -> None:
    page = opened(browser_page, site, focus="3")
    page.locator("[data-testid=stSidebar]").get_by_text("Normaliser", exact=True).first.click()
    field = page.get_by_role("spinbutton", name="Temperature")
    field.fill("0.5")
    field.press("Enter")
    in_address(page, "temperature", "0.5")
    config, _ = setting(page)
    assert weights(config, 0, 2) != weights(replace(config, temperature=1.0), 0, 2)
    shown(page, "explore", "weights", weights(config, 0, 2))


def test_b_is_made_causal_by_one_press(browser_page: Any, site: Any) -> None:
    page = opened(browser_page, site, sentence="the", page="compare", step="weights", layer="2")
    page.get_by_role("button", name="A causal mask").click()
    in_address(page, "b_mask", "causal")
    config, _ = setting(page)
    shown(page, "compare", "a", weights(config, 1))
    shown(page, "compare", "b", weights(replace(config, mask=("causal",)), 1))


def test_b_is_another_model(browser_page: Any, site: Any) -> None:
    page = opened(browser_page, site, sentence="the", page="compare", step="weights", layer="2", b_model="gpt2")
    config, _ = setting(page)
    shown(page, "compare", "a", weights(config, 1))
    shown(page, "compare", "b", weights(replace(config, model="gpt2"), 1))
