"""The time to import attnviz beyond NumPy, as the median of fresh interpreters.

python benchmarks/import_time.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys

RUNS = 9
CODE = """
import time
marks = [time.perf_counter()]
import numpy
marks.append(time.perf_counter())
import attnviz
marks.append(time.perf_counter())
from attnviz import Config, run
marks.append(time.perf_counter())
print(*(after - before for before, after in zip(marks, marks[1:])))
"""


def once() -> list[float]:
    """Return the milliseconds of each import, in a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    return [1000 * float(seconds) for seconds in done.stdout.split()]


if __name__ == "__main__":
    for what, times in zip(
        ("import numpy", "import attnviz", "the engine, at first use"), zip(*(once() for _ in range(RUNS)))
    ):
        print(f"{what:26} {statistics.median(times):6.1f} ms")
