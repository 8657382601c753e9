"""The LaTeX document: the run's numbers line by line, balanced, and no token that means anything to TeX."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from attnviz import NORMALISERS, SCORES, Config, run
from attnviz.arithmetic import cell as cell_arithmetic
from attnviz.arithmetic.cell import derive
from attnviz.arithmetic.notation.derivation import largest
from attnviz.engine.external.traces import of_weights
from attnviz.exports import worked_solution
from attnviz.settings.language import set_language
from tests.support.cases import for_each

HOSTILE = (
    r"\frac{ $x$ </script> [a](b) **c** #d %e &f {g} _h ~i ^j \end{document} \input{/etc/passwd} -- ,, ?` '' 猫 é "
    "\u202ex \x01 x\u0301"
)
COMMANDS = (
    r"begin end quad text vdots cdots cdot times infty frac tfrac sqrt cos sin tanh max left right bigl bigr hat tilde "
    r"bar odot sum textstyle mathrm tau sigma le dots underbrace lvert rvert top arg min in Delta surd"
)
"""What the formulas of the arithmetic may hold, as KaTeX sets each of them, and those of the tables."""

PROSE = (
    "section subsection textbf Large textbackslash textasciitilde textasciicircum textless textgreater textbar "
    "textquotedbl textquotesingle textasciigrave dots textperiodcentered texttimes letters"
)


def body(document: str) -> str:
    preamble, _, rest = document.partition("\\begin{document}")
    inside, _, after = rest.rpartition("\\end{document}")
    assert "%" not in re.sub(r"(?m)^\s*%.*|[^%\n]*\s{2}%.*", "", preamble)
    assert after.strip() == ""
    return inside


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """A very small reader of LaTeX: commands, braces, and letters; what it cannot place is a fault."""
    for match in re.finditer(r"\\([a-zA-Z]+)\*?|\\(.)|([{}])|([$#%&_^~])|(.)", text, re.DOTALL):
        command, sign, brace, special, letter = match.groups()
        kind = "command" if command else "sign" if sign else "brace" if brace else "special" if special else "letter"
        yield kind, command or sign or brace or special or letter


def split(inside: str) -> tuple[str, str]:
    """The prose without formulas, and the formulas."""
    formulas = re.findall(r"(?<!\\)\\\[(.*?)\\\]|(?<!\\)\$(.*?)(?<!\\)\$", inside, re.DOTALL)
    prose = re.sub(r"(?<!\\)\\\[.*?\\\]|(?<!\\)\$.*?(?<!\\)\$", " ", inside, flags=re.DOTALL)
    return prose, "\n".join(one or two for one, two in formulas)


def check(document: str) -> None:
    inside = body(document)
    prose, formulas = split(inside)
    for text, known in ((prose, PROSE.split()), (formulas, COMMANDS.split())):
        depth = 0
        for kind, piece in pieces(text):
            depth += {"{": 1, "}": -1}.get(piece, 0) if kind == "brace" else 0
            assert depth >= 0
            assert kind != "command" or piece in known, piece
            assert kind != "special" or text is formulas, (piece, text)
        assert depth == 0
    assert formulas.count(r"\begin{aligned}") == formulas.count(r"\end{aligned}") > 0
    assert "nan" not in formulas


@pytest.mark.slow
@for_each("score", SCORES)
@for_each("normaliser", NORMALISERS)
def test_the_lines_are_those_of_the_page(score: str, normaliser: str) -> None:
    trace = run(Config(sentence="a b c d e", n_heads=3, score=score, normaliser=normaliser, d_k=3, d_v=2))
    document = worked_solution.cell(trace, 0, 2, 4, 1, digits=6)
    check(document)
    lines = [line for line in derive(trace, 0, 2, 4, 1, 6).lines if line.active]
    assert re.findall(r"\\\[\n(.*?)\n\\\]", document, re.DOTALL) == [line.latex for line in lines]


@for_each(
    "settings",
    [
        {"position": "rope", "projection_bias": True, "n_layers": 2},
        {"mask": "causal", "softcap": 5.0, "bias": "alibi", "temperature": 0.5, "score": "general"},
        {"normalise_over": "queries"},
        {"second_sentence": "x y", "score": "additive"},
        {"score": "cosine", "n_kv_heads": 1, "normaliser": "sparsemax"},
    ],
)
@pytest.mark.slow
def test_a_row_holds_every_cell_and_what_they_share_once(settings: dict[str, object]) -> None:
    trace = run(Config(sentence="a b c d e", n_heads=3, **settings))  # type: ignore[arg-type]
    document = worked_solution.row(trace, len(trace.layers) - 1, 1, 3, digits=5)
    check(document)
    found = re.findall(r"\\\[\n(.*?)\n\\\]", document, re.DOTALL)
    cells = [derive(trace, len(trace.layers) - 1, 1, 3, key, 5) for key in range(len(trace.key_tokens))]
    for cell in cells:
        for name in ("key", "score", "weight", "value"):
            assert cell[name].latex in found
        assert all(line.latex in found for line in cell.score if line.active)
    assert [found.count(cells[0][name].latex) for name in ("query", "output")] == [1, 1]
    if settings.get("normalise_over") != "queries":
        assert sum(each.startswith(r"m &=") or "\nm &=" in each for each in found) <= 1


def test_a_row_over_the_queries_has_the_column_of_every_key() -> None:
    trace = run(Config(sentence="a b c d e", normalise_over="queries"))
    document = worked_solution.row(trace, 0, 0, 2)
    for key in range(5):
        assert derive(trace, 0, 0, 2, key)["sum"].latex in document


@pytest.mark.slow
def test_tokens_are_letters_and_nothing_else() -> None:
    trace = run(Config(sentence=HOSTILE, tokeniser="whitespace", n_heads=1))
    for query in range(len(trace.query_tokens)):
        check(worked_solution.cell(trace, 0, 0, query, 0))
    document = worked_solution.row(trace, 0, 0, 3)
    check(document)
    assert r"\letters{猫}{U+732B}" in document
    assert worked_solution.NOTES["letters"] in document
    assert "é" in document
    assert "\u202e" not in document
    assert worked_solution.NOTES["letters"] not in worked_solution.cell(run(Config(sentence="a b")), 0, 0, 0, 0)


def test_a_link_in_the_comment_stays_in_one_line() -> None:
    document = worked_solution.cell(run(Config(sentence="a\nb % \\end{document}")), 0, 0, 0, 0)
    first = document.splitlines()[0]
    assert first.startswith("% ")
    assert "sentence=" in first
    assert document.splitlines()[1].startswith(r"\documentclass")


@for_each("first", range(0x20, 0x180, 0x20))
def test_no_character_is_more_than_a_letter(first: int) -> None:
    for character in map(chr, range(first, first + 0x20)):
        _is_a_letter(character)


def _is_a_letter(character: str) -> None:
    depth = 0
    for kind, piece in pieces(worked_solution.escaped(f"a{character}{character}b")):
        assert kind != "special"
        assert kind != "command" or piece in PROSE.split()
        depth += {"{": 1, "}": -1}.get(piece, 0) if kind == "brace" else 0
    assert depth == 0
    assert not re.search(r"--|,,|\?`|!`|<<|>>|''", worked_solution.escaped(character * 2))


def test_attention_that_was_given_begins_where_it_begins() -> None:
    document = worked_solution.row(
        of_weights([[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]], ["a", "b"], ["x", "y", "z"]), 0, 0, 0
    )
    check(document)
    assert "0.75" in document
    assert "Score:" not in document


def test_a_position_that_is_not_there_and_digits_out_of_range_are_refused() -> None:
    trace = run(Config(sentence="a b"))
    with pytest.raises(ValueError, match="choose 0 to 1"):
        worked_solution.cell(trace, 0, 0, 2, 0)
    with pytest.raises(ValueError, match="choose 2 to 17"):
        worked_solution.row(trace, 0, 0, 0, 99)


def test_what_the_cells_of_a_row_share_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trace, measured = run(Config()), []
    monkeypatch.setattr(cell_arithmetic, "largest", lambda x: measured.append(x.shape) or largest(x))
    cells = cell_arithmetic.derive_row(trace, 0, 1, 3)
    assert len(measured) == len(trace.layers[0])
    worked_solution.row(trace, 0, 1, 3)
    assert len(measured) == 2 * len(trace.layers[0])
    for key, made in enumerate(cells):
        alone = derive(trace, 0, 1, 3, key)
        assert [(line.name, line.latex) for line in made.lines] == [(line.name, line.latex) for line in alone.lines]


def test_a_document_in_chinese_sets_its_letters_as_they_are() -> None:
    trace = run(Config(sentence="我 か", n_heads=1))
    english = worked_solution.row(trace, 0, 0, 0)
    set_language("zh")
    chinese = worked_solution.row(trace, 0, 0, 0)
    set_language("en")
    assert (r"\letters{我}" in english, "ctex" in english) == (True, False)
    assert r"\usepackage[UTF8]{ctex}" in chinese.partition(r"\begin{document}")[0]
    assert {*re.findall(r"\\letters\{(.)\}\{U", chinese)} == {"か"}
