"""The address of a page without the check at its end."""

from __future__ import annotations

from typing import Any

from attnviz.settings import link_check


def parameters(page: Any) -> dict[str, Any]:
    """The parameters of a page's address but its check."""
    return {name: value for name, value in dict(page.query_params).items() if name != link_check.CHECK}
