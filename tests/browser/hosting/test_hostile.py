"""Words that mean harm, on every page of a real browser: nothing runs, nobody is called, no word is lost or changed.

The words are of the kinds that the Big List of Naughty Strings collects, written anew here with one mark in each, and
those that mean something to Streamlit, Plotly or JavaScript. An element that holds the bare mark and nothing else
has taken a word for markup. What would notice all this is itself shown to notice it, on a page that does everything
wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from attnviz.engine.tables.tokenisers import TOKENISERS
from attnviz.lessons.catalogue import LESSONS
from attnviz.ui.session.selection import EXPERIMENT_NAMES, PAGE_NAMES, PANEL_NAMES
from tests.browser_idle import QUIET, go_to, wait_until
from tests.support.cases import for_each

pytestmark = pytest.mark.browser

MARK = "planted"
HTML = (
    f"<b>{MARK}</b>",
    f"<script>alert('{MARK}')</script>",
    "<img/src=x/onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    f"<a/href=javascript:alert(1)>{MARK}</a>",
    f"<a/href=//evil.test/>{MARK}</a>",
    "<iframe/src=//evil.test/>",
    "'\"><img/src=//evil.test/i.png>",
    f"<!--{MARK}-->",
    f"&lt;i&gt;{MARK}&lt;/i&gt;",
    "&amp;&#60;&nbsp;",
    "</textarea></title></style></script><img/src=x/onerror=alert(2)>",
)
MARKDOWN = (
    f"**{MARK}**",
    f"`{MARK}`",
    f"[{MARK}](http://evil.test/link)",
    "![x](http://evil.test/beacon.png)",
    "http://evil.test/auto",
    "www.evil.test",
    "mail@evil.test",
    f"${MARK}$",
    "$\\href{javascript:alert(3)}{x}$",
    f":red[{MARK}]",
    ":material/home:",
    ":smile:",
)
SCRIPT = (
    "constructor",
    "__proto__",
    "hasOwnProperty",
    "toString",
    "%{y}",
    "%{customdata[0]}<extra></extra>",
    "{token}",
    "{0.__class__}",
    "${alert(4)}",
    "null",
    "undefined",
    "NaN",
    "#000001",
)
WRITTEN = (
    "\u0645\u0631\u062d\u0628\u0627",
    "\u202eevil\u2066x",
    "Z\u0351\u036b\u0343\u032a\u0302a\u0321\u030al",
    "\U0001f469\u200d\U0001f373",
    "\U0001f1e9\U0001f1ea",
    "\u5bf8\u9650\u5c01",
    "-0.5",
    "1e5",
    "=1+1",
    "--",
    "->",
    "\u2028x",
)
ALL = (*HTML, *MARKDOWN, *SCRIPT, *WRITTEN)

HOOKS = """window.ran = [];
for (const name of ["alert", "confirm", "prompt"]) window[name] = (...words) => { window.ran.push(name + words); };"""
PARTS = """() => {
  const found = { texts: [], links: [], marked: [] };
  const visit = (root) => root.querySelectorAll("*").forEach((element) => {
    if (element.shadowRoot) visit(element.shadowRoot);
    if (["STYLE", "SCRIPT", "HEAD", "BODY", "HTML"].includes(element.tagName)) return;
    const text = element.textContent.trim();
    if (element.children.length === 0 && text) found.texts.push(element.textContent);
    if (["planted", "home", "\\u{1f604}"].includes(text)) found.marked.push(element.outerHTML.slice(0, 90));
    for (const name of ["href", "src", "action", "data"]) {
      const there = element.getAttribute(name);
      if (there) found.links.push(there);
    }
  });
  visit(document);
  return found;
}"""
LISTED = """(words) => {
  const cells = [...document.querySelectorAll("canvas td:first-child")].map((cell) => cell.textContent);
  return words.every((word) => cells.includes(word));
}"""
REST = "[data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"


class Watch:
    """A page that notes every script of a word, every call to another host, and every fault of its own scripts."""

    def __init__(self, page: Any, host: str) -> None:
        self.page, self.away, self.errors = page, [], []
        page.context.route("**/*", lambda route: self._allow(route, host))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.add_init_script(HOOKS)

    def _allow(self, route: Any, host: str) -> None:
        address = urlsplit(route.request.url)
        if address.scheme in ("http", "https") and address.netloc != host:
            self.away.append(route.request.url)
            route.abort()
        else:
            route.continue_()

    def harm(self) -> dict[str, list[str]]:
        """What has happened that must not; an empty dict if nothing has."""
        parts = self.page.evaluate(PARTS)
        links = [each for each in parts["links"] if self._leads_away(each)]
        found = {"ran": self.page.evaluate("window.ran"), "away": self.away, "errors": self.errors}
        found |= {"links": links, "marked": parts["marked"]}
        return {name: what for name, what in found.items() if what}

    @staticmethod
    def _leads_away(link: str) -> bool:
        address = urlsplit(link)
        return address.scheme in ("javascript", "mailto") or "evil.test" in address.netloc + address.path

    def texts(self) -> list[str]:
        return list(self.page.evaluate(PARTS)["texts"])


@pytest.fixture
def watch(new_page: Callable[..., Any], app: Any) -> Watch:
    return Watch(new_page(viewport={"width": 1280, "height": 1400}), urlsplit(app.url).netloc)


def opened(watch: Watch, app: Any, words: tuple[str, ...], **query: str) -> None:
    """The page with the words as its sentence, once the server has answered."""
    setting = {"sentence": " ".join(words), "tokeniser": "whitespace", "n_heads": "1"}
    go_to(watch.page, f"{app.url}/?{urlencode({'v': '1'} | setting | query)}")


def shown(words: tuple[str, ...]) -> list[str]:
    """The words as a page may show them: bidi overrides and line separators are left out, all else stays."""
    kept = (word.replace("\u202e", "").replace("\u2066", "").replace("\u2028", " ").strip() for word in words)
    return list(TOKENISERS["whitespace"].fn(" ".join(kept)))


ROWS = """() => [...document.querySelectorAll("[data-stage]")].map((stage) => stage.picture.meta.rows)"""
DRAWN = f"(rows) => ({ROWS})().some((each) => JSON.stringify(each) === JSON.stringify(rows))"
FINISHED = """() => [...document.querySelectorAll(".js-plotly-plot")].every((chart) => chart.data) &&
  [...document.querySelectorAll(".attn-maps")].every((maps) => maps.querySelector("[data-map]"))"""


def drawn(watch: Watch, rows: list[str]) -> None:
    """Wait until a picture has these words at its rows, and all pictures are there and stay."""
    watch.page.wait_for_function(DRAWN, arg=rows)
    watch.page.evaluate(QUIET)
    watch.page.wait_for_function(FINISHED)


def whole(text: str, word: str) -> bool:
    """Whether a label is the word, or the beginning of it where there is no room for more."""
    return text == word or (text.endswith("…") and word.startswith(text[:-1]))


def pointed(watch: Watch, word: str) -> bool:
    """Whether the tooltip says the word of the first row, once the pointer has come to the first cell."""
    cells = watch.page.locator(".st-key-explore [data-stage=weights] .attn-cells")
    cells.scroll_into_view_if_needed()  # where the page stands is kept from one address to the next
    box = cells.bounding_box()
    for below in (5, 3):
        watch.page.mouse.move(box["x"] + 3, box["y"] + below)
    return bool(watch.page.locator(".attn-tip").get_by_text(word).first.is_visible())


@for_each("words", [HTML, MARKDOWN, SCRIPT, WRITTEN])
def test_every_word_is_drawn_read_and_listed_as_it_was_typed(watch: Watch, app: Any, words: tuple[str, ...]) -> None:
    rows = shown(words)
    opened(watch, app, words, panel="word")
    watch.page.locator(".aw-word").first.wait_for()
    drawn(watch, rows)
    assert watch.page.locator(".aw-word bdi").all_inner_texts() == rows * 2
    layer = (
        watch.page.locator(".st-key-explore [data-stage=weights] .attn-layer svg >> nth=0")
        .locator("text")
        .all_text_contents()
    )
    assert [word for word in rows if sum(whole(text, word) for text in layer) < 2] == []
    wait_until(watch.page, lambda: pointed(watch, rows[0]))
    watch.page.get_by_role("radio", name="Table").click()
    watch.page.wait_for_function(LISTED, arg=[f"{number} {word}" for number, word in enumerate(rows[:9], 1)])
    watch.page.evaluate(QUIET)  # a run that begins late would carry this panel over to the next address
    assert watch.harm() == {}


WHERE = [
    *(("panel", name) for name in PANEL_NAMES),
    *(("page", name) for name in PAGE_NAMES if name not in ("explore", "experiments", "data", "lessons")),
    *(("experiment", name) for name in EXPERIMENT_NAMES),
]
"""Every page, panel and experiment as a parameter of its link."""


@for_each("name, value", WHERE)
def test_no_page_runs_a_word_links_from_it_or_loses_it(watch: Watch, app: Any, name: str, value: str) -> None:
    rows = shown(ALL)
    opened(watch, app, ALL, **({"page": "experiments"} if name == "experiment" else {}), **{name: value})
    if value == "take":
        watch.page.get_by_text("The NumPy script").first.click()
        watch.page.get_by_text("def ").first.wait_for(state="attached")
    elif value == "assign":
        watch.page.get_by_text("Link for students").wait_for()
    elif value in ("mask_values", "scale", "importance", "learn"):
        watch.page.wait_for_function(FINISHED)
    elif value == "shuffle":
        watch.page.get_by_text(f"Reordered: {rows[-1]} {rows[-2]}").wait_for()
        watch.page.wait_for_function(FINISHED)
    else:
        drawn(watch, rows)
    assert watch.harm() == {}


def typed_and_drawn(watch: Watch, words: tuple[str, ...]) -> None:
    """Type the words as tokens once the page is at rest: a run under way would put the field back to what it held."""
    watch.page.evaluate(QUIET)
    field = watch.page.get_by_role("textbox", name="Tokens, separated by spaces or as a JSON list")
    field.fill(json.dumps(words))
    field.press("Enter")
    drawn(watch, list(words))


def test_words_that_come_with_own_numbers_are_only_shown(watch: Watch, app: Any) -> None:
    five = (HTML[2], MARKDOWN[3], MARKDOWN[5], MARKDOWN[9], SCRIPT[0])
    opened(watch, app, ("mine",), page="data")
    watch.page.locator(".st-key-explore [data-stage=weights] .attn-focus").wait_for()
    typed_and_drawn(watch, five)
    assert watch.harm() == {}


def test_a_lesson_is_not_touched_by_the_words(watch: Watch, app: Any) -> None:
    opened(watch, app, ALL, page="lessons", lesson=next(iter(LESSONS)))
    watch.page.locator("[data-map]").first.wait_for()
    assert watch.harm() == {}


def test_a_fault_that_quotes_the_words_only_shows_them(watch: Watch, app: Any) -> None:
    bad = " ".join((HTML[0], HTML[7], MARKDOWN[2], MARKDOWN[7], MARKDOWN[9]))
    quoting = dict.fromkeys(("score", "mask", "d_k", "seed", "custom_cells", "edits", "page", HTML[0]), bad)
    opened(watch, app, ALL, **quoting, embedding="own", own_numbers=bad)
    watch.page.get_by_text("There is no setting called").wait_for()
    assert watch.harm() == {}


HARMFUL = """import streamlit as st
st.html("<script>alert(1); setTimeout(() => { throw new Error('harm') })</script>", unsafe_allow_javascript=True)
st.markdown("**planted** and <mail@evil.test> and ![x](http://evil.test/beacon.png)")
st.text("Done")
"""


@pytest.mark.failing_scripts
def test_the_watch_sees_what_it_watches_for(
    new_page: Callable[..., Any], server: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "harmful.py").write_text(HARMFUL, encoding="utf-8")
    site = server(str(tmp_path / "harmful.py"))
    watch = Watch(new_page(), urlsplit(site.url).netloc)
    watch.page.goto(site.url)
    watch.page.get_by_text("Done").wait_for()
    watch.page.wait_for_function("window.ran.length > 0")
    watch.page.locator("img[src*=evil]").wait_for(state="attached")
    watch.page.locator(REST).wait_for()
    harm = watch.harm()
    assert harm.keys() == {"ran", "away", "errors", "links", "marked"}
    assert harm["away"] == ["http://evil.test/beacon.png"]
    assert len(harm["links"]) == 2
