"""The measurements as tables and in a few sentences of Markdown, and what a class needs, reckoned from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

ROOMS = {"A class": 30, "A lecture": 100, "A talk": 300}
WAIT = 2.0  # seconds that all may wait who move in the same moment
LINE = 100  # megabits a second of the room's network
NEEDED = ("move_ms", "session_mb", "base_mb", "visit_mb")
BURSTS = (30, 100, 300)
TOGETHER = ("open_ms", "open_kb", "move_ms", "move_kb", "visit_mb")
CROWDS = {"A thousand": 1_000, "A million": 1_000_000}
MOVES = 10  # of each of them, after the page is open
LOST = {"kill": "servers that were killed", "loss": "replicas that were lost"}

Kept = Mapping[str, Mapping[str, Any]]


def whole(kept: Kept) -> str:
    """Return both tables, with the machines and commits they come from."""
    values = figures(kept)
    sizes = f"\n\n{sizing(values)}" if all(name in values for name in NEEDED) else ""
    crowds = f"\n\n{crowd(values)}" if all(name in values for name in TOGETHER) else ""
    return f"{machines(kept)}\n\n{rows(kept)}{sizes}{crowds}"


def figures(kept: Kept) -> dict[str, float]:
    """Return all figures of all parts."""
    return {name: value for part in kept.values() for name, value in part["figures"].items()}


def check_one_commit(commits: Iterable[str]) -> None:
    """Raise ValueError unless figures are of one commit, and of the files as they are in it.

    A table of several commits says of none how it does.
    """
    distinct = sorted({*commits})
    if changed := [each for each in distinct if each.endswith("+") or each == "unknown"]:
        raise ValueError(f"measured while files differed from their commit: {', '.join(changed)}; commit, and measure")
    if len(distinct) > 1:
        raise ValueError(f"measured on different commits: {', '.join(distinct)}; measure the older parts again")


def machines(kept: Kept) -> str:
    """List the machines that the parts were measured on; usually one line."""
    distinct = {f"{part['machine']}; commit {part['commit']}": None for part in kept.values()}
    return "Measured on " + ".\nAnd on ".join(distinct) + "."


def rows(kept: Kept) -> str:
    """Return a line for each row of each part; the load average before and after a part stands at its first row."""
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


def sizing(values: Mapping[str, float]) -> str:
    """Estimate the processors, the memory and the network that rooms of several sizes need."""
    lines = [
        f"| | Replicas, if all may move at once and wait {WAIT:g} s | Memory in all | First visit | at {LINE} Mbit/s |",
        "|---|---|---|---|---|",
    ]
    for room, n in ROOMS.items():
        replicas = max(1, math.ceil(n * values["move_ms"] / 1000 / WAIT))
        memory = replicas * values["base_mb"] + n * values["session_mb"]
        down = n * values["visit_mb"]
        lines.append(f"| {room} of {n} | {replicas} | {memory:,.0f} MB | {down:,.0f} MB | {down * 8 / LINE:,.0f} s |")
    return "\n".join([*lines, "", share(values)])


def crowd(values: Mapping[str, float]) -> str:
    """Estimate, on paper, what many visitors cost in all who each open the page for the first time and move."""
    lines = [
        f"| Visitors, each with {MOVES} moves after a first visit | Processor | Over sockets | Files, for a CDN |",
        "|---|---|---|---|",
    ]
    for name, n in CROWDS.items():
        seconds = n * (values["open_ms"] + MOVES * values["move_ms"]) / 1000
        sent = n * (values["open_kb"] + MOVES * values["move_kb"]) / 1e6
        lines.append(f"| {name} | {seconds:,.0f} s | {sent:,.1f} GB | {n * values['visit_mb'] / 1e3:,.0f} GB |")
    return "\n".join(lines)


def share(values: Mapping[str, float]) -> str:
    """Estimate the load that one processor carries."""
    moves = 1000 / values["move_ms"]
    return (
        f"One replica on one processor answers {moves:.0f} moves a second: {5 * moves:,.0f} visitors who move "
        f"every 10 s keep it half busy. It starts at {values['base_mb']:.0f} MB."
    )


def short(kept: Kept) -> str:
    """Return a summary in a few sentences. Raises KeyError if a move or the bursts were not measured."""
    values = figures(kept)
    where = kept["move"]["machine"].partition(" (")[0]
    seconds = [math.ceil(values[f"burst_{n}_p95"] / 100) / 10 for n in BURSTS]
    more = "".join(f"; of {n}, within {s:g} s" for n, s in list(zip(BURSTS, seconds))[1:])
    sentences = [
        f"One process on {where}: a move costs {values['move_ms']:.0f} ms of processor and {values['move_kb']:.0f} KB.",
        f"When {BURSTS[0]} move in the same moment, 95 % have their answer within {seconds[0]:g} s{more}.",
    ]
    if "burst_300_p95_of_2" in values:
        sentences.append(
            f"Two processes: of {BURSTS[-1]}, within {math.ceil(values['burst_300_p95_of_2'] / 100) / 10:g} s."
        )
    if "held" in values:
        wrong = len(kept["held"]["wrong"]) or "no"
        many = f"{values['held']:g} visitors moved for {values['held_minutes']:g} minutes"
        sentences.append(f"{many} with {wrong} errors or wrong pages.")
    if "soak" in values:
        sentences.append(f"After {values['soak']:,g} sessions the page held {values['soak_mb']:.0f} MB.")
    back = [
        f"{values[f'{part}_back']:g} of {values[f'{part}_trials']:g} {what}"
        for part, what in LOST.items()
        if f"{part}_back" in values
    ]
    if back:
        sentences.append(f"Every value came back after {' and '.join(back)}.")
    return " ".join(sentences)


FORMS: dict[str, Callable[[Kept], str]] = {"measured": whole, "in short": short}
"""The parts that a file can have a place for, between two comments of that name."""


def put(text: str, kept: Kept) -> str:
    """Return the text, each of its marked sections replaced by what was measured.

    Raises ValueError if it has none, or one that does not begin and end once, in that order.
    """
    names = [name for name in FORMS if f"<!-- {name} -->" in text]
    for name in names or FORMS:
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
            raise ValueError(f"the file must hold {begin} and, after it, {end}, once each")
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{FORMS[name](kept)}\n{end}{rest.split(end)[1]}"
    return text
