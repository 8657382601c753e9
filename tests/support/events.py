"""What a part of the stage reports, as the browser has it sent."""

from __future__ import annotations

from typing import Any


def event(kind: str, **fields: Any) -> dict[str, Any]:
    """The report of a component in which there is one event."""
    return {"event": {"kind": kind, **fields}}
