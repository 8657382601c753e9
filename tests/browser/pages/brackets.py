"""The page with a second language in which every sentence stands in brackets."""

from __future__ import annotations

from typing import Any

from attnviz.core import language
from attnviz.ui.door import page


class Bracketed(dict[str, str]):
    """A language that has every sentence."""

    def get(self, english: str, otherwise: Any = None) -> str:
        return f"⟦{english}⟧" if english else ""


language.sentences = lambda code: Bracketed()  # type: ignore[assignment]
page()
