"""The stage at an address of its own: `attnviz/stage?<setting>` answers with the bytes that the page draws of it.

No script is run for that and no session is kept, so a picture can follow a slider while it is dragged, and who opens
the same link as a hundred others gets what was made for the first of them. An address is read as the page reads a link,
but that it needs no check at its end; what the page would correct and say, or refuse, is an answer of 400 with those
sentences. Runs take turns with those of the page, as large ones do among themselves, and a browser that asks no more
ends what is computed for it alone. An answer of 503 means: later, or by the page.

What a visitor typed stands in the query, and in no log: Streamlit switches off uvicorn's list of requests, and a fault
is logged without its message.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import ceil
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from attnviz.engine.learning import film, learnable, learning_cost
from attnviz.engine.numerics import cancellation
from attnviz.engine.numerics.cancellation import Cancelled
from attnviz.engine.records.config import Config
from attnviz.pictures.stage_bytes import compressed
from attnviz.settings import link_check, url_codec
from attnviz.settings.address_problems import PROBLEMS
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import LANGUAGES, Words, nearest_language, set_language, sign
from attnviz.ui.hosting import counts, public_address
from attnviz.ui.shared_answers import Answer, FullError, SharedAnswers

PATH = public_address.STAGE
EDITION = public_address.EDITION
"""With the edition of the code that makes it, an answer never changes."""

MOST_CHARACTERS = 8_000
"""Of a query: a link has up to 6,000, and what proxies pass on ends soon after."""
MOST_MAKING = 600
"""Different answers that are made or waited for at once; a room of 300 asks for twice as many at most."""
MOST_KEPT = 32_000_000
"""Bytes of answers that are kept, some 900 of an ordinary setting."""
THREADS = 2
"""Threads that read and compute; more would only wait for each other, as runs take turns."""

WORDS = Words(
    {
        "long": "This address has {n:,} characters, and at most {most:,} can be read.",
        "busy": "The server is computing for many others at this moment. Please try again in a minute.",
    }
)
GZIP = 31  # for zlib: the format of gzip, with the largest window
BYTES = "application/octet-stream"
RETRY = {"Retry-After": "1"}
FOR_EVER, ASK_AGAIN, NEVER = "private, max-age=31536000, immutable", "private, no-cache", "no-store"
"""How long a browser may keep an answer; what others share keeps none, since a sentence stands in the address."""


class Asked(NamedTuple):
    """A question: the query as it came, and the language of the browser for an address that names none."""

    query: bytes
    language: str


class LargeSetting(Exception):  # noqa: N818 - no fault
    """A setting that waits for other large ones, in a thread where nobody waits behind it."""


_threads = ThreadPoolExecutor(THREADS, "attnviz-stage")
_large = ThreadPoolExecutor(1, "attnviz-large-stage")


async def stage(request: Request) -> Response:
    """Answer with the stage of the setting in the address."""
    return await served(ANSWERS, request)


async def served(answers: SharedAnswers[Asked], request: Request) -> Response:
    """Answer with the bytes that are made of the setting in the address, or with the reason why there are none."""
    query: bytes = request.scope["query_string"]
    language = nearest_language(request.headers.get("accept-language", "").partition(",")[0])
    set_language(language)
    answer = await shared(answers, Asked(query, language), request)
    return _bytes(answer.body, request) if isinstance(answer, Answer) else answer


async def shared(answers: SharedAnswers[Asked], asked: Asked, request: Request) -> Answer | Response:
    """Return the answer to a question, or what is said where there is none."""
    if len(asked.query) > MOST_CHARACTERS:
        return sentence(Answer(400, WORDS["long"].format(n=len(asked.query), most=MOST_CHARACTERS).encode(), "address"))
    try:
        answer = await answers.answer(asked, len(asked.query), lambda: _gone(request))
    except FullError:
        return sentence(Answer(503, WORDS["busy"].encode(), "busy"))
    if answer is None:
        return Response(status_code=503)  # to nobody
    return answer if answer.status == 200 else sentence(answer)


ROUTES: list[BaseRoute] = public_address.routes(PATH, stage)


def sentence(answer: Answer) -> Response:
    """Return a refusal, and count it."""
    counts.refused(answer.reason)
    headers = {"Cache-Control": NEVER} | (RETRY if answer.status == 503 else {})
    return Response(answer.body, answer.status, headers, "text/plain; charset=utf-8")


def _bytes(body: bytes, request: Request) -> Response:
    """Return compressed bytes, unpacked for who cannot read them so."""
    from attnviz.ui.panels.stage_of_run import edition  # here, as a server begins sooner without the page

    is_ours = request.query_params.get(EDITION) == edition()
    headers = {"Cache-Control": FOR_EVER if is_ours else ASK_AGAIN, "Vary": "Accept-Encoding, Accept-Language"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        body = zlib.decompress(body, GZIP)
    return Response(body, 200, headers, BYTES)


async def _gone(request: Request) -> None:
    """Wait until the browser has closed its connection, or asks no more."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _made(asked: Asked, check: Callable[[], None]) -> Answer:
    return await made(asked, check, _stage)


async def made(
    asked: Asked, check: Callable[[], None], make: Callable[[Config, Any], Answer], kind: str = "stage"
) -> Answer:
    """Make an answer in a thread; that of a large setting in another, one at a time."""
    loop, compute = asyncio.get_running_loop(), partial(computed, asked, check, make, kind=kind)
    try:
        return await loop.run_in_executor(_threads, compute)
    except LargeSetting:
        return await loop.run_in_executor(_large, partial(compute, may_be_large=True))


ANSWERS: SharedAnswers[Asked] = SharedAnswers(_made, most_bytes=MOST_KEPT, most_making=MOST_MAKING)
"""The answers that all visitors share."""


def _stage(config: Config, selection: Any) -> Answer:
    from attnviz.ui.panels.stage_of_run import being_made, stage_of_run
    from attnviz.ui.session import admission

    with being_made(config, selection):
        made = stage_of_run(admission.run_of(config), selection)
    return Answer(200, compressed(made))


def computed(
    asked: Asked,
    check: Callable[[], None],
    make: Callable[[Config, Any], Answer],
    *,
    may_be_large: bool = False,
    kind: str = "stage",
) -> Answer:
    """Return what is made of the setting and the selection in an address, in a turn among the runs of the page.

    kind  what is made, by its name in `counts.KINDS`

    Raises  LargeSetting where that would wait for other large ones.
    """
    from attnviz.ui.session import admission, failures
    from attnviz.ui.session.selection import Selection

    try:
        check()
        with cancellation.checked_by(check), admission.TURNS.turn(kind=kind):
            (config, selection), problems = read(asked, Selection)
            refusals = (
                (400, "address", sign(" ").join(problems)),
                (400, "large", admission.refusal(admission.MAPS, config)),
            )
            for status, reason, why in (*refusals, (503, "untrained", untrained(config))):
                if why:
                    return Answer(status, why.encode(), reason)
            if admission.waits(admission.MAPS, config):
                if not may_be_large:
                    raise LargeSetting
                admission.TURNS.enter_large(check)
            return make(config, selection)
    except (LargeSetting, Cancelled):
        raise
    except ConfigError as error:
        return Answer(400, failures.refused(error).encode(), "address")
    except Exception as error:
        return Answer(500, failures.failed(error).encode(), "failed")


def read(asked: Asked, *beside: type, is_link: bool = False) -> tuple[tuple[Any, ...], list[str]]:
    """Return the records that an address names, as the page would, and what the page would say of it.

    An address that says nothing stands for the setting with which the page opens.

    is_link  whether it was given to somebody, so that it should have its check
    """
    from attnviz.ui.main import OPENING, offer_models

    offer_models()
    parameters = parse_qs(asked.query.decode("latin-1"), keep_blank_values=True)
    chosen = parameters.get("lang", [""])[-1]
    set_language(chosen if chosen in LANGUAGES else asked.language)
    names = url_codec.labels(Config, *beside)
    if not any(name in parameters for name in (*{*names} - {"lang"}, *url_codec.RESERVED)):
        parameters = {**{name: [text] for name, text in url_codec.encode(OPENING).items()}, **parameters}
        is_link = False
    query = link_check.heal(parameters, names)
    records, problems = url_codec.decode_link(query, Config, *beside)
    return records, [each for each in problems if is_link or each != PROBLEMS["cut"]]


def untrained(config: Config) -> str:
    """Return that heads have to be trained first, which the page leaves to the browser or asks for; empty if not."""
    from attnviz.ui.session.browser_learner import WORDS as LEARNER

    if not learnable.learns(config) or film.is_kept(config):
        return ""
    return LEARNER["ask"].format(n=ceil(learning_cost.of(config).seconds))
