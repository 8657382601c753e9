"""Work that another request of the browser must not end: it waits in the meantime."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from streamlit.runtime.scriptrunner import get_script_run_ctx


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
