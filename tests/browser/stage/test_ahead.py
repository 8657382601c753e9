"""The maps follow a slider that is dragged and a sentence that is typed; the run that follows changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attnviz import Config, run
from attnviz.settings import url_codec
from tests.browser_idle import QUIET, go_to, wait_until

pytestmark = pytest.mark.browser

BEFORE = Config(sentence="a king saw his queen while the dog slept", n_heads=4, mask="causal", seed=3)
LARGE = Config(sentence=" ".join(f"word{at}" for at in range(64)), n_heads=16, seed=3)
"""Its maps come in single precision: their cells are too small to be read."""
WEIGHTS = """() => {
    const { stage } = document.querySelector('.st-key-explore [data-stage=weights]').picture;
    return [stage.shape, Array.from(stage.values, (number) => (Number.isNaN(number) ? null : number))];
}"""
THUMB = "(e) => { const b = e.parentElement.getBoundingClientRect(); return [b.x, b.y]; }"
RESTED = """() => document.querySelector('.st-key-explore .attn-canvas').style.visibility === 'hidden' &&
    document.fonts.status === 'loaded'"""

WATCHED = """() => {
    const path = document.querySelector('.st-key-way').shadowRoot;
    window.written = [];
    const said = ({ type, target }) => `${type} of ${target.nodeName}`;
    window.watched = new MutationObserver((changes) => window.written.push(...changes.map(said)));
    const attributeFilter = ['d', 'transform', 'width', 'height', 'data-unknown', 'data-share'];
    const seen = { subtree: true, childList: true, characterData: true, attributeFilter };
    const parts = [...document.querySelectorAll('.st-key-explore, .attn-opening'), path];
    parts.forEach((part) => window.watched.observe(part, seen));
    const { prototype } = CanvasRenderingContext2D, put = (window.put ??= prototype.putImageData);
    prototype.putImageData = function (...given) {
        window.written.push('a picture');
        return put.apply(this, given);
    };
}"""
"""Begins to note whatever is written or painted in the path, in the sentence and in the maps."""
CELLS = """() => ['queries', 'keys', 'values', 'scores', 'weights', 'heads'].map((name) =>
    window.attnvizCellArrays ? window.attnvizCellArrays.arrays[name].values.reduce((sum, each) => sum + each, 0) : 0)"""
"""The sum of each array from which a cell is explained, from the first number on."""
STATES = """() => {
    const path = document.querySelector('.st-key-way').shadowRoot;
    const states = (window.states = []), now = () => [
        document.querySelector('.st-key-explore [data-stage=weights]').picture.stage.values.join(),
        document.querySelector('.attn-opening p').innerText,
        [...path.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL()).join(),
    ].join('|');
    let before = '';
    const look = () => {
        const state = now();
        if (state === before && !states.includes(state)) states.push(state);
        before = state;
        requestAnimationFrame(() => setTimeout(look));
    };
    look();
}"""
"""Begins to note what stands in maps, sentence and path in two frames running."""
SENDS = """() => {
    const { send } = WebSocket.prototype;
    window.sends = 0;
    WebSocket.prototype.send = function (message) { window.sends++; return send.call(this, message); };
}"""
"""Begins to count what the page tells the server."""
SAID = "() => [...document.querySelectorAll('.attn-opening .at-text > *')].map((each) => each.innerText)"


def shows(page: Any, config: Config) -> bool:
    """Whether the maps have the weights of a setting, bit for bit."""
    shape, numbers = page.evaluate(WEIGHTS)
    steps = run(config)
    weights = steps["weights"].array.astype(np.float32 if config.sentence == LARGE.sentence else float)
    wanted = np.where(steps["allowed"].array, weights, np.nan)
    return bool(np.array_equal(np.array(numbers, float).reshape(shape), wanted, equal_nan=True))


def numbers(config: Config) -> list[float]:
    """The same of a run."""
    steps = run(config)
    names = ("queries", "keys", "values", "scores", "weights", "heads")
    return [sum(steps[name].array.ravel().tolist()) for name in names]


def picture(page: Any) -> str:
    """A name for the picture of the maps, once Plotly has drawn them: another one if any pixel is."""
    page.wait_for_function(RESTED)
    return blake2b(page.locator(".st-key-explore").screenshot()).hexdigest()


def test_the_maps_follow_a_held_field_and_the_run_that_follows_changes_no_pixel(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page(reduced_motion="reduce")
    query = "v=1&sentence=a+king+saw+his+queen+while+the+dog+slept&n_heads=4&mask=causal&seed=3"
    page.goto(f"{app.url}/?{query}")
    slider = page.locator(".st-key-n_heads input[type=range]")
    page.wait_for_function("document.querySelectorAll('.st-key-explore .attn-layer svg path').length > 1")
    page.evaluate(QUIET)
    assert shows(page, BEFORE)
    x, y = slider.evaluate(THUMB)
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 7):
        page.mouse.move(x + 10 * step, y)
    heads = int(slider.input_value())
    assert heads > BEFORE.n_heads
    dragged = replace(BEFORE, n_heads=heads)
    wait_until(page, lambda: shows(page, dragged))
    assert "n_heads=4" in page.url, "no run has been asked for"
    held = picture(page)
    page.mouse.up()
    page.wait_for_url(f"**n_heads={heads}**")
    page.evaluate(QUIET)
    assert shows(page, dragged)
    assert picture(page) == held
    field = page.locator(".st-key-sentence input")
    field.press("End")
    field.press_sequentially(" and a cat")
    typed = replace(dragged, sentence=f"{BEFORE.sentence} and a cat")
    wait_until(page, lambda: shows(page, typed))
    assert "cat" not in page.url
    held = picture(page)
    field.press("Enter")
    page.wait_for_url("**and+a+cat**")
    page.evaluate(QUIET)
    assert shows(page, typed)
    assert picture(page) == held
    field.press("End")
    field.press_sequentially("!")
    wait_until(page, lambda: not shows(page, typed))
    field.press("Backspace")
    wait_until(page, lambda: shows(page, typed))
    assert picture(page) == held, "no run will draw what is as it was"
    assert page.evaluate("window.attnvizCellArrays !== null"), "and its cells can be explained"
    page.locator(".st-key-group-Score summary").click()
    page.evaluate(QUIET)
    field = page.locator(".st-key-softcap input")
    field.press("Control+a")
    field.press_sequentially("3")
    capped = replace(typed, softcap=3.0)
    wait_until(page, lambda: shows(page, capped))
    assert "softcap" not in page.url
    assert page.locator(".st-key-explore .attn-knobs b").all_inner_texts() == ["1", "4", "3", "0.5", "4", "8"]
    held = picture(page)
    field.press("Enter")
    page.wait_for_url("**softcap=3**")
    page.evaluate(QUIET)
    assert shows(page, capped)
    assert picture(page) == held


def test_a_slider_that_has_left_what_was_between_its_stops_is_not_taken_for_the_next_stop(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page(reduced_motion="reduce")
    go_to(page, f"{app.url}/?{urlencode(url_codec.encode(replace(BEFORE, d_model=20)))}")
    x, y = page.locator(".st-key-d_model input[type=range]").evaluate(THUMB)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 25, y, steps=3)
    page.mouse.up()
    page.wait_for_function("() => !location.search.includes('d_model=20')")
    page.evaluate(QUIET)
    moved = url_codec.open_link(page.url.partition("?")[2], Config)[0][0]
    assert moved.d_model > 20
    field = page.locator(".st-key-sentence input")
    field.press("End")
    field.press_sequentially(" too")
    wait_until(page, lambda: shows(page, replace(moved, sentence=f"{BEFORE.sentence} too")))


LATER = "(ms) => new Promise((done) => setTimeout(done, ms))"
"""For `page.evaluate`: by the clock, as the page waits by it, too, however few frames a busy machine draws."""


class Line:
    """The socket of a page, on which what a run draws can be kept back, even that there is one, and what is asked."""

    def __init__(self, page: Any) -> None:
        self.kept: list[Any] | None = None
        self.asked: list[Any] | None = None
        self.long = 0  # bytes of the longest message since it was set to 0
        self.drawn = 0  # and how many of them draw something
        self.is_slow = False
        page.route_web_socket("**/_stcore/stream**", self._open)

    def _open(self, near: Any) -> None:
        self.near, self.server = near, near.connect_to_server()
        self.server.on_message(self._pass)
        near.on_message(lambda message: self.server.send(message) if self.asked is None else self.asked.append(message))

    def ask(self) -> None:
        """Let the server hear what was asked meanwhile."""
        asked, self.asked = self.asked or [], None
        for message in asked:
            self.server.send(message)

    def _pass(self, message: Any) -> None:
        self.long = max(self.long, len(message))
        kind = ForwardMsg.FromString(message).WhichOneof("type")
        is_begun = kind in ("new_session", "session_status_changed") and not self.is_slow
        self.drawn += kind == "delta"
        if self.kept is None or (is_begun and not self.kept):
            self.near.send(message)
        else:
            self.kept.append(message)

    def release(self) -> None:
        kept, self.kept = self.kept or [], None
        for message in kept:
            self.near.send(message)


def test_a_step_of_a_number_is_drawn_ahead_of_its_run_which_then_writes_nothing(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page(reduced_motion="reduce")
    line = Line(page)
    seed, up = (page.locator(f".st-key-seed {which}") for which in ("input", "[data-testid=stNumberInputStepUp]"))
    for before in (BEFORE, LARGE):
        page.goto(f"{app.url}/?{urlencode({**url_codec.encode(before), 'v': '1'})}")
        page.evaluate(QUIET)
        for step, press in enumerate((lambda: seed.press("ArrowUp"), up.click, lambda: seed.press("ArrowUp")), 4):
            after = replace(before, seed=step)
            line.kept, line.is_slow = [], step == 6
            press()
            wait_until(page, lambda after=after: shows(page, after))
            page.evaluate(LATER, 2000 if line.is_slow else 0)  # many visitors ask the server at once
            assert f"seed={step}" not in page.url, "no run has been heard of"
            page.wait_for_function(RESTED)
            said = page.evaluate(SAID)
            page.evaluate(WATCHED)
            line.release()
            page.wait_for_url(f"**seed={step}**")
            page.evaluate(QUIET)
            assert page.evaluate("window.written") == []
            assert page.evaluate(SAID) == said
            page.evaluate("watched.disconnect()")


def test_a_run_whose_stages_are_at_their_address_does_not_send_them_again(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page(reduced_motion="reduce")
    line = Line(page)
    page.goto(f"{app.url}/?v=1&sentence=a+king+saw+his+queen+while+the+dog+slept&n_heads=4&mask=causal&seed=7")
    page.evaluate(QUIET)
    whole, lost = line.long, []
    seed = page.locator(".st-key-seed input")

    def stepped(step: int, *, is_first: bool = False) -> int:
        """Go to a seed; return the length of the longest message. The maps are right, and their cells explained.

        is_first  whether the answer of its address comes before the server hears of the step
        """
        line.long = line.drawn = 0
        line.asked = [] if is_first else None
        seed.press("ArrowUp")
        if is_first:  # however busy the machine is
            wait_until(page, lambda: shows(page, replace(BEFORE, seed=step)))
            line.ask()
        page.wait_for_url(f"**seed={step}**")
        page.evaluate(QUIET)
        wait_until(page, lambda: shows(page, replace(BEFORE, seed=step)))
        wait_until(page, lambda: page.evaluate(CELLS) == pytest.approx(numbers(replace(BEFORE, seed=step)), abs=0))
        return line.long

    assert max(stepped(8, is_first=True), stepped(9, is_first=True)) < 0.75 * whole
    assert line.drawn == 1, "nothing is drawn but the stage, in one message"

    def lose(route: Any) -> None:
        """Let a question be answered on the server, and its answer be lost, as well as those that follow."""
        route.fetch()
        lost.append(route.request.url)
        route.abort()

    page.route("**/attnviz/stage?**", lose)
    assert stepped(10) > 0.9 * whole
    assert lost, "the run has sent it, as its answer was lost"
    page.unroute("**/attnviz/stage?**")
    page.route(
        "**/attnviz/stage?**", lambda route: route.fulfill(body="avs1?", content_type="application/octet-stream")
    )
    assert stepped(11) > 0.9 * whole, "what cannot be read is as good as lost"
    page.unroute("**/attnviz/stage?**")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/attnviz/stage?" in request.url else None)
    stepped(12)
    stepped(13)
    wait_until(page, lambda: bool(asked))


def test_sentence_and_path_wait_for_the_maps_of_a_run_where_their_answer_comes_late(
    new_page: Callable[..., Any], app: Any
) -> None:
    page = new_page(reduced_motion="reduce")
    page.goto(f"{app.url}/?v=1&sentence=a+king+saw+his+queen+while+the+dog+slept&n_heads=4&mask=causal&seed=20")
    page.evaluate(QUIET)
    late: list[tuple[Any, Any]] = []
    page.route("**/attnviz/stage?**", lambda route: late.append((route, route.fetch())))
    page.evaluate(STATES)
    page.locator(".st-key-seed input").press("ArrowUp")
    wait_until(page, lambda: shows(page, replace(BEFORE, seed=21)))  # as the run was asked to send them after all
    page.evaluate(QUIET)
    assert late, "the run has named what was handed out"
    for route, answer in late:
        route.fulfill(response=answer)
    page.evaluate(QUIET)
    assert page.evaluate("states.length") == 2, "those of one setting and those of the next, and no mixture"


def test_stages_that_another_visitor_has_asked_for_are_asked_for_and_come_in_no_further_run(
    new_page: Callable[..., Any], app: Any
) -> None:
    page, asked = new_page(reduced_motion="reduce"), list[str]()
    go_to(page, f"{app.url}/?v=1&sentence=a+king+saw+his+queen+while+the+dog+slept&n_heads=4&mask=causal&seed=30")
    follow = page.evaluate("document.querySelector('.st-key-explore [data-stage=weights]').picture.heatmap.data.follow")
    query = urlencode(follow["setting"] | {"seed": "31"})
    assert page.request.get(f"{app.url}/{follow['address']}?{query}").ok
    page.on("request", lambda request: asked.append(request.url) if "/attnviz/stage?" in request.url else None)
    page.evaluate(SENDS)
    go_to(page, f"{app.url}/?v=1&sentence=a+king+saw+his+queen+while+the+dog+slept&n_heads=4&mask=causal&seed=31")
    wait_until(page, lambda: shows(page, replace(BEFORE, seed=31)))
    page.evaluate(QUIET)
    assert len(asked) == 1
    assert asked[0].endswith(query), "of what it asks itself"
    assert page.evaluate("sends") <= 2, "the browser tells of its history twice, and nothing else is to be said"


def test_a_click_after_a_move_neither_sends_the_stages_nor_asks_for_them(
    new_page: Callable[..., Any], app: Any
) -> None:
    page, asked = new_page(reduced_motion="reduce"), list[str]()
    line = Line(page)
    go_to(page, f"{app.url}/?{urlencode(url_codec.encode(replace(LARGE, seed=40)))}")
    whole = line.long
    page.locator(".st-key-seed input").press("ArrowUp")
    page.wait_for_url("**seed=41**")
    page.evaluate(QUIET)
    page.on("request", lambda request: asked.append(request.url) if "/attnviz/stage?" in request.url else None)
    line.long = 0
    page.locator(".at-words button").nth(3).click()
    page.wait_for_url("**query=4**")
    page.evaluate(QUIET)
    assert shows(page, replace(LARGE, seed=41))
    assert (asked, line.long < 0.2 * whole) == ([], True)
    page.keyboard.press("Escape")
    page.evaluate(QUIET)
    assert shows(page, replace(LARGE, seed=41))
    assert (asked, line.long < 0.2 * whole) == ([], True)
