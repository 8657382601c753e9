"""A button that hands a text to another program of the phone: a mail, a chat, the app of a learning platform."""

from __future__ import annotations

from attnviz.settings.language import Words
from attnviz.ui.session.browser.component import component

WORDS = Words({"share": "Share the code", "failed": "Nothing was shared; copy the code above."})

_component = component(__file__)


def draw(text: str, *, title: str) -> None:
    """Draw the button, in a browser that can share; in any other there is none.

    title  of what is shared, for a program that asks for one
    """
    words = {"label": WORDS["share"], "failed": WORDS["failed"]}
    _component(key="share-code", data={"text": text, "title": title, **words}, height="content")
