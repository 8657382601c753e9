"""Work that ends as soon as nobody waits for it, and work that another request must not end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from attnviz.engine.numerics import cancellation
from attnviz.engine.numerics.cancellation import Cancelled


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Have another request wait until all that stands in it is done.

    Whenever the session is read or written, Streamlit ends what is running if another request has arrived, and a
    callback that was ended so is not called again (1.67): a press would do nothing if the pictures report their size in
    the same moment. What looks for requests is private to Streamlit, so a test holds every version to it.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:  # called by hand
        yield
        return
    session = context.session_state
    looks = session._yield_callback
    object.__setattr__(session, "_yield_callback", lambda: None)  # its own `setattr` writes into the session
    try:
        yield
    finally:
        object.__setattr__(session, "_yield_callback", looks)


@contextmanager
def while_wanted() -> Iterator[None]:
    """End what is computed in the block once the visitor has gone, or has asked for something else.

    Drawing does so by itself, but a computation may draw nothing for seconds. What is `uninterrupted` goes on.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        yield
        return
    session = context.session_state
    with cancellation.checked_by(lambda: session._yield_callback()):
        yield


def while_connected() -> Callable[[], None]:
    """Return a check, for a thread of its own, that raises `Cancelled` once the visitor of this run has gone."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or not Runtime.exists():
        return lambda: None
    session, runtime = context.session_id, Runtime.instance()

    def check() -> None:
        if not runtime.is_active_session(session):
            raise Cancelled

    return check
