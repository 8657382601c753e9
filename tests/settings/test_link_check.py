"""The check at the end of a link: what was cut or changed is said, and what a mail program did is undone."""

from __future__ import annotations

import html
from dataclasses import replace
from urllib.parse import parse_qs, quote, urlencode

import pytest

from attnviz.engine.records.config import Config
from attnviz.settings import link_check, url_codec
from attnviz.settings.address_problems import PROBLEMS
from attnviz.ui.session.selection import Selection

CONFIG = Config(sentence="Say; mask=causal & run, 100%41 of it", mask="causal", n_heads=3, seed=7)
SELECTION = replace(Selection(), head=1, key=2)


def parameters(link: str) -> dict[str, list[str]]:
    return parse_qs(link, keep_blank_values=True)


def current(link: str) -> str:
    """The link as one of the first version that has a check; its check is made anew."""
    query = {name: texts[-1] for name, texts in parameters(link).items()}
    query["v"] = str(link_check.SINCE)
    return urlencode(link_check.checked(query))


def test_a_link_that_was_cut_anywhere_is_found_out() -> None:
    link = current(url_codec.query_string(CONFIG, SELECTION))
    names = url_codec.labels(Config, Selection)
    assert link_check.fault(parameters(link), names) == ""
    for end in range(len("v=2"), len(link)):
        assert link_check.fault(parameters(link[:end]), names) == "cut", link[:end]


def test_a_link_that_was_changed_is_found_out_and_what_belongs_to_others_is_left_alone() -> None:
    link = url_codec.query_string(CONFIG, SELECTION)
    for other in (link.replace("n_heads=3", "n_heads=2"), link.replace("&seed=7", ""), f"{link}&scale=2", f"{link}x"):
        _, problems = url_codec.open_link(other, Config, Selection)
        assert PROBLEMS["changed"] in problems or PROBLEMS["cut"] in problems, other
    german = f"{link}&lang=de&play=yes"
    assert url_codec.open_link(german, Config, Selection) == ((CONFIG, replace(SELECTION, lang="de", play=True)), [])
    same = (link, f"{link}&utm_source=mail", "&".join(reversed(link.split("&"))), f"https://example.org/?{link}")
    for other in same:
        assert url_codec.open_link(other, Config, Selection) == ((CONFIG, SELECTION), []), other
    names = url_codec.labels(Config, Selection)
    for by_hand in ("mask=causal", "v=1&mask=causal", "", "utm_source=mail"):
        assert link_check.fault(parameters(by_hand), names) == "", by_hand


def test_what_mail_programs_and_pages_make_of_a_link_is_undone() -> None:
    link = url_codec.query_string(CONFIG, SELECTION)
    pairs = [pair.partition("=") for pair in link.split("&")]
    spoilt = {
        "an entity for each &": html.escape(link),
        "an entity for that": html.escape(html.escape(link)),
        "semicolons": link.replace("&", ";"),
        "values encoded twice": "&".join(f"{name}={quote(text)}" for name, _, text in pairs),
        "all encoded twice": quote(link),
        "all but the signs between": quote(link, safe="=&"),
        "an & at its end": f"{link}&amp;",
        **{
            f"{sign} behind it": link + sign for sign in (".", ")", ">", ",", '"', "'", "]", "…", " ", "%20", "),", "&")
        },
    }
    for how, other in spoilt.items():
        assert other != link
        assert url_codec.open_link(other, Config, Selection) == ((CONFIG, SELECTION), []), how


def test_what_nothing_happened_to_stays_as_it_is() -> None:
    names = url_codec.labels(Config, Selection)
    query = parameters(url_codec.query_string(CONFIG, SELECTION))
    assert link_check.heal(query, names) == query
    by_hand = {"sentence": ["fish%20; mask=none; cat"], "other;mask": ["1"], "embed": ["true"]}
    assert link_check.heal(by_hand, names) == by_hand


@pytest.mark.slow
def test_signs_by_the_million_take_no_longer_than_one_pass() -> None:
    names = url_codec.labels(Config, Selection)
    for text in (";" * 1_000_000, ";a=" * 300_000, ";mask=" * 100_000):
        assert len(link_check.heal({"v": f"2{text}"}, names)) <= len(names)
    assert link_check.heal({"amp;" * 5_000_000 + "mask": "causal"}, names) == {"mask": "causal"}  # hours, one by one
