"""Comments are in the language of the page, and code is the same in all of them."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Callable, Iterator

import pytest

from attnviz import Config, Trace
from attnviz.engine.records.step_specs import AXES
from attnviz.exports.script.comments import NEVER_FIRST, NEVER_LAST, wrapped
from attnviz.exports.script.notebook import notebook
from attnviz.exports.script.numpy_script import numpy_script
from attnviz.exports.script.torch_script import torch_script
from attnviz.settings import language
from attnviz.settings.language import LANGUAGES, WRITTEN, set_language
from tests.support import scripts, small_models
from tests.support.cases import for_each
from tests.support.languages import Marked

OTHERS = [code for code in LANGUAGES if code != WRITTEN]
WRITERS: tuple[Callable[[Config | Trace], str], ...] = (numpy_script, torch_script)
SHAPE = re.compile(r"\([\d, ]*\): (?P<axes>[\w, ]+)")
NAMES = {*AXES.english, "word", "model"}
INNERMOST = re.compile(r"⟦[^⟦⟧]*⟧")
SIZE = ["learned_layers", "grouped", "edits_masked", "ragged_general", "t5_before_only", "cross", "today"]


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    set_language(WRITTEN)


def comments(script: str) -> Iterator[str]:
    """What stands beside the code of a script, but for the shapes of steps with the names of their axes."""
    for token in tokenize.generate_tokens(io.StringIO(script).readline):
        if token.type == tokenize.COMMENT:
            said = SHAPE.fullmatch(token.string.removeprefix("# "))
            if not said or not {*said["axes"].split(", ")} <= NAMES:
                yield token.string.removeprefix("# ")
    for node in ast.walk(ast.parse(script)):
        if isinstance(node, ast.FunctionDef | ast.Module):
            yield ast.get_docstring(node) or ""


def code(script: str) -> str:
    """A script without what is said beside its code."""
    tree = ast.parse(script)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Module) and ast.get_docstring(node):
            node.body = node.body[1:]
    return ast.unparse(tree)


def bare(text: str) -> str:
    before = ""
    while before != text:
        before, text = text, INNERMOST.sub(" ", text)
    return text


@pytest.mark.slow
@for_each("name", scripts.SETTINGS)
def test_every_comment_of_a_script_is_said_in_the_language(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = scripts.traced(name)[1]
    monkeypatch.setattr(language, "catalogue", lambda code: Marked())
    monkeypatch.setattr("attnviz.exports.script.numpy_script.wrapped", lambda text, width: [text])
    set_language("de")
    for write in WRITERS:
        said = {text: bare(text) for text in comments(write(trace))}
        assert said
        assert {text for text, rest in said.items() if re.search(r"[A-Za-z]{3}", rest)} == set()


@for_each("name", SIZE)
def test_code_is_the_same_in_every_language(name: str) -> None:
    trace = scripts.traced(name)[1]
    for write in WRITERS:
        english = write(trace)
        for other in OTHERS:
            set_language(other)
            script = write(trace)
            set_language(WRITTEN)
            assert code(script) == code(english)
            assert {text for text in set(comments(script)) & set(comments(english)) if " " in text} == set()


def test_a_notebook_has_its_headings_in_the_language() -> None:
    trace = scripts.traced("three_layers")[1]
    for code, heading in {"en": "# Layer 2", "de": "# Schicht 2", "es": "# Capa 2", "zh": "# 第 2 层"}.items():
        set_language(code)
        cells = json.loads(notebook(trace))["cells"]
        assert sum("".join(cell["source"]).startswith(f"{heading}\n") for cell in cells) == 1


def test_no_line_of_chinese_begins_or_ends_with_a_sign_that_may_not_stand_there() -> None:
    text = "“词元”（token）是句子的一部分；（见第 2 层）softmax 把分数变成权重，每行的和为 1。" * 3
    for width in range(12, 60):
        lines = wrapped(text, width)
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")
        assert not [line for line in lines if line[0] in NEVER_FIRST or line[-1] in NEVER_LAST or line != line.strip()]


@pytest.mark.slow
def test_so_is_every_comment_of_the_script_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    traces = [small_models.model(name)(small_models.given(name, "a cat sat")) for name in small_models.NAMES]
    monkeypatch.setattr(language, "catalogue", lambda code: Marked())
    monkeypatch.setattr("attnviz.exports.script.numpy_script.wrapped", lambda text, width: [text])
    monkeypatch.setattr("attnviz.exports.script.next_words.wrapped", lambda text, width: [text])
    monkeypatch.setattr("attnviz.exports.script.next_words.MOST", 0)
    set_language("de")
    for trace in traces:
        said = {text: bare(text) for text in comments(numpy_script(trace))}
        assert {text for text, rest in said.items() if re.search(r"[A-Za-z]{3}", rest)} == set()
