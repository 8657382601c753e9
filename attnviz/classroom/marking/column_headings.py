"""Headings of the columns of a class list, in each language of the page, and what may be a heading at all."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attnviz.classroom.marking import answer_codes
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words
from attnviz.settings.plain_text import clean

FIRST = (
    *("first name", "firstname", "given name", "given names", "forename", "vorname", "vornamen"),
    *("nombre", "nombres", "nombre(s)", "nombre de pila", "名", "名字"),
)
LAST = (
    *("surname", "last name", "lastname", "family name", "nachname", "familienname"),
    *("apellido", "apellidos", "apellido(s)", "姓", "姓氏"),
)
FULL = (
    *("name", "student", "student name", "full name", "fullname", "vollständiger name", "schüler", "schülerin"),
    *("schüler/in", "schüler*in", "teilnehmer", "teilnehmerin", "teilnehmer/in", "teilnehmende", "studierende"),
    *("student/in", "studentin", "studierende/r", "display name", "anzeigename"),
    *("nombre completo", "nombre y apellidos", "apellidos y nombre", "estudiante", "alumno", "alumna", "participante"),
    *("姓名", "全名", "学生", "学生姓名", "显示名称"),
)
NUMBER = (
    *("id", "id number", "student id", "student number", "number", "sis user id", "sis login id", "login id", "login"),
    *("username", "user name", "orgdefinedid", "registration number", "email", "email address", "e-mail", "mail"),
    *("nummer", "nr", "nr.", "id-nummer", "matrikelnummer", "matrikel-nr.", "matrikelnr", "matrikelnr.", "matr.-nr."),
    *("anmeldename", "benutzername", "nutzername", "kennung", "e-mail-adresse", "e-mailadresse", "mailadresse"),
    *("número", "número de id", "número de identificación", "matrícula", "número de matrícula", "usuario", "correo"),
    *("nombre de usuario", "dni", "dirección de correo", "correo electrónico", "dirección de correo electrónico"),
    *("学号", "编号", "id 号", "id号", "用户名", "账号", "邮箱", "电子邮件", "电子邮件地址", "邮件地址"),
)
CODE = (
    *(
        "code",
        "result",
        "result code",
        "answer code",
        "submission",
        "response",
        "answer",
        "online text",
        "code handed in",
    ),
    *(
        "ergebniscode",
        "ergebnis-code",
        "ergebnis",
        "abgabecode",
        "abgabe",
        "antwort",
        "online-text",
        "texteingabe online",
    ),
    *("código", "código de resultado", "código de respuesta", "entrega", "respuesta", "resultado", "texto en línea"),
    *("代码", "结果代码", "答案代码", "提交", "回答", "答案", "结果", "在线文本"),
)
"""The headings of columns that are known, in small letters; a number after one is left out, as in Response 1."""

_ASKED = re.compile(r"\d+\. ")
"""How the heading of an answer begins in a table of marks, which holds the words of its question."""

MOST_LISTED = 8  # headings in a sentence

WORDS = Words(
    {
        "none_known": "None of the headings {headings} is known; expected are headings such as name, student, ID "
        "number or first name and surname, and code, result, response or submission. The first row was taken for "
        "headings, and {column} for the codes, as codes stand below it.",
        "no_codes": "None of the headings {headings} is one for codes; expected is one such as code, result, response "
        "or submission. No column holds a valid code, either.",
    }
)


def kinds(head: Sequence[str]) -> dict[str, list[int]]:
    """Return the columns of each kind, by their headings.

    >>> kinds(["Nachname", "Vorname", "Antwort 1", "Note"])
    {'last': [0], 'first': [1], 'code': [2]}
    """
    called = {"first": FIRST, "last": LAST, "full": FULL, "number": NUMBER, "code": CODE}
    columns: dict[str, list[int]] = {}
    for at, cell in enumerate(head):
        name = _unnumbered(" ".join(clean(cell).casefold().split()))
        kind = next((kind for kind, names in called.items() if name in names), None)
        kind = kind or ("code" if re.search(r"\bcodes?\b", name) and not _ASKED.match(name) else None)
        if kind:
            columns.setdefault(kind, []).append(at)
    if "first" in columns and "full" in columns and "last" not in columns:
        columns["last"] = columns.pop("full")  # Name beside Vorname
    if "first" in columns and not {"full", "last"} & columns.keys():
        columns["full"] = columns.pop("first")  # Nombre alone
    return columns


def _unnumbered(name: str) -> str:
    """Return a heading without the number at its end, as in Response 1."""
    bare = name.removesuffix(".").rstrip("0123456789")
    return bare.rstrip() if bare != name.removesuffix(".") else name


def are_worded(head: Sequence[str]) -> bool:
    """Return whether the cells of a row may be headings: two or more, all different, each worded like a heading."""
    cells = [" ".join(clean(cell).split()) for cell in head if cell.strip()]
    return len(cells) > 1 and len(set(cells)) == len(cells) and all(map(is_worded, cells))


def is_worded(cell: str) -> bool:
    """Return whether a cell may be a heading: it has letters, is no address, has at most one
    digit besides a number at its end, and does not look like a damaged code.

    >>> [is_worded(cell) for cell in ("Lösung", "Part 12", "34-67", "K3RT", "z@x.org", "0042", "")]
    [True, True, False, False, False, False, False]
    """
    bare = re.sub(r"\s\d+\.?$", "", " ".join(clean(cell).split()))
    digits = sum(map(str.isdigit, bare))
    return any(map(str.isalpha, bare)) and "@" not in bare and digits < 2 and not (digits and _is_of_signs(bare))


def _is_of_signs(cell: str) -> bool:
    """Return whether a cell holds only characters that codes are made of, whether or not they make one."""
    try:
        answer_codes.without_checksum(cell)
    except ConfigError as error:
        return str(error) == answer_codes.FAULTS["check"]
    return True


def doubt(head: Sequence[str], *, is_known: bool, code_at: int | None) -> str:
    """Say which headings were expected, where none of them or none for codes is known; empty if all is well.

    is_known  whether any heading is
    code_at   the column of the codes, None if there is none
    """
    listed = ", ".join(map(shorten, head[:MOST_LISTED])) + (" …" if len(head) > MOST_LISTED else "")
    if code_at is None:
        return WORDS["no_codes"].format(headings=listed)
    return "" if is_known else WORDS["none_known"].format(headings=listed, column=shorten(head[code_at]))
