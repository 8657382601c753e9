"""The next word of a model, above its maps, with two ways on, and the way back from the head that it is owed to."""

from __future__ import annotations

from attnviz.settings.language import Words
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component, ignore, report

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
    """Draw the word with its share, and the question; `chosen` tells what was pressed."""
    _component(key=key, data=packed(word, share), height="content", width="content", on_panel_change=ignore)


def show_head(head: str, *, key: str) -> None:
    """Draw the way to a head's own map above, by its name, such as 2.3; `is_pressed` tells whether it was taken."""
    way = {"panel": "head", "text": WORDS["head"].format(head=head), "to": STAGE}
    data = transport.packed({"label": WORDS["label"], "ways": [way]})
    _component(key=key, data=data, height="content", width="content", on_panel_change=ignore)


def is_pressed(key: str) -> bool:
    """Return whether the way to a head was taken since the last run."""
    return report(key).get("panel") == "head"


def chosen(key: str) -> str | None:
    """Return the panel that was asked for since the last run, None as a rule: browsers can say anything."""
    panel = report(key).get("panel")
    return panel if panel in ("next_word", "owed_to") else None


def packed(word: str, share: str) -> bytes:
    """Pack the words of the two buttons for the browser."""
    likely = WORDS["next_word"].replace("{share}", share).replace("{word}", word)
    ways = [{"panel": "next_word", "text": likely, "to": PANEL},
            {"panel": "owed_to", "text": WORDS["owed_to"], "to": PANEL}]  # fmt: skip
    return transport.packed({"label": WORDS["label"], "ways": ways})
