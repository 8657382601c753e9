"""The outcome of a part of the measurement: rows for the table, failures, and figures to reckon with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """A line of the table: what was done, what came of it, and the goal if there is one."""

    what: str
    measured: str
    goal: str = ""
    met: bool | None = None


@dataclass
class Outcome:
    """The outcome of a part, as it is saved to JSON and read back."""

    rows: list[Row] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)

    def row(self, what: str, measured: str, goal: str = "", met: bool | None = None) -> None:
        self.rows.append(Row(what, measured, goal, met))

    def bound(self, what: str, value: float, most: float, measured: str, unit: str = "") -> None:
        """Add a row whose goal is an upper bound of a value; what could not be measured does not meet it."""
        self.row(what, measured, f"≤ {most:,g}{unit}", value <= most)

    def failed(self, wrong: Iterable[str]) -> str:
        """Note what went wrong, and say it in the table's words."""
        problems = list(wrong)
        self.wrong += problems
        return f"{len(problems)} errors or wrong pages" if problems else "no error, no wrong page"

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def outcome(plain: dict[str, Any]) -> Outcome:
    """Return the outcome that was turned into a plain dictionary."""
    return Outcome([Row(**row) for row in plain["rows"]], list(plain["wrong"]), dict(plain["figures"]))
