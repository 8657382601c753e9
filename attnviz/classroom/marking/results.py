"""Results for a teacher: the table of submissions with the marks of each row, in the same dialect of CSV."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from attnviz.classroom.marking import coded_answers, grading
from attnviz.classroom.marking.assignments import Assignment, normalised_name
from attnviz.classroom.marking.grade_scale import Scale
from attnviz.classroom.marking.grading import GradedSubmission
from attnviz.classroom.marking.question_notes import MOST_POINTS
from attnviz.classroom.marking.submissions import Table
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.exports import tables
from attnviz.exports.tables import guarded
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words, current_language
from attnviz.text.format.number_format import DECIMAL_COMMA
from attnviz.text.format.sentence_parts import plain

DIALECTS: dict[str, tuple[str, bool]] = {"came": ("", False), "semicolon": (";", True), "comma": (",", False)}
"""The separator of a table to save and whether its numbers have a comma; of the first, those of the table that came."""

WORDS = Words(
    {
        "name": "name",
        "code": "code handed in",
        "which": "{n} of {all}",
        "again": "handed in again below; only the last counts",
        "points": "{text} is not a list of points; write {n} numbers from 0 to {most:g}, such as {example}",
    }
)


def read_points(text: str, n: int, given: Sequence[float] = ()) -> tuple[float, ...]:
    """Return the points of n questions out of a line; those of the assignment, or one for each, if nothing is written.

    Raises ConfigError in one sentence for anything else.

    >>> read_points("2 1; 0,5", 3), read_points("", 2)
    ((2.0, 1.0, 0.5), (1.0, 1.0))
    """
    parts = text.replace(";", " ").replace(", ", " ").split()
    try:
        points = tuple(float(part.replace(",", ".")) for part in parts)
    except ValueError:
        points = (-1.0,)
    if not parts:
        return tuple(given) or (1.0,) * n
    if len(points) != n or not all(0 <= each <= MOST_POINTS for each in points):
        example = " ".join("1" * n)
        raise ConfigError(WORDS["points"].format(text=guarded(text[:40]), n=n, most=MOST_POINTS, example=example))
    return points


def which(names: Sequence[str], numbers: Sequence[str], again: Collection[str] = ()) -> list[str]:
    """Return what tells each row from others of its name: its number or address, else its place among them.

    It is empty where no other row has the name, and for those of `again`, whose rows are of one student.

    >>> which(["Ada King", "Bob", "ada king", "Ada King"], ["", "", "", "17"])
    ['1 of 3', '', '2 of 3', '17']
    """
    keys, seen = list(map(normalised_name, names)), Counter[str]()
    all_of, one = Counter(keys), set(map(normalised_name, again))
    found = list[str]()
    for key, number in zip(keys, numbers, strict=True):
        seen[key] += 1
        place = "" if key in one else WORDS["which"].format(n=seen[key], all=all_of[key])
        found.append((number or place) if all_of[key] > 1 and key else "")
    return found


def only_last(graded: Sequence[GradedSubmission], told: Sequence[str]) -> list[GradedSubmission]:
    """Return the submissions with a note on every valid one that its student handed in again further down.

    told  what tells each from others of the same name, as `which` has it
    """
    who = [(normalised_name(each.name), other) for each, other in zip(graded, told)]
    last = {student: at for at, (student, each) in enumerate(zip(who, graded)) if not each.problem}
    return [
        replace(each, which=told[at], note=WORDS["again"] if not each.problem and last[who[at]] != at else each.note)
        for at, each in enumerate(graded)
    ]


def with_given(each: GradedSubmission, given: Mapping[int, float]) -> GradedSubmission:
    """Return a submission with the points that a teacher gave for answers in own words, by the index of the question.

    What was left empty gets none: it needs no reading.
    """
    if each.problem or not given:
        return each
    return replace(each, given=tuple(given.get(n) for n in range(len(each.right))))


def all_or_nothing(each: GradedSubmission) -> GradedSubmission:
    """Return a submission without the points of answers that are right only in part."""
    return replace(each, share=tuple(float(bool(right)) for right in each.right))


def counted(graded: Sequence[GradedSubmission]) -> list[GradedSubmission]:
    """Return the valid submissions that count: those that `only_last` put no note on."""
    return [each for each in graded if not each.problem and not each.note]


def csv_text(
    table: Table,
    task: Assignment,
    graded_codes: Sequence[GradedSubmission],
    points: Sequence[float],
    dialect: str = "came",
    scale: Scale = (),
) -> str:
    """Return the table that came in with the columns of `grading.table` after its own, a row for each row.

    Cells that a spreadsheet would take for formulas get an apostrophe; numbers have the decimal sign that goes with
    the separator. A mark at the start tells the encoding to spreadsheets.

    dialect  a row of DIALECTS: a platform wants its own back, and a spreadsheet that of its country
    scale    of grades, where there is to be one
    """
    separator, has_comma = DIALECTS[dialect]
    if not separator:
        separator = table.separator or (";" if current_language() in DECIMAL_COMMA else ",")
        has_comma = separator == ";" or (separator == "\t" and current_language() in DECIMAL_COMMA)
    graded = grading.table(task, graded_codes, points, scale)
    head = list(table.head) if table.head else [WORDS["name"], WORDS["code"]]
    width = max([len(head), *(len(entry.cells) for entry in table.entries)])
    head += [""] * (width - len(head))
    columns = [name for name in graded.columns if name not in (grading.WORDS["name"], grading.WORDS["code"])]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\r\n")
    writer.writerow([guarded(cell) for cell in [*head, *columns]])
    for entry, row in zip(table.entries, graded[columns].itertuples(index=False)):
        cells = [*entry.cells, *[""] * (width - len(entry.cells)), *row]
        writer.writerow([_cell(cell, has_comma) for cell in cells])
    return "\ufeff" + text.getvalue()


def _cell(cell: object, has_comma: bool) -> str:
    if isinstance(cell, float):
        text = f"{cell:.12g}"
        return text.replace(".", ",") if has_comma else text
    return guarded(str(cell))


def answer_table(
    task: Assignment, name: str, code: str, questions: Sequence[ResolvedQuestion | str], numbers: Sequence[int]
) -> pd.DataFrame:
    """Return a student's own table: every question, what was answered, and, if that may be said, whether it is right.

    Its columns are called alike in every language, as files are read by their names.
    """
    rows, names = [], grading.WORDS.english
    for ask, answer in zip(questions, numbers):
        row: dict[str, str | float] = {names["name"]: name, names["code"]: code}
        row |= {names["question"]: "" if isinstance(ask, str) else plain(ask.words)}
        row |= {names["given"]: "" if isinstance(ask, str) else coded_answers.answer_text(ask, answer)}
        if task.task_feedback and (isinstance(ask, str) or ask.form != "text"):
            row["right"] = grading.WORDS[
                "right" if not isinstance(ask, str) and coded_answers.is_right(ask, answer) else "wrong"
            ]
        rows.append(row)
    return pd.DataFrame(rows)


def answer_files(task: Assignment, frame: pd.DataFrame) -> dict[str, str]:
    """Return the table as files, by their endings."""
    content = {grading.WORDS.english["assignment"]: task.task_title, "answers": frame.to_dict("records")}
    return {"csv": tables.csv(frame), "json": json.dumps(content, ensure_ascii=False, indent=1)}
