"""The fingerprints that prove a change of the code to change no file must be the same twice, and tell files apart."""

from __future__ import annotations

import pytest

from attnviz.exports.formats import FORMATS
from tests.support import rendered


def test_the_links_are_as_many_as_asked_for_and_the_same_every_time() -> None:
    links = rendered.links()
    assert len(links) == len(set(links)) == rendered.HOW_MANY
    assert links == rendered.links()
    assert links != rendered.links(seed=2)


@pytest.mark.slow
def test_every_kind_of_file_has_the_same_fingerprint_twice() -> None:
    [link] = rendered.links(1)
    first, second = dict(rendered.files(link)), dict(rendered.files(link))
    assert first == second
    assert first.keys() == {"link", *FORMATS, "handout"}


@pytest.mark.slow
def test_another_setting_has_another_fingerprint_in_every_kind() -> None:
    one, other = (dict(rendered.files(f"v=1&seed={seed}")) for seed in (1, 2))
    same = {kind for kind in one if one[kind] == other[kind] and not str(one[kind]).startswith("missing: ")}
    assert same == set()
