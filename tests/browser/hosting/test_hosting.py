"""The hosted site as deploy/ describes it, in a real browser: nginx, two replicas, and a policy that forbids the rest.

Without nginx these tests are skipped on a desk, and fail where the environment says CI.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import re
import shutil
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from attnviz import TASKS, Config
from attnviz.classroom import question_codec
from attnviz.classroom.marking import assignments
from attnviz.classroom.marking.assignments import Assignment
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Slide
from attnviz.settings import link_check, short_link, url_codec
from attnviz.ui.hosting import security_headers
from attnviz.ui.session.selection import DESK_NAMES, EXPERIMENT_NAMES, PAGE_NAMES, PANEL_NAMES
from tests.browser_idle import QUIET, go_to
from tests.support.cases import for_each

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "deploy"))

import local  # noqa: E402

pytestmark = pytest.mark.browser

REST = "[data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"


@pytest.fixture(scope="module")
def site() -> Iterator[Any]:
    if not shutil.which("nginx"):
        if os.environ.get("CI"):
            pytest.fail("nginx is not installed")
        pytest.skip("nginx is not installed")
    with local.site(n_replicas=2) as running:
        yield running


def get(url: str, **headers: str) -> tuple[Message, bytes]:
    http_request = urllib.request.Request(url, headers=headers)  # noqa: S310
    with urllib.request.urlopen(http_request, timeout=10) as answer:  # noqa: S310
        return answer.headers, answer.read()


def policy(site: Any) -> dict[str, list[str]]:
    """The content security policy that the page is sent with, by directive."""
    parts = [part.split() for part in get(site.url)[0]["Content-Security-Policy"].split(";")]
    return {name: allowed for name, *allowed in parts}


def test_every_answer_carries_the_headers(site: Any) -> None:
    for path in ("/", "/?v=2", "/favicon.png", "/robots.txt", "/_stcore/health", "/_stcore/host-config"):
        headers = get(site.url + path)[0]
        for name in ("Content-Security-Policy", *security_headers.ALWAYS):
            assert len(headers.get_all(name)) == 1, (path, name)
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["Server"] == "nginx"


def test_the_policy_allows_the_inline_scripts_by_their_hashes_and_no_javascript_evaluated(site: Any) -> None:
    scripts = re.findall(rb"<script>(.*?)</script>", get(site.url)[1], re.DOTALL)
    hashes = sorted(base64.b64encode(hashlib.sha256(script).digest()).decode() for script in scripts)
    hashed = [f"'sha256-{each}'" for each in hashes]
    assert policy(site)["script-src"] == ["'self'", "blob:", "'wasm-unsafe-eval'", *hashed]
    assert len(hashes) == 2, "that of the page, and that of Streamlit"


def test_static_files_come_from_nginx_compressed_and_for_a_year(site: Any) -> None:
    script = re.search(rb"\./(static/js/index\.[^\"]+\.js)", get(site.url)[1])
    assert script is not None
    url = f"{site.url}/{script[1].decode()}"
    plain, packed = get(url), get(url, **{"Accept-Encoding": "gzip"})
    assert packed[0]["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed[1]) == plain[1]
    assert len(packed[1]) < len(plain[1]) / 2
    assert packed[0]["Cache-Control"] == "public, max-age=31536000, immutable"
    assert get(site.url)[0]["Cache-Control"] == "private, no-cache"


@for_each(
    "path",
    [
        "/_stcore/metrics",
        "/attnviz/metrics",
        "/manifest.json",
        "/_stcore/agent/openapi.json",
        "/static/../../nginx.conf",
        "/static/x.js",
    ],
)
def test_what_nobody_needs_is_not_there(site: Any, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match=r"40[04]"):
        get(site.url + path)


def test_a_socket_is_opened_for_our_own_page_and_for_a_program_that_names_none(site: Any) -> None:
    for origin in (site.url, None):
        with connect(socket_of(site), subprotocols=["streamlit"], origin=origin) as socket:
            assert socket.subprotocol == "streamlit", origin


def test_a_page_of_another_host_opens_no_socket(site: Any) -> None:
    with pytest.raises(InvalidStatus, match="403") as error:
        connect(socket_of(site), subprotocols=["streamlit"], origin="http://evil.test")
    assert b"nginx" in error.value.response.body  # refused before a replica has to think about it


def socket_of(site: Any) -> str:
    return str(site.url.replace("http", "ws", 1) + "/_stcore/stream")


def connected(replica: Any) -> int:
    """How many websockets a replica has counted."""
    text = get(f"http://127.0.0.1:{replica.port}/_stcore/metrics")[1].decode()
    return int(re.search(r'session_events_total\{type="connect"\} (\d+)', text)[1])  # type: ignore[index]


def answered_by(site: Any, cookie: str) -> int:
    """Which replica a visitor with this cookie is led to."""
    before = [connected(replica) for replica in site.replicas]
    with connect(socket_of(site), subprotocols=["streamlit"], origin=site.url, additional_headers={"Cookie": cookie}):
        for _ in range(200):
            grown = [at for at, replica in enumerate(site.replicas) if connected(replica) > before[at]]
            if grown:
                return grown[0]
    pytest.fail("no replica has counted the visitor")


def bucket(site: Any, **headers: str) -> str | None:
    """The cookie that an answer sets, as "attnviz=..."; None if it sets none."""
    return (get(site.url, **headers)[0]["Set-Cookie"] or "").split(";")[0] or None


def test_the_cookie_is_one_of_256_numbers_and_is_set_once(site: Any) -> None:
    drawn = {bucket(site) for _ in range(64)}
    assert all(re.fullmatch("attnviz=[0-9a-f]{2}", str(each)) for each in drawn)
    assert len(drawn) > 16
    given = get(site.url)[0]["Set-Cookie"]
    assert given.split("; ")[1:] == ["Path=/", "HttpOnly", "SameSite=Lax"]
    assert bucket(site, Cookie="other=1; attnviz=7f") is None
    script = re.search(rb"\./(static/js/index\.[^\"]+\.js)", get(site.url)[1])
    assert script is not None
    assert get(f"{site.url}/{script[1].decode()}")[0]["Set-Cookie"] is None


@for_each("forged", ["", "zz", "7f7", "FF", "fwAAAWchXb1bLwAGAwMEAg=="])
def test_a_cookie_that_is_none_of_the_256_is_replaced(site: Any, forged: str) -> None:
    assert re.fullmatch("attnviz=[0-9a-f]{2}", bucket(site, Cookie=f"attnviz={forged}") or "")


def test_a_visitor_stays_with_one_replica_and_visitors_are_spread(site: Any) -> None:
    cookies = [f"attnviz={number:02x}" for number in range(0, 256, 16)]
    served = [{answered_by(site, cookie) for _ in range(3)} for cookie in cookies]
    assert [each for each in served if len(each) != 1] == []
    assert {replica for each in served for replica in each} == {0, 1}


def test_a_link_shows_what_it_opens_and_a_short_one_leads_there(site: Any, browser_page: Any) -> None:
    query = url_codec.query_string(Config(sentence="zebra quagga okapi", seed=4))
    for _ in range(300):  # a page that has just begun has a title of its own, and one that is busy says no number
        title = re.search(rb"<title>(.*?)</title>", get(f"{site.url}/?{query}")[1])
        if title is not None and b" attends to " in title[1]:
            break
    else:
        pytest.fail(f"the title is {title}")
    visit = Page(browser_page, site.url)
    browser_page.goto(f"{site.url}/s/{short_link.pack(dict(parse_qsl(query)))}")
    browser_page.locator(REST).wait_for()
    assert browser_page.url == f"{site.url}/?{query}"
    browser_page.get_by_text("quagga").first.wait_for()
    assert visit.errors == []


def test_the_page_alone_sends_the_headers_and_needs_nothing_that_they_forbid(app: Any, browser_page: Any) -> None:
    headers = get(app.url)[0]
    assert headers.get_all("Content-Security-Policy") == [security_headers.policy()]
    visit = Page(browser_page, app.url)
    for query in ({}, {"panel": "word"}, {"page": "take"}, {"page": "learn"}, {"embed": "true"}):
        visit.open(**query)
        assert visit.errors == [], query


VIOLATIONS = """(() => {
  const noted = (event) => `violation of ${event.effectiveDirective} by ${event.blockedURI} at ${event.sourceFile}`;
  document.addEventListener("securitypolicyviolation", (event) => console.error(noted(event)));
  new BroadcastChannel("violations").onmessage = ({ data }) => console.error(data);
  const Real = Worker;
  window.Worker = function (url, options) {
    const code = `addEventListener("securitypolicyviolation", (event) =>
      new BroadcastChannel("violations").postMessage((${noted})(event)));
      importScripts(${JSON.stringify(String(url))})`;
    return new Real(URL.createObjectURL(new Blob([code])), options);
  };
})()"""
"""Notes of every violation, in the page and in its threads, of which the page and the console hear nothing."""


class Page:
    """A page behind nginx that notes whatever the browser complains of, violations of its policy among it."""

    def __init__(self, page: Any, url: str) -> None:
        self.page, self.url = page, url
        self.errors: list[str] = []
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.add_init_script(VIOLATIONS)  # a script that catches its own error writes nothing to the console

    def open(self, **query: str) -> None:
        go_to(self.page, f"{self.url}/?{urlencode({'v': '1'} | query)}")
        self.page.wait_for_function(DRAWN)


DRAWN = """() => [...document.querySelectorAll(".js-plotly-plot")].every((chart) => chart.data) &&
  [...document.querySelectorAll(".attn-maps")].every((maps) => maps.querySelector("[data-map]"))"""
TASK = Assignment(task_questions=(question_codec.item("weight", {}), question_codec.item("rows_changed", {})))
PLACES = [
    *({"panel": name} for name in PANEL_NAMES),
    *({"page": name} for name in PAGE_NAMES if name not in ("explore", "experiments")),
    *({"page": "experiments", "experiment": name} for name in EXPERIMENT_NAMES),
    *({"page": "assign", "desk": name, "assigned": assignments.encode(TASK)} for name in DESK_NAMES),
    {"page": "lessons", "presenter": "yes"},
    {"page": "lessons", "notes": "yes"},
    {"page": "compare", "b_seed": "5"},
]


def test_every_page_works_under_the_policy_and_nothing_is_forbidden(site: Any, browser_page: Any) -> None:
    visit = Page(browser_page, site.url)
    for query in PLACES:
        visit.open(**query)
        assert visit.errors == [], query
    visit.open(panel="word", sentence="one two three")
    browser_page.locator(".aw-word").first.wait_for()  # a component whose code comes from a blob:
    browser_page.locator(".st-key-explore [data-stage=weights] .attn-focus").wait_for()
    with browser_page.expect_download() as download:
        visit.open(page="take")
        browser_page.get_by_role("button", name="Save .csv").click()
    assert "one" not in Path(download.value.path()).read_text(encoding="utf-8")
    assert visit.errors == []


ON_SLIDES: dict[str, Callable[[Slide], bool]] = {
    "something to try": lambda slide: slide.control is not None,
    "a comparison": lambda slide: slide.beside,
    "a fault": lambda slide: bool(slide.fault),
    "a table": lambda slide: "|---" in slide.text,
    "divisors": lambda slide: "[[divisors" in slide.text,
    **{
        f"a question: {kind}": lambda slide, kind=kind: slide.question is not None and slide.question.kind == kind
        for kind in sorted({each.question.kind for one in LESSONS.values() for each in one.slides if each.question})
    },
}
"""What a slide is made of: two slides with the same of these differ in their words and numbers."""


def test_all_that_lessons_are_made_of_works_under_the_policy_and_nothing_is_forbidden(
    site: Any, browser_page: Any
) -> None:
    visit = Page(browser_page, site.url)
    slides = [(name, n, slide) for name, lesson in LESSONS.items() for n, slide in enumerate(lesson.slides, 1)]
    chosen = {next((name, n) for name, n, slide in slides if holds(slide)): what for what, holds in ON_SLIDES.items()}
    for (name, n), what in chosen.items():
        visit.open(page="lessons", lesson=name, slide=str(n))
        browser_page.evaluate(QUIET)
        show = browser_page.locator(".st-key-show-answer button")
        if show.count():
            show.click()
            show.wait_for(state="detached")
            browser_page.evaluate(QUIET)
            browser_page.wait_for_function(DRAWN)
        assert visit.errors == [], (what, name, n)


def test_a_head_learns_in_a_thread_of_the_browser_under_the_policy(site: Any, browser_page: Any) -> None:
    visit = Page(browser_page, site.url)
    with browser_page.expect_worker():
        visit.open(**link_check.checked({"page": "learn", **url_codec.encode(TASKS["backwards"].config(seed=4))}))
    browser_page.get_by_text(re.compile("On 200 new sentences: [0-9]+ % of the words right")).wait_for()
    assert visit.errors == []


@pytest.mark.failing_scripts
def test_the_notes_of_what_is_forbidden_can_be_seen(site: Any, browser_page: Any) -> None:
    visit = Page(browser_page, site.url)
    visit.open()
    for script in (
        "eval('1')",
        "try { Function('1') } catch {}",  # only the event tells of it
        "(() => { const i = new Image(); i.src = 'http://evil.test/x.png'; document.body.append(i) })()",
        "new Worker(URL.createObjectURL(new Blob(['fetch(`http://evil.test/x`).catch(() => {})'])))",
    ):
        with browser_page.expect_console_message(lambda message: message.text.startswith("violation of")):
            browser_page.evaluate(f"setTimeout(() => {{ {script} }})")
    assert all("Content Security Policy" in error or "violation of" in error for error in visit.errors)
    assert sum("violation of" in error for error in visit.errors) == 4


def test_a_file_is_taken_through_nginx(site: Any, browser_page: Any) -> None:
    visit = Page(browser_page, site.url)
    visit.open(page="data")
    file = {"name": "w.csv", "mimeType": "text/csv", "buffer": b"0.5,0.5\n0.25,0.75"}
    browser_page.locator("input[type=file]").first.set_input_files(file)
    browser_page.get_by_text("over 2 tokens").wait_for()
    assert visit.errors == []


def goes_on_elsewhere(page: Any) -> None:
    """A visitor whose server is gone, with a sentence of a quagga in three heads, changes a field of what is there."""
    page.locator("[data-test-connection-state=CONNECTED]").wait_for(state="detached")
    page.locator(REST).wait_for()
    seed = page.get_by_role("spinbutton", name="Seed")
    seed.fill("41")
    seed.press("Enter")
    page.wait_for_function("() => ['seed=41', 'quagga', 'n_heads=3'].every(part => location.search.includes(part))")


def test_a_lost_replica_loses_nothing_and_no_log_holds_a_sentence(site: Any, browser_page: Any) -> None:
    """The last test of this file: a replica is gone after it."""
    visit = Page(browser_page, site.url)
    visit.open(sentence="zebra quagga okapi", n_heads="3", panel="table")
    cookie = next(each for each in browser_page.context.cookies() if each["name"] == "attnviz")
    assert re.fullmatch("[0-9a-f]{2}", cookie["value"])
    site.replicas[answered_by(site, f"attnviz={cookie['value']}")].kill()
    goes_on_elsewhere(browser_page)
    browser_page.get_by_text("3 heads").first.wait_for()
    logs = [path.read_text(encoding="utf-8") for path in site.folder.glob("*.log")]
    assert len(logs) == 4
    assert "GET /" in "".join(logs)
    assert [log for log in logs if "quagga" in log] == []
