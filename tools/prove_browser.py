"""Proof that browser tests do not depend on how busy the machine is: all of them twenty times beside two busy loops.

    python -m tools.prove_browser -n 2 --dist worksteal          all of them, as CI runs them; hours
    python -m tools.prove_browser tests/browser/pages/test_masks.py     one file; pytest's -k and ids work as well

Prints how many of the runs passed, and the failures of those that did not; the exit code is 1 if any failed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _spin() -> None:
    while True:
        pass


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep so many processes spinning for as long as the block lasts."""
    spinning = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(loops)]
    for process in spinning:
        process.start()
    try:
        yield
    finally:
        for process in spinning:
            process.kill()


def passed(arguments: list[str]) -> bool:
    """Run pytest once on browser tests, and print its output if it fails or finds none."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "browser", *arguments]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if answer.returncode:
        print(answer.stdout[-5000:], flush=True)
    return answer.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--loops", type=int, default=2, help="busy processes beside the tests")
    options, arguments = parser.parse_known_args()
    if not any(each.startswith("tests") for each in arguments):
        arguments.append("tests/browser")
    n = 0
    with busy(options.loops):
        for run in range(1, options.times + 1):
            n += passed(arguments)
            print(f"{n} of {run}", flush=True)
    return n < options.times


if __name__ == "__main__":
    sys.exit(main())
