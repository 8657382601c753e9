"""Work that ends as soon as nobody waits for it, and work that another request must not end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attnviz.engine.numerics import cancellation
from attnviz.engine.numerics.cancellation import Cancelled
from attnviz.ui.session.browser import streamlit_private


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Have another request wait until all that stands in it is done.

    Whenever the session is read or written, Streamlit ends what is running if another request has arrived, and a
    callback that was ended so is not called again (1.67): a press would do nothing if the pictures report their size in
    the same moment.
    """
    run = streamlit_private.current_run()
    if run is None:  # called by hand
        yield
        return
    with streamlit_private.requests_waiting(run):
        yield


@contextmanager
def while_wanted() -> Iterator[None]:
    """End what is computed in the block once the visitor has gone, or has asked for something else.

    Drawing does so by itself, but a computation may draw nothing for seconds. What is `uninterrupted` goes on.
    """
    run = streamlit_private.current_run()
    if run is None:
        yield
        return
    with cancellation.checked_by(streamlit_private.end_if_asked(run)):
        yield


def while_connected() -> Callable[[], None]:
    """Return a check, for a thread of its own, that raises `Cancelled` once the visitor of this run has gone."""
    run = streamlit_private.current_run()
    if run is None:
        return lambda: None
    is_here = streamlit_private.visitor_is_here(run)

    def check() -> None:
        if not is_here():
            raise Cancelled

    return check
