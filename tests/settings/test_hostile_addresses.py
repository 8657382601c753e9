"""Two thousand addresses that no page wrote: none raises, and none leaves the ranges that the fields promise.

What is in range is said here once more and apart from the code that reads addresses, so that one fault cannot hide the
other. All are read, and some of them run.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import Field
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from attnviz import Config, run
from attnviz.settings import fields, url_codec
from attnviz.settings.faults import ConfigError
from attnviz.settings.fields import Changes
from attnviz.settings.kinds import Named, Number, Option, Ordinal, Switch, Text
from attnviz.settings.tuple_kinds import Knobs, Listed, Options, SerialisedTuple, Widths
from attnviz.ui.session.selection import Selection

ITEMS = {item.name: item for record in (Config, Selection) for item in fields.settings(record)}
SECOND = {f"b_{item.name}": item for item in fields.settings(Config)}
OURS = {**ITEMS, **SECOND}

JUNK = (
    *(
        "",
        " ",
        "\x00",
        "\ud800",
        "\u202e",
        "\ufeff",
        "null",
        "None",
        "undefined",
        "[object Object]",
        "true",
        "yes",
        "auto",
    ),
    *("nan", "-nan", "inf", "-inf", "1e999", "-1e999", "5e-324", "-0", "0x10", "1_000", "١٢", "½", "1,5", "1.5.2"),
    *("9" * 5_000, "1e" + "9" * 400, "." * 3_000, "," * 3_000, "x." * 2_000, "-" * 2_000, "[" * 3_000, "\n" * 900),
    *("../../etc/passwd", "%00", "%2e%2e%2f", "${7*7}", "{{7*7}}", "' OR 1=1 --", "$(id)", "`id`", "; id", "| id"),
    *("<script>alert(1)</script>", "javascript:alert(1)", "__proto__", "constructor", "__class__", "{0.__class__}"),
    *("causal.causal.none", "1: 1-999999999", "1: 99-1", "0.scores.0.0.0=nan", "1.weights.1.1.1=1e999", "👩‍🍳" * 300),
    *("1 2; 3", "1e308 1e308\n-1e308", "nan nan", "W_q 1 1 1=2", "embedded.1.1=3", "4, 3, 2, 1, 0, -1", "x" * 70_000),
)
UNSHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
NAMES = (*OURS, *url_codec.RESERVED)
STRANGE_NAMES = (
    "",
    " ",
    "b_",
    "b_b_seed",
    "seed ",
    "SEED",
    "__proto__",
    "embed",
    "utm_x",
    "x" * 9_000,
    "\x00",
    "n_heads[]",
)


def edges(item: Field[Any]) -> list[str]:
    """Values at the rim of what a field allows, and just beyond it."""
    match item.metadata["kind"]:
        case Number(low=low, high=high):
            return [repr(at + by) for at in (low, high, (low + high) / 2) for by in (0, 1, -1, 0.5, 1e-9)]
        case Option(table=table) | Options(table=table) | Listed(table=table):
            names = list(table)
            return [*names, ".".join(names), ".".join(names * 30), names[0].upper(), f"{names[0]} ", f"{names[-1]}.x"]
        case Widths(low=low, high=high, most=most):
            return [str(low - 1), str(high + 1), "4.", ".".join(["3"] * (most + 1)), f"{low}.{high}", "4..2", "-1.2"]
        case Switch():
            return ["yes", "no", "Yes", "1", "0"]
        case Text(longest=longest):
            return [
                "a b a",
                "é" * longest,
                "a\x00b\u202ec\ud800d",
                "x" * (longest + 1),
                "the cat <b>sat</b> on ![x](http://x.test/y)",
                "1 2 3\n4 5 6",
            ]
        case _:
            return ["1.scores.1.2.3=4", "0.weights.0.0.0=0.5 " * 50, "1.embedded.1.1=1e9"]


def bent(value: str, draw: random.Random) -> str:
    """A value with one character taken out, put in or doubled."""
    at = draw.randrange(len(value) + 1)
    return draw.choice((value[:at] + value[at + 1 :], value[:at] + draw.choice(JUNK)[:3] + value[at:], value[:at] * 2))


def one_value(name: str, draw: random.Random) -> Any:
    """Something to stand behind a name: half of the time near what it allows."""
    kind = draw.random()
    if kind < 0.5 and name in OURS:
        return draw.choice(edges(OURS[name]))
    if kind < 0.65 and name in OURS:
        return bent(draw.choice(edges(OURS[name]))[:200], draw)
    if kind < 0.9:
        return draw.choice(JUNK)
    return draw.choice(
        (None, 7, -1.5, float("nan"), b"\xff", [], {}, [None], ["1", "2"], [draw.choice(JUNK)] * 3, True)
    )


def addresses(n: int, seed: int) -> Iterator[dict[str, Any]]:
    """Mappings as a browser, a file or a script may hand them over, the same ones every time."""
    draw = random.Random(seed)  # noqa: S311 - tests only
    for _ in range(n):
        names = draw.sample(NAMES, draw.randint(0, 9)) + draw.sample(STRANGE_NAMES, draw.choice((0, 0, 0, 1, 3)))
        yield {name: one_value(name, draw) for name in names}


def in_range(item: Field[Any], value: Any) -> bool:
    """Whether a field holds what its kind allows, in words of this test's own."""
    match item.metadata["kind"]:
        case Ordinal(none=none, high=high):
            return (value is None and none is not None) or (type(value) is int and 0 <= value < high)
        case Number(none=none) as kind:
            on_grid = not kind.integer or (type(value) is int and (value - kind.low) % kind.step == 0)
            return (value is None and none is not None) or (on_grid and kind.low <= value <= kind.high)
        case Switch():
            return value is True or value is False
        case Option(table=table):
            return value in table
        case Options(table=table) | Listed(table=table):
            return 1 <= len(value) <= max(len(table), 16) and all(name in table for name in value)
        case Widths(low=low, high=high, most=most):
            widths = value if isinstance(value, tuple) else (value,)
            return 1 <= len(widths) <= most and all(type(width) is int and low <= width <= high for width in widths)
        case Text(longest=longest):
            return len(value) <= longest and not UNSHOWN.search(value)
        case SerialisedTuple(most=most):
            return len(value) <= most
        case Knobs(most=most) as kind:
            held = [(kind.known[name], each if isinstance(each, tuple) else (each,)) for name, each in value]
            return all(1 <= len(n) <= most and knob.low <= min(n) <= max(n) <= knob.high for knob, n in held)
        case Named():
            return value == "" or re.fullmatch(r"[a-z0-9_-]{1,24}(~[0-9a-f]{8})?", value) is not None
        case Changes(of=of):
            return {name for name, _ in value} <= {other.name for other in fields.settings(of)}
    raise AssertionError(f"no range is known for {item.name}")


def outside(records: tuple[Any, ...]) -> list[str]:
    """The fields of the records that hold what they must not."""
    held = [(item, getattr(record, item.name)) for record in records for item in fields.settings(record)]
    return [f"{item.name} = {value!r:.80}" for item, value in held if not in_range(item, value)]


def faults(query: dict[str, Any]) -> list[str]:
    """What is wrong with how an address is read; nothing if all promises are kept."""
    records, problems = url_codec.decode(query, Config, Selection)
    found = outside(records)
    found += [f"said {problem!r:.80}" for problem in problems if not problem.endswith(".") or len(problem) > 400]
    "".join(problems).encode("utf-8")
    again = url_codec.decode(url_codec.encode(*records), Config, Selection)
    found += [] if again == (records, []) else [f"read again as {again[1]}"]
    link = url_codec.query_string(*records)
    return found + ([] if len(link) <= url_codec.MAX_LINK_CHARACTERS and link.isascii() else ["no link"])


def as_text(query: dict[str, Any]) -> str:
    """The mapping as the end of a link, well formed or not."""
    pairs = [(name, value if isinstance(value, str) else repr(value)) for name, value in query.items()]
    return urlencode(pairs, errors="replace") if len(pairs) % 2 else "&".join(f"{n}={v}" for n, v in pairs)


def tried(n: int, seed: int, run_each: int) -> None:
    """Read n addresses as mappings and as text, and run one in `run_each` of the settings that come out."""
    for number, query in enumerate(addresses(n, seed)):
        assert faults(query) == [], query
        records, _ = url_codec.open_link(as_text(query), Config, Selection)
        assert outside(records) == [], query
        if number % run_each == 0:
            runs(url_codec.decode(query, Config)[0][0])


def runs(config: Config) -> None:
    """A setting from an address is computed, or refused in words; nothing else."""
    report = ""
    try:
        report = "x" * len(run(config).query_tokens)
    except ConfigError as error:
        report = str(error)
    assert 0 < len(report) < 1_000


@pytest.mark.slow
def test_a_thousand_hostile_addresses_are_read_and_stay_in_range() -> None:
    tried(1_000, seed=11, run_each=10)


def test_the_sample_is_hostile_enough_and_reaches_every_field() -> None:
    reached: set[str] = set()
    for query in addresses(1_000, 7):
        reached |= query.keys()
    assert reached >= {*OURS, *url_codec.RESERVED, *STRANGE_NAMES}
    problems = [url_codec.decode(query, Config, Selection)[1] for query in addresses(100, 7)]
    assert sum(map(bool, problems)) > 70


def test_the_checks_can_fail() -> None:
    wrong = {
        "n_heads": 17,
        "seed": True,
        "mask": ("causal", "nope"),
        "d_k": (4, 0),
        "sentence": "a\u202eb",
        "score": "",
    }
    config = Config()
    for name, value in wrong.items():
        object.__setattr__(config, name, value)
    assert sorted(line.split(" =")[0] for line in outside((config,))) == sorted(wrong)
    assert faults({"sentence": quote("a")}) == []
