"""What was measured, as tables in Markdown, and what a class needs, reckoned from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

BEGIN, END = "<!-- measured -->", "<!-- /measured -->"
ROOMS = {"A class": 30, "A lecture": 100, "A talk": 300}
WAIT = 2.0  # seconds that all may wait who move in the same moment
LINE = 100  # megabits a second of the room's network
NEEDED = ("move_ms", "session_mb", "base_mb", "visit_mb")

Kept = Mapping[str, Mapping[str, Any]]


def whole(kept: Kept) -> str:
    """Both tables, with the machines and commits they come from."""
    found = figures(kept)
    sizes = f"\n\n{sizing(found)}" if all(name in found for name in NEEDED) else ""
    return f"{machines(kept)}\n\n{rows(kept)}{sizes}"


def figures(kept: Kept) -> dict[str, float]:
    """All figures of all parts."""
    return {name: value for part in kept.values() for name, value in part["figures"].items()}


def machines(kept: Kept) -> str:
    """Where the parts were measured; usually one line."""
    found = {f"{part['machine']}; commit {part['commit']}": None for part in kept.values()}
    return "Measured on " + ".\nAnd on ".join(found) + "."


def rows(kept: Kept) -> str:
    """A line for each row of each part; the load average before and after a part stands at its first row."""
    lines = ["| What | Measured | Goal | | Load average |", "|---|---|---|---|---|"]
    for part in kept.values():
        load = " → ".join(f"{each:.1f}" for each in part["load"])
        for row in part["rows"]:
            met = {True: "met", False: "**missed**", None: ""}[row["met"]]
            lines.append("| " + " | ".join((*map(cell, (row["what"], row["measured"], row["goal"])), met, load)) + " |")
            load = ""
    return "\n".join(lines)


def cell(text: str) -> str:
    """Text that stays in its cell."""
    return text.replace("|", "\\|").replace("\n", " ")


def sizing(found: Mapping[str, float]) -> str:
    """What rooms of several sizes need: processors, memory, and the room's network."""
    lines = [
        f"| | Replicas, if all may move at once and wait {WAIT:g} s | Memory in all | First visit | at {LINE} Mbit/s |",
        "|---|---|---|---|---|",
    ]
    for room, n in ROOMS.items():
        replicas = max(1, math.ceil(n * found["move_ms"] / 1000 / WAIT))
        memory = replicas * found["base_mb"] + n * found["session_mb"]
        down = n * found["visit_mb"]
        lines.append(f"| {room} of {n} | {replicas} | {memory:,.0f} MB | {down:,.0f} MB | {down * 8 / LINE:,.0f} s |")
    return "\n".join([*lines, "", share(found)])


def share(found: Mapping[str, float]) -> str:
    """What one processor carries."""
    moves = 1000 / found["move_ms"]
    return (
        f"One replica on one processor answers {moves:.0f} moves a second: {5 * moves:,.0f} visitors who move "
        f"every 10 s keep it half busy. It starts at {found['base_mb']:.0f} MB."
    )


def put(text: str, tables: str) -> str:
    """The text with the tables between its two comments; raises ValueError if it does not have both, once each."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"the file must hold {BEGIN} and, after it, {END}, once each")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{tables}\n{END}{rest.split(END)[1]}"
