"""The next word of a model, above its maps, with two ways on: what else might come, and whom the word is owed to."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.settings.language import Words
from attnviz.ui.session.browser import transport
from attnviz.ui.session.browser.component import component, ignore, report

WORDS = Words(
    {
        "label": "The next word",
        "next_word": "Next word: “{word}” ({share})",
        "owed_to": "Whom is it owed to?",
    }
)

_component = component(__file__)


def show(word: str, share: str, *, key: str) -> None:
    """Draw the word with its share, and the question; `chosen` tells what was pressed."""
    _component(key=key, data=packed(word, share), height="content", width="content", on_panel_change=ignore)


def chosen(key: str) -> str | None:
    """Return the panel that was asked for since the last run, None as a rule: browsers can say anything."""
    panel = report(key).get("panel")
    return panel if panel in ("next_word", "owed_to") else None


def packed(word: str, share: str) -> bytes:
    """Pack the words of the two buttons for the browser."""
    ways: list[Mapping[str, str]] = [
        {"panel": "next_word", "text": WORDS["next_word"].replace("{share}", share).replace("{word}", word)},
        {"panel": "owed_to", "text": WORDS["owed_to"]},
    ]
    return transport.packed({"label": WORDS["label"], "ways": ways})
