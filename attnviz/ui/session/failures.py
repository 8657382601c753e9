"""A part of the page that fails says so in its place, and the rest of the page stands.

The visitor gets a number and what to do with it; the log gets the same number and where in the program it happened.
What the visitor typed is in neither: the link says it, and it is the visitor's to send.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from typing import Any, TypeVar

from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.ui.session.notices import notice
from attnviz.ui.session.selection import Selection

Result = TypeVar("Result")

WORDS = Words(
    {
        "failed": "This part of the page cannot be shown: a fault of the program, not of your setting. The rest of "
        "the page is as it should be. Please send the link of this page, and the number {number}, to whoever runs "
        "this server: its log names the fault under that number.",
        "refused": "{why}.",
    }
)

are_contained = True
"""False if an exception is to go on, for tests to see it."""

_LOG = logging.getLogger(__name__)


def contained(
    draw: Callable[..., Selection], shown: Any, selection: Selection, *further: Any, **about: Any
) -> Selection:
    """Draw a part of the page and return the selection as the visitor leaves it; as it was, where the part fails."""
    return attempted(partial(draw, shown, selection, *further, **about), selection)


def attempted(draw: Callable[[], Result], otherwise: Result) -> Result:
    """Draw a part of the page and return its result; say where it fails, and return `otherwise`.

    What Streamlit raises to end a run or to begin another passes through, as it is no `Exception`.
    """
    try:
        return draw()
    except ConfigError as error:
        if not are_contained:
            raise
        notice(refused(error), kind="fault")
    except Exception as error:
        if not are_contained:
            raise
        notice(failed(error), kind="fault")
    return otherwise


def refused(error: ConfigError) -> str:
    """Return the sentence of a setting that cannot be used."""
    why = str(error).removesuffix(".")
    return WORDS["refused"].format(why=f"{why[:1].upper()}{why[1:]}")


def failed(error: Exception) -> str:
    """Log a fault of the program, and return the sentence that names it by its number."""
    return WORDS["failed"].format(number=_logged(error))


def _logged(error: Exception) -> str:
    """Log where an exception comes from, and return the number of that place: the same fault has the same number.

    Its message is left out, as it may quote what the visitor typed.
    """
    places = "".join(traceback.format_tb(error.__traceback__))
    number = blake2b(f"{type(error).__name__}{places}".encode("utf-8", "replace"), digest_size=3).hexdigest()
    _LOG.error("A part of the page failed, number %s: %s\n%s", number, type(error).__name__, places)
    return number
