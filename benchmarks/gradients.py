"""The accuracy of the backward pass, and its time beside that of the run itself, measured in turn in one process.

    OPENBLAS_NUM_THREADS=1 python benchmarks/gradients.py    # --check: exit with 1 where a goal is missed

Wanted: at most 1e-9 from PyTorch's automatic derivatives, relative to the largest slope of a step, in 300 settings and
with every score and normaliser (where PyTorch is there); 1e-6 from central differences of runs with an edit; at most
0.6 of the time of a run, and 1.5 where the score is additive.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from attnviz import SCORES, Config, gradients, run  # noqa: E402
from tests.support import slopes  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

WORDS = " ".join(f"word{i}" for i in range(64))
SETTINGS = {
    "as the page opens": Config(initialiser="by_hand", embedding="meaning"),
    "default": Config(),
    "8 heads, additive": Config(n_heads=8, score="additive"),
    "2 layers, norm, GELU": Config(n_layers=2, residual=True, norm="pre", feed_forward="gelu"),
    "16 heads, 64 words": Config(sentence=WORDS, n_heads=16),
    "16 heads of width 64, 64 words": Config(sentence=WORDS, n_heads=16, d_k=64, d_v=64),
    "6 layers, 64 words": Config(sentence=WORDS, n_layers=6, residual=True, norm="pre", feed_forward="relu"),
    "16 heads, 64 words, sparsemax, RoPE": Config(sentence=WORDS, n_heads=16, normaliser="sparsemax", position="rope"),
    "16 heads, 64 words, distance": Config(sentence=WORDS, n_heads=16, d_k=64, score="negative_distance"),
    "16 heads, 64 words, additive": Config(sentence=WORDS, n_heads=16, d_k=64, d_v=64, d_a=64, score="additive"),
}
TURNS = 9


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


NEAR_TORCH, NEAR_DIFFERENCES, MOST, MOST_ADDITIVE = 1e-9, 1e-6, 0.6, 1.5
SEEDED = 300


def right() -> Iterator[str]:
    """Yield how far slopes are from PyTorch's and from central differences, at most."""
    pairs = [config for score in SCORES for config in slopes.combinations(score)]
    if torch is None:
        yield "PyTorch is not there; tests/requirements-torch.txt names it"
    else:
        by_torch = import_module("tests.engine.backward.test_gradients_torch")
        seeded = [slopes.anything(number) for number in range(SEEDED)]
        typed = [config for config in pairs if config.score != "formula"]
        for name, configs in ((f"{SEEDED} seeded settings", seeded), ("every score and normaliser", typed)):
            compared = [config for config in configs if not _is_apart(config)]
            worst = max(by_torch.off(torch, config)[0] for config in compared)
            what = f"{len(compared)} of {name} ({len(configs) - len(compared)} on a kink or too large): from PyTorch"
            yield told(worst <= NEAR_TORCH, f"{what} at most {worst:.1e}")
    worst = max(_off_differences(config) for config in pairs if not _is_apart(config))
    yield told(worst <= NEAR_DIFFERENCES, f"every score and normaliser: from central differences at most {worst:.1e}")


def _is_apart(config: Config) -> bool:
    """Return whether nothing can be compared: at a kink, or where numbers have grown too large."""
    trace = run(config)
    return slopes.has_grown(trace) or bool(slopes.kink(trace))


def _off_differences(config: Config) -> float:
    trace = run(config)
    of = slopes.output_slopes(trace)
    return slopes.furthest(trace, of, gradients(trace, of))[0]


def quick() -> Iterator[str]:
    """Yield the time of a run and of its backward pass."""
    for name, config in SETTINGS.items():
        trace = run(config)
        of = {(None, "output"): np.random.default_rng(0).normal(size=trace["output"].shape)}
        times = [(seconds(lambda: run(config)), seconds(lambda: gradients(trace, of))) for _ in range(TURNS)]  # noqa: B023
        forward, back = np.median(times, axis=0)
        most = MOST_ADDITIVE if config.score == "additive" else MOST
        line = f"{name:36} run {1e3 * forward:6.2f} ms, back {1e3 * back:6.2f} ms: {back / forward:.2f} of it"
        yield told(back <= most * forward, line)


def told(fine: bool, line: str) -> str:
    return f"{'ok    ' if fine else 'MISSED'}  {line}"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true", help="exit with 1 if a goal is missed")
    arguments = options.parse_args()
    missed = False
    for line in (each for part in (right, quick) for each in part()):
        print(line, flush=True)
        missed |= line.startswith("MISSED")
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
