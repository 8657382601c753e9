"""What a head mostly does, against matrices whose answer can be seen."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attnviz.analysis.head_kinds import FEWEST_KEYS, KINDS, HeadKind, head_kinds, in_order
from attnviz.text import head_sentences
from tests.support.cases import for_each

N = 6
EYE = np.eye(N)
PREVIOUS, NEXT = np.eye(N, k=-1), np.eye(N, k=1)
PREVIOUS[0, 0] = NEXT[-1, -1] = 1.0
FIRST, FOURTH = np.zeros((N, N)), np.zeros((N, N))
FIRST[:, 0] = FOURTH[:, 3] = 1.0
SPREAD = np.full((N, N), 1 / N)
HEADS = {"spread": SPREAD, "word": FOURTH, "first": FIRST, "next": NEXT, "self": EYE, "previous": PREVIOUS}


@for_each("kind", HEADS)
def test_a_head_that_does_one_thing_is_of_that_kind(kind: str) -> None:
    (found,) = head_kinds(HEADS[kind][None])
    assert found.kind == kind
    assert found.share == pytest.approx(1 / N if kind == "spread" else 1.0)
    assert found.keys == pytest.approx(N if kind == "spread" else 1.0)


def test_a_mixture_is_of_the_kind_that_has_most_and_the_word_is_found() -> None:
    (found,) = head_kinds((0.6 * PREVIOUS + 0.4 * SPREAD)[None])
    assert (found.kind, found.share) == ("previous", pytest.approx(0.6 + 0.4 / N))
    (found,) = head_kinds((0.3 * FOURTH + 0.7 * SPREAD)[None])
    assert (found.kind, found.key, found.share) == ("word", 3, pytest.approx(0.3 + 0.7 / N))


def test_over_another_sentence_there_is_no_previous_token() -> None:
    assert head_kinds(PREVIOUS[None], is_self=False)[0].kind in ("word", "spread")
    assert head_kinds(np.ones((1, 2, FEWEST_KEYS - 1)))[0].kind == "spread"


def test_rows_with_nothing_and_odd_numbers_do_no_harm() -> None:
    weights = PREVIOUS.copy()
    weights[0] = 0.0
    weights[1, 4] = np.nan
    assert head_kinds(weights[None])[0].kind == "previous"
    assert head_kinds(np.zeros((1, N, N)))[0] == HeadKind(0, "spread", 0.0, 0, 0.0)


def test_heads_are_sorted_by_kind_the_clearest_first() -> None:
    found = in_order(head_kinds(np.stack([*HEADS.values(), 0.7 * PREVIOUS + 0.3 * SPREAD])))
    assert [each.kind for each in found] == ["previous", *(kind for kind in KINDS if kind in HEADS)]
    assert [each.head for each in found][:2] == [5, 6]


def test_a_head_whose_rows_all_read_one_noun_goes_to_that_word_and_from_no_article() -> None:
    tokens = ["the", "big", "cat", "sat", "on", "a", "big", "mat"]
    A = np.full((2, 8, 8), 0.01)
    A[0, :, 2] = 0.9  # every row, those of articles among them
    A[0, 5, 7] = 0.5
    A[1, :, 4] = 0.9
    A[1, [0, 5]] = 0.01
    A[1, [0, 5], [2, 7]] = 0.9  # articles alone
    assert [found.kind for found in head_kinds(A, tokens=tokens)] == ["word", "article"]


def test_a_head_whose_rows_have_no_shares_is_of_no_kind() -> None:
    signed = np.array([[1.0, -1.0 + 2e-16], [-1e-17, 1e-17]])
    mixed = np.array([[0.25, 0.75], [0.5, -0.5]])
    for weights, has_shares in ((signed, False), (np.zeros((2, 2)), False), (mixed, True)):
        (found,) = head_kinds(weights[None])
        assert found.has_shares == has_shares
        assert 0 <= found.share <= 1
        assert not re.search(r"\d%|inf", " ".join(head_sentences.lines(found, "word", 2)))
