"""The questions of an assignment as they are chosen from lists and written down in a link.

An item is the kind of a question and its positions, such as `weight~head.1~query.2~key.3~tolerance.0.005`. Nothing in
it is free text, so nothing that is read from a link can be more than one of the choices below.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.classroom.free_text import PROMPTS
from attnviz.classroom.question_kinds import ASK
from attnviz.classroom.run_questions import FIELDS, name_of_ask
from attnviz.lessons.lesson import Question
from attnviz.settings.counting import ordinals
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words, translate, translated_fields

Value = str | int | float
Item = tuple[str, tuple[tuple[str, Value], ...]]
Asked = tuple[Item, str]
"""A question of an assignment and its wording; empty where it asks in its own words."""

MAX_QUESTIONS = 20
MOST_PLACES = 128
MOST_LAYERS = 6
_BETWEEN, _PART = "~~", "~"

ASKS = Words(
    {
        "sum": "Head {head}: what do the numbers in {line} of “{step}” add to?",
        "head query key": "Head {head}: what is the number of {query} and {key} in “{step}”?",
        "head query column": "Head {head}: what is the number in column {column} of {query} in “{step}”?",
        "head key column": "Head {head}: what is the number in column {column} of {key} in “{step}”?",
        "query column": "What is the number in column {column} of {query} in “{step}”?",
        "layer": "Layer {{layer}}. {ask}",
    }
)
"""The wording of a question where that of its kind does not name every position."""

WORDS = Words(
    {
        "kind": "a question is {given}; choose from {allowed}",
        "misses": "the question {kind} needs {names}",
        "value": "{name} of a question is {given}; choose {allowed}",
    }
)


@translated_fields("label")
@dataclass(frozen=True)
class Kind:
    """A kind of question: the row of QUESTIONS that answers it, its name for people, and what must be chosen."""

    question: str
    label: str
    positions: tuple[str, ...]


KINDS = {
    "highest_key": Kind("highest_key", "The key with the largest weight", ("head", "query")),
    "weight": Kind("weight", "A weight", ("head", "query", "key", "tolerance")),
    "number": Kind("number", "A number of a step", ("step",)),
    "row_sum": Kind("sum", "Sum of a row", ("summed", "head", "query", "tolerance")),
    "column_sum": Kind("sum", "Sum of a column", ("summed", "head", "key", "tolerance")),
    "size": Kind("size", "How many numbers", ("whole",)),
    "shape": Kind("shape", "A shape", ("whole",)),
    "rows_changed": Kind("rows_changed", "Which rows change", ("whole", "change")),
    "true_or_false": Kind("true_or_false", "Yes or no", ("says", "head")),
    "order": Kind("order", "Keys put in order", ("head", "query")),
    "cell": Kind("cell", "A cell to point at", ("head", "query", "key")),
    "mask": Kind("mask", "A mask to draw", ()),
    "slider": Kind("slider", "A slider to set", ("field", "to", "head", "query", "key")),
    "own_words": Kind("own_words", "An answer in the student's own words, for you to mark", ("prompt",)),
}
AXES = {
    "queries": ("head", "query", "column"),
    "keys": ("head", "key", "column"),
    "values": ("head", "key", "column"),
    "scores": ("head", "query", "key"),
    "scaled": ("head", "query", "key"),
    "masked": ("head", "query", "key"),
    "heads": ("head", "query", "column"),
    "output": ("query", "column"),
}
"""The axes of a number of each step."""

CHANGES: dict[str, tuple[str, Mapping[str, Any], str]] = {
    "causal": ("a causal mask", {"mask": "causal"}, "Which rows of “{step}” change under a causal mask?"),
    "no_mask": ("no mask", {"mask": "none"}, "Which rows of “{step}” change without any mask?"),
    "not_itself": ("not itself", {"mask": "no_self"}, "Which rows of “{step}” change if no word may attend to itself?"),
    "no_positions": ("no positions", {"position": "none"}, "Which rows of “{step}” change without positions?"),
    "unscaled": ("scale 1", {"scale": 1.0}, "Which rows of “{step}” change with a scale of 1?"),
    "hot": ("temperature 2", {"temperature": 2.0}, "Which rows of “{step}” change at temperature 2?"),
}
SAYS = Words(
    {
        "symmetric": "the scores are symmetric",
        "rows_sum_to_one": "every row of weights adds to 1",
        "columns_sum_to_one": "every column of weights adds to 1",
        "looks_ahead": "some query attends to a later key",
    }
)
LISTS: dict[str, Sequence[Value]] = {
    "step": tuple(AXES),
    "summed": ("weights", "scores"),
    "whole": tuple(name for name in ("queries", "keys", "values", "scores", "weights", "heads", "concat", "output")),
    "change": tuple(CHANGES),
    "says": tuple(SAYS),
    "prompt": tuple(PROMPTS),
    "field": tuple(FIELDS),
    "to": (0.5, 0.1, 0.2, 0.3, 0.7, 1.5, 2.0, 3.0, 5.0),
    "tolerance": (0.005, 0.05, 0.0005),
    "layer": ordinals(MOST_LAYERS),
    **{name: ordinals(MOST_PLACES) for name in ("head", "query", "key", "column")},
}
"""The choices for each position; the first is the default."""

AS_STEP = ("summed", "whole")
"""Positions that name a step, of which only some make sense."""


def positions(kind: str, chosen: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the choices that a question still needs, after those made so far.

    >>> positions("number", {"step": "output"})
    ('step', 'query', 'column', 'tolerance', 'layer')
    """
    along = (*AXES.get(str(chosen.get("step")), ()), "tolerance") if kind == "number" else ()
    return (*KINDS[kind].positions, *along, "layer")


def item(kind: str, chosen: Mapping[str, Value]) -> Item:
    """Return a question with what was chosen of its positions, and the first of each list for the rest.

    >>> item("weight", {"query": 2})
    ('weight', (('head', 1), ('query', 2), ('key', 1), ('tolerance', 0.005), ('layer', 1)))
    """
    first = {name: LISTS[name][0] for name in (*KINDS[kind].positions, "step")}
    whole = first | dict(chosen)
    return kind, tuple((name, whole.get(name, LISTS[name][0])) for name in positions(kind, whole))


def asked(items: Sequence[Item], words: Sequence[str]) -> list[Asked]:
    """Return each question with its wording, of which there may be fewer."""
    return list(zip(items, (*words, *[""] * len(items))))


def to_question(entry: Item, words: str = "", *, layers: int = 1) -> Question:
    """Return the question as lessons have it; of several layers it says which, unless a teacher has given it `words`
    of their own.
    """
    kind, at = entry[0], dict(entry[1])
    position: dict[str, Any] = {"step" if name in AS_STEP else name: value for name, value in at.items()}
    ask = ASK[name_of_ask(Question(KINDS[kind].question, at=position))]
    if kind == "number":
        ask = ASKS[" ".join(AXES[str(at["step"])])]
    elif KINDS[kind].question == "sum":
        ask = ASKS["sum"]
    elif kind == "own_words":
        ask = PROMPTS[str(at["prompt"])]
    elif "change" in position:
        _, position["change"], other = CHANGES[str(position["change"])]
        ask = translate(other)
    if words:
        return Question(KINDS[kind].question, words, position, is_typed=True)
    return Question(KINDS[kind].question, ASKS["layer"].format(ask=ask) if layers > 1 else ask, position)


def validated(items: Iterable[Any]) -> tuple[Item, ...]:
    """Return the items in their proper types; raises ConfigError if one is not a question."""
    return tuple(map(_checked, items))


def _checked(entry: Any) -> Item:
    try:
        kind, at = entry
        chosen = dict(at)
    except (TypeError, ValueError):
        raise ConfigError(f"holds {shorten(entry)}; give (kind, places)") from None
    if kind not in KINDS:
        raise ConfigError(WORDS["kind"].format(given=shorten(kind), allowed=", ".join(KINDS)))
    names = positions(kind, chosen)
    if set(names) - {"layer"} - chosen.keys() or chosen.keys() - set(names):
        raise ConfigError(WORDS["misses"].format(kind=kind, names=", ".join(names)))
    for name, value in chosen.items():
        if isinstance(value, bool) or value not in LISTS[name]:
            raise ConfigError(WORDS["value"].format(name=name, given=shorten(value), allowed=_allowed(name)))
    return item(kind, chosen)


def _allowed(name: str) -> str:
    values = LISTS[name]
    if isinstance(values, range):
        return translate("{low} to {high}", low=1, high=values[-1])
    return translate("from {names}", names=", ".join(map(str, values)))


def encode(items: Sequence[Item]) -> str:
    """Return the items as one line; the first layer goes without saying.

    >>> encode((item("highest_key", {"query": 3}),))
    'highest_key~head.1~query.3'
    """
    return _BETWEEN.join(_PART.join([kind, *_position_texts(at)]) for kind, at in items)


def _position_texts(at: Sequence[tuple[str, Value]]) -> list[str]:
    return [f"{name}.{value}" for name, value in at if (name, value) != ("layer", 1)]


def decode(text: str) -> tuple[tuple[Item, ...], list[str]]:
    """Parse a line into items; return these and the unparsable parts.

    >>> decode("highest_key~head.1~query.3~~nonsense")
    ((('highest_key', (('head', 1), ('query', 3), ('layer', 1))),), ['nonsense'])
    """
    questions, unread = [], []
    for part in filter(None, text.split(_BETWEEN)):
        try:
            questions.append(_read(part))
        except ValueError:
            unread.append(part)
    return tuple(questions), unread


def _read(part: str) -> Item:
    """Return one item; raises ValueError, of which ConfigError is one, if the text means none."""
    kind, *pairs = part.split(_PART)
    chosen: dict[str, Value] = {}
    for pair in pairs:
        name, _, text = pair.partition(".")
        if name not in LISTS or name in chosen:
            raise ValueError(shorten(part))
        chosen[name] = next((value for value in LISTS[name] if str(value) == text), text)
    return _checked((kind, chosen))
