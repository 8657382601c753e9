"""A class that presses Learn in one moment, each with a setting of its own, and others who only move meanwhile.

What a browser learns costs the server the numbers that it sends. Where browsers cannot, the server learns one film
after the other, and who moves must not wait for that.
"""

from __future__ import annotations

import asyncio
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg

from attnviz import TASKS
from attnviz.settings import link_check, url_codec
from benchmarks.load import warmed
from benchmarks.outcome import Outcome
from benchmarks.served import Server
from benchmarks.visitors import Tally, Visitor, entered, joined, left, moving

MOVERS, MOVE_MS = 5, 1000


async def learners(server: Server, n: int) -> Outcome:
    """n who open a film of their own at once; then all of them press the button that has the server learn it."""
    await warmed(server)
    out, tally = Outcome(), Tally()
    movers = await entered(server.url, MOVERS, tally)
    class_ = [await joined(server.url) for _ in range(n)]
    for title, act in ((f"{n} press Learn at once, their browsers learn", _open), ("… and the server learns", _press)):
        took, used = Tally(), server.processor
        async with moving(movers) as moves:
            await asyncio.gather(*(took.time(act(each, seed)) for seed, each in enumerate(class_, 1000)))
        spent = server.processor - used
        out.row(title, f"{took.words()}; {spent:.1f} s of processor; {out.failed(took.wrong + moves.wrong)}")
        out.bound("A plain move meanwhile", moves.ms(0.95), MOVE_MS, moves.words(), " ms")
    await left([*movers, *class_])
    return out


async def _open(visitor: Visitor, seed: int) -> None:
    """Open a link with a setting that nobody has learned."""
    query = link_check.checked({"page": "learn", **url_codec.encode(TASKS["backwards"].config(seed=seed))})
    visitor.query = urlencode(query)
    await visitor.socket.send(visitor.frame())
    await visitor.ended()


async def _press(visitor: Visitor, seed: int) -> None:
    """Have the server learn it."""
    ask = BackMsg.FromString(visitor.frame())
    ask.rerun_script.widget_states.widgets.add(id=visitor.widgets["server"], trigger_value=True)
    await visitor.socket.send(ask.SerializeToString())
    await visitor.ended()
