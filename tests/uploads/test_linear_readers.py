"""Readers of what comes from outside take time in proportion to its length, whatever it holds.

Each reader gets runs of every sign of its grammar and of every pair of signs, alone and between what leads the reader
to where such a run is looked at. A pattern that goes back over a run, or a loop that copies it at each step, takes
minutes at the size that a door admits, and nothing else moves on the server meanwhile. What it says of them is short.
"""

from __future__ import annotations

import base64
import gc
import json
import re
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from types import FrameType
from typing import Any

import pytest

from attnviz.classroom import free_text, typed_numbers
from attnviz.classroom.marking import (
    answer_codes,
    assignments,
    grade_scale,
    grading,
    results,
    submissions,
)
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.practice import record
from attnviz.classroom.writing import all_faults, lesson_link
from attnviz.engine.records.config import LONGEST_FORMULA, Config
from attnviz.engine.tables import embeddings, masks
from attnviz.engine.tables.tokenisers import TOKENISERS
from attnviz.exports import archive
from attnviz.formula.graph import KINDS
from attnviz.formula.reader import parse as read_formula
from attnviz.lessons import read_lesson
from attnviz.lessons.inert_markdown import inert
from attnviz.models.tokenisers.unigram import MOST_CHARACTERS, Unigram
from attnviz.settings import url_codec
from attnviz.settings.faults import MAX_MESSAGE_CHARACTERS, ConfigError
from attnviz.settings.language import set_language
from attnviz.text.format import html_math
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import fill, fill_typed
from attnviz.ui.pages import your_data
from attnviz.ui.panels import what_if
from attnviz.ui.panels.lesson import from_file, tally
from attnviz.ui.session import browser_history
from attnviz.ui.session.selection import Selection
from attnviz.uploads import npy, parse_text, read_files
from tests.support.small_models import model

MOST_SECONDS = 1.0  # of processor, for a text as long as the door admits
LEAST_SECONDS = 0.5  # that are always granted
QUICK = 8_000  # characters, at which what goes back over a run takes seconds and what does not takes milliseconds

NOTED = 0.005  # seconds at that size; below, even what goes back over a run is done in time in most doors
LONGER, MORE = 4, 8  # a text so many times as long that takes more than so many times as long is tried at full size

MEGABYTE = 1_000_000  # that fields without a limit of their own and uploads of settings admit


@dataclass(frozen=True)
class Reader:
    """A reader: what it is called with, the most characters that reach it, the signs of its grammar or other parts that
    are worth repeating, and texts that a run of them may stand between."""

    read: Callable[[str], object]
    size: int
    signs: Sequence[str]
    around: tuple[tuple[str, str], ...] = ()


def _setting(name: str) -> Callable[[str], object]:
    return lambda text: url_codec.decode({name: text}, Config, Selection)


def _formula(text: str) -> object:
    return [_outcome(partial(read_formula, kind=kind), text) for kind in KINDS]


def _tokens(text: str) -> object:
    return [row.fn(text, **({"piece_length": 4} if row.uses else {})) for row in TOKENISERS.values()]


def _unigrams(text: str) -> object:
    """Cut a text with pieces of every length that is read, with a table of characters and with the forms of Unicode."""
    many = Unigram({"▁" + "a" * n: -float(n) for n in range(MOST_CHARACTERS)} | {"a" * 99: -1.0}, splits=False)
    return len(model("xlm-roberta").tokenise(text)[0]), len([*many.pieces(text)])


def _assigned(name: str, text: str) -> object:
    """Read an assignment in which one field is the text, with a check that fits."""
    query = {**url_codec.encode(Assignment()), name: text}
    payload = base64.urlsafe_b64encode(json.dumps(query).encode()).decode().rstrip("=")
    return assignments.decode(f"{assignments.VERSION}.{assignments._check(payload)}.{payload}")


def _lesson_text(text: str) -> object:
    set_language("de")
    try:
        words = fill(text.replace("{", "").replace("}", "").replace("a", "{a}"), a="b")
        return localised(inert(text)), html_math.prose(text), html_math.as_markdown(text), html_math.sentence(words)
    finally:
        set_language("en")


TABLE = '1.,;\t \n"-e_a'
LISTS = '[]{},:"\\1-e\n'

READERS = {
    "rows of numbers": Reader(
        parse_text.from_text,
        your_data.MAX_PASTED_CHARACTERS,
        TABLE,
        (("1 ", "x"), ("1;2\n", ";x"), (";1;2\nx;", ";3"), ("query,key,value\n1,1,", "\n")),
    ),
    "a file of numbers": Reader(
        lambda text: read_files.read("a.csv", text.encode()), read_files.MAX_FILE_BYTES, "1. ;\na", (("1 ", "x"),)
    ),
    "lists of numbers": Reader(
        parse_text.from_text,
        your_data.MAX_PASTED_CHARACTERS,
        LISTS,
        (("[", "]"), ("[[", "]]"), ('{"weights": [', "]}")),
    ),
    "a matrix": Reader(parse_text.matrix, what_if.MAX_PASTED_CHARACTERS, TABLE, (("1 ", "x"),)),
    "tokens": Reader(parse_text.tokens, MEGABYTE, '[]",\\ a\n', (("[", "]"), ('["', '"]'))),
    "the header of an array": Reader(
        lambda text: npy.npy(npy.MAGIC + b"\x01\x00" + len(text.encode()).to_bytes(2, "little") + text.encode()),
        npy.MAX_HEADER_BYTES,
        "{}'(),:<f4-[1a \n",
        (("{'descr': '<f8', 'fortran_order': False, 'shape': (", ",)}"),),
    ),
    "a saved run": Reader(
        lambda text: archive.read(text.encode(), read_files.BUDGET),
        MEGABYTE,
        LISTS,
        (('{"about":{"format":"attnviz","x":', "}}"), ('{"about":{},"w":[', "]}")),
    ),
    "names and codes": Reader(
        submissions.from_text,
        submissions.MAX_FILE_BYTES,
        (*'A3-<>&#;(,\t "\n', "3467-99D;", "&#1", "a1;"),
        (("Ada ", ""), ("name;", "x"), ("name;code\nAda;", ""), ("Ada &#", ""), ('Ada "', '" 3467')),
    ),
    "an answer code": Reader(grading.read_code, submissions.MAX_CODE_CHARACTERS, answer_codes.SIGNS[:4] + "-\xad "),
    "points": Reader(lambda text: results.read_points(text, 3), MEGABYTE, "1., -e"),
    "a lesson": Reader(
        lambda text: from_file.read(text.encode()),
        read_lesson.MAX_LESSON_CHARACTERS,
        "a1.=[]{},\"'\\#-_ \n\t",
        (("a=", ""), ('a="""', '"""'), ("[a.", "]"), ("a={", "}"), ("a=[", "]"), ("minutes.", "=1")),
    ),
    "text of a lesson": Reader(
        _lesson_text,
        read_lesson.MAX_LESSON_CHARACTERS,
        (*"a1.,$`*|](:@\\{_ \n", r"\hat", r"\frac", r"\text{", r"\begin{aligned}"),
        (("$", "$"),),
    ),
    "a link": Reader(
        lambda text: url_codec.open_link(text, Config, Selection), MEGABYTE, "?&;=%+.~,a1 ", (("?", ""), ("?mask=", ""))
    ),
    "where the browser went": Reader(
        lambda text: browser_history.parse_qs(text, keep_blank_values=True), browser_history._LONGEST, "&;=%+a"
    ),
    "a saved setting": Reader(
        lambda text: url_codec.from_file(text, Config, Selection), MEGABYTE, LISTS, (('{"', '"}'), ('{"mask": "', '"}'))
    ),
    "questions": Reader(
        partial(_assigned, "task_questions"), assignments.MAX_FIELD_CHARACTERS // 2, "~.1a_-", (("weight~head.", ""),)
    ),
    "an assignment": Reader(assignments.decode, assignments.MAX_FIELD_CHARACTERS, "1.aA=-"),
    **{
        f"the setting {name}": Reader(_setting(name), MEGABYTE, signs, around)
        for name, signs, around in (
            (
                "edits",
                "~._1-eba",
                (("scores.1.1.1.1~", ""), ("scores.1.1.1.1~b1.1.1.", ""), ("scores.1.1.1.1~1~~", "")),
            ),
            ("custom_cells", "1:-, A", (("1: ", ""), ("bits.4.", ""))),
            ("own_numbers", "[],1 \n", ()),
            ("without", (*"a._", "mask."), ()),
            ("mask", (*"a._,", "causal."), ()),
            ("d_k", (*"1.,e-", "9999."), ()),
            ("score_knobs", (*"~._1a", "gaussian.a~1~~"), ()),
            ("patterns", (*"a.,_", "next."), ()),
            ("sentence", "a <\u0301\u200d🏳🇩한", ()),
            ("model", "a~-1", ()),
            ("seed", "1e-_.", ()),
        )
    },
    "a list of cells": Reader(masks.parse, 20_000, (*"1:-, ", "1-999 "), (("1: ", ""),)),
    "own numbers": Reader(embeddings.parse, 40_000, "[],;1.-e \n", (("[", "]"), ("1 ", "x"))),
    "a formula": Reader(
        _formula, 2 * LONGEST_FORMULA, 'q1.+*/@()[<>=!,;:"^|_{\\$√⟨‖ \n~#?if', (("sum(", ")"), ("q @ k ", ""))
    ),
    "tokenisers": Reader(_tokens, 10_000, (*"a <>'\u0301\u200d\ufe0f🏳🇩한각.\n", "<bos>"), ()),
    "a model's unigrams": Reader(
        _unigrams, 50_000, (*"a ▁ßﬁ\u0301\u3000\r犬", "king", "\U0001f3fb", "<mask>"), (("e", ""),)
    ),
    "a typed number": Reader(typed_numbers.read_number, typed_numbers.MAX_CHARACTERS, "1.,e+-*/^()√π% "),
    "hands": Reader(lambda text: tally.read_hands(text, 4), 200, "1 ,;\na"),
    "a grade scale": Reader(grade_scale.read_scale, MEGABYTE, "9 A;,%\n-e"),
    "the wording of questions": Reader(
        partial(_assigned, "task_words"), assignments.MAX_FIELD_CHARACTERS // 2, "a {}\n"
    ),
    "the points of questions": Reader(
        partial(_assigned, "task_points"), assignments.MAX_FIELD_CHARACTERS // 2, "1. -e\n"
    ),
    "a wording with names": Reader(lambda text: fill_typed(text, {"a": "b"}), MEGABYTE, (*"a{} ", "{a}")),
    "answers in practice": Reader(
        record.decode, MEGABYTE, (*"a.19\n", "weight.1.1.1\n"), (("weight.1.", ".1"), ("weight.", ".1.1"))
    ),
    "a lesson in a link": Reader(
        lambda text: lesson_link.unpack(f"1{lesson_link._check(text)}{text}"), lesson_link.MOST_CHARACTERS, "aA1-_="
    ),
    "a lesson that is written": Reader(
        lambda text: all_faults.gone_through("a", text, lambda: lambda config: None),
        read_lesson.MAX_LESSON_CHARACTERS,
        "a1.=[]{},\"'\\#-_ \n\t",
        (("[[slides]]\ntext='", "'"), ("title_de='", "'"), ("[[slides]]\n", "=1")),
    ),
    "an answer in words": Reader(
        lambda text: free_text.decode_text(free_text.encode_text(text)), MEGABYTE, "a \n\u0301🏳"
    ),
}


def _outcome(read: Callable[[str], Any], text: str) -> Any:
    """Return what a reader makes of a text, or says of it."""
    try:
        return read(text)
    except ConfigError as error:
        return [str(error)]


def _said(outcome: Any) -> list[str]:
    """Return what a reader says: of a refused text, or beside what it made of one."""
    last = outcome[-1] if isinstance(outcome, tuple) and outcome else outcome
    return [each for each in last if isinstance(each, str)] if isinstance(last, list) else []


class SlowError(Exception):
    """A reader is not done in time."""


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise SlowError where the block takes more of the processor; waiting for others that share it does not count."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SlowError

    before = signal.signal(signal.SIGVTALRM, end)
    gc.disable()  # what other tests have left behind is not gone through at the reader's cost
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        gc.enable()
        signal.signal(signal.SIGVTALRM, before)


def _text(reader: Reader, around: tuple[str, str], repeated: str, size: int) -> tuple[str, str]:
    """Return a run between what stands around it, as long as a size and the door admit, and what it is called."""
    before, after = around
    n = (min(size, reader.size) - len(before) - len(after)) // len(repeated.encode())
    return f"{before!r} + {n} * {repeated!r} + {after!r}", before + repeated * n + after


def _grows(reader: Reader, around: tuple[str, str], repeated: str, size: int, seconds: float) -> bool:
    """Return whether a longer text takes longer by far more than its length."""
    if seconds < NOTED or LONGER * size > reader.size:
        return False
    _, longer = _text(reader, around, repeated, LONGER * size)
    began = time.thread_time()
    _outcome(reader.read, longer)
    return time.thread_time() - began > MORE * seconds


def _slow(reader: Reader, runs: Sequence[str], size: int) -> list[str]:
    """Return the texts with which a reader is not done in time, at which it fails, or of which it says too much."""
    found = []
    seconds = max(LEAST_SECONDS, MOST_SECONDS * min(size / reader.size, 1))
    for around, repeated in product((("", ""), *reader.around), runs):
        name, text = _text(reader, around, repeated, size)
        began = time.thread_time()
        try:
            with _at_most(seconds):
                outcome = _outcome(reader.read, text)
            if _grows(reader, around, repeated, size, time.thread_time() - began):
                name, text = _text(reader, around, repeated, reader.size)
                with _at_most(MOST_SECONDS):
                    _outcome(reader.read, text)
        except SlowError:
            found.append(name)
        except Exception as error:  # a reader refuses with ConfigError alone
            found.append(f"{name}: {error!r:.100}")
        else:
            if len("".join(_said(outcome))) > 2 * MAX_MESSAGE_CHARACTERS:
                found.append(f"{name} is repeated in what is said of it")
    return found


@pytest.mark.slow
def test_no_run_of_a_sign_keeps_a_reader_busy() -> None:
    assert not {name: slow for name, reader in READERS.items() if (slow := _slow(reader, [*reader.signs], QUICK))}


@pytest.mark.slow
def test_no_run_of_a_sign_keeps_a_reader_busy_at_the_size_that_is_admitted() -> None:
    assert not {name: slow for name, reader in READERS.items() if (slow := _slow(reader, [*reader.signs], reader.size))}


@pytest.mark.slow(seconds=25)
def test_no_run_of_two_signs_keeps_a_reader_busy() -> None:
    """In one order, as a run of the two in the other is the same but for where it begins.

    All pairs at the size that each door admits would take hours: what takes no longer at four times the length than a
    few times as long is taken for linear, and what does is tried at full size.
    """
    pairs = {name: [*map("".join, combinations(reader.signs, 2))] for name, reader in READERS.items()}
    assert not {name: slow for name, reader in READERS.items() if (slow := _slow(reader, pairs[name], QUICK))}


@pytest.mark.slow
def test_a_pattern_that_goes_back_over_a_run_is_found() -> None:
    going_back = Reader(lambda text: re.findall("(?:ab)+c", text), MEGABYTE, "ab")
    assert len(_slow(going_back, ["ab"], QUICK // 4)) == 1
    assert _slow(Reader(len, MEGABYTE, "ab"), ["ab"], QUICK) == []
