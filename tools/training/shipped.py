"""Add to the cards of the models in the package what their files know, measured on many questions.

    python -m tools.training.shipped
    python -m tools.training.shipped full

The tables of other seeds are by fewer questions.
"""

from __future__ import annotations

import json
import sys

from attnviz.models import boxed
from tools.training.card import FOLDER, in_lines
from tools.training.export import opened
from tools.training.measure import exam, right
from tools.training.network import Sizes
from tools.training.ship import measured

N_QUESTIONS, SEED = 5_000, 34


def main() -> None:
    asked = exam(N_QUESTIONS, SEED)
    for name in sys.argv[1:] or boxed.NAMES:
        path = FOLDER / name / "card.json"
        card = json.loads(path.read_text(encoding="utf-8"))
        net = opened(FOLDER / name, Sizes(**card["sizes"]))
        found = {skill: round(N_QUESTIONS * right(net, each)) for skill, each in asked.items()}
        card |= measured(net)
        card["measured"] = {"questions": N_QUESTIONS, "seed": SEED, "right": found}
        path.write_text(in_lines(card), encoding="utf-8")
        print(name, found)


if __name__ == "__main__":
    main()
