"""The page with one field of every kind, without a browser: opened, run, and what it shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

PAGE = Path(__file__).parents[1] / "browser" / "scripts" / "settings.py"


def opened(**query: Any) -> AppTest:
    """The page behind a link."""
    page = AppTest.from_file(PAGE, default_timeout=30)
    page.query_params.update(query)
    return run(page)


def run(page: AppTest) -> AppTest:
    page.run()
    assert not page.exception
    return page


def shown(page: AppTest) -> dict[str, Any]:
    texts = next(text.value for text in page.text if text.value.startswith("Shown "))
    return json.loads(texts.removeprefix("Shown "))
