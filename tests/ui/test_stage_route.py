"""The stage at an address: what it answers to links, to nonsense, to many and to those who leave."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
import urllib.error
import urllib.request
import zlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from starlette.applications import Starlette
from streamlit.testing.v1 import AppTest

from attnviz import Config, run
from attnviz.engine.learning import film
from attnviz.engine.numerics import cancellation
from attnviz.pictures.stage_bytes import unpacked
from attnviz.settings import url_codec
from attnviz.ui import server, stage_route
from attnviz.ui.main import OPENING
from attnviz.ui.panels import stage_of_run
from attnviz.ui.session import admission
from attnviz.ui.session.selection import Selection
from attnviz.ui.shared_answers import SharedAnswers
from tests.support import components
from tests.support.cases import for_each
from tests.support.sample_settings import repeated_words

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "deploy"))

import local  # noqa: E402

ADDRESSES = ROOT / "tests" / "addresses.txt"
SECRET = "quokka"  # in what a visitor types


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are made anew in every test."""
    answers: SharedAnswers[Any] = SharedAnswers(stage_route._made, most_bytes=10**6, most_making=4)
    monkeypatch.setattr(stage_route, "ANSWERS", answers)


class Answered:
    def __init__(self, messages: list[Any]) -> None:
        self.status: int = messages[0]["status"]
        self.headers = {name.decode(): text.decode() for name, text in messages[0]["headers"]}
        self.body = b"".join(message.get("body", b"") for message in messages)

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def stage(self) -> tuple[dict[str, Any], dict[str, Any]]:
        assert self.status == 200, self.text
        return unpacked(zlib.decompress(self.body, 31) if "content-encoding" in self.headers else self.body)


async def asked(
    query: str, *, path: str = stage_route.PATH, leaves: Callable[[], Awaitable[object]] | None = None, **headers: str
) -> Answered:
    """What the server's own routes and middleware answer to a browser that stays, or `leaves`."""
    application = Starlette(routes=server.ROUTES, middleware=server.MIDDLEWARE)
    sent: list[Any] = []
    coming = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> dict[str, Any]:
        for message in coming:
            return message
        await (leaves or asyncio.Event().wait)()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    given = {"accept-encoding": "gzip"} | {name.replace("_", "-"): text for name, text in headers.items()}
    scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "app": application}
    scope["headers"] = [(name.encode(), text.encode()) for name, text in given.items()]
    await application(scope, receive, send)
    return Answered(sent)


def answer(query: str, **how: Any) -> Answered:
    return asyncio.run(asked(query, **how))


def links() -> Iterator[str]:
    for line in ADDRESSES.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")[0]


@pytest.mark.slow
def test_every_link_that_must_open_has_its_stage() -> None:
    opened = 0
    for query in dict.fromkeys(links()):
        (config, selection), problems = url_codec.open_link(query, Config, Selection)
        found = answer(query)
        if found.status == 400:
            assert problems or admission.refusal(admission.MAPS, config), (query, found.text)
        elif found.status == 503:
            assert not film.is_kept(config)
        else:
            made = stage_of_run.stage_of_run(run(config), selection)
            assert found.stage[0] == unpacked(made)[0] | {"language": found.stage[0]["language"]} or "lang=" in query
            opened += 1
    assert opened > 20


def test_the_numbers_are_those_of_the_run() -> None:
    config = Config(sentence="Größe ist relativ", n_heads=3, mask="causal", score="additive", seed=9)
    link = url_codec.query_string(config, Selection(layer=0))
    without_check = urlencode(url_codec.encode(config))
    for query in (link, without_check, without_check.replace("v=2", "v=1")):
        found = answer(query)
        header, arrays = found.stage
        assert header["setting"] == url_codec.encode(config)
        steps = run(config)
        may = steps["allowed"].array
        np.testing.assert_array_equal(arrays["weights"], np.where(may, steps["weights"].array, np.nan))
        assert found.headers["content-type"] == "application/octet-stream"
        assert "charset" not in found.headers["content-type"]
    assert answer(without_check, path=f"/below/a/path{stage_route.PATH}").body == found.body
    assert answer(without_check, accept_encoding="identity").stage[0] == header


def looked_at() -> Iterator[tuple[Config, Selection]]:
    """Random settings, each with a mask or two, and what is looked at in them."""
    for number in range(6):
        mask = ("causal", "padding", "none")[number % 3]
        config = replace(repeated_words(number), mask=(mask,), initialiser="normal", pad_to=5 * number)
        shown, colours = ("weights", "queries", "masked")[number // 2], ("apart", "common")[number % 2]
        yield config, Selection(layer=config.n_layers - 1, shown=shown, colours=colours, lang=("de", "en")[number % 2])
    long = Config(sentence="a b c d e " * 20, max_tokens=100, mask=("causal",), n_heads=2)
    yield long, Selection(from_query=40, from_key=20)


@pytest.mark.slow
def test_the_page_draws_what_it_hands_out() -> None:
    """A picture that was drawn ahead of a run has each number, word and colour of that of the run."""
    for config, selection in looked_at():
        query = url_codec.encode(config, selection)
        page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        page.query_params.update(query)
        page.run()
        assert not page.exception
        sent, drawn = unpacked(components.of(page, "attnviz_heatmap"))
        header, arrays = answer(urlencode(query), accept_language="fr").stage
        assert header["stages"] == sent["stages"]
        for stage in header["stages"]:
            parts = ("", ".total", ".spread") if stage["sums"] else ("",)
            for name in [*(stage["name"] + part for part in parts), *filter(None, [stage["masked"]])]:
                np.testing.assert_array_equal(arrays[name], drawn[name], strict=True)
            if stage["masked"]:
                hidden = np.broadcast_to(arrays[stage["masked"]], arrays[stage["name"]].shape).astype(bool)
                assert np.isnan(arrays[stage["name"]][hidden]).all()


def test_an_address_that_says_nothing_stands_for_the_opening() -> None:
    for query in ("", "lang=en", "utm_source=mail"):
        assert answer(query).stage[0]["setting"] == url_codec.encode(OPENING)


def test_a_browser_keeps_for_ever_what_cannot_change() -> None:
    query = "v=2&seed=5"
    for edition, caching in (
        (f"&{stage_route.EDITION}={stage_of_run.edition()}", "private, max-age=31536000, immutable"),
        (f"&{stage_route.EDITION}=older", "private, no-cache"),
        ("", "private, no-cache"),
    ):
        found = answer(query + edition)
        assert (found.status, found.headers["cache-control"]) == (200, caching)
        assert found.headers["vary"] == "Accept-Encoding, Accept-Language"


def test_words_are_in_the_language_of_the_address_or_of_the_browser() -> None:
    for query, browser, language in (
        ("v=2&seed=1", "de-AT,de;q=0.9", "de"),
        ("v=2&seed=1", "fr", "en"),
        ("v=2&seed=1&lang=de", "en", "de"),
        ("v=2&seed=1&lang=en", "de", "en"),
    ):
        assert answer(query, accept_language=browser).stage[0]["language"] == language
    assert "Zeichen" in answer("x" * 9000, accept_language="de").text
    assert "nicht möglich" in answer("seed=x", accept_language="de").text


@for_each(
    "query, says",
    [
        ("nonsense=1", "There is no setting called"),
        ("v=2&seed=many", "Seed was 'many'"),
        ("v=2&seed=1&seed=2", "Seed was given 2 times"),
        ("v=99&seed=1", "version '99' is not known"),
        ("v=2&d_model=100000000", "512 is used"),
        ("v=2&n_heads=%FF%FE", "Heads was"),
        ("v=2&seed=2&c=aaaa", "This link was changed"),
        ("v=2&score=formula&score_formula=q+%40+", "breaks off here"),
        ("v=2&score=formula&score_formula=" + "(" * 500, "Formula of the score"),
        ("v=2&edits=embedded.1.1~nan", "Changed numbers"),
        ("v=2&mask_formula=__import__('os')&mask=formula", "__import__"),
        ("v=2&max_tokens=1024&n_heads=16&n_layers=6&sentence=" + "a+" * 1024, "What would help most"),
    ],
)
def test_what_the_page_would_correct_or_refuse_is_an_answer_of_400(query: str, says: str) -> None:
    found = answer(query)
    assert (found.status, found.headers["cache-control"]) == (400, "no-store")
    assert says in found.text
    assert found.headers["content-type"] == "text/plain; charset=utf-8"
    assert found.headers["x-content-type-options"] == "nosniff"


def test_a_long_query_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: Any) -> None:
        raise AssertionError("it was read")

    monkeypatch.setattr(stage_route, "parse_qs", read)
    for query in ("a=1&" * 200_000, "sentence=" + "%00" * 3_000, "&" * 8_001):
        found = answer(query)
        assert (found.status, "at most 8,000" in found.text) == (400, True)


def test_the_most_parameters_that_fit_are_each_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the time for a query grows with its length, and not with its square."""
    read: list[str] = []
    kind = type(next(item.metadata["kind"] for item in url_codec.settings(Config) if item.name == "seed"))
    plain = kind.read
    monkeypatch.setattr(kind, "read", lambda self, text: (read.append(text), plain(self, text))[1])
    assert answer("seed=7&" * 1_100).status == 400
    assert read.count("7") == 1


def test_heads_that_nobody_has_trained_are_left_to_the_page() -> None:
    config = Config(initialiser="learned", task="recall", seed=77, learn_steps=33, n_heads=1)
    found = answer(urlencode(url_codec.encode(config)))
    assert (found.status, found.headers["retry-after"]) == (503, "1")
    assert "has not been trained yet" in found.text


def test_a_server_that_is_full_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "has_room", lambda: False)
    found = answer("v=2&seed=1")
    assert (found.status, "as many visitors as it can hold" in found.text) == (503, True)


def held(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, list[str]]:
    """Runs that last until they are told to end or nobody waits for them, and how each ended."""
    go, ends = threading.Event(), list[str]()

    def long_run(config: Config) -> Any:
        try:
            while not go.wait(0.005):
                cancellation.check()
        except BaseException as error:
            ends.append(type(error).__name__)
            raise
        ends.append("done")
        return run(config)

    monkeypatch.setattr(admission, "run", long_run)
    return go, ends


def test_more_than_can_wait_are_sent_away_and_the_server_answers_others(monkeypatch: pytest.MonkeyPatch) -> None:
    go, ends = held(monkeypatch)

    async def ask() -> None:
        asking = [asyncio.ensure_future(asked(f"v=2&seed={seed}")) for seed in range(1, 5)]
        await asyncio.sleep(0.05)
        for _ in range(3):
            found = await asked("v=2&seed=5")  # while four are computed, nothing stands still
            assert (found.status, found.headers["retry-after"]) == (503, "1")
            assert "computing for many others" in found.text
        assert (await asked("", path="/readyz")).text == "ready"
        go.set()
        assert [each.status for each in await asyncio.gather(*asking)] == [200] * 4

    asyncio.run(asyncio.wait_for(ask(), 60))
    assert ends == ["done"] * 4


def test_who_leaves_ends_the_computation(monkeypatch: pytest.MonkeyPatch) -> None:
    go, ends = held(monkeypatch)

    async def ask() -> None:
        leaves = asyncio.Event()
        leaving = asyncio.ensure_future(asked("v=2&seed=1", leaves=leaves.wait))
        await asyncio.sleep(0.05)
        leaves.set()
        await leaving
        while not ends:
            await asyncio.sleep(0.005)

    asyncio.run(asyncio.wait_for(ask(), 30))
    assert ends == ["Cancelled"]
    assert not admission.TURNS.large_run_lock.locked()
    go.set()
    assert answer("v=2&seed=1").status == 200


def test_large_settings_wait_for_each_other_and_for_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    go, ends = held(monkeypatch)
    monkeypatch.setattr(admission, "waits", lambda _, config: config.seed < 3)

    async def ask() -> None:
        large = [asyncio.ensure_future(asked(f"v=2&seed={seed}")) for seed in (1, 2)]
        while not admission.TURNS.large_run_lock.locked():
            await asyncio.sleep(0.005)
        monkeypatch.setattr(admission, "run", lambda config: run(config))
        assert (await asked("v=2&seed=9")).status == 200
        assert not ends
        go.set()
        assert [each.status for each in await asyncio.gather(*large)] == [200, 200]

    asyncio.run(asyncio.wait_for(ask(), 30))
    assert not admission.TURNS.large_run_lock.locked()


def test_a_fault_is_logged_without_what_was_typed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(config: Config) -> None:
        raise RuntimeError(f"cannot run {config.sentence}")

    monkeypatch.setattr(admission, "run", broken)
    with caplog.at_level(logging.DEBUG):
        found = answer(f"v=2&sentence={SECRET}")
    assert (found.status, "a fault of the program" in found.text) == (500, True)
    assert "RuntimeError" in caplog.text
    assert SECRET not in caplog.text + found.text


@pytest.mark.slow
def test_a_real_server_hands_it_out_and_logs_nothing(tmp_path: Path) -> None:
    page = local.Replica(tmp_path / "page.log", "secret")
    try:
        page.start()
        address = f"http://127.0.0.1:{page.port}{stage_route.PATH}?"
        with urllib.request.urlopen(f"{address}v=2&sentence={SECRET}+sat", timeout=60) as found:  # noqa: S310
            assert unpacked(found.read())[0]["words"]["query"] == [SECRET, "sat"]
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{address}v=2&{SECRET}=1", timeout=60)  # noqa: S310
        assert refused.value.code == 400
        assert SECRET in json.dumps(refused.value.read().decode())
        assert SECRET not in page.log.read_text("utf-8")
    finally:
        page.kill()
