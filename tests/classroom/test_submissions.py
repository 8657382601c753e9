"""Names and codes out of tables and pasted lines, whatever program wrote them; no row stops the others."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz.classroom.marking import answer_codes, submissions
from attnviz.classroom.marking.submissions import Table
from attnviz.settings.faults import ConfigError
from tests.support.cases import for_each

PAIRS = [("Ada L", "34-67"), ("Bob", "99A")]
ONE, TWO = (answer_codes.with_checksum((0, *range(n, n + 11))) for n in (1, 5))
UMLAUTS = [("Zoë Müller", ONE), ("Jörg Weiß", TWO)]


def pairs(table: Table) -> list[tuple[str, str]]:
    return [(entry.names[0] if entry.names else "", entry.code) for entry in table.entries]


@for_each(
    "text",
    [
        "Ada L,34-67\nBob,99A",
        "Ada L\t34-67\r\nBob\t99A\r\n",
        "Ada L;34-67\n\n;\nBob;99A",
        "Ada L 34-67\nBob 99A",
        "Ada L,34-67\nBob\t99A",
        "\ufeffName,Code\nAda L,34-67\nBob,99A",
        'code,mark,student\n34-67,1,"Ada L"\n99A,2,Bob',
        "sep=;\nName;Code\nAda L;34-67\nBob;99A",
        '"sep=,"\nName,Code\nAda L,34-67\nBob,99A',
        "sep=;\nAda L;34-67\nBob;99A",
    ],
)
def test_names_and_codes_are_found(text: str) -> None:
    assert pairs(submissions.from_text(text)) == PAIRS


@for_each("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
@for_each("separator", [",", ";", "\t"])
def test_a_class_list_is_read_in_the_encodings_of_spreadsheets(encoding: str, separator: str) -> None:
    lines = [["Name", "Ergebniscode"], *map(list, UMLAUTS)]
    text = "\r\n".join(separator.join(line) for line in lines) + "\r\n"
    data = ("\ufeff" if encoding == "utf-16-le" else "").encode(encoding) + text.encode(encoding)
    assert pairs(submissions.from_file(data)) == UMLAUTS


@for_each("encoding", ["utf-8", "utf-16", "gb18030", "gbk", "gb2312"])
def test_a_chinese_class_list_is_read_in_the_encodings_of_spreadsheets(encoding: str) -> None:
    text = "学号,姓名,代码\r\n17,李明,34-67\r\n18,欧阳娜娜,99A\r\n"
    found = submissions.from_file(text.encode(encoding)).entries
    assert [(entry.names[0], entry.number, entry.code) for entry in found] == [
        ("李明", "17", "34-67"),
        ("欧阳娜娜", "18", "99A"),
    ]


@for_each("name", ["Größl", "NÚÑEZ", "Élodie Çelik", "MUÑÍZ", "Zoë Müßig", "GRÖSSER ÄÖÜ", "Ana Güell", "Łukasz"[1:]])
def test_a_western_list_is_not_taken_for_a_chinese_one(name: str) -> None:
    found = submissions.from_file(f"Name;Code\r\n{name};34-67".encode("cp1252")).entries
    assert [(entry.names[0], entry.code) for entry in found] == [(name, "34-67")]


@for_each(
    "head, row, names",
    [
        ("First name,Surname,ID number,Email address,Response 1", "Zoë,Müller,0042,z@x.org,{}", ["Zoë Müller", "0042"]),
        ("Vorname;Nachname;Matrikelnummer;Antwort 1", "Zoë;Müller;0042;{}", ["Müller, Zoë", "z"]),
        ("Nachname;Vorname;Ergebniscode", "Müller;Zoë;{}", ["Zoë Müller", "Müller Zoë", "Müller, Zoë"]),
        ("Name;Vorname;Abgabe", "Müller;Zoë;{}", ["Zoë Müller"]),
        ("Nombre;Apellido(s);Respuesta 1", "Zoë;Müller;{}", ["Zoë Müller", "Müller, Zoë"]),
        ("Nombre;Código", "Zoë Müller;{}", ["Zoë Müller"]),
        ("姓氏;名;学号;提交", "李;明;007;{}", ["李明", "明 李"]),
        ("姓名;结果代码", "李明;{}", ["李明"]),
        (
            "Student,ID,SIS User ID,SIS Login ID,Section,Code",
            '"Müller, Zoë",7,0042,zm,A,{}',
            ["Müller, Zoë", "Zoë Müller", "zm", "7"],
        ),
        ("Vollständiger Name\tE-Mail-Adresse\tTexteingabe online", "Zoë Müller\tz@x\t<p>{}</p>", ["Zoë Müller", "z@x"]),
        ("Matrikelnr.;Code", "42;{}", ["42", "0042", "0000000042"]),
        ("Name;Mark;Remark", "Zoë;1;{}", ["Zoë"]),
        ("Name;Code", "Zoë Müller (0042);{}", ["Zoë Müller", "0042"]),
        ("Name;Code", "Weiß Jörg Alexander;{}", ["Jörg Alexander Weiß"]),
        ("Timestamp,Email Address,Your name,Your code", "1 May,z@x,Zoë Müller,{}", ["z@x", "Zoë Müller"]),
        ("Zeitstempel,Wie heißt du?,Code aus der Aufgabe", '1.5.2026,"Müller, Zoë",{}', ["Zoë Müller"]),
        ("ID;Startzeit;E-Mail;Name;Dein Name;Code", "1;9:00;anonymous;;Zoë Müller;{}", ["Zoë Müller"]),
        ("name,id,sis_id,attempt,77: Paste your code,1.0,score", "Zoë Müller,9,0042,1,{},1.0,1.0", ["Zoë Müller"]),
    ],
)
def test_headings_of_learning_platforms_say_which_column_is_which(head: str, row: str, names: list[str]) -> None:
    (entry,) = submissions.from_text(f"{head}\n{row.format(ONE)}").entries
    assert entry.code == ONE
    assert set(names) - {"z"} <= set(entry.names)


def test_a_row_of_a_gradebook_that_is_no_student_is_left_out() -> None:
    text = f'Student,ID,Code\n    Points Possible,,\n"Müller, Zoë",7,{ONE}\n"Student, Test",,\nGesamtdurchschnitt,,\n'
    assert pairs(submissions.from_text(text)) == [("Müller, Zoë", ONE)]


@for_each("cell", ["{}", "<p>{}</p>", '<p dir="ltr">{}&nbsp;<br></p>', "<p>{}<br></p><p></p>", "\xa0{}\u200b"])
def test_a_code_is_found_in_what_an_editor_puts_around_it(cell: str) -> None:
    for code in (ONE, ONE.replace("-", "\u2011"), ONE.replace("-", "\u2212\xad")):
        (entry,) = submissions.from_text(f"Vollständiger Name,Texteingabe online\nZoë,{cell.format(code)}").entries
        assert answer_codes.without_checksum(entry.code) == answer_codes.without_checksum(ONE)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_any_spreadsheet_ends_them(end: str) -> None:
    text = end.join(["Name,Code", *(",".join(each) for each in UMLAUTS), ""])
    assert pairs(submissions.from_file(text.encode())) == UMLAUTS


def test_a_first_line_with_a_code_is_no_heading() -> None:
    assert pairs(submissions.from_text(f"Zip Code,{ONE}\nBob,{TWO}")) == [("Zip Code", ONE), ("Bob", TWO)]


UNKNOWN = [["Wer", "Gruppe", "Lösung"], *([name, "A", code] for name, code in UMLAUTS)]
"""A class list under headings none of which is known."""


@for_each("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@for_each("separator", [",", ";", "\t"])
@for_each("is_declared", [False, True])
def test_unknown_headings_above_codes_are_no_row_and_those_expected_are_said(
    encoding: str, separator: str, is_declared: bool
) -> None:
    declared = f"sep={separator}\r\n" if is_declared else ""
    data = (declared + "\r\n".join(map(separator.join, UNKNOWN)) + "\r\n").encode(encoding)
    table = submissions.from_file(data)
    assert (pairs(table), table.head, table.separator) == (UMLAUTS, ("Wer", "Gruppe", "Lösung"), separator)
    assert table.doubt.startswith(
        "None of the headings 'Wer', 'Gruppe', 'Lösung' is known; expected are headings such as name"
    )
    assert "'Lösung' for the codes" in table.doubt
    as_told = submissions.from_file(data, has_head=False)
    assert [entry.cells[0] for entry in as_told.entries] == ["Wer", "Zoë Müller", "Jörg Weiß"]
    assert (as_told.head, as_told.doubt) == ((), "")


@pytest.mark.parametrize(
    "head", ["Lösung;Wer;Gruppe", "Task 12;Wer;Gruppe", "Paste it here (all of it);Who are you?;Group"]
)
def test_unknown_headings_are_found_in_any_order(head: str) -> None:
    lines = [head, *(f"{code};{name};A" for name, code in UMLAUTS)]
    table = submissions.from_text("\n".join(lines))
    assert [(entry.names[0], entry.code) for entry in table.entries] == UMLAUTS
    assert table.head == tuple(head.split(";"))


@pytest.mark.parametrize("text", ["Name Code\nAda {0}\nBob {1}", "Name   Code\r\nAda   {0}\r\nBob   {1}\r\n"])
def test_known_headings_with_spaces_between_them_are_no_row(text: str) -> None:
    table = submissions.from_text(text.format(ONE, TWO))
    assert (pairs(table), table.doubt) == ([("Ada", ONE), ("Bob", TWO)], "")


@for_each("head", ["Name;Group", "Surname;First name", "Vorname;Name;Lösung", "Student;Kurs;"])
def test_a_table_whose_codes_are_all_spoilt_has_no_row_of_headings_and_says_which_is_missing(head: str) -> None:
    cells = ["x"] * head.count(";")
    table = submissions.from_text("\n".join([head, ";".join(["Ada", *cells]), ";".join(["Bob", *cells])]))
    assert len(table.entries) == 2
    assert table.head == tuple(head.split(";"))
    assert "expected is one such as code, result, response or submission. No column holds a valid code" in table.doubt


@for_each(
    "first",
    [
        *("Ada,34-67", "Ada,", ",34-67", "Ada", "Ada L", "Ada,-", "Ada,K3RT-YX"),
        *("ada@x.org,forgotten", "0012345,forgotten", "Ada,Ada", "Ada no code", "Ada Code"),
    ],
)
def test_a_first_row_with_a_spoilt_code_or_none_is_a_student(first: str) -> None:
    table = submissions.from_text(f"{first}\nBob,{TWO}\nEve,{ONE}")
    assert [entry.code for entry in table.entries][1:] == [TWO, ONE]
    assert (table.head, table.doubt) == ((), "")


def test_words_above_few_codes_are_a_row_as_any_other() -> None:
    lines = ["Ada,sorry", "Cleo,lost it", "Dan,what code", f"Bob,{TWO}"]
    table = submissions.from_text("\n".join(lines))
    assert [entry.names[0] for entry in table.entries] == ["Ada", "Cleo", "Dan", "Bob"]
    assert table.doubt == ""


def test_one_bad_row_stops_no_other() -> None:
    text = f'name,code\nAda,{ONE}\nCleo\n"Mac; Donald",{TWO}\n,{ONE}\nEve,\n'
    found = submissions.from_text(text).entries
    assert [entry.code for entry in found] == [ONE, "", TWO, ONE, ""]
    assert [entry.names[:1] for entry in found] == [("Ada",), ("Cleo",), ("Mac; Donald",), (), ("Eve",)]


def test_the_cells_stay_as_they_came_with_their_headings_and_zeros() -> None:
    table = submissions.from_text(f"Matrikelnummer;Name;Code\n0012345;Zoë;{ONE}")
    assert (table.head, table.separator) == (("Matrikelnummer", "Name", "Code"), ";")
    assert table.entries[0].cells == ("0012345", "Zoë", ONE)


def test_a_quotation_mark_that_is_never_closed_spoils_no_more_than_its_row() -> None:
    assert pairs(submissions.from_text(f'Ada "L,{ONE}\nBob,{TWO}')) == [("Ada L", ONE), ("Bob", TWO)] or [
        code for _, code in pairs(submissions.from_text(f'Ada "L,{ONE}\nBob,{TWO}'))
    ] == [ONE, TWO]


def test_a_file_may_begin_with_a_mark_and_holds_what_spreadsheets_guard() -> None:
    found = submissions.from_file("\ufeffname,code\n'=1+1,34\n'tis,67\n".encode()).entries
    assert [(entry.names[0], entry.code) for entry in found] == [("=1+1", "34"), ("'tis", "67")]
    assert "'=1+1" in found[0].names


def test_a_name_may_be_of_any_length() -> None:
    (entry,) = submissions.from_text(f"{'a' * 300},{ONE}").entries
    assert {"a" * 300, "a" * 80} <= set(entry.names)


@for_each(
    "data, message",
    [
        (b"PK\x03\x04zip", "archive of NumPy"),
        (b'{"a": 1}', "the file is JSON"),
        (b"name\x00\xff,code", "not readable text"),
        (b"a,b\n" * 501, "501 rows"),
        (b"a" * 500_001, "500,001 bytes"),
    ],
)
def test_a_file_that_is_no_table_is_refused_in_a_sentence(data: bytes, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        submissions.from_file(data)


@pytest.mark.slow
@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace")))
def test_any_file_is_read_or_refused(data: bytes) -> None:
    with suppress(ConfigError):
        found = submissions.from_file(data)
        assert all(isinstance(part, str) for entry in found.entries for part in (*entry.names, entry.code))


@given(st.text("\"';,\tab=\n\r", max_size=60))
def test_any_lines_are_read(text: str) -> None:
    assert len(submissions.from_text(text).entries) <= text.count("\n") + text.count("\r") + 1


def test_nothing_is_nothing() -> None:
    assert submissions.from_text(" \n\t\n").entries == ()
