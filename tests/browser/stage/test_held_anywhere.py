"""Whatever is held, in random settings: what the maps show before the hand lets go is the run of the link after it."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.live.knobs import SIZES
from attnviz.settings import url_codec
from attnviz.settings.faults import ConfigError
from attnviz.ui.components.stage import held
from attnviz.ui.panels import by_hand, stage_of_run
from tests.browser.stage.test_held import PICTURE, Maps, check
from tests.browser_idle import FRAMES, go_to

pytestmark = pytest.mark.browser

SEED, SETTINGS = map(int, os.environ.get("ATTNVIZ_HELD", "310:10").split(":"))
"""Which settings the page is opened with, and how many: ATTNVIZ_HELD=7:200 takes 200 others."""
HOLDS = 10
"""How often something of each is held."""

SENTENCES = ("the cat sat", "who saw him there", "a b c a b", "the dog the dog", "we saw a cat sit")
ROWS: dict[str, tuple[Any, ...]] = {
    "score": ("scaled_dot", "dot", "general", "additive", "cosine", "gaussian", "formula", "formula"),
    "mask": (("none",), ("causal",), ("window",), ("formula",), ("causal", "no_self")),
    "bias": ("none", "alibi", "linear", "formula"),
    "normaliser": ("softmax", "sparsemax", "entmax", "sigmoid", "linear", "formula"),
    "n_heads": (2, 3, 4),
    "temperature": (1.0, 0.7),
    "softcap": (0.0, 2.0),
    "n_layers": (1, 1, 2),
    "sentence": SENTENCES,
    "position": ("none", "rope"),
    "score_formula": ("sum(q * k) / 2 - 0.1 * abs(i - j)", "norm(q - k) * 0.5"),
    "mask_formula": ("j <= i + 1", "abs(i - j) < 3"),
    "bias_formula": ("-0.2 * abs(i - j)", "0.3 * (j - i) / h"),
    "normaliser_formula": ("e = exp(0.5 * x); e / sum(e)",),
}
HOLDING = f"{PICTURE}.heatmap.holding"
CATCH = f"""() => {{
    const {{ heatmap }} = {HOLDING}, send = heatmap.page.setTriggerValue;
    window.letGo = null;
    const setTriggerValue = (name, value) => (name === "held" ? (window.letGo = value) : send(name, value));
    heatmap.page = {{ setTriggerValue }};
}}"""
"""What is let go of is told to the test in place of the server, until the server sends the maps again."""

PUT_BACK = f"""async () => {{
    const holding = {HOLDING}, {{ letGo }} = window, {{ ahead, preview }} = holding.heatmap;
    window.letGo = null;
    holding.settle();
    ahead.said.clear();
    if (preview.stages) preview.settle();
    if (!holding.run) await holding.prepare(); // of another length of an axis no run was there
    holding.run.changes = holding.before;
    holding.head.pending.clear();
    if (holding.mask.isOn) holding.mask.toggle();
    holding.show([]);
    await new Promise(requestAnimationFrame);
    return letGo;
}}"""
SHOWN_STAGES = "() => [...document.querySelectorAll('.st-key-explore [data-stage]')].map((each) => each.dataset.stage)"
ANSWERED = f"() => !{HOLDING}.heatmap.ahead.isAsking"
"""Whether the server has answered what it was asked of a length of an axis; some of them are refused."""
IS_AHEAD = f"() => {HOLDING}.isAhead"
KNOBS = f"() => {HOLDING}.setting.knobs.map((knob) => knob.name)"
IS_OPEN = """(name) => {
    const handle = document.querySelector(`[data-knob="${name}"]`);
    const { left, top, width, height } = handle.getBoundingClientRect();
    return document.elementFromPoint(left + width / 2, top + height / 2)?.closest('.attn-knob') === handle;
}"""


def settings(dice: random.Random) -> Iterator[Config]:
    """Settings of any rows that can be run."""
    while True:
        chosen = {name: dice.choice(rows) for name, rows in ROWS.items()}
        try:
            config = Config(seed=dice.randrange(1000), n_kv_heads=1, d_k=(3,), **chosen)
            with np.errstate(all="ignore"):
                finite = np.isfinite(run(config).layers[-1]["heads"].array).all()
        except ConfigError:
            continue
        if finite:
            yield config


@dataclass
class Hand:
    """A hand over the maps of a setting, which begins to hold something, so that the picture can be read."""

    page: Any
    maps: Maps
    dice: random.Random

    def cell(self, names: list[str]) -> str:
        """Drag the number of a cell."""
        name = self.dice.choice(names)
        x, y = self._spot(name)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        up = self.dice.choice((-1, 1)) * self.dice.randint(12, 60)
        self.page.mouse.move(x, y + up / 2)
        self.page.mouse.move(x + 3, y + up)
        return name

    def handle(self, names: list[str]) -> str:
        """Drag a number over the maps, or change it with keys where there is no room for its handle."""
        name = self.dice.choice(self.page.evaluate(KNOBS))
        handle = self.page.locator(f'[data-knob="{name}"]')
        if self.page.evaluate(IS_OPEN, name):
            box = handle.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            self.page.mouse.move(x, y)
            self.page.mouse.down()
            self.page.mouse.move(x + self.dice.choice((-40, -20, 20, 40)), y, steps=2)
            self.page.evaluate(FRAMES, 1)
        else:
            handle.evaluate("(each) => each.focus({ preventScroll: true })")
            self.page.keyboard.press("ArrowRight")
            self.page.keyboard.press("ArrowRight")
        if name in SIZES:
            self.page.wait_for_function(ANSWERED)
        return str(name)

    def mask(self, names: list[str]) -> str:
        """Paint a stroke over the weights."""
        self.page.locator("[data-stage=weights] .attn-paint").dispatch_event("click")
        (x, y), (to_x, to_y) = self._spot("weights", is_any=True), self._spot("weights", is_any=True)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(to_x, to_y, steps=2)
        return "mask"

    def typed(self, names: list[str]) -> str:
        """Type the number of a cell."""
        name = self.dice.choice(names)
        self._spot(name)
        self.page.locator(f"[data-stage={name}] .attn-focus").evaluate("(each) => each.focus({ preventScroll: true })")
        self.page.evaluate(
            "([name, cell]) => { document.querySelector(`[data-stage=${name}]`).picture.cursor = cell; }",
            [name, dict(zip(("head", "row", "column"), self.at))],
        )
        self.page.keyboard.press("F2")
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(f"{self.dice.uniform(-2, 2):.3f}")
        return name

    def head(self, names: list[str]) -> str:
        """Switch a head off."""
        head = self.dice.randrange(len(self.maps.shown()["weights"]))
        self.page.locator(f'[data-switch="{head}"]').dispatch_event("click")
        return f"head {head}"

    def let_go(self) -> None:
        """Release the pointer, and what is held by keys."""
        self.page.mouse.up()
        if self.page.evaluate(f"() => {HOLDING}.isHeld"):
            self.page.keyboard.press("Enter")

    def _spot(self, name: str, *, is_any: bool = False) -> list[float]:
        numbers = self.maps.shown()[name]
        where = np.argwhere(np.isfinite(numbers) | is_any).tolist()
        self.at = self.dice.choice(where)
        return self.maps.cell(name, *self.at)[:2]


def wanted(config: Config, names: list[str]) -> dict[str, np.ndarray]:
    """The numbers of the maps of a run, NaN where they are masked."""
    with np.errstate(all="ignore"):
        steps = run(config).layers[0]
    forbidden = np.isneginf(steps["masked"].array)
    arrays = {name: np.array(steps[name].array, float) for name in names}
    return {name: np.where(forbidden, np.nan, each) if name != "heads" else each for name, each in arrays.items()}


def after(config: Config, event: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> Config:
    """The setting of the link that the server would write."""
    trace = run(config)
    mask, names = trace["allowed"].shape, [knob["name"] for knob in stage_of_run.handles(trace)]
    kept = held.read(event, shapes, mask, names)
    assert kept is not None, event
    changed = by_hand.kept_in(config, kept, 0, (), by_hand._outputs(trace, 0))
    (found, *_), problems = url_codec.open_link(url_codec.query_string(changed), Config)
    assert problems == []
    return found


def test_whatever_is_held_is_shown_as_the_link_after_it(new_page: Callable[..., Any], app: Any) -> None:
    dice = random.Random(SEED)  # noqa: S311 - nothing secret
    page = new_page(reduced_motion="reduce")
    seen: set[str] = set()
    for config, _ in zip(settings(dice), range(SETTINGS)):
        query = urlencode(url_codec.encode(config) | {"head": "1", "query": "2", "key": "1"})
        go_to(page, f"{app.url}/?{query}")
        maps = Maps(page, is_at_rest=True)
        hand, names = Hand(page, maps, dice), page.evaluate(SHOWN_STAGES)
        maps.point(*maps.cell("weights", 0, 0, 0)[:2])
        page.evaluate(CATCH)
        for _ in range(HOLDS):
            hold = dice.choice((hand.cell, hand.cell, hand.handle, hand.handle, hand.mask, hand.typed, hand.head))
            said = hold(names)
            shown, is_refused = maps.shown(), said in SIZES and not page.evaluate(IS_AHEAD)
            hand.let_go()
            event = page.evaluate(PUT_BACK)
            if event is None or is_refused:  # it was dragged to where it had been, or to where nothing can be run
                continue
            seen.add(hold.__name__)
            shapes = {name: each.shape for name, each in shown.items()}
            check(shown, wanted(after(config, event, shapes), names), f"{config}: {said}: {event}")
    assert seen == {"cell", "handle", "mask", "typed", "head"}
