"""The face of a link before it is opened: its words in the first file of the page, and its picture at an address.

A chat or a search engine that gets a link reads the title, the description and the address of a picture, and runs no
script. The words are those of the very setting: computed where that is quick, else of the setting alone, so that nobody
who opens the page waits for them. `attnviz/preview.png?<setting>` draws the picture. Neither tells what a lesson or an
assignment asks for, and a link that the page would correct says what is wrong with it instead.

`s/<code>` is a short link: it leads to the page with all that the code holds.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Scope

from attnviz.engine.cost import estimate as cost
from attnviz.engine.cost.sizes import sizes
from attnviz.engine.numerics import cancellation
from attnviz.engine.numerics.cancellation import Cancelled
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.lessons.catalogue import LESSONS
from attnviz.pictures.colours import SHARE
from attnviz.pictures.static import link_card, png
from attnviz.settings import short_link, url_codec
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import WRITTEN, Words, current_language, nearest_language, set_language, sign, translate
from attnviz.text import link_words
from attnviz.ui import stage_route
from attnviz.ui.hosting import counts, public_address
from attnviz.ui.hosting.index_page import LinkTags, page_folder
from attnviz.ui.shared_answers import Answer, FullError, SharedAnswers
from attnviz.ui.stage_route import Asked

if TYPE_CHECKING:  # a server begins sooner without the page
    from attnviz.ui.session.selection import Selection as Selected

PATH, SHORT, ICON, ROBOTS = "/attnviz/preview.png", "/s", "/attnviz/icon.svg", "/robots.txt"
SOON = 0.1
"""Seconds for which the page waits for the words of its link, at most."""
QUICK = 0.06
"""Seconds that a setting may take by the estimate for its words to have numbers: about three times what it takes."""
MOST_MAKING, MOST_KEPT, MOST_WORDS = 100, 16_000_000, 2_000_000
"""Answers that are made at once, and bytes of pictures and of words that are kept: some 200 and 2,000."""
HIDING = ("lessons", "assign", "data")
"""Pages whose link shows no number: it would be an answer, or is in no link."""

WORDS = Words(
    {
        "title": "attnviz: see attention happen",
        "about": "Type a sentence and see how attention weighs its words, down to the last product and sum.",
        "page": "{page} · attnviz",
        "hidden": "A link to this page has no picture: it would show what is asked for, or numbers that no link holds.",
        "nothing": "There is no weight to draw in this setting.",
        "large": "This setting takes too long for a picture of its link; the page shows it.",
    }
)
DRAWN = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="5" fill="{}"/>
<path fill="{}" d="M4 12h8v8H4zM20 12h8v8h-8z"/><path fill="{}" d="M4 20h8v8H4zM20 20h8v8h-8z"/>
<path fill="{}" d="M12 12h8v8h-8zM12 20h8v8h-8z"/><path fill="{}" d="M4 4h8v8H4z"/></svg>
""".format(*SHARE)
ROBOTS_TEXT = "User-agent: *\nDisallow: /_stcore/\nDisallow: /attnviz/stage\nAllow: /\n"
"""Who shows a link may look at it; that a setting is not to be listed stands in the page."""

_words_threads = ThreadPoolExecutor(1, "attnviz-link-words")
_card_threads = ThreadPoolExecutor(1, "attnviz-link-card")
_page_is_read = threading.Event()


async def tags(scope: Scope) -> LinkTags:
    """Return what the link shows by which the page is opened."""
    request = Request(scope)
    language = nearest_language(request.headers.get("accept-language", "").partition(",")[0])
    asked = Asked(scope["query_string"], language)
    base = public_address.of_request(scope, page_folder())
    set_language(language)
    general = LinkTags(language, WORDS["title"], WORDS["about"], f"{base}/" if base else "", is_listed=True)
    if len(asked.query) > stage_route.MOST_CHARACTERS:
        return general
    try:
        answer = await _soon(asked)
    except Exception as error:  # the page says what is wrong, once it has been opened
        from attnviz.ui.session import failures

        failures.failed(error)
        answer = None
    if answer is None:
        return general
    said = json.loads(answer.body)
    address, picture = (f"{base}{said[name]}" if base and said[name] else "" for name in ("address", "picture"))
    return LinkTags(said["language"], said["title"], said["about"], address, picture, said["is_listed"])


async def _soon(asked: Asked) -> Answer | None:
    """Return the words of a link, without numbers if these take too long; None while the page has not been read."""
    with suppress(FullError):
        answer = await TAGS.answer(asked, len(asked.query), partial(asyncio.sleep, SOON))
        if answer is not None:
            return answer
    # to read the page here would keep everybody waiting
    return _words(asked, may_compute=False) if _page_is_read.is_set() else None


async def _made_tags(asked: Asked, check: Callable[[], None]) -> Answer:
    def make() -> Answer:
        with cancellation.checked_by(check):
            return _words(asked, may_compute=True)

    return await asyncio.get_running_loop().run_in_executor(_words_threads, make)


TAGS: SharedAnswers[Asked] = SharedAnswers(_made_tags, most_bytes=MOST_WORDS, most_making=MOST_MAKING)


def _words(asked: Asked, *, may_compute: bool) -> Answer:
    """Return title, description, address and picture of a link, the last two as they stand behind the host."""
    from attnviz.ui.session.selection import Selection

    (config, selection), problems = stage_route.read(asked, Selection, is_link=True)
    _page_is_read.set()
    names = {*url_codec.labels(Config, Selection)} - {"lang"}
    is_plain = not names & {name for name, _ in parse_qsl(asked.query.decode("latin-1"), keep_blank_values=True)}
    language = current_language()
    query = url_codec.query_string(config, replace(selection, lang="auto" if language == WRITTEN else language))
    title, about, has_picture = WORDS["title"], WORDS["about"], False
    problems = problems or _faults(config)
    if problems:
        about = sign(" ").join(problems)[:600]
    elif selection.page in HIDING:
        title, about = _of_page(selection)
    else:
        trace = _quick(config) if may_compute else None
        if not is_plain:
            title, about = _of_setting(config, selection, trace), link_words.about(config, trace)
        has_picture = not png.missing() and not _refused(config)
    said = {"language": language, "title": title, "about": about, "is_listed": is_plain}
    said |= {"address": "/" if is_plain else f"/?{query}", "picture": f"{PATH}?{query}" if has_picture else ""}
    return Answer(200, json.dumps(said).encode())


def _faults(config: Config) -> list[str]:
    """Return why a setting cannot be used, such as that its sentence has no word."""
    from attnviz.ui.session import failures

    try:
        sizes(config)
    except ConfigError as error:
        return [failures.refused(error)]
    return []


def _of_page(selection: Selected) -> tuple[str, str]:
    from attnviz.ui.session.selection import PAGE_NAMES

    lesson = LESSONS.get(selection.lesson) if selection.page == "lessons" else None
    if lesson is not None:
        return WORDS["page"].format(page=lesson.title), lesson.about
    named = PAGE_NAMES[selection.page]
    return WORDS["page"].format(page=translate(named.label)), translate(named.note)


def _of_setting(config: Config, selection: Selected, trace: Trace | None) -> str:
    told = None if trace is None else _telling(trace, selection)
    return link_words.title(config, "" if told is None else told.brief)


def _telling(trace: Trace, selection: Selected) -> link_words.Telling | None:
    from attnviz.ui.session.selection import is_of_b, within

    here = within(replace(selection, head=None, query=None, key=None) if is_of_b(selection) else selection, trace)
    return link_words.telling(trace, here.layer, here.head, here.query, here.key if here.query is not None else None)


def _quick(config: Config) -> Trace | None:
    """Return the run of a setting that is quick; None if it is not, or cannot be."""
    from attnviz.ui.session import admission

    try:
        if _refused(config) or cost.estimate(admission.MAPS, config).seconds > QUICK:
            return None
        with admission.TURNS.turn(kind="link"):
            return run(config)
    except Cancelled:
        raise
    except Exception:  # the page says what is wrong
        return None


def _refused(config: Config) -> str:
    """Return why a setting is not computed here, or not for a picture; empty if it is."""
    from attnviz.ui.session import admission

    refused = admission.refusal(admission.MAPS, config) or stage_route.untrained(config)
    return refused or (WORDS["large"] if admission.waits(admission.MAPS, config) else "")


async def preview(request: Request) -> Response:
    """Answer with the picture of the link in the address."""
    language = nearest_language(request.headers.get("accept-language", "").partition(",")[0])
    set_language(language)
    if missing := png.missing():
        return stage_route.sentence(Answer(404, missing.encode(), "address"))
    answer = await stage_route.shared(CARDS, Asked(request.scope["query_string"], language), request)
    if not isinstance(answer, Answer):
        return answer
    return Response(answer.body, 200, {"Cache-Control": "private, max-age=86400"}, "image/png")


async def _made_card(asked: Asked, check: Callable[[], None]) -> Answer:
    def make() -> Answer:
        try:
            return stage_route.computed(asked, check, _card, kind="picture")
        except stage_route.LargeSetting:
            return Answer(400, WORDS["large"].encode(), "large")

    return await asyncio.get_running_loop().run_in_executor(_card_threads, make)


CARDS: SharedAnswers[Asked] = SharedAnswers(_made_card, most_bytes=MOST_KEPT, most_making=MOST_MAKING)
"""The pictures that all share."""


def _card(config: Config, selection: Selected) -> Answer:
    from attnviz.ui.session.selection import within

    if selection.page in HIDING:
        return Answer(400, WORDS["hidden"].encode(), "address")
    trace = run(config)
    told = _telling(trace, selection)
    if told is None:
        return Answer(400, WORDS["nothing"].encode(), "address")
    return Answer(200, png.drawn(link_card.card(trace, within(selection, trace).layer, told), dpi=png.PER_INCH))


async def short(request: Request) -> Response:
    """Lead to the page with what a short link holds; what else stands in its address goes with it."""
    set_language(nearest_language(request.headers.get("accept-language", "").partition(",")[0]))
    code = request.path_params["code"].rstrip("/.,;:!?)>]}'\"")
    try:
        query = short_link.unpack(code)
    except ConfigError as error:
        counts.refused("short_link")
        return PlainTextResponse(str(error), 404)
    added = request.scope["query_string"][: stage_route.MOST_CHARACTERS].decode("latin-1")
    beside = [(name, text) for name, text in parse_qsl(added, keep_blank_values=True) if name not in query]
    return RedirectResponse(
        f"../?{urlencode([*query.items(), *beside])}", 302, {"Cache-Control": "private, max-age=3600"}
    )


def _icon(_: Request) -> Response:
    return Response(DRAWN, 200, {"Cache-Control": "public, max-age=86400"}, "image/svg+xml")


def _robots(_: Request) -> Response:
    return PlainTextResponse(ROBOTS_TEXT)


ROUTES: list[BaseRoute] = [
    *public_address.routes(PATH, preview),
    *public_address.routes(f"{SHORT}/{{code}}", short),
    *public_address.routes(ICON, _icon),
    Route(ROBOTS, _robots),
]
