"""The engine beside PyTorch, in one run: multi-head attention with every step kept, and additive scores.

    pip install -r benchmarks/requirements.txt
    python benchmarks/attention.py            # --check: exit with 1 where a goal is missed

Both sides work in float64 on two threads. First they must agree to 1e-9. Then each gets a process of its own: in one
process, each would pay for the memory that the other leaves behind and for its threads, which spin on after a product.
They take turns, round by round, in an order that changes; a ratio is the median over the rounds of ours / torch within
the round.

`torch.nn.MultiheadAttention` has two ways of working, and both are shown. "torch" is the module as one constructs it,
called in eval mode without gradients; the goals are about this one. "fast path" is the fused kernel that it takes when
it was built with batch_first=True and the input has a batch axis: it overwrites the scores and keeps only the weights.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import re
import statistics
import subprocess
import sys
import time
import timeit
import tracemalloc
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

THREADS = 2
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(THREADS)  # read when NumPy and PyTorch are loaded, so it comes before them

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import torch  # noqa: E402

from attnviz import SCORES, multi_head  # noqa: E402

Call = Callable[[], object]
D_MODEL, N_HEADS, D_K = 512, 8, 64
Case = tuple[str, int]  # what is computed, for how many tokens
HEADS, ADDITIVE = "multi-head", "additive"
GOALS: dict[Case, float] = {(HEADS, 16): 1.25, (HEADS, 128): 1.0, (HEADS, 512): 1.0, (HEADS, 1024): 1.0}
GOALS |= {(ADDITIVE, 256): 0.3}
TURN = 0.1  # seconds that one contender is measured for in one round
REST = 0.1  # seconds before it, in which the threads of the one before it come to rest


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true", help="exit with 1 if a goal is missed")
    options.add_argument("--rounds", type=int, default=15)
    arguments = options.parse_args()
    torch.set_num_threads(THREADS)
    print(machine())
    print(" " * 24 + "ours ms  torch ms    ratio   goal         fast path ms    ratio")
    met = True
    for case in GOALS:
        met &= row(case, arguments.rounds)
    met &= memory()
    print(f"load average at the end: {load()}; much above {THREADS} means that others took the cores, so measure again")
    return 0 if met or not arguments.check else 1


def row(case: Case, rounds: int) -> bool:
    """Print one line; return whether the goal is met."""
    kind, n = case
    goal = GOALS[case]
    times = measured(case, rounds)
    ms = {who: f"{1e3 * statistics.median(spent):10.2f}" for who, spent in times.items()}
    against = {who: statistics.median(np.divide(times["ours"], times[who])) for who in times}
    met = against["torch"] <= goal
    line = f"{kind:10}  n = {n:4}   {ms['ours']}{ms['torch']}{against['torch']:9.2f}{goal:7.2f}  "
    fast = f"{ms['fast path']:>13}{against['fast path']:9.2f}" if "fast path" in ms else ""
    print(f"{line}{'ok' if met else 'MISSED':6}{fast}", flush=True)
    return met


def measured(case: Case, rounds: int) -> dict[str, list[float]]:
    """Seconds a call takes, for each contender and round."""
    fresh = multiprocessing.get_context("spawn")
    times: dict[str, list[float]] = {who: [] for who in calls_of(case)}
    turns, started = {}, []
    for who in times:
        turns[who], their_end = fresh.Pipe()
        started.append(fresh.Process(target=contend, args=(case, who, their_end), daemon=True))
        started[-1].start()
        turns[who].recv()
    order = list(times)
    for _ in range(rounds):
        for who in order:
            time.sleep(REST)
            turns[who].send("go")
            times[who].append(turns[who].recv())
        order.append(order.pop(0))
    for process in started:
        process.terminate()
    return times


def contend(case: Case, who: str, turn: Connection) -> None:
    """In a process of its own: one measurement for every word that comes, each after a call that is not counted."""
    torch.set_num_threads(THREADS)
    with torch.inference_mode():
        call = calls_of(case)[who]
        repeats = max(1, round(TURN / best_of_three(call)))
        turn.send("ready")
        while turn.recv():
            call()
            turn.send(timeit.timeit(call, number=repeats) / repeats)


def best_of_three(call: Call) -> float:
    return min(timeit.repeat(call, number=1, repeat=3))


def calls_of(case: Case) -> dict[str, Call]:
    """Return the contenders for a case, made alike in every process; stops if they do not agree."""
    kind, n = case
    with torch.inference_mode():
        return {HEADS: attention_calls, ADDITIVE: additive_calls}[kind](n)


def attention_calls(n: int) -> dict[str, Call]:
    """Multi-head self-attention over n tokens, with the same parameters on every side."""
    rng = np.random.default_rng(n)
    x = rng.standard_normal((n, D_MODEL))
    w = rng.standard_normal((3, N_HEADS, D_MODEL, D_K)) / np.sqrt(D_MODEL)
    b = rng.standard_normal((3, N_HEADS, D_K))
    w_o, b_o = rng.standard_normal((D_MODEL, D_MODEL)) / np.sqrt(D_MODEL), rng.standard_normal(D_MODEL)
    state = {
        "in_proj_weight": torch.from_numpy(w.swapaxes(-1, -2).reshape(3 * D_MODEL, D_MODEL)),
        "in_proj_bias": torch.from_numpy(b.reshape(3 * D_MODEL)),
        "out_proj.weight": torch.from_numpy(w_o.T.copy()),
        "out_proj.bias": torch.from_numpy(b_o),
    }
    plain = torch.nn.MultiheadAttention(D_MODEL, N_HEADS, dtype=torch.float64).eval()
    fused = torch.nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True, dtype=torch.float64).eval()
    for module in (plain, fused):
        module.load_state_dict(state)
    tensor = torch.from_numpy(x)
    steps = {"w_q": w[0], "w_k": w[1], "w_v": w[2], "w_o": w_o, "b_q": b[0], "b_k": b[1], "b_v": b[2], "b_o": b_o}
    calls = {
        "ours": lambda: multi_head(x, **steps),
        "torch": lambda: plain(tensor, tensor, tensor, need_weights=True, average_attn_weights=False),
        "fast path": lambda: fused(*[tensor[None]] * 3, need_weights=True, average_attn_weights=False),
    }
    ours = calls["ours"]()
    for output, weights in (calls["torch"](), calls["fast path"]()):
        agree(ours.output, output.numpy().reshape(ours.output.shape))
        agree(ours.weights, weights.numpy().reshape(ours.weights.shape))
    return calls


def additive_arrays(n: int) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(n)
    q, k = rng.standard_normal((2, N_HEADS, n, D_K))
    W_q, W_k = rng.standard_normal((2, N_HEADS, D_K, D_K)) / np.sqrt(D_K)
    v, b = rng.standard_normal((2, N_HEADS, D_K))
    return q, k, {"W_q": W_q, "W_k": W_k, "v": v, "b": b}


def additive_calls(n: int) -> dict[str, Call]:
    """v . tanh(q W_q + k W_k + b) for every pair; of the two ways to write the sum in PyTorch, the faster."""
    q, k, parameters = additive_arrays(n)
    tensors = [torch.from_numpy(array) for array in (q, k, *parameters.values())]

    def hidden() -> torch.Tensor:
        q, k, W_q, W_k, _, b = tensors
        return torch.tanh((q @ W_q + b[:, None])[:, :, None] + (k @ W_k)[:, None])

    def product() -> torch.Tensor:
        return (hidden() @ tensors[4][:, None, :, None])[..., 0]

    def summed() -> torch.Tensor:
        return (hidden() * tensors[4][:, None, None]).sum(-1)

    def ours() -> np.ndarray:
        return SCORES["additive"].fn(q, k, **parameters)

    agree(ours(), product().numpy())
    return {"ours": ours, "torch": min(product, summed, key=best_of_three)}


def memory() -> bool:
    """Measure the peak memory of additive scores, beside the array of all hidden values of a single head."""
    n = max(n for kind, n in GOALS if kind == ADDITIVE)
    q, k, parameters = additive_arrays(n)
    whole = 8 * n * n * D_K
    tracemalloc.start()
    SCORES["additive"].fn(q, k, **parameters)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"additive, memory: {peak / 1e6:.1f} MB at most; an (n, n, d) array of one head is {whole / 1e6:.1f} MB")
    return peak < whole


def agree(ours: np.ndarray, expected: np.ndarray) -> None:
    """Stop if the two sides do not compute the same."""
    if not np.abs(ours - expected).max() < 1e-9:
        raise SystemExit(f"ours and PyTorch's differ by {np.abs(ours - expected).max():.1e}; nothing was measured")


def machine() -> str:
    """Describe the machine and the versions of a measurement."""
    info = Path("/proc/cpuinfo")
    named = re.search(r"model name\s*: (.+)", info.read_text() if info.is_file() else "")
    processor = named[1] if named else platform.machine()
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return (
        f"{processor}, {os.cpu_count()} cores, {THREADS} threads, load average {load()}\n"
        f"{platform.system()}, Python {platform.python_version()}, NumPy {np.__version__} with {blas['name']} "
        f"{blas['version']}, PyTorch {torch.__version__}, attnviz {commit()}\n"
        f"d_model {D_MODEL}, {N_HEADS} heads, float64\n"
    )


def load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def commit() -> str:
    """Return the commit measured, with a + if files have changed since."""
    describe = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+"]
    description = subprocess.run(describe, capture_output=True, text=True, check=False)
    return description.stdout.strip() or "no commit"


if __name__ == "__main__":
    sys.exit(main())
