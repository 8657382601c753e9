"""Functions that widgets call: Streamlit runs them before the page, when a visitor has used the widget."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from attnviz.ui.session import locale
from attnviz.ui.session.browser.uninterrupted import uninterrupted

Given = ParamSpec("Given")


def callback(function: Callable[Given, None]) -> Callable[Given, None]:
    """Make a function one that a widget can call: no other request ends it, and it speaks the session's language."""

    @wraps(function)
    def called(*args: Given.args, **kwargs: Given.kwargs) -> None:
        with uninterrupted():
            locale.resume()
            function(*args, **kwargs)

    return called
