"""The answer to one number of a map that holds no score and no weight: what it is the sum of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.arithmetic.products import EMBEDDED as NAMED
from attnviz.arithmetic.products import Products, offered, products
from attnviz.arithmetic.short_derivation import Terms
from attnviz.engine.external.layer_plans import plan_of_layer
from attnviz.engine.records.trace import Step, Trace, result_of
from attnviz.pictures.answer import explanation_parts as parts
from attnviz.pictures.answer.explanation import NOTES
from attnviz.pictures.answer.explanation_parts import number
from attnviz.pictures.columns import TITLES
from attnviz.pictures.stages import head_name
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.query_sentences import visible_token

WORDS = Words(
    {
        "entry": "entry {n} of {symbol}",
        "step": "{step}: {meaning}",
        "step_of_head": "{step}, {head}: {meaning}",
        "products": "{symbol} of {token} × column {n} of {matrix}",
        "products_of_input": "what goes in × column {n} of {matrix}",
        "bias": "{bias} for the bias",
        "sum": "the sum is {total}",
        "added": "added up",
    }
)
OF_ATTENTION = (("query", "key"), ("query", "d_v"))
"""The axes of the steps whose numbers are explained as cells and as entries of an output."""
INPUTS = ("embedded", "embedded_kv")
PARTS = ("token_embeddings", "positions", "token_types")
"""What the input of the first layer is the sum of, as far as there is any."""
MOST = 0.5
"""The part of the numbers of the input that are a sum, where it is nothing more: a model may scale or normalise it."""
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
    axes = () if found is None else found.axes
    row = words.get(axes[-2]) if len(axes) > 1 and axes[-2:] not in OF_ATTENTION else None
    if found is None or row is None:
        return None
    of_head = axes[0].endswith("head")
    among = head // trace.config.group_size if axes[0] == "kv_head" else head
    at = among if of_head else 0, row, column
    is_there = all(position < size for position, size in zip(at[1:], found.head(at[0]).shape, strict=True))
    lines = _lines(trace, layer, steps, found, at) if is_there else []
    if not lines:
        return None
    token = visible_token((trace.query_tokens if axes[-2] == "query" else trace.key_tokens)[row])
    entry = WORDS["entry"].format(n=ordinal(column), symbol=step_names.plain(found.symbol))
    said = WORDS["step_of_head" if of_head else "step"]
    name = head_name(trace, found, among) if of_head else ""
    called = TITLES["embedded"] if step in INPUTS else NAMES[step]
    return {
        "title": [[axes[-2], token], ["soft", entry]],
        "sentence": said.format(step=called, head=name, meaning=found.meaning),
        "head": head,
        **{"query": None, "key": None, "dimension": None, axes[-2]: row},
        "lines": lines,
        "number": {"stage": step, "head": at[0], "row": row, "column": column},
    }


def _lines(trace: Trace, layer: int, steps: dict[str, Step], step: Step, at: tuple[int, int, int]) -> list[Any]:
    head, row, column = at
    if step.name == "embedded" and layer:  # what the layer before passes on
        former = result_of(trace.layers[layer - 1])
        return _lines(trace, layer - 1, step_names.steps(trace, layer - 1), former, at)
    added = _added(trace, layer, steps, step)
    if added:
        return [_of_parts(added, step, row, column)]
    result = float(step.head(head)[row, column])
    if step.name not in offered(trace, layer):
        is_made = step.name.removesuffix("_kv") == "embedded" and "token_embeddings" in steps
        return [_line(step_names.plain(step.formula), number(result))] if is_made else []
    found = products(trace, layer, step.name, row, column, head)
    by_hand = _by_hand(result, found.computed, abs(found.bias) + float(np.abs(found.values).sum()))
    if not len(found.values):
        return [_line(step_names.plain(step.formula), number(result), by_hand)]
    write = parts.writer(found.values)
    notes = [WORDS["bias"].format(bias=("+ " if found.bias > 0 else "") + write(found.bias))] if found.bias else []
    notes += [WORDS["sum"].format(total=write(found.total))] if found.activated else []
    terms = parts.terms(Terms(found.left, found.right, found.values, found.total), "entry")
    value = number(result) if found.activated or by_hand else write(result)
    title = _factors(trace, steps, step, found, at)
    return [_line(title, value, " · ".join(filter(None, [*notes, by_hand])), terms=_shown(terms))]


def _factors(trace: Trace, steps: dict[str, Step], step: Step, found: Products, at: tuple[int, int, int]) -> str:
    """Say of which row and of which column the products are."""
    _, row, column = at
    facts = {"n": ordinal(column), "matrix": step_names.plain(steps[found.matrix].symbol)}
    if not found.read:
        return WORDS["products_of_input"].format(**facts)
    tokens = trace.key_tokens if step.axes[-2] == "key" else trace.query_tokens
    symbol = step_names.plain(steps[found.read].symbol)
    return WORDS["products"].format(symbol=symbol, token=visible_token(tokens[row]), **facts)


def _added(trace: Trace, layer: int, steps: dict[str, Step], step: Step) -> list[Step]:
    """Return the steps that a step is the sum of; none where it is something else."""
    suffix = "_kv" if step.name.endswith("_kv") else ""
    of_input = [steps[name + suffix] for name in PARTS if name + suffix in steps]
    if step.name in (f"embedded{suffix}", "embedded_sum"):
        near = np.isclose(sum(each.array for each in of_input), step.array, rtol=0, atol=NEAR)
        return of_input if near.mean() > MOST else []  # some may have been set by hand
    made = plan_of_layer(trace, layer).get(step.name)
    args = () if made is None or not made.args or made.args[0].op != "+" else made.args[0].args
    found = [steps[NAMED.get(each.name, each.name)] for each in args if NAMED.get(each.name, each.name) in steps]
    return found if found and len(found) == len(args) and {each.axes[:-1] for each in found} == {step.axes[:-1]} else []


def _of_parts(added: Sequence[Step], step: Step, row: int, column: int) -> dict[str, Any]:
    """Return how a number is the sum of one of each of several steps."""
    values = np.array([each.array[row, column] for each in added])
    total, result = float(values.sum()), float(step.array[row, column])
    names = [f"{symbol} ({step_names.LABELS[each.name]})" for symbol, each in zip(_symbols(added), added, strict=True)]
    terms = parts.terms(Terms(None, None, values, total), "entry", names)
    by_hand = _by_hand(result, total, float(np.abs(values).sum()))
    return _line(WORDS["added"], number(result) if by_hand else parts.writer(values)(result), by_hand, terms=terms)


def _symbols(steps: Sequence[Step]) -> list[str]:
    return [step_names.plain(each.symbol) for each in steps]


def _line(title: str, value: str, note: str = "", **pictures: Any) -> dict[str, Any]:
    return {"name": "sum", "title": title, "value": value, "note": note, **pictures}


def _shown(terms: dict[str, Any]) -> dict[str, Any]:
    """Return the terms that are shown alone, with their numbers: of thousands the others need not travel."""
    kept = sorted({at for fold in terms["folds"] for at in fold["shown"]})
    rows = [[str(ordinal(at)), *terms["rows"][at][1:]] for at in kept]
    folds = [fold | {"shown": [kept.index(at) for at in fold["shown"]]} for fold in terms["folds"]]
    return terms | {"rows": rows, "folds": folds}


def _by_hand(result: float, computed: float, size: float) -> str:
    """Say what a number would be, where a person has set it; nothing where none has.

    size  of all that is added up to it
    """
    near = NEAR * max(1.0, abs(computed), size)
    is_computed = abs(result - computed) <= near or not np.isfinite(computed)
    return "" if is_computed else NOTES["score_by_hand"].format(computed=number(computed))
