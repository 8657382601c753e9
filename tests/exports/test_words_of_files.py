"""One rule for every kind of file: comments and headings in the language of the page, code and names in English."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator

import pytest

from attnviz import Config, Trace, run
from attnviz.exports.formats import ExportTarget, export
from attnviz.settings import language
from attnviz.settings.language import WRITTEN, set_language
from tests.support.languages import Marked

INNERMOST = re.compile(r"⟦[^⟦⟧]*⟧")
SETTINGS = (
    Config(sentence="1 2 1 3", n_layers=2, residual=True, norm="pre", mask="causal", bias="alibi"),
    Config(sentence="1 2 3", edits=((0, "scores", (0, 0, 1), 2.0),)),
)
TEX = re.compile(r"\\(?:usepackage|documentclass)(?:\[[^]]*\])?\{[^}]*\}|\\(?:begin|end)\{\w+\}|\\[A-Za-z]+|v=\d\S*")
TECHNICAL = {"xelatex", "lualatex", "Noto", "Sans", "rgb"}


@pytest.fixture(autouse=True)
def _marked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(language, "catalogue", lambda code: Marked())
    yield
    set_language(WRITTEN)


def bare(text: str) -> set[str]:
    """The words of a text that stand outside of all brackets."""
    before = ""
    while before != text:
        before, text = text, INNERMOST.sub(" ", text)
    return set(re.findall("[A-Za-z]{3,}", text)) - TECHNICAL


def traced(config: Config) -> Trace:
    """The run of a setting, for files in the marked language."""
    set_language(WRITTEN)
    trace = run(config)
    set_language("de")
    return trace


@pytest.mark.parametrize("config", SETTINGS, ids=["layers", "changed"])
def test_a_workbook_says_all_words_in_the_language_also_on_its_tabs(config: Config) -> None:
    pytest.importorskip("xlsxwriter")
    file = zipfile.ZipFile(io.BytesIO(export("xlsx", traced(config))))  # type: ignore[arg-type]
    tabs = re.findall(r'<sheet [^>]*name="([^"]*)"', file.read("xl/workbook.xml").decode())
    cells = re.findall(r"<t[^>]*>([^<]*)</t>", file.read("xl/sharedStrings.xml").decode())
    assert len(tabs) > 5
    assert {word for text in (*tabs, *cells) for word in bare(text)} == set()


@pytest.mark.parametrize("config", SETTINGS, ids=["layers", "changed"])
def test_a_worked_solution_and_a_picture_for_latex_say_all_words_in_the_language(config: Config) -> None:
    trace = traced(config)
    for name, target in (
        ("tex", ExportTarget(0, "weights", 0, 1, 0)),
        ("tex", ExportTarget()),
        ("tikz", ExportTarget()),
    ):
        text = str(export(name, trace, target))
        head = text.partition(r"\begin{tikzpicture}")[0] if name == "tikz" else text
        assert {word for line in head.split("\n") for word in bare(TEX.sub(" ", line))} - {"unicode"} == set()
        assert "⟦" in head


def test_a_table_for_people_has_its_headings_in_the_language_and_one_for_programs_has_not() -> None:
    trace = traced(SETTINGS[1])
    assert str(export("csv", trace, ExportTarget(head=0))).startswith("⟦query⟧,")
    assert str(export("csv", trace)).startswith("head,query,query_token,key,key_token,value")
    assert "⟦" not in str(export("json", trace)).partition('"layer0')[2]
