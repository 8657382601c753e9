"""The words of GLOSSARY.md are those of the code, each with one meaning, and words of a private dialect stay away."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from attnviz.settings.language import catalogue

ROOT = Path(__file__).parents[2]
GLOSSARY = (ROOT / "GLOSSARY.md").read_text("utf-8")
CORE = {
    "Assignment", "Cell", "CellLine", "CellPosition", "Config", "Derivation", "Edit", "Film", "Game", "LedgerEntry",
    "Lesson", "LineRow", "Ordinal", "Selection", "Sheet", "Stage", "Step", "Steps", "Task", "Trace",
}  # fmt: skip
"""Names of the glossary and of the records that all else is made of."""
DIALECT = {"aloud", "mended", "posed", "redealt", "spoken", "whereabouts"}
"""Words that once stood for a question, a language, a position and others; the glossary has better."""
CLAUSE, ARTICLE = r"(What|Whether|Where|Which|Who|How|Why)\b", r"(The|A|An)\b"
OF_SENTENCES = r"[Dd]eal again|\bkin\b|bent units|[Oo]ver the sum|judged alone|has no say|in the mean\b"
OF_SENTENCES += r"|[Tt]akes? (?:\{\w+\}|nothing|something|the most) from"
OF_SENTENCES += r"|first differ in|whom the answer"
"""Turns of phrase that once stood for other seeds, gates, division by a sum, independence, attention and causes."""
OF_SCRIPTS = {"asks", "given", "hear", "heard", "lit", "place", "places", "tell", "telling", "told", "worn"}
"""Words that once stood for queries, props, events, highlights, positions and messages in the scripts of the page."""


def sources() -> list[Path]:
    return [path for folder in ("attnviz", "benchmarks", "tools") for path in sorted((ROOT / folder).rglob("*.py"))]


def defined(source: str) -> list[str]:
    """The classes and the aliases of types at the top of a source."""
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.append(node.targets[0].id)
    return found


def dialect(source: str) -> set[str]:
    """The words of the dialect in the names of functions, classes, parameters and variables of a source."""
    nodes = list(ast.walk(ast.parse(source)))
    names = [node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    names += [node.arg for node in nodes if isinstance(node, ast.arg)]
    names += [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return {word for name in names for word in name.lower().split("_")} & DIALECT


def clauses(source: str) -> list[str]:
    """The docstrings of a source that begin as a clause, and those of functions that begin with an article."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node)):
            is_function = isinstance(node, ast.FunctionDef) and not node.decorator_list
            if re.match(CLAUSE, text) or (is_function and re.match(ARTICLE, text)):
                found.append(text.partition("\n")[0])
    return found


def dialect_of_script(source: str) -> set[str]:
    """The words of the dialect among the names of a script, without its comments and texts."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*|\"[^\"\n]*\"|`[^`]*`", "", source, flags=re.S)
    names = re.findall(r"[A-Za-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", code))
    return {name.lower() for name in names} & OF_SCRIPTS


@pytest.mark.slow  # reads all of the code, as lint does
def test_the_words_of_the_code_mean_one_thing() -> None:
    counts = Counter(name for path in sources() for name in defined(path.read_text("utf-8")) if name in CORE)
    assert counts.keys() == CORE
    assert {name: n for name, n in counts.items() if n > 1} == {}


def test_the_glossary_names_what_there_is() -> None:
    there = {word for path in sources() for word in re.findall(r"\w+", path.read_text("utf-8"))}
    named = {word for code in re.findall(r"`([^`]+)`", GLOSSARY) for word in re.findall(r"\w+", code)}
    assert named - there - {"py"} == set()


@pytest.mark.slow  # reads all of the code, as lint does
def test_no_name_is_of_a_private_dialect() -> None:
    found = {path: dialect(path.read_text("utf-8")) | ({*path.stem.split("_")} & DIALECT) for path in sources()}
    assert {path: words for path, words in found.items() if words} == {}
    assert dialect("def posed(spoken_here): ...") == {"posed", "spoken"}
    assert dialect("MENDED = aloud") == {"mended"}


@pytest.mark.slow  # reads all of the code, as lint does
def test_a_function_does_and_a_module_or_class_is() -> None:
    files = sorted((ROOT / "attnviz").rglob("*.py"))
    found = {path: clauses(path.read_text("utf-8")) for path in files}
    assert {path: texts for path, texts in found.items() if texts} == {}, "begin with a verb, such as Return or Draw"
    assert clauses('class A:\n    """Where it is."""\ndef f():\n    """The sum."""') == ["Where it is.", "The sum."]
    assert clauses('"""The sum."""\ndef f():\n    """Return the sum."""') == []


def test_no_name_of_a_script_is_of_a_private_dialect() -> None:
    scripts = [path for path in sorted((ROOT / "attnviz/ui").rglob("*")) if path.suffix in {".js", ".ts"}]
    assert len(scripts) > 40
    found = {path: dialect_of_script(path.read_text("utf-8")) for path in scripts}
    assert {path: words for path, words in found.items() if words} == {}
    assert dialect_of_script('tellPage(); /* told */ const heard = "place"; // lit') == {"tell", "heard"}


def dialect_of_page(messages: Iterable[str]) -> list[str]:
    """The messages with a turn of phrase of the dialect."""
    return [message for message in messages if re.search(OF_SENTENCES, message)]


def test_the_page_speaks_as_the_field_does() -> None:
    messages = catalogue("de")._catalog  # type: ignore[attr-defined]
    english = [message if isinstance(message, str) else message[0] for message in messages]
    assert len(english) > 2500
    assert dialect_of_page(english) == []
    spoken = ["{query} takes {percent} from {key}{rank}.", "{query} attends to {key}.", "Deal again: seed", "kind"]
    assert dialect_of_page(spoken) == [spoken[0], spoken[2]]
