"""Short links: each stands for its setting for ever, and tells when it is not whole."""

from __future__ import annotations

import hashlib
import random
import statistics
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import pytest

from attnviz import Config
from attnviz.settings import short_link, url_codec
from attnviz.settings.faults import ConfigError
from attnviz.settings.link_check import CHECK
from attnviz.ui.session.selection import Selection

TESTS = Path(__file__).parents[1]
STRANGE = (
    "猫が犬を見る",
    "<script>alert('x')</script> & co = 1 % + # ?",
    "a\nb\tc",
    "Größe\u202e ﷽ 👩‍🍳",
    "&amp;v=1;seed=2",
    " ",
    "",
)


def lines(name: str) -> Iterator[list[str]]:
    for line in (TESTS / name).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def queries() -> list[dict[str, str]]:
    """What the links that must open for ever say, and strange ones."""
    told = [dict(parse_qsl(query, keep_blank_values=True)) for query, *_ in lines("addresses.txt")]
    return [*told, *(url_codec.encode(Config(sentence=text, seed=7), Selection(query=2)) for text in STRANGE)]


def without_check(query: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in query.items() if name != CHECK}


def test_the_list_of_pieces_never_changes() -> None:
    """Another list is another edition, with a file and a character of its own; this one stays."""
    digest = hashlib.sha256(short_link.PIECES.read_bytes()).hexdigest()
    assert digest == "abb4f371198fbb00184bbd80954e2af562fefe43468f56587ae6f45d087831df"
    pieces = short_link._codes()
    assert len(pieces) == len(short_link.PIECES.read_text("ascii").splitlines())
    assert {bytes([byte]) for byte in range(256)} <= pieces.keys()


def test_every_short_link_that_was_ever_given_out_opens() -> None:
    given = [*lines("short_addresses.txt")]
    assert len(given) > 20
    for code, query in given:
        assert urlencode(short_link.unpack(code)) == query, code


def test_a_setting_comes_back_as_it_was_and_its_link_is_whole() -> None:
    for query in queries():
        code = short_link.pack(query)
        back = short_link.unpack(code)
        assert without_check(back) == without_check(query)
        assert code.isascii()
        assert code.replace("-", "").replace("_", "").isalnum()
        (before, _), (after, problems) = (url_codec.decode_link(each, Config, Selection) for each in (query, back))
        assert after == before
        assert not any("check at" in problem for problem in problems)


def test_how_short_they_are() -> None:
    """As docs/hosting.md has it: of the links with 40 characters or more, without the host."""
    told = [query for query, *_ in lines("addresses.txt") if len(query) >= 40]
    parts = [(2 + len(short_link.pack(dict(parse_qsl(query, True))))) / (1 + len(query)) for query in told]
    assert statistics.median(parts) < 0.5
    assert sum(part <= 1 / 3 for part in parts) >= len(parts) / 4


def test_a_link_that_lost_or_changed_a_character_says_so() -> None:
    chance = random.Random(3)  # noqa: S311
    code = short_link.pack(queries()[2])
    missed = 0
    for _ in range(2_000):
        at, other = chance.randrange(1, len(code)), chance.choice(short_link.ALPHABET)
        for changed in (code[:at] + other + code[at + 1 :], code[:at], code[at:], code[:at] + code[at + 1 :]):
            with suppress(ConfigError):
                missed += changed != code and short_link.unpack(changed) != short_link.unpack(code)
    assert missed == 0
    broken = f"{code[:9]}\r\n {code[9:]}"
    assert short_link.unpack(broken) == short_link.unpack(code)


def test_what_is_no_code_is_refused_in_a_sentence_and_none_grows_without_end() -> None:
    longest = max(short_link._codes(), key=len)
    bits = short_link._codes()[longest] * 6_000
    bomb = "".join(short_link.ALPHABET[int(bits[at : at + 6], 2)] for at in range(0, 6 * 5_900, 6))
    assert len(short_link._together(bomb)) <= short_link.MOST_BYTES + len(longest)
    for code, says in (
        ("", "begins with a character"),
        ("2abcd", "begins with a character"),
        ("1", "is not whole"),
        ("1abcd", "is not whole"),
        (f"1{bomb}abcd", "is not whole"),
        ("1" + "A" * 9_000, "at most 6,000"),
        ("1\0\ud800%00猫", "is not whole"),
        ("1" + short_link._digest(b""), "is not whole"),
    ):
        with pytest.raises(ConfigError, match=says) as error:
            short_link.unpack(code)
        assert len(str(error.value)) < 300


def test_what_no_code_can_hold_has_none() -> None:
    whole = {"v": "2", "sentence": "x"}
    for query in ({"sentence": "a\0b"}, {"a=b": "1"}, {"sentence": "\ud800"}, {"sentence": "x" * 6_001}):
        assert short_link.pack(whole | query) == ""
    assert short_link.pack(whole)
