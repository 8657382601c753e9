"""The answer to one number of a map that holds no score and no weight: what it is the sum of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz.arithmetic.products import Products, offered, products
from attnviz.arithmetic.short_derivation import Terms
from attnviz.engine.records.trace import Step, Trace
from attnviz.pictures.answer import explanation_parts as parts
from attnviz.pictures.answer.explanation import NOTES
from attnviz.pictures.answer.explanation_parts import number
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.query_sentences import visible_token

WORDS = Words(
    {
        "entry": "entry {n} of {symbol}",
        "step": "{step}: {meaning}",
        "step_of_head": "{step}, head {n}: {meaning}",
        "products": "{symbol} of {token} × column {n} of {matrix}",
        "products_of_input": "what goes in × column {n} of {matrix}",
        "bias": "{bias} for the bias",
        "activated": "f of this sum is {made}",
        "added": "added up",
    }
)
ADDED = ("token_embeddings", "positions", "token_types")
"""What the input of the first layer is the sum of, as far as there is any."""
NEAR = 1e-9
"""The part of all that is added up by which two orders of adding it may differ, and of 1 what no number here shows."""


def number_answer(
    trace: Trace, layer: int, step: str, words: Mapping[str, int | None], column: int, head: int
) -> dict[str, Any] | None:
    """Return the explanation of one number of a step; None where nothing is known of it, or there is no such number.

    words  its row, by the axis of the step, "query" or "key";  head  of the queries, where the step has heads

    >>> from attnviz import Config, run
    >>> made = number_answer(run(Config(sentence="the cat sat")), 0, "queries", {"query": 1}, 2, head=3)
    >>> made["sentence"], [line["title"] for line in made["lines"]]
    ('Query vectors, head 4: what each token asks for', ['X of cat × column 3 of W_Q'])
    """
    steps = step_names.steps(trace, layer)
    found = steps.get(step)
    axis = found.axes[-2] if found is not None and len(found.axes) > 1 else ""
    row = words.get(axis)
    if found is None or row is None:
        return None
    of_head = found.axes[0].endswith("head")
    head //= trace.config.group_size if found.axes[0] == "kv_head" else 1
    at = head if of_head else 0, row, column
    is_there = all(position < size for position, size in zip(at[1:], found.head(at[0]).shape, strict=True))
    lines = _lines(trace, layer, steps, found, at) if is_there else []
    if not lines:
        return None
    token = visible_token((trace.query_tokens if axis == "query" else trace.key_tokens)[row])
    entry = WORDS["entry"].format(n=ordinal(column), symbol=step_names.plain(found.symbol))
    said = WORDS["step_of_head" if of_head else "step"]
    return {
        "title": [["query" if axis == "query" else "key", token], ["soft", entry]],
        "sentence": said.format(step=NAMES[step], n=ordinal(head), meaning=found.meaning),
        "head": head,
        **{"query": row if axis == "query" else None, "key": row if axis == "key" else None, "dimension": None},
        "lines": lines,
        "is_number": True,
    }


def _lines(trace: Trace, layer: int, steps: dict[str, Step], step: Step, at: tuple[int, int, int]) -> list[Any]:
    head, row, column = at
    if step.name in ("embedded", "embedded_kv"):
        return _of_input(steps, step, row, column)
    if step.name not in offered(trace, layer):
        return []
    found = products(trace, layer, step.name, row, column, head)
    if not len(found.values):
        return [_line(step_names.plain(step.formula), number(found.result), _by_hand(found))]
    tokens = trace.key_tokens if step.axes[-2] == "key" else trace.query_tokens
    facts = {"n": ordinal(column), "matrix": step_names.plain(steps[found.matrix].symbol)}
    title = WORDS["products_of_input"].format(**facts)
    if found.read:
        symbol = step_names.plain(steps[found.read].symbol)
        title = WORDS["products"].format(symbol=symbol, token=visible_token(tokens[row]), **facts)
    sum_of_terms = Terms(found.left, found.right, found.values, found.total)
    write = parts.writer(found.values)
    sign = "+ " if found.bias > 0 else ""
    notes = [WORDS["bias"].format(bias=sign + write(found.bias))] if found.bias else []
    notes += [WORDS["activated"].format(made=number(found.computed))] if found.activated else []
    note = " · ".join([*notes, *filter(None, [_by_hand(found)])])
    return [_line(title, write(found.total), note, terms=_shown(parts.terms(sum_of_terms, "entry")))]


def _of_input(steps: dict[str, Step], step: Step, row: int, column: int) -> list[Any]:
    """Return how a number of the input is added up; nothing where more is done to it than that."""
    suffix = step.name.removeprefix("embedded")
    added = [steps[name + suffix] for name in ADDED if name + suffix in steps]
    values = np.array([each.array[row, column] for each in added])
    total = float(step.array[row, column])
    if len(added) < 2 or not abs(values.sum() - total) <= NEAR * max(np.abs(values).sum(), abs(total)):
        return []
    names = [f"{step_names.plain(each.symbol)} ({step_names.LABELS[each.name]})" for each in added]
    terms = parts.terms(Terms(None, None, values, total), "entry", names)
    return [_line(WORDS["added"], parts.writer(values)(total), terms=terms)]


def _line(title: str, value: str, note: str = "", **pictures: Any) -> dict[str, Any]:
    return {"name": "sum", "title": title, "value": value, "note": note, **pictures}


def _shown(terms: dict[str, Any]) -> dict[str, Any]:
    """Return the terms that are shown alone, with their numbers: of thousands the others need not travel."""
    kept = sorted({at for fold in terms["folds"] for at in fold["shown"]})
    rows = [[str(ordinal(at)), *terms["rows"][at][1:]] for at in kept]
    folds = [fold | {"shown": [kept.index(at) for at in fold["shown"]]} for fold in terms["folds"]]
    return terms | {"rows": rows, "folds": folds}


def _by_hand(found: Products) -> str:
    """Say what the number would be, where a person has set it; nothing where none has."""
    near = NEAR * max(1.0, abs(found.computed), abs(found.bias) + float(np.abs(found.values).sum()))
    is_computed = abs(found.result - found.computed) <= near or not np.isfinite(found.computed)
    return "" if is_computed else NOTES["score_by_hand"].format(computed=number(found.computed))
