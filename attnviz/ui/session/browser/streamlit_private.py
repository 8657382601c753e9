"""Every name that is private to Streamlit and that the page leans on, each with what it is needed for.

Nothing else in the package touches one. `tests/ui/session/test_streamlit_private.py` asks the installed Streamlit for
each of them in a run, so that a version without one fails there and names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from typing import Any

from streamlit import config
from streamlit.runtime import Runtime, app_session
from streamlit.runtime.scriptrunner import get_script_run_ctx


def current_run() -> Any:
    """Return the run of the page in this thread; None where there is none, as for a file that is being made."""
    return get_script_run_ctx(suppress_warning=True)


@contextmanager
def requests_waiting(run: Any) -> Iterator[None]:
    """Have other requests wait that would end the run whenever its session is read or written."""
    session = run.session_state
    looks = session._yield_callback
    object.__setattr__(session, "_yield_callback", lambda: None)  # its own `setattr` writes into the session
    try:
        yield
    finally:
        object.__setattr__(session, "_yield_callback", looks)


def end_if_asked(run: Any) -> Callable[[], None]:
    """Return what ends the run if another request has arrived or its visitor has gone, as drawing does."""
    session = run.session_state
    return lambda: session._yield_callback()


def visitor_is_here(run: Any) -> Callable[[], bool]:
    """Return what tells, in any thread, whether the visitor of a run is still connected."""
    if not Runtime.exists():
        return lambda: True
    session, runtime = run.session_id, Runtime.instance()
    return lambda: bool(runtime.is_active_session(session))


def session_name() -> str:
    """Return a name of the session of this run, which says nothing of it; empty outside of any."""
    run = current_run()
    return "" if run is None else blake2b(run.session_id.encode(), digest_size=6).hexdigest()


def is_served() -> bool:
    """Return whether a server runs the page; Streamlit's `AppTest` does without one, and sees of a run what it drew."""
    return Runtime.exists() and type(Runtime.instance()) is Runtime  # there it is a mock, an instance all the same


def n_changed(run: Any) -> int:
    """Return how many widgets say something new in the request that a callback is called for."""
    state = run.session_state._state
    return sum(map(state._widget_changed, state._new_widget_state))


def is_part(run: Any) -> bool:
    """Return whether only a part of the page runs."""
    return bool(run.fragment_ids_this_run)


def has_drawn(run: Any, key: str) -> bool:
    """Return whether a run has drawn the element of a key already."""
    return key in run.shared.widget_user_keys_this_run


def asked_by_history(run: Any) -> bool:
    """Return whether Back or Forward of the browser asked for a run."""
    return bool(run.is_history_navigation)


@cache
def read_theme_once() -> None:
    """Have the server's theme, which every run names to the browser, be read from its options once.

    Streamlit goes through all options for each of its six parts in each run (1.67), which takes longer than to compute
    the attention of a sentence. They are read again where a file of options has changed.
    """
    read, kept = app_session._populate_theme_msg, dict[str, Any]()

    def populate(message: Any, section: str = "theme") -> None:
        if section not in kept:
            kept[section] = type(message)()
            read(kept[section], section)
        if kept[section].ByteSize():  # else it would be there, and empty
            message.MergeFrom(kept[section])

    app_session._populate_theme_msg = populate  # type: ignore[assignment]
    config.on_config_parsed(kept.clear, force_connect=True)
