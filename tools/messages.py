"""Every English message that the code can say to a visitor, found by reading it."""

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

import attnviz
from attnviz.classroom import predicates, question_codec
from attnviz.engine.records import trace
from attnviz.settings.fields import settings
from attnviz.settings.language import InContext, Plural, TranslatedField, Words
from attnviz.ui.pages import compare, exports

Message = str | Plural | InContext


def modules() -> Iterator[ModuleType]:
    """Import every module in a folder of the package; what lies beside the folders is the command line, in English."""
    for folder in pkgutil.iter_modules(attnviz.__path__, "attnviz."):
        if folder.ispkg:
            package = importlib.import_module(folder.name)
            for module in pkgutil.walk_packages(package.__path__, f"{folder.name}."):
                yield importlib.import_module(module.name)


def in_tables(value: Any, seen: set[int]) -> Iterator[Message]:
    """Yield the messages in a value of a module: those of its tables, and those of the records in them."""
    if isinstance(value, (str, bytes, int, float, ModuleType)) or id(value) in seen:
        return
    seen.add(id(value))
    parts: list[Any] = []
    if isinstance(value, Words):
        yield from words(value.english)
    elif isinstance(value, Plural | InContext):
        yield value
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
        names = vars(value)
        said = {
            f"_{name}" for name in dir(type(value)) if isinstance(inspect.getattr_static(value, name), TranslatedField)
        }
        yield from words([names[name] for name in said])
        parts = [names[name] for name in names.keys() - said]
    for part in parts:
        yield from in_tables(part, seen)


def words(value: Any) -> Iterator[Message]:
    """Yield the messages in what a table of them holds."""
    if isinstance(value, Message):
        yield value
    elif isinstance(value, dict):
        yield from words([*value.values()])
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from words(each)


def in_calls(module: ModuleType) -> Iterator[Message]:
    """Yield the messages that a module gives to `translate` or `translate_all`, or makes a plural of where it is
    used."""
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = ast.unparse(node.func).split(".")[-1]
        if name in ("translate", "translate_all"):
            yield from argument(node.args[0], module)
        elif name == "Plural" and all(isinstance(form, ast.Constant) for form in node.args):
            yield Plural(*(form.value for form in node.args if isinstance(form, ast.Constant)))


def argument(node: ast.expr, module: ModuleType) -> Iterator[Message]:
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


def beside_names() -> Iterator[Message]:
    """Yield those of the tables whose rows hold sentences and names alike."""
    yield from exports.GROUPS
    yield from (label for label, _ in compare.STARTERS.values())
    yield from (text for label, _, ask in question_codec.CHANGES.values() for text in (label, ask))
    yield from (ask for ask, _, _ in predicates.PREDICATES.values())
    yield from (spec.meaning for spec in trace.STEPS.values())


def has_words(message: Message) -> bool:
    """Return whether there is something to say but names that are filled in: words, or signs between the names, which
    Chinese writes otherwise."""
    text = forms(message)[-1]
    between = re.sub(r"\{[^}]*\}", "", text)
    return bool(re.search("[A-Za-z]{2}|[“”]" + ("|[,:;.(%]" if between != text else ""), between))


@cache
def messages() -> frozenset[Message]:
    """Return all of them that have a word."""
    seen: set[int] = set()
    messages_of_code: set[Message] = set(beside_names())
    for module in modules():
        for value in vars(module).values():
            messages_of_code.update(in_tables(value, seen))
        messages_of_code.update(in_calls(module))
    return frozenset(filter(has_words, messages_of_code))


def forms(message: Message) -> tuple[str, ...]:
    """Return the English texts of a message: of a plural that for one and that for many."""
    match message:
        case Plural():
            return message.one, message.many
        case InContext():
            return (message.english,)
        case _:
            return (message,)


def texts() -> frozenset[str]:
    """Return every English text that may be looked up."""
    return frozenset(text for each in messages() for text in forms(each))
