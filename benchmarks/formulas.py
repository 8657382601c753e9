"""The cost of typed lines: 2,000 hostile lines and as many ordinary ones, read and computed at a large size.

    python benchmarks/formulas.py             # --lines 200 for a quick look

Every line is read, and where it can be read it is computed for 16 heads of 64 words, 64 wide, or refused before it
begins for the work that it would be. Nothing here is an assertion: times are of processor and belong to the machine on
which they were taken. What holds on every machine, the bounds on length, depth, parts and work, and that no line runs
code, is tested in tests/formula/test_hostile.py.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from attnviz.formula.evaluation import arrays, operation_counts  # noqa: E402
from attnviz.formula.evaluation.functions import bias_table, complete, mask_table, normaliser_function  # noqa: E402
from attnviz.formula.evaluation.numbers import scores  # noqa: E402
from attnviz.formula.faults import FormulaError  # noqa: E402
from attnviz.formula.graph import Formula  # noqa: E402
from attnviz.formula.reader import parse  # noqa: E402
from tests.formula import generator  # noqa: E402
from tests.formula.test_hostile import HEADS, KINDS, TOKENS, WIDTH, hostile  # noqa: E402

Lines = Iterable[tuple[str, str]]
"""Texts, and the table that each is meant for."""


@dataclass
class Tally:
    """Milliseconds of reading and of computing, and the lines that took most of each."""

    read: list[float] = field(default_factory=list)
    ran: list[float] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    unread: int = 0
    refused: int = 0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lines", type=int, default=2000)
    n = options.parse_args().lines
    draw = random.Random(5)  # noqa: S311 - lines, no secrets
    kinds: dict[str, Callable[[], Lines]] = {
        "ordinary": lambda: ((formula.text, formula.kind.name) for formula in generator.lines(n, 7)),
        "hostile": lambda: ((hostile(at, draw), KINDS[at % len(KINDS)]) for at in range(n)),
    }
    print(f"at {HEADS} heads x {TOKENS} words x {WIDTH} wide; ms of processor, median and most")
    print(f"{'':10}{'lines':>7}{'unread':>8}{'refused':>9}{'read':>14}{'computed':>16}{'memory':>10}")
    for name, lines in kinds.items():
        before = held()
        tally = measured(lines())
        row = f"{name:10}{len(tally.read):7}{tally.unread:8}{tally.refused:9}"
        row += f"{of(tally.read):>14}{of(tally.ran):>16}{held() - before:>+7.0f} MB"
        print(f"{row}\n{'':10}slowest to compute, {tally.slowest[0]:.0f} ms: {tally.slowest[1]!r}")
    return 0


def measured(lines: Lines) -> Tally:
    """Read each line anew, and compute what can be read."""
    tally, draws = Tally(), np.random.default_rng(0)
    for text, kind in lines:
        formula, spent = timed(partial(parse, text, kind))
        tally.read.append(spent)
        if not isinstance(formula, Formula):
            tally.unread += 1
            continue
        result, spent = timed(computed(formula, draws))
        if result is None:
            tally.refused += 1
            continue
        tally.ran.append(spent)
        tally.slowest = max(tally.slowest, (spent, text))
    return tally


def timed(call: Callable[[], object]) -> tuple[object, float]:
    """Return the result, None for a fault of the formula, and the milliseconds of processor time."""
    begun = time.process_time()
    try:
        result = call()
    except FormulaError:
        result = None
    return result, 1e3 * (time.process_time() - begun)


def computed(formula: Formula, draws: np.random.Generator) -> Callable[[], object]:
    """Return the call that computes a formula as the page does, its arrays made beforehand."""
    kind = formula.kind.name
    if kind == "mask":
        return lambda: quietly(lambda: mask_table(formula, ["the"] * TOKENS, ["a"] * TOKENS, (TOKENS, TOKENS)))
    if kind == "bias":
        return lambda: quietly(lambda: bias_table(formula, HEADS, TOKENS, TOKENS))
    if kind == "normaliser":
        x = draws.normal(size=(HEADS, TOKENS, TOKENS))
        return lambda: quietly(lambda: normaliser_function(formula)(x))
    Q, K = draws.normal(size=(2, HEADS, TOKENS, WIDTH))

    def score() -> object:
        values = arrays.of_score(formula, Q, K, complete(formula, {}, Q[None], K[None]))
        operation_counts.check(formula, values)
        return scores(formula, values)

    return lambda: quietly(score)


def quietly(call: Callable[[], object]) -> object:
    with np.errstate(all="ignore"):
        return call()


def of(ms: list[float]) -> str:
    return f"{np.median(ms):.2f}, {max(ms):.1f}" if ms else "-"


def held() -> float:
    """Megabytes that the process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    raise SystemExit(main())
