"""Make attnviz/films: the film of every task as it opens, and the hash of its parameters.

    python -m tools.films

Every machine makes the same numbers (tests/engine/learning/test_learned_bits.py); the files may differ where zlib does.
"""

from __future__ import annotations

from attnviz import TASKS, run
from attnviz.engine.learning import learnable, shipped_films
from attnviz.engine.learning.frames import LearnedFrames

MOST_BYTES = 3_000_000


def made(name: str) -> tuple[bytes, str]:
    """Learn the film of a task; return its file and its hash."""
    learned = LearnedFrames(learnable.what_is_learned(TASKS[name].config()), run)
    last = TASKS[name].game.recipe["learn_steps"]
    learned.until(last)
    frames = {step: learned.frames[step] for step in learnable.kept_steps(last)}
    measures = {step: (m.loss, m.right, m.crisp) for step in frames for m in [learned.evaluate_frame(step)]}
    return shipped_films.packed(frames, measures, learned.trainer.layout.sizes), shipped_films.digest(frames)


def main() -> None:
    lines, n_bytes = [], 0
    for name in TASKS:
        file, digests = made(name)
        (shipped_films.FOLDER / f"{name}.npz").write_bytes(file)
        lines.append(f"{name} {digests}\n")
        n_bytes += len(file)
        print(f"{name}: {len(file):,} bytes")
    shipped_films.HASHES.write_text("".join(lines), encoding="utf-8")
    print(f"all: {n_bytes:,} bytes, at most {MOST_BYTES:,}")


if __name__ == "__main__":
    main()
