"""Write attnviz/boxed/README.md, the card of the models in the package, from their card.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attnviz.models import boxed

FOLDER = Path(__file__).parents[2] / "attnviz" / "boxed"
NAMES = ("small", "plain", "full")
ABOUT = {
    "small": "Attention alone; the loss has penalties on rows whose weights spread and on long outputs of heads",
    "plain": "What *small* is, without its two penalties: the same network, rows and seed, and a plain loss",
    "full": "Attention and feed-forward blocks (SwiGLU), and a plain loss",
}
HEAD = """\
# The language models in the package

`attnviz.load("small")`, `attnviz.load("plain")` and `attnviz.load("full")`, *Model* on the page,
`attnviz render --model small`. This page is written by `tools/training/card.py` from each `card.json`; no figure of it
is typed.

All read sentences that `tools/corpus` makes by rule from {words} whole words and signs: who is given something,
pronouns past another person, verbs past another noun, repeated lists, rows of days, months and numbers, who has what
and what is where, pairs of one relation, brackets, quotation marks, small stories. [1] to [8] are spare words: in some
documents they replace others, and a word of yours that is not in the vocabulary takes one.
"""
HONEST = """\
## What they are not

* They do not understand, and are not like GPT: they know these games over {words} words and signs and no other
  text. What training left out are combinations (pairs of names or nouns, words that follow each other in a list,
  sentences about some days and numbers), not kinds of sentence. Of brackets only whole texts are left out, and of
  pairs of one relation what asks for the last pair. People "behind" others begin two kinds of sentence, and are
  not asked about. Outside their templates they guess: the row on sentences of another form is
  of five forms that the corpus does not write, made of words that it has. No run does there much better than a
  choice between the two names would, and *small* does worse.
* "This is how GPT-2 does it" does not follow: the plan may be alike, the parts are not.
* The sharp rows of *small* were asked for, by penalties. *plain* shows what comes without them, and *full*
  what comes with a feed-forward block that does a part of the work.
* Which head does what is a fact about one file: see the other seeds in the tables above. A head that is looked at much
  is not therefore the one that matters; take it away and see.
* Another machine or version of PyTorch trains other bits. The files are what is shipped, by their SHA-256.
"""


def in_lines(card: dict[str, Any]) -> str:
    """Return a card as its file has it, a line for each entry of the whole: the package is to be small."""
    lines = (f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in card.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def written(cards: dict[str, dict[str, Any]]) -> str:
    """Return the page."""
    words = next(iter(cards.values()))["words"]
    parts = [HEAD.format(words=words)]
    for name, card in cards.items():
        parts += [f"## {name}\n\n{_run(name, card)}\n", _skills(card), _heads(card)]
    return "\n".join([*parts, HONEST.format(words=words)])


def _run(name: str, card: dict[str, Any]) -> str:
    sizes, versions = card["sizes"], card["versions"]
    return (
        f"{ABOUT[name]}.{_further(card)} {sizes['n_layers']} layers of {sizes['n_heads']} heads, "
        f"width {sizes['d_model']}, hidden width {sizes['d_ff']}: {card['numbers']:,} numbers in float16. "
        f"Seed {card['seed']}, {card['steps']:,} steps over {card['words_read']:,} words, {card['minutes']} minutes of "
        f"one processor on {card['date']}, "
        + ", ".join(f"{library} {version}" for library, version in versions.items())
        + f".\n\nSHA-256 of the weights {card['sha256']}; of the corpus's first rows {card['corpus']}."
    )


def _further(card: dict[str, Any]) -> str:
    """Return how the last steps of a run differ from the first ones."""
    if not (further := card.get("further")):
        return ""
    penalties = (
        f", {further['spread']:g} and {further['outputs']:g} times the penalties" if card["sizes"]["spread"] else ""
    )
    return f" The last {further['steps']:,} steps have {further['rate']:g} times the rates{penalties}."


def _columns(card: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the runs that a table has columns for, and what these are called."""
    runs = [card, *card["other_seeds"]]
    return runs, [f"shipped, seed {card['seed']}", *(f"seed {each['seed']}" for each in runs[1:])]


def _skills(card: dict[str, Any]) -> str:
    """Return the table of skills, a column a run."""
    runs, names = _columns(card)
    n, found = card["measured"]["questions"], boxed.measured(card["name"])
    lines = [
        f"Share of questions, which training left out, whose answer is the likeliest next word: of {n:,} for the "
        f"shipped file, with the interval that holds the share with 95 % confidence (Wilson's), and of "
        f"{card['questions']} for each seed:\n",
        "| skill | shipped | "
        + " | ".join(
            [f"seed {card['seed']}, {card['questions']}", *(f"{each}, {card['questions']}" for each in names[1:])]
        )
        + " |",
        "|---" * (2 + len(runs)) + "|",
    ]
    for skill in card["skills"]:
        shares = " | ".join(f"{each['skills'][skill]:.3f}" for each in runs)
        here = found[skill]
        lines.append(f"| {skill} | {here.share:.4f} ({here.low:.3f} to {here.high:.3f}) | {shares} |")
    if "new_frames" in card:
        strict = " | ".join(f"{each['new_frames']:.3f}" if "new_frames" in each else "" for each in runs)
        lines.append(f"| indirect object, in sentences of another form | | {strict} |")
    return "\n".join(lines) + "\n"


def _heads(card: dict[str, Any]) -> str:
    """Return the table of the heads that each skill needs most, a column a run."""
    runs, names = _columns(card)
    lines = [
        f"The two heads (layer.head) without which most is lost, and the share of {card['questions_without']} that is "
        "then right; last, the share of rows with a weight above 0.9, by layer:\n",
        "| skill | " + " | ".join(names) + " |",
        "|---" * (1 + len(runs)) + "|",
    ]
    for skill in card["without"]:
        worst = [sorted(each["without"][skill].items(), key=lambda pair: pair[1])[:2] for each in runs]
        lines.append(f"| {skill} | " + " | ".join(", ".join(f"{h} {s:.2f}" for h, s in each) for each in worst) + " |")
    lines.append("| sharp rows | " + " | ".join(", ".join(map(str, each["sharp"])) for each in runs) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    cards = {name: json.loads((FOLDER / name / "card.json").read_text(encoding="utf-8")) for name in NAMES}
    (FOLDER / "README.md").write_text(written(cards), encoding="utf-8")


if __name__ == "__main__":
    main()
