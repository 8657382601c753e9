"""The time of the backward pass beside that of the run itself, measured in the same process, in turn.

    OPENBLAS_NUM_THREADS=1 python benchmarks/gradients.py

Wanted: at most 0.6 of a run, and 1.5 where the score is additive.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from attnviz import Config, gradients, run

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


def main() -> None:
    print(f"{'':36} {'run':>9} {'back':>9} {'ratio':>7}")
    for name, config in SETTINGS.items():
        trace = run(config)
        of = {(None, "output"): np.random.default_rng(0).normal(size=trace["output"].shape)}
        times = [(seconds(lambda: run(config)), seconds(lambda: gradients(trace, of))) for _ in range(TURNS)]  # noqa: B023
        forward, back = np.median(times, axis=0)
        print(f"{name:36} {1e3 * forward:6.2f} ms {1e3 * back:6.2f} ms {back / forward:7.2f}")


if __name__ == "__main__":
    main()
