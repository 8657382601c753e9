"""The pictures and the interactive file in a real browser: what is read, pointed at, and left alone."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import NORMALISERS, SCORES, Config, Trace, run, show
from attnviz.engine.external.traces import of_scores, of_weights
from attnviz.exports import interactive_html, interactive_part, site
from attnviz.pictures.static import svg
from attnviz.pictures.static.text_metrics import word
from attnviz.ui.panels.typed_formula import EXAMPLES
from tests.support import scripts
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

HOSTILE = (
    "</script><script>alert(1)</script> <img/src=x/onerror=alert(1)> ]]> constructor 猫猫猫猫猫猫猫猫猫猫猫猫 a\u202eb "
    "supercalifragilisticexpialidocious e\u0301\u0301\u0301\u0301\u0301"
)


STRONG = """(canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.reduce((n, red, at) => n + (at % 4 === 0 && Math.abs(red - data[at + 2]) > 60), 0);
}"""
"""How many dots of a canvas are clearly red or blue; text is grey."""


class File:
    """A file opened from disk without a network, and all that went wrong with it."""

    def __init__(self, page: Any, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        self.page, self.faults, self.requests = page, [], []
        page.on("console", lambda message: self.faults.append(message.text))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("dialog", lambda dialog: self.faults.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))
        self.url = path.as_uri()
        page.goto(self.url)

    def choose(self, stage: int, head: int, row: int, column: int) -> None:
        """Select a cell by its numbers, counted from 0."""
        self.page.locator(".picture").nth(stage).press("Enter")
        for name, value in (("head", head), ("query", row), ("key", column)):
            self.page.fill(f"#{name}", str(value + 1))
            self.page.dispatch_event(f"#{name}", "change")

    @property
    def caption(self) -> str:
        return str(self.page.inner_text("#said"))

    @property
    def lines(self) -> dict[str, str]:
        titles, texts = (self.page.locator(f"#lines {tag}").all_inner_texts() for tag in ("dt", "dd"))
        return dict(zip(titles, texts))


def number(text: str) -> float:
    return float(text.rpartition(" ")[2].replace("−", "-").replace("∞", "inf"))


@pytest.fixture
def opened(new_page: Callable[..., Any], tmp_path: Path) -> Callable[..., File]:
    def open_file(trace: Trace, **options: Any) -> File:
        return File(
            new_page(offline=True, instead=True, **options), tmp_path / "run.html", interactive_html.html(trace)
        )

    return open_file


def test_cells_say_their_numbers_exactly_and_hostile_words_stay_words(opened: Callable[..., File]) -> None:
    trace = run(Config(sentence=HOSTILE, tokeniser="whitespace", n_heads=3, mask="causal", d_v=(3, 1, 2), n_layers=2))
    file = opened(trace)
    for layer in (0, 1):
        file.page.select_option("#layer", str(layer + 1))
        for at, name in enumerate(("scores", "weights", "heads")):
            array = trace.layers[layer][name].array
            for head, row, column in ((0, 4, 1), (2, 6, 0), (1, 3, 0)):
                file.choose(at, head, row, column)
                assert number(file.caption) == array[head, row, column]
                assert f"query {row + 1} “{word(trace.query_tokens[row])}”" in file.caption
    file.choose(0, 1, 2, 5)
    assert file.caption.endswith("masked")
    assert file.page.inner_text("#sentence") == svg.drawable(HOSTILE)
    assert file.faults == []
    assert file.requests == [file.url]


def test_a_folder_of_pages_is_opened_from_a_disk(new_page: Callable[..., Any], tmp_path: Path) -> None:
    runs = [run(Config(sentence=f"{word} cat sat", n_heads=2)) for word in ("the", "a")]
    for name, text in site.files(["A lecture", *((each, 0) for each in runs)]):
        (tmp_path / name).write_text(text, encoding="utf-8")
    page, faults = new_page(offline=True, instead=True), []
    page.on("console", lambda message: faults.append(message.text))
    page.goto((tmp_path / "index.html").as_uri())
    page.wait_for_function("[...document.images].every((image) => image.complete)")  # read as they come in sight
    assert page.evaluate("Array.from(document.images, (image) => image.naturalWidth)") == [1200, 1200]
    page.get_by_role("link", name="Open a cat sat").click()
    assert page.inner_text("#sentence") == "a cat sat"
    assert page.locator("input[type=range]").count() == 2
    assert faults == []


GREEN = """(at) => {
    const canvas = document.querySelectorAll(".picture")[at].querySelectorAll("canvas")[1];
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.reduce((n, green, at) => n + (at % 4 === 1 && green - data[at - 1] > 60 && green > 100), 0);
}"""
"""How many dots over a picture have the colour of what was changed by hand."""
CELL_AT = """([picture, wanted]) => {
    const box = document.querySelectorAll(".picture")[picture];
    const { left, top, width, height } = box.getBoundingClientRect();
    const tip = document.getElementById("tip");
    for (let x = 2; x < width; x += 4)
        for (let y = 2; y < height; y += 4) {
            const at = { clientX: left + x, clientY: top + y };
            box.dispatchEvent(new PointerEvent("pointermove", { ...at, bubbles: true }));
            if (!tip.hidden && tip.textContent.includes(wanted)) return [at.clientX, at.clientY];
        }
}"""
"""The place of a cell in the window, by the words that the page has for it."""


def test_the_numbers_of_lines_follow_the_hand_and_a_head_is_switched_off(opened: Callable[..., File]) -> None:
    config = Config(
        sentence="the cat sat",
        n_heads=2,
        n_layers=2,
        normaliser="entmax",
        score="formula",
        score_formula="sum(q*k) / 2 - 0.1*abs(i-j)",
    )
    file = opened(run(config), viewport={"width": 1280, "height": 720})
    page, mouse = file.page, file.page.mouse

    def held(name: str) -> float:
        """Drag the slider of a number, and return what it is before the hand lets go."""
        box = page.locator(f"input[type=range][data-knob='{name}']").bounding_box()
        y = box["y"] + box["height"] / 2
        mouse.move(box["x"] + box["width"] / 2, y)
        mouse.down()
        mouse.move(box["x"] + 0.8 * box["width"], y)
        page.evaluate("new Promise(requestAnimationFrame)")
        return float(page.input_value(f"input[type=number][data-knob='{name}']"))

    for stage in range(2):
        file.choose(stage, 1, 2, 0)
        by = held("score_formula.1") if stage == 0 else held("entmax.alpha")
        changes: dict[str, Any] = {"normaliser_knobs": {"entmax.alpha": by}} if stage else {}
        formula = config.score_formula if stage else f"sum(q*k) / 2 - {by}*abs(i-j)"
        config = replace(config, score_formula=formula, **changes)
        after = run(config).layers[0][("scores", "weights")[stage]].array[1, 2, 0]
        assert number(file.caption) == pytest.approx(after, rel=1e-9)
        assert "edited" not in str(file.lines)
        mouse.up()
        assert f"- {formula.rpartition('- ')[2]} " in page.locator("section p").nth(1).inner_text()
    assert f"- {formula.split()[-1].split('*')[0]} * abs(i-j)" in file.lines["Score"].replace("*abs", " * abs")
    page.locator("input[type=number][data-knob='entmax.alpha']").press("Escape")
    config = replace(config, normaliser_knobs={})
    page.evaluate("scrollTo(0, 0)")
    x, y = page.evaluate(CELL_AT, [1, "head 2, query 1 “the”, key 1 “the”"])
    mouse.click(x, y - 12)  # its name
    off = run(config, edits=[(0, "heads", (1, i, d), 0.0) for i in range(3) for d in range(4)])
    for layer in (1, 2):
        page.select_option("#layer", str(layer))
        file.choose(2, 1, 2, 1)
        assert number(file.caption) == pytest.approx(off.layers[layer - 1]["heads"].array[1, 2, 1], abs=1e-12)
    page.select_option("#layer", "1")
    page.locator(".picture").nth(1).press("x")
    page.evaluate("new Promise(requestAnimationFrame)")
    assert page.get_attribute("#off", "aria-pressed") == "false"
    assert number(file.caption) == pytest.approx(run(config).layers[0]["heads"].array[1, 2, 1], rel=1e-9)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert file.faults == []


def test_numbers_follow_the_hand_and_are_those_of_a_run(opened: Callable[..., File]) -> None:
    config = Config(sentence="the cat sat on the mat", n_heads=3, mask="causal", n_layers=2, residual=True)
    file = opened(run(config), viewport={"width": 1280, "height": 720})
    page, mouse = file.page, file.page.mouse
    file.choose(1, 0, 2, 1)
    page.evaluate("scrollTo(0, 0)")
    slider = page.locator("input[type=range][data-knob=temperature]").bounding_box()
    x, y = slider["x"], slider["y"] + slider["height"] / 2
    places = "Array.from(document.querySelectorAll('.picture'), (each) => each.getBoundingClientRect().top)"
    before = page.evaluate(places)
    mouse.move(x + slider["width"] / 2, y)
    mouse.down()
    for share in (0.45, 0.4, 0.3):
        mouse.move(x + slider["width"] * share, y)
        moved = replace(config, temperature=float(page.input_value("input[type=number][data-knob=temperature]")))
        page.evaluate("new Promise(requestAnimationFrame)")
        assert number(file.caption) == pytest.approx(run(moved).layers[0]["weights"].array[0, 2, 1], rel=1e-9)
    mouse.up()
    assert moved.temperature < 1
    assert page.evaluate(places) == before
    assert page.inner_text("#overview").endswith("(as it was saved)")
    assert page.is_visible("#as-saved")
    assert not page.is_visible("#linked")
    assert f"softmax((S / √d_k) / {moved.temperature:g})" in page.locator("section").nth(1).inner_text()

    x, y = page.evaluate(CELL_AT, [0, "head 2, query 4 “on”, key 2 “cat”"])
    mouse.move(x, y)
    mouse.down()
    mouse.move(x, y - 30, steps=3)
    page.evaluate("new Promise(requestAnimationFrame)")
    assert file.page.inner_text("#said").startswith("QKᵀ, head 2, query 4 “on”, key 2 “cat”")
    tip = page.locator("#tip")
    assert tip.inner_text() == file.caption, "the tip stays at the held cell"
    assert "(was " in tip.inner_text()
    assert tip.bounding_box()["y"] >= y, "and stands below it"
    assert page.evaluate(GREEN, 0) > 40, "which is framed"
    held = float(page.input_value("#number"))
    after = run(moved, edits=[(0, "scores", (1, 3, 1), held)])
    first = run(moved).layers[0]["scores"].array[1, 3, 1]
    assert f"(was {first}".replace("-", "−") in file.caption
    page.keyboard.press("Escape")
    page.evaluate("new Promise(requestAnimationFrame)")
    assert number(file.caption) == first
    mouse.move(x, y - 60)  # it is let go
    mouse.up()
    page.focus("#number")
    page.keyboard.press("ArrowUp")
    coarse = float(page.input_value("#number"))
    page.keyboard.press("Shift+ArrowUp")
    fine = float(page.input_value("#number"))
    assert first < coarse < fine < coarse + 0.2 * (coarse - first)
    page.evaluate("new Promise(requestAnimationFrame)")
    assert number(file.caption.partition(" (")[0]) == fine
    page.fill("#number", str(held))
    page.select_option("#layer", "2")
    for at, name in enumerate(("scores", "weights", "heads")):
        file.choose(at, 1, 4, 2)
        assert number(file.caption) == pytest.approx(after.layers[1][name].array[1, 4, 2], rel=1e-9)
        assert "edited" not in str(file.lines)

    page.click("#back")
    page.select_option("#layer", "1")
    file.choose(1, 0, 1, 4)
    assert file.caption.endswith("masked")
    page.click("#allowed")
    page.evaluate("new Promise(requestAnimationFrame)")
    allowed = run(config, edits=[(0, "allowed", (1, 4), 1.0)])
    assert number(file.caption) == pytest.approx(allowed.layers[0]["weights"].array[0, 1, 4], rel=1e-9)
    page.click("#allowed")
    page.evaluate("new Promise(requestAnimationFrame)")
    assert file.caption.endswith("masked")
    assert not page.is_visible("#as-saved")
    assert not page.is_visible("#held"), "no number is masked"
    typed_and_painted(file, config)
    assert file.faults == []


def typed_and_painted(file: File, config: Config) -> None:
    """A figure on a cell, strokes over the mask, and both taken back one by one."""
    page, mouse = file.page, file.page.mouse
    page.locator(".picture").nth(0).focus()
    file.page.keyboard.press("ArrowDown")
    file.choose(0, 2, 4, 1)
    first = file.caption
    page.locator(".picture").nth(0).focus()
    for key, is_kept in (("Escape", False), ("Enter", True)):
        page.keyboard.type("-1.5")
        page.evaluate("new Promise(requestAnimationFrame)")
        assert file.caption.startswith(first.rpartition(" ")[0])
        assert ": −1.5 (was " in file.caption
        page.keyboard.press(key)
        page.evaluate("new Promise(requestAnimationFrame)")
        assert (file.caption == first) is not is_kept
    page.click(".paint")
    page.evaluate("scrollTo(0, 200)")
    (x, y), (to_x, to_y) = (
        page.evaluate(CELL_AT, [1, f"head 1, query {i}"]) for i in ("6 “mat”, key 2", "3 “sat”, key 1")
    )
    mouse.move(x + 4, y + 4)
    mouse.down()
    mouse.move(to_x + 4, to_y + 4)  # fast, and without holes
    mouse.up()
    mouse.click(to_x - 30, to_y + 4)  # the word of its row
    page.evaluate("new Promise(requestAnimationFrame)")
    edits: list[Any] = [(0, "scores", (2, 4, 1), -1.5)]
    edits += [(layer, "allowed", at, 0.0) for layer in (0, 1) for at in ((5, 1), (4, 1), (3, 0), (2, 0))]
    row = [(layer, "allowed", (2, j), 0.0) for layer in (0, 1) for j in range(6)]
    for changes in ([*edits, *row], edits, edits[:1], []):
        after = run(config, edits=[*{each[:3]: each for each in changes}.values()])
        for at, name in enumerate(("weights", "heads")):
            for i in (2, 3, 4):
                file.choose(at + 1, 1, i, 0)
                array, is_masked = after.layers[0][name].array, file.caption.endswith("masked")
                assert is_masked == (not at and np.isneginf(after.layers[0]["masked"].array[1, i, 0]))
                assert is_masked or number(file.caption) == pytest.approx(array[1, i, 0], rel=1e-9)
        if changes:
            page.locator(".picture").nth(1).focus()
            page.keyboard.press("Control+z")
            page.evaluate("new Promise(requestAnimationFrame)")
    assert not page.is_visible("#as-saved")


@for_each(
    "options",
    [{"viewport": {"width": 1280, "height": 720}}, {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}],
)
def test_pointing_tapping_and_keys_reach_the_cell_that_is_drawn_there(
    opened: Callable[..., File], options: dict[str, Any]
) -> None:
    trace = run(Config(sentence="a b c d e", n_heads=3))
    file = opened(trace, has_touch=True, **options)
    assert file.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    picture = file.page.locator(".picture").nth(1)
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    seen = set()
    for x in np.arange(1, box["width"], 9.0):
        file.page.mouse.move(box["x"] + x, box["y"] + 18 + 1.5 * 11)
        if file.page.locator("#tip").is_visible():
            text = file.page.inner_text("#tip")
            head, column = int(text.split("head ")[1][0]) - 1, int(text.split("key ")[1][0]) - 1
            row = int(text.split("query ")[1][0]) - 1
            assert number(text) == trace["weights"].array[head, row, column]
            seen.add(column)
            tip = file.page.locator("#tip").bounding_box()
            assert tip["x"] >= 0
            assert tip["x"] + tip["width"] <= options["viewport"]["width"]
    assert seen == set(range(5))
    picture.press("Enter")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "PageDown", "PageDown", "PageUp"):
        picture.press(key)
    assert number(file.caption) == trace["weights"].array[1, 2, 1]
    picture.tap(position={"x": box["width"] * 0 + 60, "y": 18 + 6})
    assert "query 1" in file.caption
    assert file.faults == []


ARITHMETIC = [(score, list(NORMALISERS)[at % len(NORMALISERS)]) for at, score in enumerate(SCORES)]


@for_each("score, normaliser", [*ARITHMETIC, ("dot", "entmax15"), ("cosine", "sparsemax")])
def test_the_arithmetic_of_a_cell_comes_out_at_its_number(
    opened: Callable[..., File], score: str, normaliser: str
) -> None:
    settings: dict[str, Any] = {"d_k": (3, 2), "n_kv_heads": 2, "temperature": 0.7, "softcap": 4.0, "bias": "alibi"}
    trace = run(Config(sentence="a b c d e", n_heads=4, mask="causal", score=score, normaliser=normaliser, **settings))
    file = opened(trace)
    for head, row, column in ((0, 4, 2), (3, 3, 1)):
        file.choose(1, head, row, column)
        lines = file.lines
        assert all("edited" not in line and "NaN" not in line for line in lines.values()), lines
        steps = {"Score": "scores", "Scaled": "scaled", "Soft cap": "capped", "Bias": "masked", "Weight": "weights"}
        for title, name in steps.items():
            if title in lines:
                assert number(lines[title]) == pytest.approx(
                    trace[name].array[head, row, column], rel=1e-15, abs=1e-300
                )
        assert {"Score", "Soft cap", "Bias", "Weight"} <= set(lines)
        file.choose(2, head, row, 1)
        (line,) = file.lines.values()
        assert number(line) == trace["heads"].array[head, row, 1]
        assert "edited" not in line


@for_each("kind, line", [(kind, [*lines.values()][-1]) for kind, lines in EXAMPLES.items()])
def test_so_it_does_for_a_typed_line_of_each_kind(opened: Callable[..., File], kind: str, line: str) -> None:
    """All of them are followed by the file's own script outside a browser."""
    trace = run(Config(**{kind: "formula", f"{kind}_formula": line}, sentence="a king saw the queen", n_heads=2))
    file = opened(trace)
    file.choose(1, 1, 3, 2)
    assert not any("edited" in text for text in file.lines.values()), file.lines
    if trace["masked"].array[1, 3, 2] == -np.inf:
        assert file.caption.endswith("masked")
    else:
        weight = trace["weights"].array[1, 3, 2]
        assert number(file.lines["Weight"]) == pytest.approx(weight, rel=1e-12, abs=1e-15)
    assert file.faults == []


def test_a_negative_factor_stands_in_brackets_and_scores_that_tie_share(opened: Callable[..., File]) -> None:
    rows = [(0, "queries", (0, 0, 0), 2.0), (0, "queries", (0, 0, 1), -0.5)]
    keys = [(0, "keys", (0, 0, 0), -3.0), (0, "keys", (0, 0, 1), -4.0)]
    tied = [(0, "masked", (0, 0, j), score) for j, score in enumerate((50.0, 50.0 - 1e-9, 1.0))]
    config = Config(sentence="a b c", n_heads=1, d_k=2, position="none", normaliser="hardmax")
    file = opened(run(config, edits=[*rows, *keys, *tied]))
    file.choose(1, 0, 0, 0)
    assert "2 × (−3) + (−0.5) × (−4)" in file.lines["Score"]
    for key, weight in ((0, "1 / 2 = 0.5"), (1, "1 / 2 = 0.5"), (2, "0 = 0")):
        file.choose(1, 0, 0, key)
        assert file.lines["Weight"] == weight


def test_scores_that_cancel_to_rounding_share_in_the_file_too(opened: Callable[..., File]) -> None:
    config = Config(sentence="a b c d", n_heads=2, d_k=3, position="none", normaliser="hardmax")
    file = opened(run(config, edits=scripts.equal_but_for_rounding(4)))
    for head in (1, 2):
        file.choose(1, head - 1, 0, 3)
        assert file.lines["Weight"] == "1 / 4 = 0.25"


def test_colours_of_scores_reach_to_each_heads_largest_until_one_scale_is_chosen(opened: Callable[..., File]) -> None:
    """Head 2 holds a score that is so large that all of head 1 is pale beside it."""
    page = opened(run(Config(sentence="a b c", n_heads=2), edits=[(0, "scores", (1, 0, 0), 500.0)])).page
    scores = page.locator(".picture canvas").first
    own = scores.evaluate(STRONG)
    page.get_by_role("button", name="own scales").click()
    common = scores.evaluate(STRONG)
    assert 0 < common < own / 2
    page.get_by_role("button", name="one scale").press("Enter")
    assert scores.evaluate(STRONG) == own


def test_a_changed_number_is_said_to_be_changed(opened: Callable[..., File]) -> None:
    trace = run(
        Config(sentence="a b c", n_heads=2), edits=[(0, "scores", (1, 2, 0), 7.5), (0, "scaled", (1, 2, 0), 3.0)]
    )
    file = opened(trace)
    file.choose(1, 1, 2, 0)
    assert file.lines["Score"].endswith("edited to 7.5")
    assert file.lines["Scaled"].endswith("edited to 3")
    assert "edited" not in file.lines["Weight"]
    file.choose(1, 0, 2, 0)
    assert not any("edited" in line for line in file.lines.values())


@for_each("given", [of_weights, of_scores])
def test_attention_that_was_given_can_be_pointed_at(opened: Callable[..., File], given: Any) -> None:
    trace = given([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]], ["a", "b"], ["x", "y", "z"])
    file = opened(trace)
    file.choose(0, 0, 1, 2)
    assert number(file.caption) == 0.7
    assert "as given" in " ".join(file.lines.values())
    assert file.faults == []


def framed(page: Any, shown: Any, path: Path) -> tuple[Any, list[str]]:
    """A notebook's output as a notebook shows it, in a page of its own; the frame in it, and what goes wrong."""
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    whole = f"<!DOCTYPE html><meta charset=utf-8><h1>A notebook</h1><div>{shown._repr_html_()}</div>"
    path.write_text(whole, encoding="utf-8")
    page.goto(path.as_uri())
    return page.frame_locator("iframe"), faults


def test_what_show_returns_is_drawn_inline_as_cells_lines_and_heads(browser_page: Any, tmp_path: Path) -> None:
    A = np.random.default_rng(5).dirichlet(np.ones(4), size=(2, 3, 4))
    A[:, :, 2, 1], tokens = 0.0, ["one", "<b>two</b>", "three", "four"]
    frame, faults = framed(browser_page, show(A, tokens), tmp_path / "notebook.html")
    assert frame.locator(".picture").count() == 1
    frame.get_by_role("button", name="Lines").click()
    assert frame.locator("#as-cells").is_hidden()
    assert frame.locator("#between svg path").count() == (A[0, 0] >= 0.01 * A[0, 0].max()).sum()
    frame.locator("#between .queries button").nth(2).click()
    read = frame.locator("#between .keys button")
    assert [text.split("\n")[0] for text in read.all_inner_texts()] == [
        f"{token}{x:.6g}" if x else f"{token}0" for token, x in zip(tokens, A[0, 0, 2])
    ]
    read.nth(3).click()
    assert number(frame.locator("#said").inner_text()) == A[0, 0, 2, 3]
    frame.locator("#of-head").select_option(label="average over heads")
    assert read.nth(3).inner_text().endswith(f"{A[0, :, 2, 3].mean():.6g}")
    frame.get_by_role("button", name="Layers × heads").click()
    tiles = frame.locator("#as-all button")
    assert tiles.count() == 6
    tiles.nth(4).click()
    assert frame.locator("#as-all").is_hidden()
    assert frame.locator("#layer").input_value() == "2"
    assert frame.locator("#head").input_value() == "2"
    assert number(frame.locator("#said").inner_text()) == A[1, 1, 2, 3]
    assert frame.locator("#of-head").input_value() == "1"  # whose lines are drawn from now on
    frame.locator("#head").fill("1")
    frame.locator("#head").dispatch_event("change")
    assert frame.locator("#of-head").input_value() == "0"
    assert frame.locator("#linked").is_hidden()  # no link brings these numbers back
    assert faults == []


def test_a_frame_that_gets_its_width_late_is_drawn_as_wide_as_it_then_is(browser_page: Any, tmp_path: Path) -> None:
    """Some browsers run a frame's script before they lay the frame out, and then send no event of it."""
    quiet = "addEventListener('resize', (event) => event.stopImmediatePropagation(), true)"
    browser_page.add_init_script(f"if (parent !== window) {quiet}")
    path = tmp_path / "notebook.html"
    drawn = show(np.eye(12))._repr_html_()
    path.write_text(f"<!DOCTYPE html><div style='width: 0'>{drawn}</div>", encoding="utf-8")
    browser_page.goto(path.as_uri())
    frame = browser_page.frames[1]
    width = "document.querySelector('.picture canvas')?.clientWidth"
    frame.wait_for_function(f"{width} > 0")
    assert frame.evaluate(width) < 200
    for wide, least in ((900, 400), (300, 200), (900, 400)):
        browser_page.evaluate("(wide) => (document.querySelector('div').style.width = `${wide}px`)", wide)
        frame.wait_for_function(f"(least) => {width} > least && {width} < {wide}", arg=least)
        frame.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_a_notebook_holds_of_a_large_run_is_said_and_written_with_the_digits_that_hold(
    browser_page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interactive_part, "MOST", 24_000)
    monkeypatch.setattr(interactive_part, "MOST_EXACT", 8_000)
    tokens = "abcdefgh"
    trace = run(Config(sentence=" ".join(tokens), n_heads=2, n_layers=6, d_model=8, d_k=4, d_v=4, mask="causal"))
    frame, faults = framed(browser_page, show(trace, layers=[0, 2, 3, 4, 5]), tmp_path / "notebook.html")
    assert frame.locator("#bound").inner_text().startswith("Of layers 5–6 only the weights are here, rounded to three")
    assert frame.locator("#layer option").all_inner_texts() == ["1", "3", "4", "5", "6"]
    frame.locator("#layer").select_option(label="6")
    assert frame.locator(".picture").count() == 1
    weights = trace.layers[5]["weights"].array
    for name, place in (("head", 1), ("query", 7), ("key", 3)):
        frame.locator(f"#{name}").fill(str(place + 1))
        frame.locator(f"#{name}").dispatch_event("change")
    assert number(frame.locator("#said").inner_text()) == float(f"{weights[1, 7, 3]:.2e}")
    assert frame.locator("#lines dd").all_inner_texts() == [f"{float(f'{weights[1, 7, 3]:.2e}')}"]
    frame.get_by_role("button", name="Lines").click()
    frame.locator("#between .queries button").nth(3).click()
    read = frame.locator("#between .keys button span")
    assert read.nth(2).inner_text() == f"{float(f'{weights[1, 3, 2]:.2e}')}"
    assert read.nth(4).inner_text() == "masked"
    frame.locator("#of-head").select_option(label="average over heads")
    assert read.nth(2).inner_text() == f"{float(f'{weights[:, 3, 2].mean():.1e}')}"
    frame.get_by_role("button", name="Layers × heads").click()
    assert frame.locator("#as-all b").all_inner_texts()[-2:] == ["6.1", "6.2"]
    large = np.full((1, 1, 60, 60), 1e-12)
    large[..., 0] = 1.0
    frame, more = framed(browser_page, show(large), tmp_path / "large.html")
    frame.locator("#key").fill("2")
    frame.locator("#key").dispatch_event("change")
    assert "nearer to 0 than 3.73e-9" in frame.locator("#said").inner_text().replace("−", "-")
    assert faults + more == []


VS_CODE = (
    "default-src 'none'; script-src https://*.vscode-cdn.net 'unsafe-inline' 'unsafe-eval'; style-src "
    "https://*.vscode-cdn.net 'unsafe-inline'; img-src https: http: data:; font-src https:; connect-src https:; "
    "child-src https: data:;"
)
"""The rules of its notebooks' outputs (backLayerWebView.ts); a frame without an address of its own inherits them."""


def test_it_is_drawn_in_a_frame_in_a_frame_under_the_rules_of_an_editor_and_without_a_network(
    browser_page: Any, tmp_path: Path
) -> None:
    """As in VS Code, whose outputs are under a policy, and in Colab, where each stands in a sandboxed frame."""
    drawn = show(run(Config(sentence="the cat sat", n_heads=2)))._repr_html_()
    policy = f'<meta http-equiv="Content-Security-Policy" content="{VS_CODE}">'
    output = escape(f"<!DOCTYPE html><head>{policy}</head><body>{drawn}</body>")
    browser_page.route("http*://**", lambda route: route.abort())
    faults: list[str] = []
    browser_page.on("console", lambda message: faults.append(message.text))
    browser_page.on("pageerror", lambda error: faults.append(str(error)))
    page = tmp_path / "output.html"
    sandbox = "allow-scripts allow-popups allow-forms"
    page.write_text(f'<!DOCTYPE html><iframe sandbox="{sandbox}" srcdoc="{output}"></iframe>', encoding="utf-8")
    browser_page.goto(page.as_uri())
    frame = browser_page.frame_locator("iframe").frame_locator("iframe")
    frame.locator("#page").wait_for()
    assert frame.locator(".picture").count() == 3
    frame.get_by_role("button", name="Lines").click()
    frame.locator("#between .queries button").nth(1).click()
    frame.locator("#between .keys button").nth(2).click()
    assert number(frame.locator("#said").inner_text())
    assert faults == []


def test_masked_keys_have_no_line_and_say_so(browser_page: Any, tmp_path: Path) -> None:
    trace = run(Config(sentence="a b c", n_heads=2, mask="causal"))
    frame, faults = framed(browser_page, trace, tmp_path / "notebook.html")
    frame.get_by_role("button", name="Lines").click()
    assert frame.locator("#between svg path").count() == 6
    frame.locator("#between .queries button").nth(1).hover()
    assert frame.locator("#between .keys button").nth(2).inner_text() == "cmasked"
    assert faults == []


def test_without_scripts_there_are_tables(opened: Callable[..., File]) -> None:
    file = opened(run(Config(sentence="a b c", n_heads=2)), java_script_enabled=False)
    assert file.page.locator("table").count() == 2
    assert file.page.locator("#page").is_hidden()


@for_each("width", [1200, 500])
def test_no_word_of_a_picture_is_cut_or_covered_by_another(browser_page: Any, tmp_path: Path, width: int) -> None:
    trace = run(Config(sentence=HOSTILE, tokeniser="whitespace", n_heads=5, d_v=(3, 11, 2, 4, 5), mask="causal"))
    path = tmp_path / "picture.svg"
    path.write_text(svg.page(trace, 0, width=width, foot=HOSTILE), encoding="utf-8")
    browser_page.goto(path.as_uri())
    texts = browser_page.evaluate(
        """[...document.querySelectorAll("text")].map((text) => {
            const { left, top, right, bottom } = text.getBoundingClientRect();
            const size = parseFloat(getComputedStyle(text).fontSize);
            const turned = text.hasAttribute("transform");
            const lean = ((turned ? right - left : bottom - top) - size) / 2; // a line is higher than its letters
            const [x, y] = turned ? [lean, 0] : [0, lean];
            return [text.textContent, left + x, top + y, right - x, bottom - y];
        })"""
    )
    tall = int(path.read_text(encoding="utf-8").split('height="')[1].split('"')[0])
    assert len(texts) > 60
    for at, (text, left, top, right, bottom) in enumerate(texts):
        assert left >= 0, text
        assert right <= width, text
        assert top >= 0, text
        assert bottom <= tall, text
        for other, x, y, x_end, y_end in texts[:at]:
            across, down = min(right, x_end) - max(left, x), min(bottom, y_end) - max(top, y)
            assert across <= 1 or down <= 2, (text, other)


def test_the_browser_saves_a_png_of_the_size_that_was_asked_for(
    server: Callable[..., Any], browser_page: Any, tmp_path: Path
) -> None:
    browser_page.goto(server("tests/browser/scripts/snapshot.py").url)
    with browser_page.expect_download() as download:
        browser_page.get_by_role("button", name="PNG, 192 dpi").click()
    assert download.value.suggested_filename == "attention.png"
    data = Path(download.value.path()).read_bytes()
    assert struct.unpack(">I", data[16:20]) == (960,)
    assert data[37:41] == b"pHYs"
    assert struct.unpack(">II", data[41:49]) == (round(192 / 0.0254),) * 2
    shown = browser_page.evaluate(
        """async (bytes) => {
            const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: "image/png" }));
            const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
            pen.drawImage(image, 0, 0);
            return new Set(pen.getImageData(0, 0, image.width, image.height).data).size;
        }""",
        list(data),
    )
    assert shown > 20
    browser_page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    browser_page.get_by_role("button", name="Copy picture and link").click()
    browser_page.get_by_role("button", name="Copied").wait_for()
    copied = browser_page.evaluate(
        """async () => {
            const [item] = await navigator.clipboard.read();
            const picture = await createImageBitmap(await item.getType("image/png"));
            return [picture.width, await (await item.getType("text/plain")).text()];
        }"""
    )
    assert copied == [480, "https://example.org/s/1"]
    browser_page.get_by_role("button", name="Broken").click()
    browser_page.get_by_text("could not draw the picture").wait_for()
