"""Functions that widgets call: Streamlit runs them before the page, when a visitor has used the widget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec

from streamlit.runtime.scriptrunner import get_script_run_ctx

from attnviz.ui.session import locale

Given = ParamSpec("Given")


def callback(function: Callable[Given, None]) -> Callable[Given, None]:
    """Make a function one that a widget can call: it runs to its end, in the session's language.

    Whenever the session is read or written, Streamlit ends what is running if another request has arrived, and a
    callback that was ended so is not called again (1.67): a press would do nothing if the pictures report their size in
    the same moment. So such a request waits until the callback has returned.
    """

    @wraps(function)
    def uninterrupted(*args: Given.args, **kwargs: Given.kwargs) -> None:
        with _requests_waiting():
            locale.resume()
            function(*args, **kwargs)

    return uninterrupted


@contextmanager
def _requests_waiting() -> Iterator[None]:
    """Have the session look for no request; what does that is private to Streamlit, so a test holds it to this."""
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
