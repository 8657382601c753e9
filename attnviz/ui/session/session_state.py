"""The address and the session: the only reader of the query parameters and of what is saved between two runs.

Every run sends the address that the browser showed when the run was asked for, and that address lags: after a move of
a slider the new one is still on its way when a button is pressed. So an address that differs from ours is either
behind, or gone back to with Back or Forward, and the two look alike. No clock can tell them apart on a slow line, but
the browser says when its history asked for a run, so the address is read in such a run and in a session's first.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st

from attnviz.settings import link_check, url_codec
from attnviz.ui.session import browser_history, widget_values
from attnviz.ui.session.browser import component, streamlit_private
from attnviz.ui.session.browser.uninterrupted import uninterrupted
from attnviz.ui.session.callback import callback

FILES = "files"
"""The key of what offers the setting as a file."""

_SAVED = "_address"
_RECORDS = "_records"
_PROBLEMS = "_problems"
_UNHEARD = "_unheard"
_WRITTEN = "_written"
_WENT = "_went"
_SENT = "_sent"
_READ = "_read"
_FOUND = "_found"
_COMING = "_coming"
_LEFT_OUT = "_left_out"
_ARRIVALS = "_arrivals"
_ON_ITS_WAY = 5.0  # seconds after which what was sent to the browser has arrived


def read(
    *classes: type[Any], opening: tuple[object, ...] = (), beside: tuple[str, ...] = ()
) -> tuple[tuple[Any, ...], list[str]]:
    """Return the records of this run, and what could not be read in the address; call it before any widget is drawn.

    An address that says nothing, or only something of the fields `beside`, stands for the `opening` records, or the
    defaults. The problems are repeated until the records change, as a run that nobody asked for may follow at once.
    """
    st.session_state.pop(_COMING, None)
    first = is_new()
    navigated = st.session_state[_WENT] = _navigated()
    displaced = None if first or navigated else browser_history.gone_to()
    st.session_state[_READ], st.session_state[_FOUND] = first or navigated or displaced is not None, []
    _acknowledge(navigated)
    if not first:
        browser_history.arrived()
    if not st.session_state[_READ]:
        _reconcile_widgets()
        return url_codec.decode(st.session_state[_SAVED], *classes)[0], st.session_state[_PROBLEMS]
    # An address of ours that was on its way may come after Back, and take the place of where that led.
    query: dict[str, Any] = {**(_shown_query() if displaced is None else displaced)}
    ours = {*url_codec.labels(*classes), *url_codec.RESERVED} - {*beside}
    if opening and not any(name in query for name in ours):
        query = {**url_codec.encode(*opening), **query}
        del query[url_codec.VERSION]  # no link was opened, so none has a check at its end
    records, problems = url_codec.decode_link(query, *classes, whole=st.session_state.get(_SAVED, {}))
    if not first:
        st.session_state[_ARRIVALS] = st.session_state.get(_ARRIVALS, 0) + 1
        component.forget()
        _push_to_widgets(widget_values.show(*records))
        _save(records, problems)
    else:  # widgets start from the records; after a restart of the server, those of the browser hold newer values
        _save(records, problems)
    return records, problems


def is_new() -> bool:
    """Return whether nothing was read yet, so that this run opens the page."""
    return _SAVED not in st.session_state


def resume() -> None:
    """Begin a run of a part of the page, which a widget in it has asked for: it reads no address, and may write one."""
    st.session_state.pop(_COMING, None)
    st.session_state[_WENT] = st.session_state[_READ] = False
    st.session_state[_FOUND] = []
    _acknowledge(False)
    browser_history.arrived()


def of_this_arrival(key: str) -> str:
    """Return the key of a widget that begins anew where Back or a link leads: what was pressed before arrives there."""
    n = st.session_state.get(_ARRIVALS, 0)
    return f"{key}-{n}" if n else key


def is_led_elsewhere() -> bool:
    """Return whether Back, Forward or a link has led to an address, which a run of a part does not read."""
    return browser_history.gone_to() is not None


def with_records(name: str, value: object) -> None:
    """Put something into the session once the records of this run are saved: what a widget said when they were made.

    A run that another one ends before that saves neither, so that the next hears the widget again.
    """
    st.session_state.setdefault(_COMING, {})[name] = value


def keep_choices() -> None:
    """Put into the session what `with_records` was given in this run, and forget what was clicked before it."""
    st.session_state.update(st.session_state.pop(_COMING, {}))
    component.forget()


def saved(*classes: type[Any]) -> tuple[Any, ...]:
    """Return the records as they were saved last."""
    records = _kept()
    return records if tuple(map(type, records)) == classes else url_codec.decode(st.session_state[_SAVED], *classes)[0]


def are_widgets_told() -> bool:
    """Return whether the widgets of the browser show the records: what they were sent last has arrived."""
    sent, _ = st.session_state.get(_UNHEARD, (-_ON_ITS_WAY, {}))
    return time.monotonic() - float(sent) >= _ON_ITS_WAY


def has_problems() -> bool:
    """Return whether something is said of what could not be read or shown, or has no room in a link."""
    return any(st.session_state.get(name) for name in (_PROBLEMS, _FOUND, _LEFT_OUT))


def requested(name: str) -> str:
    """Return the value of one parameter, as `read` will find it; for those that are needed before anything is read."""
    if _SAVED in st.session_state and not _navigated():
        return str(st.session_state[_SAVED].get(name, ""))
    return str(st.query_params.get(name, st.query_params.get(f"amp;{name}", "")))


def has_read() -> bool:
    """Return whether the records of this run come from the address, and not from the session."""
    return bool(st.session_state.get(_READ))


def found(problems: Iterable[str]) -> list[str]:
    """Return those problems that are not said yet; from the next run on they stand with those of the address.

    They are repeated with these until the records change.
    """
    new = [problem for problem in problems if problem not in st.session_state.get(_PROBLEMS, ())]
    st.session_state[_FOUND] = [*st.session_state.get(_FOUND, []), *new]
    return new


def of_address(problems: Iterable[str]) -> list[str]:
    """Return the problems that a run shows in the address that it has read; none where a visitor's move led there."""
    return found(problems) if has_read() else []


def keep(*records: object) -> None:
    """Make the records, which their widgets show already, those of the session; for a callback."""
    _save(records, [])


def say(problems: Iterable[str]) -> None:
    """Say what could not be read until the records change; for a callback."""
    st.session_state[_PROBLEMS] = list(problems)


@callback
def put(name: str, text: str) -> None:
    """Change a field that no widget is drawn for, as a callback."""
    component.forget()
    st.session_state[_SAVED] = {**st.session_state[_SAVED], name: text}
    st.session_state[_PROBLEMS] = []


@callback
def adopt(*records: object, problems: Iterable[str] = ()) -> None:
    """Make the records those of the session and show them in the widgets: for a button, a lesson, an opened file.

    Call it in a callback, or before any widget is drawn. Only what differs from the session's records is shown, so
    that a slider that was moved in the same moment keeps what it says.
    """
    component.forget()
    before, _ = url_codec.decode(st.session_state.get(_SAVED, {}), *map(type, records))
    _push_to_widgets(widget_values.show(*records, unlike=before))
    _save(records, problems)


def _push_to_widgets(values: Mapping[str, Any]) -> None:
    """Remember what was sent to the widgets, and when."""
    st.session_state[_UNHEARD] = time.monotonic(), values


def _reconcile_widgets() -> None:
    """Send back what a widget says, if it moved while what it should show was still on its way to it.

    The move counts here, and the browser then shows what was sent: without this they would differ from then on.
    """
    sent, shown = st.session_state.get(_UNHEARD, (0.0, {}))
    drawn = {name: st.session_state[name] for name in shown if name in st.session_state}
    moved = {name: value for name, value in drawn.items() if value != shown[name]}
    if moved and time.monotonic() - sent < _ON_ITS_WAY:
        st.session_state.update(moved)
        st.session_state[_UNHEARD] = time.monotonic(), shown | moved
    else:
        st.session_state.pop(_UNHEARD, None)


def write(*records: object) -> tuple[str, ...]:
    """Save the records and put them in the address if it says something else; call it once, at the page's end.

    What was wrong is said until the records change. In a run that has read the address only the page itself changes
    them, to what it can show, so there it is kept.

    Each change of the address is a step of the Back button, so where that has led the address stays as it is. What is
    not ours in it stays. Gives the labels of the fields that are too long for a link, if any.
    """
    with uninterrupted():  # a click is forgotten when what follows from it is saved, and not before
        keep_choices()
        whole = st.session_state[_SAVED] if records == _kept() else url_codec.encode(*records)
        if whole != st.session_state.get(_SAVED) or st.session_state.get(_FOUND):
            is_same = whole == st.session_state.get(_SAVED)
            before = st.session_state.get(_PROBLEMS, []) if is_same or has_read() else []
            _save(records, dict.fromkeys([*before, *st.session_state.get(_FOUND, [])]), whole)
    short, left_out = url_codec.shorten_to_fit(whole)
    st.session_state[_LEFT_OUT] = left_out
    labels = url_codec.labels(*map(type, records))
    query = link_check.heal(_shown_query(), labels)
    coming = (st.session_state.get(_SENT) or (query,))[0]  # what the browser shows once everything has arrived
    names = (*labels, *url_codec.RESERVED)
    ours, awaited = ({name: each[name][-1] for name in names if name in each} for each in (query, coming))
    if st.session_state.get(_WENT):  # what is written now may count as a step, and there is no way forward from that
        if st.session_state.get(_SENT):
            _send(query)
    elif not all(_same(each, short, *map(type, records)) for each in (ours, awaited)):
        others = {name: query[name] for name in query if name not in ours}
        _send({**others, **{name: [text] for name, text in short.items()}})
    st.session_state[_WRITTEN] = short
    return tuple(labels[name] for name in left_out)


def _send(query: dict[str, list[str]]) -> None:
    """Put an address into the browser, and remember it until it has arrived.

    Another request may end the run before it is sent, and the next run then still has to send it; never after.
    """
    sent = query, _shown_query()
    st.query_params.from_dict(query)
    with uninterrupted():
        st.session_state[_SENT] = sent


def _acknowledge(navigated: bool) -> None:
    """Forget what was sent if the browser shows it, or went back to what it showed before.

    What is still on its way when Back is pressed arrives after that, and the address then has to be sent once more. One
    Back may ask for two runs, and what the first has sent is lost where Streamlit ends it for the second (1.67): that
    the browser shows it says nothing then, as it did so before.
    """
    sent, before = st.session_state.get(_SENT) or (None, None)
    if navigated and sent == before:
        return
    if _shown_query() == sent or (navigated and _shown_query() == before):
        st.session_state[_SENT] = None


def _same(query: dict[str, str], ours: dict[str, str], *classes: type[Any]) -> bool:
    """Return whether two addresses mean the same, however the first is spelled.

    A link that was cut, or names former weights, stays so until something changes: a new one would be a step of Back.
    """
    if query in (ours, st.session_state.get(_WRITTEN)):  # what we wrote is spelled as we do, and need not be read
        return query == ours
    records, _ = url_codec.decode(query, *classes)
    return link_check.checked(url_codec.encode(*records)) == ours


def _save(records: tuple[object, ...], problems: Iterable[str], address: dict[str, str] | None = None) -> None:
    """Keep the records as an address, `address` if it is known already: it outlives a reload of their code."""
    st.session_state[_SAVED] = address = url_codec.encode(*records) if address is None else address
    st.session_state[_RECORDS] = address, records
    st.session_state[_PROBLEMS] = list(problems)


def _kept() -> tuple[Any, ...]:
    """Return the records that were saved as the address of the session; none where it is another since."""
    address, records = st.session_state.get(_RECORDS, (None, ()))
    return records if address is not None and address is st.session_state.get(_SAVED) else ()


def _shown_query() -> dict[str, list[str]]:
    """Return the address that the browser showed when it asked for this run."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def _navigated() -> bool:
    """Return whether Back or Forward asked for this run, or for one before it that came to nothing."""
    run = streamlit_private.current_run()
    return (run is not None and streamlit_private.asked_by_history(run)) or browser_history.leads_to(_shown_query())


def digest(*things: object) -> str:
    """Return a short name for things that are equal when they look alike.

    A widget named so begins anew when they change.
    """
    return hashlib.blake2b(repr(things).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def files_are_open() -> bool:
    """Return whether the setting is offered as a file, which holds it as it was in the last run of the whole page."""
    return bool(st.session_state.get(FILES))
