"""Operator precedence in Python, so that brackets stand where they are needed and nowhere else."""

from __future__ import annotations

Text = tuple[str, float]
"""Code, and how tightly its last operation binds: 10 needs no brackets anywhere."""

ATOM, POWER, SIGN, TIMES, MATRIX, PLUS, JOIN, COMPARE = 10.0, 9.0, 8.0, 7.0, 6.5, 6.0, 5.0, 4.0
LEVELS = {"+": PLUS, "-": PLUS, "*": TIMES, "/": TIMES, "//": TIMES, "%": TIMES, "**": POWER}


def within(text: Text, level: float) -> str:
    """Return code that may stand beside an operation of a level, in brackets where its own binds more loosely."""
    code, have = text
    return code if have >= level else f"({code})"
