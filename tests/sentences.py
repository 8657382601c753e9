"""Every English sentence that the code can say to a visitor, found by reading it."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from attnviz.core import trace
from attnviz.core.fields import settings
from attnviz.core.language import Said, Words
from attnviz.ui import compare, take
from attnviz.views import posed, predicates

ROOMS = ("core", "views", "ui")
PROGRAMS = re.compile(r"script|notebook")  # what they write is code, which is English


def modules() -> Iterator[ModuleType]:
    for room in ROOMS:
        package = importlib.import_module(f"attnviz.{room}")
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)


def in_tables(value: Any, seen: set[int]) -> Iterator[str]:
    """The sentences in a value of a module: those of its tables, and those of the records in them."""
    if isinstance(value, (str, bytes, int, float, ModuleType)) or id(value) in seen:
        return
    seen.add(id(value))
    parts: list[Any] = []
    if isinstance(value, Words):
        yield from words(value.english)
    elif isinstance(value, dict):
        parts = [*value.values()]
    elif isinstance(value, (tuple, list, frozenset)):
        parts = [*value]
    elif isinstance(value, type) and hasattr(value, "__dataclass_fields__"):
        for item in settings(value):
            yield from words([item.metadata[part] for part in ("label", "help", "group")])
            yield from words(getattr(item.metadata["kind"], "nothing", None))
            parts += vars(item.metadata["kind"]).values()
    elif hasattr(type(value), "__dataclass_fields__"):
        held = vars(value)
        said = {f"_{name}" for name in dir(type(value)) if isinstance(inspect.getattr_static(value, name), Said)}
        yield from words([held[name] for name in said])
        parts = [held[name] for name in held.keys() - said]
    for part in parts:
        yield from in_tables(part, seen)


def words(value: Any) -> Iterator[str]:
    """The strings in what a table of sentences holds."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from words([*value.values()])
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from words(each)


def in_calls(module: ModuleType) -> Iterator[str]:
    """The sentences that a module gives to `say` or `translated`, as they stand or by the name of a constant."""
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("say", "translated") and node.args:
            yield from argument(node.args[0], module)


def argument(node: ast.expr, module: ModuleType) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from argument(node.body, module)
        yield from argument(node.orelse, module)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        root = ast.unparse(node).split("[")[0].split(".")
        if hasattr(module, root[0]):
            value = getattr(module, root[0])
            for name in root[1:]:
                value = getattr(value, name, None)
            if not isinstance(value, Words):
                yield from words(value)


def beside_names() -> Iterator[str]:
    """Those of the tables whose rows hold sentences and names alike."""
    yield from take.GROUPS
    yield from (label for label, _ in compare.STARTERS.values())
    yield from (text for label, _, ask in posed.CHANGES.values() for text in (label, ask))
    yield from (ask for ask, _, _ in predicates.PREDICATES.values())
    yield from (spec.meaning for spec in trace.STEPS.values())


def has_words(sentence: str) -> bool:
    """Whether there is something to say but names that are filled in; quotation marks are said too."""
    return bool(re.search("[A-Za-z]{2}|[“”]", re.sub(r"\{[^}]*\}", "", sentence)))


@cache
def sentences() -> frozenset[str]:
    """All of them that have a word."""
    seen: set[int] = set()
    found: set[str] = set(beside_names())
    for module in modules():
        if not PROGRAMS.search(module.__name__):
            for value in vars(module).values():
                found.update(in_tables(value, seen))
            found.update(in_calls(module))
    return frozenset(filter(has_words, found))
