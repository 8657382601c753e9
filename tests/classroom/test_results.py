"""What a teacher takes back: the table that came in, with marks, points and notes, safe for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from attnviz import Config, run
from attnviz.classroom import question_codec
from attnviz.classroom.marking import assignments, coded_answers, grade_scale, grading, results, submissions
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.marking.grading import GradedSubmission
from attnviz.classroom.marking.submissions import Table
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.exports.tables import FORMULA_STARTS
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import LANGUAGES, set_language
from tests.support.cases import for_each

CONFIG = Config(sentence="one two three four", n_heads=2, d_k=3, d_v=2)
ITEMS = (
    question_codec.item("weight", {"head": 2, "query": 4, "key": 3}),
    question_codec.item("size", {"whole": "scores"}),
    question_codec.item("highest_key", {"head": 1, "query": 3}),
)
TASK = Assignment(task_questions=ITEMS)
DIGEST = assignments.digest(CONFIG, TASK)
FIRST = "1. Head 2: what is the weight that “four” gives “three”?"


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    set_language("en")


def code(name: str, right: Sequence[bool] = (True, True, True)) -> str:
    found = assignments.resolved_questions(TASK, run(assignments.of_student(CONFIG, TASK, name)))
    numbers = []
    for ask, good in zip(found, right):
        assert isinstance(ask, ResolvedQuestion)
        other = tuple({*range(len(ask.options))} - ask.right)[:1] if ask.options else ask.value + 1
        numbers.append(coded_answers.encode(ask, (tuple(ask.right) if ask.options else ask.value) if good else other))
    return grading.answer_code(DIGEST, name, numbers)


def marked(table: Table) -> list[GradedSubmission]:
    pairs = [(grading.made_under(DIGEST, entry.names, entry.code), entry.code) for entry in table.entries]
    return list(grading.grade_all(CONFIG, TASK, pairs))


def told(table: Table, again: Sequence[str] = ()) -> list[str]:
    return results.which([each.name for each in marked(table)], [entry.number for entry in table.entries], again)


def rows(text: str, separator: str) -> list[dict[str, str]]:
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text[1:]), delimiter=separator))


def test_every_row_has_its_own_verdict_under_any_name_that_the_table_gives() -> None:
    lines = [
        "First name,Surname,ID number,Response 1",
        f"Zoë,Müller,42,{code('0042')}",  # the zeros were taken away by a spreadsheet
        f"Ada,Lovelace,7,{code('Lovelace, Ada')}",
        "Cleo",
        f"Bob,Ross,9,{code('Eve')}",
        f"Max,Born,8,{code('max BORN', (True, False, True))}",
    ]
    found = marked(submissions.from_text("\n".join(lines)))
    assert [each.problem == "" for each in found] == [True, True, False, False, True]
    assert [each.score for each in found] == [3, 3, 0, 0, 2]
    assert "another name" in found[3].problem
    assert found[2].problem


def test_the_table_comes_back_with_its_columns_and_the_marks_after_them() -> None:
    text = f"Matrikelnummer;Nachname;Vorname;Ergebniscode\n0012345;Müller;Zoë;{code('Zoë Müller')}\n007;Bond;James;x\n"
    table = submissions.from_text(text)
    back = results.csv_text(table, TASK, marked(table), (2.0, 1.0, 0.5))
    first, second = rows(back, ";")
    assert (first["Matrikelnummer"], first["Nachname"], first["Vorname"]) == ("0012345", "Müller", "Zoë")
    assert (first["valid"], first["score"], first["of"]) == ("yes", "3", "3")
    assert (first["points"], first["of points"]) == ("3,5", "3,5")
    value = assignments.resolved_questions(TASK, run(assignments.of_student(CONFIG, TASK, "Zoë Müller")))[0].value  # type: ignore[union-attr]
    assert float(first[FIRST].replace(",", ".")) == pytest.approx(value, abs=0.0001)
    assert "," in first[FIRST]
    assert (second["Matrikelnummer"], second["points"]) == ("007", "")
    assert second["valid"] not in ("", "yes")
    again = submissions.from_file(back.encode())
    assert [each.problem == "" for each in marked(again)] == [True, False]


def test_a_table_with_commas_has_points_in_its_numbers() -> None:
    table = submissions.from_text(f"name,code\nAda,{code('Ada')}")
    (row,) = rows(results.csv_text(table, TASK, marked(table), (1.0, 1.0, 1.0)), ",")
    assert "." in row[FIRST]
    assert "points" not in row


def test_a_table_of_a_platform_comes_back_for_a_spreadsheet_of_another_country() -> None:
    table = submissions.from_text(f"name,code\nAda,{code('Ada')}")
    (row,) = rows(results.csv_text(table, TASK, marked(table), (), "semicolon"), ";")
    assert "," in row[FIRST]
    table = submissions.from_text(f"Name;Code\nAda;{code('Ada')}")
    (row,) = rows(results.csv_text(table, TASK, marked(table), (), "comma"), ",")
    assert "." in row[FIRST]
    assert row["Name"] == "Ada"


def test_pasted_lines_come_back_as_the_language_writes_tables() -> None:
    table = submissions.from_text(f"Ada {code('Ada')}")
    assert rows(results.csv_text(table, TASK, marked(table), ()), ",")[0]["code handed in"] == code("Ada")
    set_language("de")
    text = results.csv_text(table, TASK, marked(table), ())
    assert text.splitlines()[0].count(";") > 5
    assert "," in next(csv.reader(io.StringIO(text.splitlines()[1]), delimiter=";"))[6]


def test_who_hands_in_twice_is_flagged_and_counts_once() -> None:
    table = submissions.from_text(
        f"name,code\nAda,{code('Ada', (False, False, True))}\nBob,{code('Bob')}\nADA,{code('ada')}"
    )
    found = results.only_last(marked(table), told(table, again=["Ada"]))
    assert [bool(each.note) for each in found] == [True, False, False]
    assert [each.score for each in results.counted(found)] == [3, 3]
    assert rows(results.csv_text(table, TASK, found, ()), ",")[0]["note"] == results.WORDS["again"]


def test_a_question_that_says_code_is_no_column_of_codes() -> None:
    task = replace(TASK, task_words=("Which code is it?",))
    graded = list(grading.grade_all(CONFIG, task, [("Ada", code("Ada"))]))
    text = results.csv_text(submissions.from_text(f"Ada,{code('Ada')}"), task, graded, ())
    assert "1. Which code is it?" in text
    assert [entry.code for entry in submissions.from_text(text).entries] == [code("Ada")]


def test_two_of_one_name_are_two_and_their_number_tells_them_apart() -> None:
    lines = [
        "Name,ID number,Code",
        f"Ada King,17,{code('Ada King', (False, True, True))}",
        f"Ada King,42,{code('Ada King')}",
        f"Ada King,42,{code('Ada King', (True, True, False))}",
    ]
    table = submissions.from_text("\n".join(lines))
    found = results.only_last(marked(table), told(table))
    assert [bool(each.note) for each in found] == [False, True, False]
    assert [each.score for each in results.counted(found)] == [2, 2]
    assert grading.table(TASK, found)["which of this name"].tolist() == ["17", "42", "42"]


@for_each(
    "name, other", [("Ada King", "King, Ada"), ("李明", "李 明"), ("Zoë Müller", "Müller, Zoë"), ("José", "JOSÉ")]
)
def test_two_of_one_name_are_two_where_nothing_tells_them_apart_and_every_table_says_so(name: str, other: str) -> None:
    lines = [f"{name};{code(name)}", f"Bob;{code('Bob')}", f"{other};{code(name, (False, True, False))}", f"{name};x"]
    table = submissions.from_text("\n".join(lines))
    found = results.only_last(marked(table), told(table))
    assert len(results.counted(found)) == 3 - (other == "李 明")  # a name with a space is another one
    if other != "李 明":
        assert [each.which for each in found] == ["1 of 3", "", "2 of 3", "3 of 3"]
        assert [each.named for each in found][:2] == [f"{name} (1 of 3)", "Bob"]
        saved = rows(results.csv_text(table, TASK, found, ()), ";")
        assert [row["which of this name"] for row in saved] == ["1 of 3", "", "2 of 3", "3 of 3"]
        assert [row["score"] for row in saved] == ["3", "3", "1", ""]
    assert "which of this name" not in grading.table(TASK, [each for each in found if each.name == "Bob"])
    same = submissions.from_text(f"{name};{code(name)}\n{name};{code(name)}")
    assert len(results.counted(results.only_last(marked(same), told(same)))) == 2, "with the same answers as well"


def test_the_percentage_that_is_shown_has_the_grade_that_is_beside_it() -> None:
    """89.96 % is below 90 %, and would be printed as 90.0 with one digit."""
    points, scale = (8996.0, 1004.0, 0.0), grade_scale.read_scale("90 A; 80 B; 0 F")
    graded = list(grading.grade_all(CONFIG, TASK, [("Ada", code("Ada", (True, False, True)))]))
    for of, shown in ((scale, (89.96, "B")), ((), (90.0, None))):
        (row,) = grading.table(TASK, graded, points, of).to_dict("records")
        assert (row["percent"], row.get("grade")) == shown


def test_points_for_own_words_flow_into_sum_percent_and_grade() -> None:
    task = replace(TASK, task_questions=(*ITEMS, question_codec.item("own_words", {})))
    digest = assignments.digest(CONFIG, task)
    asked = assignments.resolved_questions(task, run(assignments.of_student(CONFIG, task, "Ada")))
    numbers = [
        coded_answers.encode(ask, tuple(ask.right) if ask.options else ask.value if ask.form == "number" else "so")
        for ask in asked
        if isinstance(ask, ResolvedQuestion)
    ]
    (found,) = grading.grade_all(CONFIG, task, [("Ada", grading.answer_code(digest, "Ada", numbers))])
    points = (1.0, 1.0, 2.0, 4.0)
    assert (found.points(points), found.most_points(points), found.percent(points)) == (4.0, 4.0, 100.0)
    given = results.with_given(found, {3: 2.5})
    assert (given.points(points), given.most_points(points), given.percent(points)) == (6.5, 8.0, 81.25)
    scale = grade_scale.read_scale(grade_scale.PRESETS["letters"])
    (row,) = grading.table(task, [given], points, scale).to_dict("records")
    assert (row["points"], row["of points"], row["percent"], row["grade"]) == (6.5, 8.0, 81.2, "B")
    assert row["question 4, points given"] == 2.5
    assert row["4. Explain your answer to the question before this one, in your own words."] == "so"
    assert results.with_given(replace(found, problem="x"), {3: 1.0}).given == ()


@for_each(
    "text", ["A", "90", "90 A; 90 B", "101 A", "nan A", "90 " + "A" * 25, "; ".join(f"{n} g{n}" for n in range(31))]
)
def test_a_scale_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        grade_scale.read_scale(text)


@for_each("language", list(LANGUAGES))
def test_each_scale_that_is_offered_can_be_read_and_begins_at_nothing(language: str) -> None:
    set_language(language)
    for name in grade_scale.OFFERED:
        scale = grade_scale.read_scale(grade_scale.preset(name))
        assert [low for low, _ in scale][-1:] == ([0.0] if scale else [])
        assert not scale or grade_scale.grade(0.0, scale) == scale[-1][1]


def test_what_a_row_does_not_have_stays_empty() -> None:
    table = submissions.from_text(f"name,code\nAda,{code('Ada')}\nBob,x\nADA,{code('ada')}\nEve,{code('Eve')}")
    found = results.only_last(marked(table), told(table, again=["ada"]))
    cells = grading.table(TASK, found, (2.0, 1.0, 1.0)).astype(str)
    assert cells[grading.WORDS["note"]].tolist() == [results.WORDS["again"], "", "", ""]
    assert cells[grading.WORDS["tries"]].tolist() == ["1", "", "1", "1"]
    assert "nan" not in results.csv_text(table, TASK, found, (2.0, 1.0, 1.0))


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_columns_of_marks_are_called_alike(language: str) -> None:
    set_language(language)
    (found,) = marked(submissions.from_text(f"Ada {code('Ada', (True, False, True))}"))
    (row,) = grading.table(TASK, [replace(found, note="again")], (2.0, 1.0, 1.0)).to_dict("records")
    assert len(row) == 4 + 4 + 2 * len(ITEMS) + 2
    assert row[grading.WORDS["score"]] == "2"
    assert row[grading.WORDS["points"]] == 3.0


def test_no_cell_that_goes_back_is_a_formula() -> None:
    table = submissions.from_text(f'name,=note,code\n"=cmd|x",+1,{code("=cmd|x")}\n@SUM,-2,z\n')
    text = results.csv_text(table, TASK, marked(table), ())
    cells = [cell for row in csv.reader(io.StringIO(text[1:])) for cell in row]
    assert [cell for cell in cells if cell.startswith(FORMULA_STARTS)] == []
    assert [each.problem == "" for each in marked(submissions.from_text(text))] == [True, False]


@for_each("text", ["1 2", "a b c", "1 1 -1", "1 1 101", "1 1 nan", "1,2,3,4 1"])
def test_points_that_do_not_fit_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="write 3 numbers from 0 to 100, such as 1 1 1"):
        results.read_points(text, 3)


def test_points_are_read_as_people_write_them() -> None:
    assert results.read_points("2; 1; 0,5", 3) == results.read_points("2, 1, 0.5", 3) == (2.0, 1.0, 0.5)
    assert results.read_points(" ", 3, (2.0, 1.0, 0.5)) == (2.0, 1.0, 0.5)


def test_five_hundred_forged_codes_of_one_student_are_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Config] = []

    def counted(config: Config) -> object:
        runs.append(config)
        return run(config)

    monkeypatch.setattr(grading, "run", counted)
    handed = [("Ada", grading.answer_code(DIGEST, "Ada", [1, n + 1, 1])) for n in range(500)]
    found = list(grading.grade_all(CONFIG, TASK, handed))
    assert [each.problem for each in found].count("") == 500
    assert len(runs) == 1


def test_marking_writes_no_arithmetic_and_finds_the_same() -> None:
    trace = run(CONFIG)
    worked, bare = (
        assignments.resolved_questions(TASK, trace),
        assignments.resolved_questions(TASK, trace, worked=False),
    )
    for one, other in zip(worked, bare):
        assert isinstance(one, ResolvedQuestion)
        assert isinstance(other, ResolvedQuestion)
        assert (one.value, one.right, one.options) == (other.value, other.right, other.options)
        assert other.lines == ()
    assert any(one.lines for one in worked if isinstance(one, ResolvedQuestion))
