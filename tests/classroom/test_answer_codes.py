"""Codes: what goes in comes out, and nothing that a person mistypes passes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.classroom.marking import answer_codes
from attnviz.classroom.marking.answer_codes import BASE, SIGNS
from attnviz.settings.faults import ConfigError
from tests.support.cases import for_each

LIKE = ("0ODQ", "1IL", "2Z", "5S", "8B", "UV")


@given(st.lists(st.integers(0, BASE - 1), max_size=60))
def test_what_is_sealed_opens(signs: list[int]) -> None:
    assert answer_codes.without_checksum(answer_codes.with_checksum(signs)) == tuple(signs)


@pytest.mark.slow
@given(st.lists(st.integers(0, 10**15), max_size=9))
def test_numbers_of_any_size_come_back(numbers: list[int]) -> None:
    assert answer_codes.decode_free([sign for number in numbers for sign in answer_codes.encode_free(number)]) == tuple(
        numbers
    )


@given(st.integers(0, BASE**5 - 1))
def test_numbers_of_fixed_size_come_back(number: int) -> None:
    signs = answer_codes.encode_fixed(number, 5)
    assert (len(signs), answer_codes.decode_fixed(signs)) == (5, number)


def test_every_single_mistyped_sign_is_found_and_every_swap_of_neighbours() -> None:
    code = answer_codes.with_checksum((*range(BASE), *range(5), 3, 3, 19)).replace("-", "")
    for at, sign in enumerate(code):
        for other in SIGNS:
            if other != sign:
                with pytest.raises(ConfigError, match="mistyped"):
                    answer_codes.without_checksum(code[:at] + other + code[at + 1 :])
        swapped = code[:at] + code[at : at + 2][::-1] + code[at + 2 :]
        if swapped != code:
            with pytest.raises(ConfigError, match="mistyped"):
                answer_codes.without_checksum(swapped)


def test_no_two_signs_look_alike() -> None:
    assert len(set(SIGNS)) == BASE == 23
    assert all(len(set(SIGNS) & set(alike)) <= 1 for alike in LIKE)


def test_small_letters_and_any_grouping_are_read() -> None:
    code = answer_codes.with_checksum((4, 8, 15, 16, 22))
    assert answer_codes.without_checksum(f"  {code.lower().replace('-', ' – ')}\n") == (4, 8, 15, 16, 22)


@for_each(
    "text, message",
    [("", "no code"), (" - ", "no code"), ("34O6", "'O'"), ("3" * 9_000, "9,000"), ("Ж3", "Ж"), ("3", "mistyped")],
)
def test_what_is_no_code_is_refused_in_a_sentence(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        answer_codes.without_checksum(text)


def test_a_number_that_does_not_end_is_refused() -> None:
    with pytest.raises(ConfigError, match="ends too early"):
        answer_codes.decode_free((3, 11))
    with pytest.raises(ConfigError, match="mistyped"):
        answer_codes.decode_free((22, 1))


def test_what_does_not_fit_is_a_fault_of_the_caller() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        answer_codes.encode_fixed(BASE**2, 2)
    with pytest.raises(ValueError, match="below 0"):
        answer_codes.encode_free(-1)
