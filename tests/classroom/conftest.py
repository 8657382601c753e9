"""What all tests of lessons need."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def offered(language_models: None) -> None:
    """Have the models that lessons ask for."""
