"""Write the prompts that heads are measured on: questions which training left out, of two skills of the corpus.

python -m tools.training.prompts
"""

from __future__ import annotations

from pathlib import Path

from tools.corpus import documents

FILE = Path(__file__).parents[2] / "attnviz" / "analysis" / "circuits" / "prompts.txt"
EACH, SEED = 100, 32


def written() -> str:
    """Return the file: a prompt a line, before it the word that follows and the one instead of it, for lists none."""
    given = documents.questions("indirect object", EACH, SEED)
    listed = documents.questions("induction", EACH, SEED)
    lines = [f"{each.answer}|{each.wrong[0]}|{' '.join(each.before)}" for each in given]
    return "\n".join([*lines, *(f"||{' '.join(each.before)}" for each in listed), ""])


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
