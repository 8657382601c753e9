"""What a link shows before it is opened, read as a chat reads it: by another parser, and without a script."""

from __future__ import annotations

import asyncio
import json
import re
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from xml.etree import ElementTree as ET

import pytest
from starlette.applications import Starlette
from streamlit.web.server.starlette.starlette_static_routes import create_streamlit_static_assets_routes

from attnviz import Config, run
from attnviz.engine.cost import estimate as cost
from attnviz.pictures.static import png
from attnviz.settings import short_link, url_codec
from attnviz.text import link_words
from attnviz.ui import link_route, server, shared_answers, stage_route
from attnviz.ui.hosting import counts, index_page, public_address, security_headers
from attnviz.ui.main import OPENING
from attnviz.ui.session import admission, run_queue
from attnviz.ui.session.selection import Selection
from attnviz.ui.shared_answers import SharedAnswers
from tests.browser.hosting.test_hostile import ALL

CONFIG = Config(sentence="the king saw his queen while a dog chased our cat", n_heads=4, mask="causal", seed=3)
LINK = url_codec.query_string(CONFIG)


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, make in (("TAGS", link_route._made_tags), ("CARDS", link_route._made_card)):
        answers: SharedAnswers[Any] = SharedAnswers(make, most_bytes=10**6, most_making=4)
        monkeypatch.setattr(link_route, name, answers)
    monkeypatch.setattr(link_route, "SOON", 30.0)  # a machine may be busy; one test looks at the time


class Answered:
    def __init__(self, messages: list[Any]) -> None:
        self.status: int = messages[0]["status"]
        self.headers = {name.decode(): text.decode() for name, text in messages[0]["headers"]}
        self.names = [name.decode() for name, _ in messages[0]["headers"]]
        self.body = b"".join(message.get("body", b"") for message in messages)


async def asked(address: str, **headers: str) -> Answered:
    application = Starlette(
        routes=[*server.ROUTES, *create_streamlit_static_assets_routes("")], middleware=server.MIDDLEWARE
    )
    sent: list[Any] = []
    coming = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> dict[str, Any]:
        for message in coming:
            return message
        await asyncio.Event().wait()
        return {}

    async def send(message: Any) -> None:
        sent.append(message)

    path, _, query = address.partition("?")
    given = {"host": "attn.example"} | {name.replace("_", "-"): text for name, text in headers.items()}
    scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "scheme": "http"}
    scope |= {"headers": [(name.encode(), text.encode()) for name, text in given.items()], "root_path": ""}
    await application(scope, receive, send)
    return Answered(sent)


def get(address: str, **headers: str) -> Answered:
    return asyncio.run(asked(address, **headers))


class Unfurler(HTMLParser):
    """What a chat takes from a page: its title and its tags; and every element, to see that no word became one."""

    def __init__(self, page: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.title, self.tags, self.elements, self.plain = "", dict[str, str](), list[str](), ""
        self._inside: list[str] = []
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self._inside.append(tag)
        said = dict(attrs)
        if tag == "meta" and (name := said.get("property") or said.get("name")):
            self.tags[name] = said["content"] or ""

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._inside[-1:] == ["title"]:
            self.title += data
        if "noscript" in self._inside:
            self.plain += data + "\n"


def unfurled(query: str, **headers: str) -> Unfurler:
    found = get(f"/?{query}", **headers)
    assert found.status == 200
    assert found.headers["cache-control"] == "private, no-cache"
    return Unfurler(found.body)


@contextmanager
def busy(threads: ThreadPoolExecutor) -> Iterator[None]:
    """Let nothing else run in a pool of one thread."""
    done = threading.Event()
    threads.submit(done.wait)
    try:
        yield
    finally:
        done.set()


def test_a_link_says_what_its_setting_shows() -> None:
    told = link_words.telling(run(CONFIG), 0)
    assert told is not None
    for language, says in (("en", "attends to"), ("de", "beachtet")):
        found = unfurled(LINK + ("&lang=de" if language == "de" else ""), accept_language="fr")
        assert found.title == found.tags["og:title"] == found.tags["twitter:title"]
        assert says in found.title
        if language == "en":
            assert found.title == f"{told.brief} · 4 heads, causal"
        assert "the king saw his queen" in found.tags["description"]
        assert found.title in found.plain  # for who runs no script
        assert found.tags["twitter:card"] == "summary_large_image"
        assert found.tags["robots"] == "noindex"
        for name, path in (("og:url", "/"), ("og:image", link_route.PATH)):
            address = urlsplit(found.tags[name])
            assert (address.scheme, address.netloc, address.path) == ("http", "attn.example", path)
            assert url_codec.open_link(address.query, Config)[0] == (CONFIG,)
            assert parse_qs(address.query).get("lang", ["en"]) == [language]
    assert unfurled(LINK, accept_language="de-AT").title != unfurled(LINK, accept_language="en").title


def test_the_chosen_cell_is_what_is_said() -> None:
    config = Config(sentence="the cat sat", seed=3)
    found = unfurled(url_codec.query_string(config, Selection(head=1, query=2, key=0)))
    told = link_words.telling(run(config), 0, 1, 2, 0)
    assert told is not None
    assert (told.query, told.key, told.head) == (2, 0, 1)
    assert found.title.startswith(told.brief)
    assert told.brief.startswith("sat attends to the (")


def test_a_page_without_a_setting_may_be_listed_and_shows_the_opening() -> None:
    for query in ("", "utm_source=mail"):
        found = unfurled(query)
        assert (found.title, "robots" in found.tags) == (link_route.WORDS["title"], False)
        assert url_codec.open_link(urlsplit(found.tags["og:image"]).query, Config)[0] == (OPENING,)


@pytest.mark.slow
def test_words_that_mean_harm_are_text_and_nothing_else() -> None:
    plain = unfurled(url_codec.query_string(Config(sentence="a b", tokeniser="whitespace"))).elements
    for word in (*ALL, '"><meta http-equiv=refresh content=0;//evil.test>', "\\g<0> \\1 &quot;", "</title>"):
        query = url_codec.query_string(Config(sentence=f"{word} x", tokeniser="whitespace"))
        (config,), _ = url_codec.open_link(query, Config)
        found = unfurled(query)
        assert found.elements == plain, word
        assert "evil.test" not in found.tags["og:url"].partition("?")[0]
        told = link_words.telling(run(config), 0)
        if told is not None:
            assert found.tags["og:title"] == f"{told.brief} · 4 heads"
            drawn = ET.fromstring(link_route.link_card.card(run(config), 0, told))  # noqa: S314 - ours
            assert {each.tag.rpartition("}")[2] for each in drawn.iter()} <= {
                *("svg", "title", "rect", "text", "tspan", "pattern", "path", "g")
            }


def test_a_link_that_was_cut_says_so_and_has_no_picture() -> None:
    for query, says in ((LINK.rpartition("&")[0], "was cut short"), (LINK.replace("seed=3", "seed=4"), "was changed")):
        found = unfurled(query)
        assert says in found.tags["og:description"]
        assert found.title == link_route.WORDS["title"]
        assert "og:image" not in found.tags
    assert get(f"{link_route.PATH}?seed=many").status == 400


def test_a_link_whose_setting_cannot_be_used_opens_the_page_and_says_why() -> None:
    for query in ("v=1&sentence=", "sentence=%20", "sentence=%00", "v=1&sentence=&lang=de", "sentence=&n_heads=3"):
        found = unfurled(query)
        assert ("keine Token" if "lang=de" in query else "no tokens") in found.tags["description"], query
        assert "og:image" not in found.tags


def test_a_fault_of_what_a_link_shows_does_not_take_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_words, "about", lambda *_: 1 / 0)
    found = unfurled(LINK)
    assert found.title == link_route.WORDS["title"]


def test_a_link_to_a_question_gives_no_answer_away() -> None:
    for page, says in (("lessons", "·"), ("assign", "Assignments"), ("data", "Your data")):
        query = url_codec.query_string(CONFIG, Selection(page=page))
        found = unfurled(query)
        assert says in found.title
        assert "%" not in found.title + found.tags["description"]
        assert "og:image" not in found.tags
        picture = get(f"{link_route.PATH}?{query}")
        assert (picture.status, b"no picture" in picture.body) == (400, True)


def test_whoever_opens_the_page_does_not_wait_for_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    unfurled(LINK)  # reads what makes the page
    monkeypatch.setattr(link_route, "SOON", 0.0)
    with busy(link_route._words_threads):  # a fast machine has the words before anybody has looked at a clock
        found = unfurled(url_codec.query_string(replace(CONFIG, seed=CONFIG.seed + 1)))  # which nobody has asked for
    assert "the king saw" in found.title
    assert "4 heads, causal" in found.title
    assert "%" not in found.title
    monkeypatch.setattr(link_route, "SOON", 30.0)
    large = Config(sentence="a b c d " * 16, n_heads=16, d_model=256, n_layers=4)
    assert cost.estimate(admission.MAPS, large).seconds > link_route.QUICK
    assert "%" not in unfurled(url_codec.query_string(large)).title


def test_the_host_is_its_own_or_the_one_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for host in ("evil.test/x?", 'a"b', "a b", "", "<b>", "a@b", "x" * 300, "[::1]x"):
        found = unfurled(LINK, host=host)
        assert "og:url" not in found.tags
        assert "og:image" not in found.tags
    assert unfurled(LINK, x_forwarded_proto="https").tags["og:url"].startswith("https://attn.example/?")
    assert "og:url" not in unfurled(LINK, x_forwarded_proto="javascript").tags
    assert unfurled(LINK, x_forwarded_host="evil.test").tags["og:url"].startswith("http://attn.example/?")
    monkeypatch.setenv(public_address.VARIABLE, "https://uni.example/attnviz/")
    found = unfurled(LINK, host="evil.test")
    assert found.tags["og:image"].startswith("https://uni.example/attnviz/attnviz/preview.png?")


def test_the_picture_is_a_png_of_the_size_it_says_and_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("resvg_py")
    drawn: list[str] = []
    draw = png.drawn
    monkeypatch.setattr(png, "drawn", lambda svg, dpi: (drawn.append(svg), draw(svg, dpi=dpi))[1])
    for _ in range(2):
        found = get(f"{link_route.PATH}?{LINK}")
        assert (found.status, found.headers["content-type"]) == (200, "image/png")
        assert "public" not in found.headers["cache-control"]
        assert struct.unpack(">II", found.body[16:24]) == index_page.SIZE
        assert len(found.body) < 200_000
    assert len(drawn) == 1


def test_without_the_package_there_are_words_and_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "missing", lambda: "not here")
    assert unfurled(LINK).tags["twitter:card"] == "summary"
    assert (get(f"{link_route.PATH}?{LINK}").status, get(f"{link_route.PATH}?{LINK}").body) == (404, b"not here")


def test_a_short_link_leads_to_the_whole_one_or_says_what_is_wrong() -> None:
    code = short_link.pack(dict(url_codec.encode(CONFIG)))
    found = get(f"/s/{code}?lang=de&embed=true&seed=9")
    assert (found.status, found.headers["location"]) == (302, f"../?{LINK}&lang=de&embed=true")
    assert get(f"/s/{code}.").status == get(f"/below/s/{code})").status == 302
    assert "\r" not in get(f"/s/{code}?x=%0d%0aSet-Cookie:a").headers["location"]
    for wrong, says in ((code[:-1], "is not whole"), ("zzz", "begins with"), ("1" * 7000, "at most 6,000")):
        refused = get(f"/s/{wrong}", accept_language="en")
        assert (refused.status, says in refused.body.decode()) == (404, True)


def test_every_address_of_ours_is_there_below_a_folder_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(server.TOKEN, "quokka")
    query, found = url_codec.query_string(Config(sentence="a b", seed=8)), 0
    for route in server.ROUTES:
        path = getattr(route, "path", "")
        if path.startswith(("/{base", link_route.ROBOTS, "/attnviz/docs")):
            continue  # a crawler asks for robots.txt at the root alone; the documentation has a test of its own
        for asked_for in (path.replace("{code}", "zzz"), f"/see/attention{path}".replace("{code}", "zzz")):
            answered = get(f"{asked_for}?{query}", authorization="Bearer quokka")
            assert "html" not in answered.headers["content-type"], asked_for
            assert answered.body, asked_for
            assert answered.status == 200 or path.startswith(("/s/", "/attnviz/ready")), asked_for
            found += 1
    assert found == 22


def test_the_card_draws_lines_in_masked_cells_and_cuts_no_word_that_has_room() -> None:
    trace = run(CONFIG)
    told = link_words.telling(trace, 0)
    assert told is not None
    svg = link_route.link_card.card(trace, 0, told)
    assert "url(#" not in svg  # a pattern takes as much of the processor as all the rest
    corners = [(float(x), float(y)) for x, y in re.findall(r'd="M([0-9.]+) ([0-9.]+)h', svg)]
    assert all(x.is_integer() and y.is_integer() for x, y in corners), "an edge between two pixels takes long to pack"
    step, n = float(re.findall(r'd="M[0-9. ]+h([0-9.]+)', svg)[0]) + 1, len(trace.key_tokens)
    lines = re.findall(r"M([0-9.]+) ([0-9.]+)L([0-9.]+) ([0-9.]+)", svg)
    middles = [((float(a) + float(c)) / 2, (float(b) + float(d)) / 2) for a, b, c, d in lines]
    left, top = min(corners)
    cells = {(int((y - top) // step), int((x - left) // step)) for x, y in middles}
    assert cells == {(row, column) for row in range(n) for column in range(row + 1, n)}
    assert len(corners) == n * (n + 1) / 2
    said = re.findall(r"<tspan[^>]*>([^<]*)</tspan>", svg)
    assert "".join(said) == "".join(words for _, words in told.said)


def test_what_is_not_there_is_not_there() -> None:
    for path in ("/nothing", "/index.php", "/manifest.json", "/sitemap.xml", "/explore/x", "/attnviz/nothing"):
        assert get(path).status == 404, path
    assert get("/robots.txt").body.startswith(b"User-agent: *")
    ET.fromstring(get("/attnviz/icon.svg").body)  # noqa: S314 - ours
    assert get("/favicon.png").status == 200
    assert get("/?" + "x" * 9000).status == 200


HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
}
PLACES = ("/", "/?embed=true", "/nothing", "/robots.txt", "/favicon.png", "/attnviz/stage?x=1", "/attnviz/stage?seed=x")
PLACES += (
    "/attnviz/live",
    "/attnviz/preview.png?seed=x",
    "/s/1wombat",
    "/readyz",
    "/attnviz/health",
    "/attnviz/metrics",
)


def test_every_answer_has_the_headers_and_the_host_says_who_may_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    for sites, allowed in (
        ("", "*"),
        ("self", "'self'"),
        ("https://lms.example", "'self' https://lms.example"),
        ("*", "*"),
    ):
        monkeypatch.setenv(security_headers.FRAMES, sites)
        security_headers.policy.cache_clear()
        for path in PLACES if sites == "self" else PLACES[:1]:
            found = get(path)
            assert {name: found.headers.get(name) for name in HEADERS} == HEADERS, path
            assert f"; frame-ancestors {allowed};" in found.headers["content-security-policy"], path
            assert max(map(found.names.count, ("content-security-policy", *HEADERS))) == 1, path
    monkeypatch.undo()
    security_headers.policy.cache_clear()


def test_the_server_tells_how_it_fares_to_who_knows_the_token(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert get("/attnviz/metrics").status == 404
    monkeypatch.setenv(server.TOKEN, "quokka")
    for header, status in (({}, 401), ({"authorization": "Bearer x"}, 401), ({"authorization": "Bearer quokka"}, 200)):
        assert get("/attnviz/metrics", **header).status == status
    monkeypatch.setattr(counts, "_logged", {})
    monkeypatch.setattr(counts, "_unsaid", Counter())
    before = sample()
    for _ in range(3):
        get("/attnviz/stage?sentence=wombat&seed=many")
        get("/s/1wombat")
    after = sample()
    assert after['attnviz_refusals_total{reason="address"}'] == before['attnviz_refusals_total{reason="address"}'] + 3
    assert (
        after['attnviz_refusals_total{reason="short_link"}']
        == before['attnviz_refusals_total{reason="short_link"}'] + 3
    )
    assert after["attnviz_memory_bytes"] > 10**7
    get(f"/attnviz/stage?{LINK}")
    assert sample()['attnviz_runs_total{kind="stage"}'] == after['attnviz_runs_total{kind="stage"}'] + 1
    assert sample()["attnviz_waiting"] == 0
    said = [json.loads(line) for line in capfd.readouterr().err.splitlines() if line.startswith("{")]
    assert [(line["reason"], line["n"]) for line in said] == [("address", 1), ("short_link", 1)]
    assert "wombat" not in json.dumps(said) + counts.text()
    assert after.keys() == before.keys() == sample().keys()
    assert get("/attnviz/health").body == b"alive"


def grown(act: Callable[[], object]) -> dict[str, float]:
    """The numbers that something changes, without those of the process itself, and by how much."""
    before = counts.numbers()
    act()
    changed = {name: n - before.get(name, 0) for name, n in counts.numbers().items() if n != before.get(name, 0)}
    assert changed.pop("attnviz_memory_bytes ", 1)
    return {name: n for name, n in changed.items() if not name.startswith("attnviz_wait_seconds")}


def test_everything_is_counted_once_and_under_a_name_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ValueError("wombat")

    def over(*_: object) -> None:
        raise shared_answers.FullError

    run_of, refusal = "attnviz_runs_total ", "attnviz_refusals_total "
    stage, other = "/attnviz/stage?sentence=wombat+dog", "/attnviz/stage?sentence=wombat+cat"
    assert grown(lambda: get(stage)) == {f"{run_of}stage": 1}
    assert grown(lambda: get("/attnviz/live?sentence=wombat+dog")) == {f"{run_of}live": 1}
    assert grown(lambda: get("/?sentence=wombat+dog")) == {f"{run_of}link": 1}
    if not png.missing():
        assert grown(lambda: get("/attnviz/preview.png?sentence=wombat+dog")) == {f"{run_of}picture": 1}
    with monkeypatch.context() as changed:
        changed.setattr(admission, "refusal", lambda *_: "a wombat is too large")
        assert grown(lambda: get(other)) == {f"{run_of}stage": 1, f"{refusal}large": 1}
    with monkeypatch.context() as changed:
        changed.setattr(stage_route, "untrained", lambda _: "heads of a wombat")
        assert grown(lambda: get(other)) == {f"{run_of}stage": 1, f"{refusal}untrained": 1}
        changed.setattr(stage_route, "untrained", fails)
        assert grown(lambda: get(other)) == {f"{run_of}stage": 1, f"{refusal}failed": 1}
        changed.setattr(stage_route.ANSWERS, "answer", over)
        assert grown(lambda: get(other)) == {f"{refusal}busy": 1}
        changed.setattr(server, "has_room", lambda: False)
        assert grown(lambda: get("/?sentence=wombat")) == {f"{refusal}full": 1}
    assert grown(lambda: get("/attnviz/stage?seed=wombat")) == {f"{run_of}stage": 1, f"{refusal}address": 1}
    assert grown(lambda: get(f"/attnviz/stage?sentence={'wombat' * 2000}")) == {f"{refusal}address": 1}
    assert grown(lambda: get("/s/1wombat")) == {f"{refusal}short_link": 1}
    known = {"attnviz_runs_total": counts.KINDS, "attnviz_refusals_total": counts.REASONS}
    assert counts.numbers().keys() <= {f"{name} {label}" for name in counts.METRICS for label in known.get(name, [""])}


def test_who_is_there_is_counted_while_there_and_who_waits_while_waiting() -> None:
    open_pages, inside = [], counts.numbers

    async def page(*_: object) -> None:
        open_pages.append(inside()["attnviz_visitors "])
        raise ConnectionError

    def visit() -> None:
        with suppress(ConnectionError):
            asyncio.run(server.WhileThereIsRoom(page)({"type": "websocket"}, None, None))  # type: ignore[arg-type]

    before = counts.numbers().get("attnviz_visitors ", 0)
    assert grown(visit) == {"attnviz_visits_total ": 1}
    assert open_pages == [before + 1]

    queue, waiting = run_queue.RunQueue(long=30), threading.Thread(target=lambda: queue.turn().__enter__())
    waited = "attnviz_wait_seconds_total "
    with queue.turn():
        seconds = inside()[waited]
        waiting.start()
        while not (n := inside()["attnviz_waiting "]):
            time.sleep(0.01)
        time.sleep(0.1)
    waiting.join(30)
    assert (n, inside()["attnviz_waiting "]) == (1, 0)
    assert 0.1 <= inside()[waited] - seconds < 5


def sample() -> dict[str, float]:
    """The metrics by name, as a scraper reads the format."""
    lines = [line for line in counts.text().splitlines() if not line.startswith("#")]
    return {name: float(number) for name, number in (line.rsplit(" ", 1) for line in lines)}


def test_it_is_ready_once_the_page_has_been_read_and_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> list[tuple[int, bytes]]:
        monkeypatch.setattr(server, "_reading", [])
        first = await asked("/attnviz/ready")
        await server._reading[0]
        then = await asked("/attnviz/ready")
        monkeypatch.setattr(server, "has_room", lambda: False)
        full = await asked("/attnviz/ready")
        return [(each.status, each.body) for each in (first, then, full)]

    assert asyncio.run(ask()) == [(503, b"starting"), (200, b"ready"), (503, b"full")]


def test_an_address_and_sites_that_are_none_end_the_start_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (
        (public_address.VARIABLE, "example.org"),
        (public_address.VARIABLE, "https://x y"),
        (public_address.VARIABLE, 'https://x/"'),
        (security_headers.FRAMES, "moodle"),
        (security_headers.FRAMES, "https://a; script-src *"),
    ):
        with monkeypatch.context() as changed:
            changed.setenv(name, text)
            with pytest.raises(SystemExit):
                server.begin()
        assert name in capsys.readouterr().err


def test_a_query_that_no_one_could_type_is_still_a_page() -> None:
    for query in (
        "%00%ff=%fe",
        urlencode({"sentence": "\ud800"}, errors="surrogatepass"),
        "&" * 7000,
        "v=" + "9" * 7000,
    ):
        assert get(f"/?{query}").status == 200
    assert stage_route.MOST_CHARACTERS == 8_000
