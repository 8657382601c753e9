"""Components that are one element of a page: it draws them one below the other, and says what each of them says.

Streamlit takes as long to draw an element as the page to compute what it shows. Of what an element says while a run is
busy it passes on the last alone: so this one says again with each thing what it has said shortly before, and each is
heard once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from attnviz.ui.session.browser import streamlit_private
from attnviz.ui.session.browser.component import EVENT, MOST_EVENTS, component, keep
from attnviz.ui.session.browser.together import Together
from attnviz.ui.session.browser.uninterrupted import uninterrupted

SAID = "said"
LATEST = "_heard_last"
"""Of the session: the number of what was heard last."""
Callbacks = Mapping[tuple[str, str], Callable[[], None]]
"""What is called when a part has said something, by the key of the part and the name of what it says."""

_component = component(__file__, is_isolated=False, states=(SAID,))


@dataclass(frozen=True)
class Said:
    """A value that a part has said under a name, with a number that is larger than those before it."""

    number: int
    part: str
    name: str
    value: Any


def show(sent: Together, *, key: str, order: Sequence[str]) -> None:
    """Draw the parts that are there in an order of their keys, with what a message sends them."""
    drawn = {each: sent.drawn[each] for each in order if each in sent.drawn}
    callbacks = {(each, name): call for each, part in drawn.items() for name, call in part.callbacks.items()}
    parts = [
        {"key": each, "name": part.name, "container": part.container, "is_isolated": part.is_isolated}
        for each, part in drawn.items()
    ]
    known = {"session": streamlit_private.session_name(), "latest": st.session_state.get(LATEST, 0)}
    data = {"message": sent.key, "parts": parts} | known
    _component(key=key, data=data, height="content", on_said_change=partial(_hear, key, callbacks))


def _hear(key: str, callbacks: Callbacks) -> None:
    """Hear what was said: first what changes the setting, as clicks that came before are forgotten with that."""
    with uninterrupted():
        reported, latest = st.session_state.get(key), st.session_state.get(LATEST, 0)
        every = reported.get(SAID) if isinstance(reported, Mapping) else None
        new = [each for each in _read(every) if each.number > latest]
        if not new:
            return
        st.session_state[LATEST] = max(each.number for each in new)
    there = [each for each in new if (each.part, each.name) in callbacks]
    for each in sorted(there, key=lambda each: (each.name == EVENT, each.number)):
        with uninterrupted():
            keep(each.part, each.name, each.value, each.number)
        callbacks[each.part, each.name]()


def _read(said: Any) -> Iterator[Said]:
    """Return what was said to this session, by a browser, which may say anything.

    What was said to another one, before a server ended, has led to the address already.
    """
    session = streamlit_private.session_name()
    for each in said[-MOST_EVENTS:] if isinstance(said, list) else ():
        match each:
            case {"number": int(number), "part": str(part), "name": str(name), "value": value, "session": str(said_to)}:
                if said_to == session:
                    yield Said(number, part, name, value)
