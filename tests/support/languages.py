"""Languages that are made up for tests."""

from __future__ import annotations

import gettext
from collections.abc import Callable, Mapping


class Table(gettext.NullTranslations):
    """A language of a few messages; what it does not have stays English."""

    def __init__(self, messages: Mapping[str, str]) -> None:
        super().__init__()
        self.messages = messages

    def gettext(self, message: str) -> str:
        return self.messages.get(message, message)

    def ngettext(self, one: str, many: str, n: int) -> str:
        return self.gettext(one if n == 1 else many)

    def pgettext(self, context: str, message: str) -> str:
        return self.gettext(message)


class Marked(gettext.NullTranslations):
    """A language that says everything between marks, and may tell what it was asked for."""

    def __init__(self, heard: Callable[[str], object] = str) -> None:
        super().__init__()
        self.heard = heard

    def gettext(self, message: str) -> str:
        self.heard(message)
        return f"⟦{message}⟧"

    def ngettext(self, one: str, many: str, n: int) -> str:
        return self.gettext(one if n == 1 else many)

    def pgettext(self, context: str, message: str) -> str:
        return self.gettext(message)
