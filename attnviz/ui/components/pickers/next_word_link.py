"""The next word of a model, above its maps, with two ways on, and the way back from the head that it is owed to."""

from __future__ import annotations

from attnviz.settings.language import Words
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component, ignore

WORDS = Words(
    {
        "label": "The next word",
        "next_word": "Next word: “{word}” ({share})",
        "owed_to": "Whom is it owed to?",
        "head": "Show head {head} above",
    }
)

PANEL, STAGE = "all-lines", "stage"
"""The containers of the page that a press goes to."""

_component = component(__file__)


def show(word: str, share: str, *, key: str) -> None:
    """Draw the word with its share, and the question."""
    _component(key=key, data=packed(word, share), height="content", width="content", on_event_change=ignore)


def show_head(head: str, at: tuple[int, int], *, key: str) -> None:
    """Draw the way to a head's own map above, by its name, such as 2.3, and its layer and number, from 0."""
    event = {"kind": "open", "layer": at[0], "head": at[1]}
    way = {"event": event, "text": WORDS["head"].format(head=head), "to": STAGE}
    data = transport.packed({"label": WORDS["label"], "ways": [way]})
    _component(key=key, data=data, height="content", width="content", on_event_change=ignore)


def packed(word: str, share: str) -> bytes:
    """Pack the words of the two buttons for the browser."""
    likely = WORDS["next_word"].replace("{share}", share).replace("{word}", word)
    ways = [
        {"event": {"kind": "panel", "panel": panel}, "text": text, "to": PANEL}
        for panel, text in (("next_word", likely), ("owed_to", WORDS["owed_to"]))
    ]
    return transport.packed({"label": WORDS["label"], "ways": ways})
