"""The arithmetic of normalisers that sort, or tell rounding from what is apart: no line of a formula says how."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnviz.arithmetic.latex_numbers import chain, row
from attnviz.arithmetic.line import Derivation, Equation, Result, largest
from attnviz.arithmetic.normalised_slice import NormalisedSlice
from attnviz.arrays import Array
from attnviz.engine.tables.normalisers.hardmax import least_winner


def hardmax(derivation: Derivation, line: NormalisedSlice) -> None:
    """Add one over the number of winners, or nothing."""
    m = _largest(derivation, line, np.max(line.x), "largest_that_wins")
    least = least_winner(line.x, line.size)[0]  # equal but for rounding is equal
    winners = derivation.add_line("winners", Equation("w"), Result(np.sum(line.x >= least), {"x": line.x, "m": m}))
    wins = line.x[line.at] >= least
    operands = {"x": line.x[line.at], "m": m, "winners": winners}
    members = [rf"\frac{{1}}{{{derivation.fmt.number(winners)}}}"] if wins else []
    words = "weight_of_hardmax" if wins else "weight_of_loser"
    _weight(derivation, line, members, float(wins) / winners, operands, words)


def sparsemax(derivation: Derivation, line: NormalisedSlice) -> None:
    """Add the threshold that makes what lies above it add to 1, and what lies above it."""
    u, falling, allowed = _below(derivation, line, "exponents", 1.0)
    rank = np.arange(1.0, len(u) + 1)
    inside = allowed & (1.0 + rank * falling > np.cumsum(np.where(allowed, falling, 0.0)))
    k, total = _support(derivation, falling, inside)
    fraction = rf"\frac{{{derivation.fmt.number(total)} - 1}}{{{derivation.fmt.number(k)}}}"
    tau = derivation.add_line(
        "threshold", Equation(r"\tau", [fraction]), Result((total - 1.0) / k, {"sum": total, "k": k})
    )
    member = rf"\max({derivation.fmt.difference(u[line.at], tau)},\, 0)"
    made = np.maximum(u[line.at] - tau, 0.0)
    _weight(derivation, line, [member], made, {"u": u[line.at], "threshold": tau}, "weight_of_sparsemax", size=1.0)


def entmax15(derivation: Derivation, line: NormalisedSlice) -> None:
    """Mean and spread of the support give the threshold; what lies above it is squared."""
    fmt = derivation.fmt
    u, falling, allowed = _below(derivation, line, "half_exponents", 2.0)
    k, total = _support(derivation, falling, _entmax_support(falling, allowed))
    mean = derivation.add_line(
        "mean",
        Equation(r"\bar u", [rf"\frac{{{fmt.number(total)}}}{{{fmt.number(k)}}}"]),
        Result(total / k, {"sum": total, "k": k}),
    )
    inside = falling[: int(k)]
    *lines, last = fmt.sum([f"{fmt.base(x)}^2" for x in inside], inside**2)
    spread = derivation.add_line(
        "spread",
        Equation(r"\sigma", [[*lines, rf"{last} - {fmt.number(k)} \cdot {fmt.base(mean)}^2"]]),
        Result(np.cumsum(inside**2)[-1] - k * mean**2, {"terms": inside, "k": k, "mean": mean}, size=1.0),
    )
    root = rf"\sqrt{{\frac{{\max(1 - {fmt.factor(spread)},\, 0)}}{{{fmt.number(k)}}}}}"
    tau = derivation.add_line(
        "threshold",
        Equation(r"\tau", [f"{fmt.number(mean)} - {root}"]),
        Result(mean - np.sqrt(np.maximum((1.0 - spread) / k, 0.0)), {"mean": mean, "spread": spread, "k": k}),
    )
    member = rf"\max({fmt.difference(u[line.at], tau)},\, 0)^2"
    made = np.maximum(u[line.at] - tau, 0.0) ** 2
    _weight(derivation, line, [member], made, {"u": u[line.at], "threshold": tau}, "weight_of_entmax15", size=1.0)


def other(derivation: Derivation, line: NormalisedSlice) -> None:
    """Add a normaliser whose scores are no numbers: what goes in and what comes out."""
    _weight(derivation, line, [], line.recorded, {"x": line.x, "T": line.T}, "weight_of_formula")


Arithmetic = Callable[[Derivation, NormalisedSlice], None]

WRITTEN: dict[str, Arithmetic] = {"sparsemax": sparsemax, "entmax15": entmax15, "hardmax": hardmax}
"""By the name of the normaliser; each writes its lines, the last of which is the weight."""


def nothing(derivation: Derivation, line: NormalisedSlice, words: str) -> None:
    """Add a weight of 0 without arithmetic: an emptied row, or a forbidden cell."""
    _weight(derivation, line, [], 0.0, {"x": line.x}, words)


def _largest(derivation: Derivation, line: NormalisedSlice, m: float, words: str) -> Array:
    name = f"({line.name})" if " + " in line.name else line.name
    member = rf"\max_l {name}"
    beside = derivation.sizes["masked"]
    above = chain(line.name, [derivation.fmt.vector(derivation.seen(line.x, beside), line.at)])
    return derivation.add_line(
        "largest", Equation("m", [member], above=above), Result(m, {"x": line.x}, beside=beside), words=words
    )


def _exponents(
    derivation: Derivation, line: NormalisedSlice, m: Array, words: str = "exponents", half: float = 1.0
) -> Array:
    """(x - m) / T of every score of the row, or half of it."""
    fmt, divisor, beside = derivation.fmt, line.T * half, derivation.sizes["masked"]
    m_seen = derivation.seen(m, beside)
    entries = [fmt.difference(x, m_seen) for x in derivation.seen(line.x, beside)]
    if divisor != 1.0:
        entries = [f"({entry}) / {fmt.number(divisor)}" for entry in entries]
    return derivation.add_line(
        "exponents",
        Equation("u_l", [row(entries, line.at)], keep=line.at),
        Result((line.x - m) / divisor, {"x": line.x, "m": m, "divisor": divisor}, beside=beside / divisor),
        words=words,
        bars=line.label,
    )


def _below(derivation: Derivation, line: NormalisedSlice, words: str, half: float) -> tuple[Array, Array, Array]:
    """Return the scores less the largest, the same in falling order, and which of them are allowed."""
    m = _largest(derivation, line, np.max(line.x), "largest")
    u = _exponents(derivation, line, m, words, half)
    falling = -np.sort(-u)
    return u, falling, ~np.isneginf(falling)


def _support(derivation: Derivation, falling: Array, inside: Array) -> tuple[Array, Array]:
    """Return the size of the support, and the sum of its scores."""
    above = chain(r"u_{(1)}, u_{(2)}, \dots", [derivation.fmt.vector(derivation.seen(falling, largest(falling)))])
    k = derivation.add_line("support", Equation("k", [], above=above), Result(inside.sum(), {"falling": falling}))
    terms = falling[: int(k)]
    symbol, members = r"\textstyle\sum_{l \le k} u_{(l)}", [derivation.fmt.total(terms)]
    return k, derivation.add_line(
        "sum_of_support", Equation(symbol, members), Result(np.cumsum(terms)[-1], {"terms": terms})
    )


def _entmax_support(falling: Array, allowed: Array) -> Array:
    rank = np.arange(1.0, len(falling) + 1)
    kept = np.where(allowed, np.maximum(falling, -1.0), 0.0)
    mean = np.cumsum(kept) / rank
    spread = np.cumsum(kept**2) - rank * mean**2
    return allowed & (mean - np.sqrt(np.maximum((1.0 - spread) / rank, 0.0)) <= falling)


def _weight(
    derivation: Derivation,
    line: NormalisedSlice,
    members: list[str],
    made: float | Array,
    operands: dict[str, float | Array],
    words: str,
    size: float | None = None,
) -> None:
    derivation.add_line(
        "weight",
        Equation(f"a_{{{derivation.ij}}}", [*members]),
        Result(made, operands, recorded=line.recorded, step="weights", size=size, beside=size or 0.0),
        words=words,
    )
