"""The names that a code may have been made under, out of the cells of one row of a table.

Tables write "Müller, Zoë" or add a number in brackets where the student typed "Zoë Müller". A code says for itself
which name it was made under, so a wrong guess is refused like any other name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import permutations

from attnviz.exports.tables import FORMULA_STARTS
from attnviz.settings.plain_text import clean

MAX_NAME_CHARACTERS = 400
MAX_TYPED_CHARACTERS = 80
"""As many signs as a student can type for a name."""

MAX_NUMBER_CHARACTERS = 10
MOST_WORDS = 8
"""In a name whose words are tried in another order."""

LOST = re.compile(r"\w\?|\?\w|\ufffd")
"""The sign in a name for a letter that the encoding of a list does not have."""


def candidates(
    full: Sequence[str],
    first: Sequence[str] = (),
    last: Sequence[str] = (),
    number: Sequence[str] = (),
    others: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the names, the one to be shown first, from the cells of each kind; `others` may hold anything.

    >>> candidates(["Müller, Zoë"])
    ('Müller, Zoë', 'Zoë Müller', 'Müller Zoë')
    >>> "0042" in candidates([], number=["42"])
    True
    """
    parts = [*first[:1], *last[:1]]
    joined = [" ".join(order) for order in permutations(parts)]
    if len(parts) == 2:
        joined.append(f"{parts[1]}, {parts[0]}")
        if not "".join(parts).isascii():
            joined.append(f"{parts[1]}{parts[0]}")  # as Chinese names are written: 李明
    named, rest = ([name for cell in cells for name in orders(cell)] for cells in (full, others))
    return tuple(_written([*named, *joined, *number, *rest]))


def orders(name: str) -> Iterator[str]:
    """Yield a name as it is written, without and out of brackets, and with its last words first.

    >>> list(orders("Zoë Müller (42)"))
    ['Zoë Müller (42)', 'Zoë Müller', 'Müller Zoë', '42']
    """
    bare = " ".join(re.sub(r"\([^()]*\)", " ", name).split())
    parts = [part.strip() for part in bare.split(",")]
    words = " ".join(part for part in parts if part).split()
    turns = [" ".join(words[at:] + words[:at]) for at in range(len(words))] if len(words) <= MOST_WORDS else []
    turned = [" ".join(reversed(parts))] if len(parts) == 2 else []
    yield from dict.fromkeys(filter(None, [name, bare, *turned, *turns, *re.findall(r"\(([^()]*)\)", name)]))


def without_apostrophe(cell: str) -> str:
    """Return a cell without the apostrophe that keeps a spreadsheet from taking it for a formula."""
    text = clean(cell).strip()
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA_STARTS) else text


def _written(words: Sequence[str]) -> Iterator[str]:
    """Yield the names as written, without the apostrophe that guards a formula, and cut as the page cuts what is typed;
    and a number with the zeros that a spreadsheet took away."""
    seen: dict[str, None] = {}
    for cell in words:
        name = clean(cell).strip()[:MAX_NAME_CHARACTERS]
        bare = without_apostrophe(name)
        seen |= dict.fromkeys([bare, name, bare[:MAX_TYPED_CHARACTERS]])
    for name in [name for name in seen if name.isdecimal()]:
        seen |= dict.fromkeys(name.zfill(n) for n in range(len(name) + 1, MAX_NUMBER_CHARACTERS + 1))
    yield from filter(None, seen)
