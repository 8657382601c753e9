"""The program of a run at an address of its own: what a browser computes with while a number is held in the maps.

`attnviz/live?<setting>` answers with bytes as `attnviz.pictures.stage_bytes` has them. The header says:

    format   1
    program  as `attnviz.live.program` writes it; numbers that were changed by hand are written as JavaScript reads them
    lines    the source of each line of its rows, by the name of its setting: a page that may not compile a text makes a
             module of them

The arrays are those that the program is given: parameters, embeddings, and what needs words or random numbers. All
others the browser computes of them, so that the answer is small. Beyond `MOST_GIVEN` numbers of them, or
`MOST_NUMBERS` in all, there is none, and nothing can be held there. Addresses are read, shared, limited and refused as
`stage_route` does.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.live.knobs import as_text
from attnviz.live.program import MOST_NUMBERS, arrays_of, program_of
from attnviz.pictures.stage_bytes import compressed, packed
from attnviz.settings.language import Words
from attnviz.ui import stage_route
from attnviz.ui.hosting import public_address
from attnviz.ui.shared_answers import Answer, SharedAnswers
from attnviz.ui.stage_route import Asked

PATH = "/attnviz/live"
FORMAT = 1
MOST_GIVEN = 300_000
"""Numbers that an answer holds at most: 2.4 MB."""
WORDS = Words(
    {
        "large": "This run has too many numbers to be computed in a browser: {given:,} are given and {all:,} follow, "
        "and up to {most_given:,} and {most:,} can be held."
    }
)


async def live(request: Request) -> Response:
    """Answer with the program of the setting in the address, and with what it is given."""
    return await stage_route.served(ANSWERS, request)


ROUTES: list[BaseRoute] = public_address.routes(PATH, live)


async def _made(asked: Asked, check: Callable[[], None]) -> Answer:
    return await stage_route.made(asked, check, _of_setting, "live")


ANSWERS: SharedAnswers[Asked] = SharedAnswers(
    _made, most_bytes=stage_route.MOST_KEPT, most_making=stage_route.MOST_MAKING
)
"""The answers that all visitors share."""


def _of_setting(config: Config, _: object) -> Answer:
    from attnviz.ui.session import admission  # here, as a server begins sooner without the page

    return _answer(admission.run_of(config))


def _answer(trace: Trace) -> Answer:
    program = program_of(trace)
    given = arrays_of(trace, {step["name"] for step in program["steps"] if step["made"] is None})
    n_given = sum(array.size for array in given.values())
    n_computed = sum(prod(step["shape"]) for step in program["steps"]) - n_given
    if n_given > MOST_GIVEN or n_computed > MOST_NUMBERS:
        numbers = {"given": n_given, "all": n_computed, "most_given": MOST_GIVEN, "most": MOST_NUMBERS}
        return Answer(400, WORDS["large"].format(**numbers).encode(), "large")
    values: dict[str, Any] = program["settings"]
    lines = {name: value for name, value in values.items() if isinstance(value, str)}
    numbers = {name: value for name, value in values.items() if name not in lines}
    edits = [edit | {"value": as_text(edit["value"])} for edit in program["edits"]]
    written = program | {"settings": numbers, "edits": edits}
    header = {"format": FORMAT, "program": written, "lines": lines}
    axes = {step["name"]: step["axes"] for step in program["steps"]}
    arrays = {name: (axes[name], array) for name, array in given.items()}
    return Answer(200, compressed(packed(header, arrays)))
