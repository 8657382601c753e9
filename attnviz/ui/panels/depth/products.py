"""One number of any step of a layer, taken down to what it is made of."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from attnviz.arithmetic.products import Products, offered, products
from attnviz.engine.records.trace import Step, Trace
from attnviz.settings.counting import ordinal, ordinals
from attnviz.settings.language import Words
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components import formula, number_tables
from attnviz.ui.session import widgets
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "none": "The steps of this layer were given: there are no products behind them.",
        "step": "Step",
        "head": "Head",
        "row": "Token",
        "column": "Column",
        "key": "Key",
        "sum": "{step}, layer {layer}{head}, “{token}”, column {column} of {all}: the sum of {n} products{bias}.",
        "sum_key": "{step}, layer {layer}{head}, “{token}” and “{other}”: the sum of {n} products{bias}.",
        "of_head": ", head {head}",
        "bias": " and the bias",
        "made": "{step}, layer {layer}{head}, “{token}”, column {column} of {all}: {meaning}.",
        "made_key": "{step}, layer {layer}{head}, “{token}” and “{other}”: {meaning}.",
        "activated": "The step holds f of this sum, {result:.{digits}g}.",
        "number": "number",
        "product": "product",
    }
)
MOST_LISTED = 64
"""Columns that are offered as a list; of more, the number is typed."""


def panel(trace: Trace, selection: Selection) -> Selection:
    """Draw the choice of a number, where its parameters lie, and every product."""
    layer = selection.layer
    names = offered(trace, layer)
    if not names:
        paragraph([WORDS["none"]])
        return selection
    columns = st.columns([3, 1, 2, 2, 1], vertical_alignment="bottom")
    with columns[0]:
        selection = widgets.choose_available(
            selection, "step", WORDS["step"], names, words=NAMES.__getitem__, otherwise=names[0]
        )
    name = selection.step if selection.step in names else names[0]
    step = trace.layers[layer][name]
    if step.axes[0].endswith("head") and len(step.array) > 1:
        with columns[1]:
            heads = range(len(step.array))
            selection = widgets.choose_available(selection, "head", WORDS["head"], heads)
    head = min(selection.head or 0, len(step.array) - 1) if step.axes[0].endswith("head") else 0
    axis = "key" if "key" in step.axes[:-1] else "query"
    with columns[2]:
        selection = _token(trace, selection, axis)
    row = getattr(selection, axis) or 0
    with columns[3]:
        selection, column = _column(trace, selection, step.axes[-1], int(step.head(head).shape[-1]))
    with columns[4]:
        selection = widgets.draw(selection, "digits")
    entry = products(trace, layer, name, row, column, head, selection.digits)
    paragraph(_sentences(trace, (layer, head, row, column), step, entry, selection.digits))
    if entry.sources:
        paragraph(entry.sources)
    formula.show_aligned(entry.latex)
    if len(entry.values):
        _table(trace, layer, entry)
    return replace(selection, step=name)


def _sentences(trace: Trace, at: tuple[int, int, int, int], step: Step, entry: Products, digits: int) -> list[str]:
    """Say which number it is, by layer, head, row and column, and what it is the sum of."""
    layer, head, row, column = at
    tokens = trace.key_tokens if "key" in step.axes[:-1] else trace.query_tokens
    facts = {
        "step": NAMES[step.name],
        "layer": ordinal(layer),
        "head": WORDS["of_head"].format(head=ordinal(head)) if step.axes[0].endswith("head") else "",
        "token": visible_token(tokens[row]),
        "n": len(entry.values),
        "bias": WORDS["bias"] if entry.bias else "",
        "meaning": step.meaning,
    }
    words = "sum" if len(entry.values) else "made"
    if step.axes[-1] == "key":
        sentence = WORDS[f"{words}_key"].format(other=visible_token(trace.key_tokens[column]), **facts)
    else:
        sentence = WORDS[words].format(column=ordinal(column), all=step.shape[-1], **facts)
    return [sentence, *([WORDS["activated"].format(result=entry.result, digits=digits)] if entry.activated else [])]


def _token(trace: Trace, selection: Selection, axis: str) -> Selection:
    tokens = trace.key_tokens if axis == "key" else trace.query_tokens
    return widgets.choose_available(
        selection, axis, WORDS["row"], range(len(tokens)),
        words=lambda at: f"{ordinal(at)} {visible_token(tokens[at])}",
    )  # fmt: skip


def _column(trace: Trace, selection: Selection, axis: str, n: int) -> tuple[Selection, int]:
    """Draw the choice of a column, or of the key where columns are keys."""
    if axis == "key":
        selection = _token(trace, selection, "key")
        return selection, selection.key or 0
    if n <= MOST_LISTED:
        selection = widgets.choose_available(selection, "column", WORDS["column"], range(n))
    else:
        selection = widgets.draw(selection, "column")
    return selection, min(selection.column or 0, n - 1)


def _table(trace: Trace, layer: int, entry: Products) -> None:
    """Draw a table of every product."""
    steps = step_names.steps(trace, layer)
    symbols = [step_names.plain(steps[name].symbol) for name in (entry.read, entry.matrix)]
    frame = pd.DataFrame(
        {
            WORDS["number"]: ordinals(len(entry.values)),
            symbols[0]: entry.left,
            symbols[1]: entry.right,
            WORDS["product"]: entry.values,
        }
    )
    number_tables.show(frame, hide_index=True, key="products")
