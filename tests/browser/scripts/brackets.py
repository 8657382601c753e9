"""The page with a second language in which every sentence stands in brackets."""

from __future__ import annotations

from attnviz.settings import language
from attnviz.ui.main import page
from tests.support.languages import Marked

language.catalogue = lambda code: Marked()  # type: ignore[assignment]
page()
