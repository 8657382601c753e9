"""Put a trained model into the package, with its card: how it was trained, what it knows, how other seeds differ.

    python -m tools.training.ship small RUNS/small-0 RUNS/small-1 RUNS/small-2

The first run is shipped; the others are told of in its card. A link with the hash of weights that were shipped before
opens with the present ones, and the page says so.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch

from attnviz.models import boxed
from tools.corpus.documents import LONGEST
from tools.corpus.words import VOCABULARY
from tools.training.export import save
from tools.training.measure import exam, lost_without, right, sharp
from tools.training.network import Network, Sizes

FOLDER = Path(__file__).parents[2] / "attnviz" / "boxed"
N_QUESTIONS, N_WITHOUT, SEED = 500, 200, 11


def opened(run: Path) -> tuple[Network, dict[str, Any]]:
    """Return the network of a run, and its facts."""
    facts = json.loads(run.with_suffix(".json").read_text(encoding="utf-8"))
    net = Network(Sizes(**facts["sizes"]), len(VOCABULARY), LONGEST)
    net.load_state_dict(torch.load(run.with_suffix(".pt"), weights_only=True))
    return net, facts


def measured(net: Network) -> dict[str, Any]:
    """Return what one network knows, and which heads it needs for it."""
    skills = {skill: round(right(net, asked), 3) for skill, asked in exam(N_QUESTIONS, SEED).items()}
    without = lost_without(net, exam(N_WITHOUT, SEED))
    return {"skills": skills, "without": without, "sharp": sharp(net)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=boxed.NAMES)
    parser.add_argument("runs", type=Path, nargs="+")
    given = parser.parse_args()
    torch.set_num_threads(1)
    net, facts = opened(given.runs[0])
    folder = FOLDER / given.name
    before = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    digest = save(net, folder)
    former = [each for each in (*before.get("former", ()), before["sha256"]) if each != digest]
    others = []
    for run in given.runs[1:]:
        other, about = opened(run)
        others.append({"seed": about["seed"], **measured(other)})
    card = {
        "name": given.name, "sha256": digest, "former": former, "words": len(VOCABULARY), **facts,
        "questions": N_QUESTIONS, "questions_without": N_WITHOUT,
        **measured(net), "other_seeds": others,
    }  # fmt: skip
    (folder / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(card["skills"]))


if __name__ == "__main__":
    main()
