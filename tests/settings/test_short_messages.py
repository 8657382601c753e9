"""What is said of something from outside quotes a piece of it, however long it is and wherever it stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from attnviz import Config
from attnviz.classroom import question_codec
from attnviz.classroom.marking import answer_codes, assignments, results, submissions
from attnviz.classroom.marking.assignments import Assignment
from attnviz.engine.tables import embeddings, masks
from attnviz.lessons.catalogue import written
from attnviz.settings import url_codec
from attnviz.settings.faults import MAX_MESSAGE_CHARACTERS, ConfigError
from attnviz.settings.fields import settings
from attnviz.ui.panels.lesson import from_file
from attnviz.ui.session.selection import Selection
from attnviz.uploads import parse_text, read_files

SIGN = "ŋ"  # in no word of ours
LONG = SIGN * 5_000
DEEP: list[Any] = []
for _ in range(5_000):
    DEEP = [DEEP]
VALUES = (LONG, {LONG: LONG}, [SIGN] * 5_000, 10**9_000, ((DEEP, LONG),))
"""Values of every kind, of no length that is right."""

MOST = 250  # signs of what was given, in several pieces


def refused(read: Callable[..., Any], *given: Any, **named: Any) -> Iterator[str]:
    """What a reader says of what it is given, which is refused or corrected."""
    try:
        outcome = read(*given, **named)
    except ConfigError as error:
        yield str(error)
    else:
        yield from outcome[-1] if isinstance(outcome, tuple) and isinstance(outcome[-1], list) else ()


def lessons() -> Iterator[bytes]:
    """A lesson with something long in place of each value and of each name in turn."""
    file, table = written("why_minus_infinity"), f'{{"{LONG}" = ["{LONG}"]}}'
    long = (f'"{LONG}"', table, f'["{LONG}"]', "0x" + "f" * 9_000, f"[{table}]")
    for n, match in enumerate(re.finditer(r"(?m)^([a-z_]+) = (.+)$", file)):
        yield (file[: match.start(2)] + long[n % len(long)] + file[match.end(2) :]).encode()
        if file[: match.start(1)].count("[[slides]]") < 2:
            yield (file[: match.start(1)] + f'"{LONG}"' + file[match.end(1) :]).encode()
    yield (f"minutes{'.'.join(['', *['a' * 41] * 1_900])} = 1").encode()


def messages() -> Iterator[str]:
    for cls in (Config, Selection, Assignment):
        for item in settings(cls):
            for value in VALUES:
                yield from refused(cls, **{item.name: value})
            for text in (LONG, f"{LONG}." * 4, f"1~{LONG}~~{LONG}"):
                yield from refused(url_codec.decode, {item.name: [text, text]}, cls)
        for query in ({LONG: LONG}, {f"{LONG}{n}": "" for n in range(9)}, {"v": LONG}, {"without": LONG}):
            yield from refused(url_codec.decode, query, cls)
    for content in lessons():
        yield from refused(from_file.read, content)
    for text in (
        LONG,
        f"1 {LONG}",
        f"1;{LONG}",
        f"a,b\n{LONG},2",
        f"query,value\n{LONG},1",
        f'["{LONG}"]',
        f"[{LONG}]",
    ):
        yield from refused(parse_text.from_text, text)
        yield from refused(read_files.read, f"{LONG}.csv", text.encode())
        yield from refused(read_files.read, f"{LONG}.{LONG}", text.encode())
        yield from refused(embeddings.parse, text)
        yield from refused(masks.parse, text)
        yield from refused(results.read_points, text, 2)
        yield from refused(answer_codes.without_checksum, text)
        yield from refused(assignments.decode, text)
    for given in (
        [(LONG, {})],
        [("weight", {LONG: 1})],
        [("weight", {"head": LONG})],
        [LONG],
        [("number", {"step": LONG})],
    ):
        yield from refused(question_codec.validated, given)
    yield submissions.from_text(";".join(f"{LONG[:200]}{n}" for n in range(400)) + f"\nAda{';1' * 399}").doubt


@pytest.mark.slow
def test_no_message_repeats_more_than_a_piece_of_what_came_from_outside() -> None:
    said = [*messages()]
    assert len(said) > 900
    assert max(map(len, said)) <= MAX_MESSAGE_CHARACTERS
    long = {re.sub(f"{SIGN}+", SIGN, each)[:200]: each.count(SIGN) for each in said if each.count(SIGN) > MOST}
    assert not long
