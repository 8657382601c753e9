"""Names and codes out of tables and pasted lines, hostile ones refused in a sentence."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.core.fields import ConfigError
from attnviz.views import handed_in

PAIRS = [("Ada L", "34-67"), ("Bob", "99A")]


@pytest.mark.parametrize(
    "text",
    [
        "Ada L,34-67\nBob,99A",
        "Ada L\t34-67\r\nBob\t99A\r\n",
        "Ada L;34-67\n\n;\nBob;99A",
        "Ada L 34-67\nBob 99A",
        "\ufeffName,Code\nAda L,34-67\nBob,99A".lstrip("\ufeff"),
        'code,mark,student\n34-67,1,"Ada L"\n99A,2,Bob',
    ],
)
def test_names_and_codes_are_found(text: str) -> None:
    assert handed_in.of_text(text) == PAIRS


def test_a_file_may_begin_with_a_mark_and_holds_what_spreadsheets_guard() -> None:
    assert handed_in.of_file("\ufeffname,code\n'=1+1,34\n'tis,67\n".encode()) == [("=1+1", "34"), ("'tis", "67")]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04zip", "archive of NumPy"),
        (b'{"a": 1}', "the file is JSON"),
        ("näme,code".encode("utf-16"), "UTF-8"),
        (b'a,"b\nc,d', "near row 1"),
        (b"name\nAda,34\n", "row 1 has no code"),
        (b"a,b\n" * 502, "502 rows"),
        (b"a" * 500_001, "500,001 bytes"),
    ],
)
def test_a_file_that_is_no_table_is_refused_in_a_sentence(data: bytes, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        handed_in.of_file(data)


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace")))
def test_any_file_is_read_or_refused(data: bytes) -> None:
    with suppress(ConfigError):
        assert all(isinstance(part, str) for pair in handed_in.of_file(data) for part in pair)


def test_nothing_is_nothing() -> None:
    assert handed_in.of_text(" \n\t\n") == []
