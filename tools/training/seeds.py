"""Add to the card of a shipped model what other runs of the same training know; its weights stay as they are.

python -m tools.training.seeds small RUNS/small-2
python -m tools.training.seeds full RUNS/full-1 RUNS/full-2
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch

import attnviz
from attnviz.analysis.circuits.behaviours import behaviours
from attnviz.models import boxed
from tools.corpus.strict import new_frames
from tools.training.card import in_lines
from tools.training.measure import right
from tools.training.ship import FOLDER, N_QUESTIONS, SEED, measured, opened

WORST = 2
"""Heads of another run that its column names for each skill."""


def of_run(run: Path) -> dict[str, Any]:
    """Return what a run knows, with the heads that each skill needs most."""
    net, facts = opened(run)
    found = measured(net)
    worst = {
        skill: dict(sorted(each.items(), key=lambda pair: pair[1])[:WORST]) for skill, each in found["without"].items()
    }
    strict = round(right(net, new_frames(N_QUESTIONS, SEED)), 3)
    return {"seed": facts["seed"], **found, "without": worst, "new_frames": strict}


def of_shipped(name: str) -> float:
    """Return the share of new frames that a shipped model gets right."""
    model, asked = attnviz.load(name), new_frames(N_QUESTIONS, SEED)
    found = sum(model.next_words(" ".join(each.before), 1)[0][0] == each.answer for each in asked)
    return round(found / len(asked), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=boxed.NAMES)
    parser.add_argument("runs", type=Path, nargs="*")
    given = parser.parse_args()
    torch.set_num_threads(1)
    path = FOLDER / given.name / "card.json"
    card = json.loads(path.read_text(encoding="utf-8"))
    added = {each["seed"]: each for each in map(of_run, given.runs)}
    others = {each["seed"]: each for each in card["other_seeds"]} | added
    card["other_seeds"] = [others[seed] for seed in sorted(others)]
    card["new_frames"] = of_shipped(given.name)
    card["behaviours"] = {
        kind: {"n": each.n, "weight": each.weight.tolist(), "share": each.share.tolist()}
        for kind, each in behaviours(attnviz.load(given.name)).items()
    }
    path.write_text(in_lines(card), encoding="utf-8")


if __name__ == "__main__":
    main()
