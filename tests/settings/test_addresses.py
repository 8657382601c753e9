"""Links that were shared once open for ever with the same meaning: `addresses.txt` holds them, and only grows."""

from __future__ import annotations

import json
from pathlib import Path

from attnviz import Config
from attnviz.settings import url_codec
from attnviz.ui.session.selection import Selection
from tests.support.cases import for_each

LINES = [
    line.split("\t")
    for line in (Path(__file__).parents[1] / "addresses.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


@for_each("link, meaning", LINES)
def test_an_old_link_means_what_it_meant(link: str, meaning: str) -> None:
    records, problems = url_codec.open_link(link, Config, Selection)
    now, meant = url_codec.encode(*records, every=True), json.loads(meaning)
    assert {name: now[name] for name in meant} == meant | ({"v": now["v"]} if "v" in meant else {})
    assert problems == []


def test_there_are_old_links() -> None:
    assert len(LINES) >= 8


def test_the_defaults_are_those_of_the_plain_links() -> None:
    """A plain link is the default setting, the first as it was and one for the fields of each later day.

    Changing a default makes this fail, and asks for a migration; a new field asks for a new line.
    """
    lines = [json.loads(meaning) for link, meaning in LINES if link in ("v=1", "v=2&c=zgkc")]
    plain = {name: value for meaning in lines for name, value in meaning.items()}
    assert plain == url_codec.encode(Config(), Selection(), every=True)
