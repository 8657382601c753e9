"""Documents of lists: repeated, in the order of days, months and numbers, and pairs of one relation."""

from __future__ import annotations

from tools.corpus.drawing import Again, Draw, Question
from tools.corpus.words import (
    CAPITALS,
    COLOURS,
    DAYS,
    HE,
    LISTED,
    MONTHS,
    NUMBERS,
    OPPOSITES,
    PAST,
    PLURALS,
    ROWS,
    SHE,
)

RELATIONS: dict[str, list[tuple[str, str]]] = {
    "opposite": OPPOSITES + [(right, left) for left, right in OPPOSITES],
    "capital": CAPITALS,
    "country": [(right, left) for left, right in CAPITALS],
    "past": PAST,
    "plural": list(PLURALS.items()),
    "woman": list(zip(HE, SHE)),
    "man": list(zip(SHE, HE)),
    "next": [(row[i], row[i + 1]) for row in (DAYS, MONTHS, NUMBERS) for i in range(len(row) - 1)],
    "same": [(word, word) for word in [*PLURALS, *COLOURS, *(left for left, _ in OPPOSITES + CAPITALS)]],
}
MOST_PAIRS = 4
"""Pairs of a list at most; as many in every question, so that no document goes on behind what a question asks."""

FORMS = {
    "after": "after {} comes",
    "then": "{} and then",
    "was": "it was {} , then",
    "one": "the one after {} is",
    "end": "{} is not the end , after it comes",
}
"""Sentences on what comes next, by names that stand in their keys."""


def induction(draw: Draw) -> Question:
    """Return the next word of a list that is said again."""
    words = [draw.one(LISTED)]
    for _ in range(2 + draw.below(7)):
        words.append(_next(draw, words))
    known = 1 + draw.below(len(words) - 1)
    if draw.asked:  # what is asked for follows its word in no list of the training documents
        last = [each for each in LISTED if each not in words and draw.wants(("list", words[known - 1], each))]
        words[known] = draw.one(last)
    comma = [","] if draw.chance(0.2) else []
    again = [*comma, *words] if len(words) < 6 and draw.chance(0.5) else []
    after = [*words[known + 1 :], *again, *(["."] if draw.chance(0.3) else [])]
    wrong = [word for word in words if word != words[known]]
    return Question(
        [*words, *comma, *words[:known]], words[known], wrong, after, ("list", *words[known - 1 : known + 1])
    )


def _next(draw: Draw, words: list[str]) -> str:
    """Return a word that is not in a list yet; in training documents, one that may follow its last."""
    while True:
        word = draw.one(LISTED)
        if word not in words and (draw.asked or draw.wants(("list", words[-1], word))):
            return word


def successor(draw: Draw) -> Question:
    """Return what follows in a row of days, months or numbers.

    Reciting is trained in full; what is kept from training are sentences about some of what is recited.
    """
    name = draw.one(["days", "days", "months", "months", "numbers", "numbers", "ordinals"])
    row = ROWS[name]
    is_round, n = name in ("days", "months"), len(row)
    i = draw.below(n if is_round else n - 1)
    following = row[(i + 1) % n]
    if not draw.asked and draw.chance(0.45):
        return _recited(draw, row, i, is_round)
    form = draw.one(list(FORMS))
    key = draw.must(("successor", form, row[i]))
    return Question(FORMS[form].format(row[i]).split(), following, [row[i]], ["."], key)


def _recited(draw: Draw, row: list[str], i: int, is_round: bool) -> Question:
    """Return a row from somewhere on, cut behind one of its words."""
    n, first = len(row), i - 1 - draw.below(4)
    if not is_round and first < 0:
        raise Again
    comma = [","] if draw.chance(0.3) else []
    last = i + 1
    while draw.chance(0.6) and (is_round or last + 1 < n):
        last += 1
    before = [part for at in range(first, i + 1) for part in (row[at % n], *comma)]
    after = [part for at in range(i + 2, last + 1) for part in (*comma, row[at % n])]
    return Question(before, row[(i + 1) % n], [row[i]], after, ("recited",))


def analogy(draw: Draw) -> Question:
    """Return the other word of a pair, by the relation that the pairs before it show."""
    name = draw.one(list(RELATIONS))
    if name == "opposite" and draw.chance(0.25):
        left, right = draw.one(RELATIONS[name])
        key = draw.must(("opposite of", left))
        return Question(["the", "opposite", "of", left, "is"], right, [left], ["."], key)
    pairs = draw.some(RELATIONS[name], MOST_PAIRS if draw.asked else draw.one([2, 3, 3, MOST_PAIRS]))
    (shown, shown_right), (left, right) = pairs[-2:]
    if left in (shown, shown_right):
        raise Again
    key = draw.must(("analogy", name, shown, left))
    before = [part for a, b in pairs for part in (a, ":", b, ",")][:-2]
    wrong = [word for word in (left, shown_right) if word != right]
    return Question(before, right, wrong, ["."] if draw.chance(0.7) else [], key)
