"""What can be looked at below the pictures: a word, every step, statistics, the seed dealt again, tables."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.core.language import Words
from attnviz.core.redeal import mean_weights
from attnviz.core.trace import Trace
from attnviz.ui import bridge, controls, strip, word
from attnviz.ui.say import line
from attnviz.ui.selection import Selection
from attnviz.views import flow, stages, tables
from attnviz.views.captions import NAMES
from attnviz.views.ledger import ledger

SEEDS = 10
BUTTONS_UP_TO = 12
TEXTS = Words(
    {
        "flow": "Choose a step to see it large. Steps that change nothing here are folded.",
        "ledger": "Shapes, parameters and multiply-adds",
        "axes": "What the axes mean",
        "heads": "Each head: the mean over its rows, and the largest weight of all of them",
        "rows": "Each row of head {head}",
        "columns": "How much is taken from each key in all",
        "rollout": "Rollout: how much of each token of the sentence has reached each row after layer {layer}",
        "one": "Weights, seed {seed}",
        "one_phrase": "as above",
        "mean": "Mean of {n} seeds",
        "mean_phrase": "seeds {first} to {last}",
        "random": "A random pattern fades as seeds are added; what stays comes from mask, positions and equal words.",
        "fixed": "Nothing here is random, so every seed gives the same picture.",
        "save": "Save as CSV",
        "layer": "Layer",
        "step": "Step",
        "head": "Head",
    }
)


def layer(trace: Trace, selection: Selection) -> Selection:
    """Which layer is looked at, where there are several."""
    n = len(trace.layers)
    if n == 1:
        return selection
    return controls.pick(selection, "layer", TEXTS["layer"], range(1, n + 1), buttons=n <= BUTTONS_UP_TO)


def read_word(trace: Trace, selection: Selection) -> Selection:
    """What one word reads from, in one head or in the mean of all."""
    query, head = (None if number is None else number - 1 for number in (selection.query, selection.head))
    asked = word.show(trace, selection.layer - 1, key="word", query=query, head=head)
    if asked is None:
        return selection
    query, head = (None if number is None else number + 1 for number in (asked.query, asked.head))
    return replace(selection, query=query, head=head)


def every_step(trace: Trace, selection: Selection) -> Selection:
    """The way from the sentence to the output, one step of it large, and the shape of everything."""
    line([TEXTS["flow"]])
    entries = flow.entries(trace, selection.layer - 1)
    names = [entry.name for entry in entries]
    chosen = strip.show(entries, key="strip", chosen=selection.step if selection.step in names else "weights")
    selection = replace(selection, step=chosen or (selection.step if selection.step in names else "weights"))
    entry = entries[names.index(selection.step)]
    step = flow.steps(trace, selection.layer - 1)[entry.name]
    st.latex(entry.formula)
    bridge.show([stages.stage(trace, step, entry.text)], key="large")
    with st.expander(TEXTS["ledger"], key="ledger"):
        found = ledger(trace, selection.layer - 1)
        st.dataframe(tables.of_ledger(found), hide_index=True)
        line([TEXTS["axes"]])
        st.dataframe(tables.axes(found), hide_index=True)
    return selection


def statistics(trace: Trace, selection: Selection) -> Selection:
    """What can be said of heads and rows in numbers."""
    layer, head = selection.layer - 1, selection.head or 1
    _table(TEXTS["heads"], tables.head_statistics(trace, layer), "heads", index=False)
    rows = tables.row_statistics(trace, layer)
    _table(TEXTS["rows"].format(head=head), rows[rows["head"] == head].drop(columns="head"), "rows", index=False)
    _table(TEXTS["columns"], tables.column_sums(trace, layer), "columns")
    rolled = tables.rollout(trace, layer)
    if rolled is not None and len(trace.layers) > 1:
        _table(TEXTS["rollout"].format(layer=selection.layer), rolled, "rollout")
    return selection


def deal_again(trace: Trace, selection: Selection) -> Selection:
    """This seed's weights beside the mean over several seeds."""
    config, layer = trace.config, selection.layer - 1
    seeds = range(config.seed, config.seed + SEEDS)
    mean = mean_weights(config, seeds, layer)
    step = trace.layers[layer]["weights"]
    line([TEXTS["fixed" if (mean == step.array).all() else "random"]])
    one = stages.stage(trace, step, TEXTS["one"].format(seed=config.seed), TEXTS["one_phrase"])
    title, phrase = TEXTS["mean"].format(n=SEEDS), TEXTS["mean_phrase"].format(first=seeds[0], last=seeds[-1])
    many = replace(one, name="mean", title=title, array=mean, phrase=phrase, alt=f"{title}, {phrase}")
    bridge.show([one, many], key="redeal")
    return selection


def table(trace: Trace, selection: Selection) -> Selection:
    """The numbers of one step as a table."""
    steps = flow.steps(trace, selection.layer - 1)
    columns = st.columns([2, 1, 1], vertical_alignment="bottom")
    with columns[0]:
        usual = "weights" if "weights" in steps else None
        shown = controls.pick(selection, "step", TEXTS["step"], list(steps), words=NAMES.__getitem__, otherwise=usual)
    name = shown.step if shown.step in steps else "weights"
    step = steps[name]
    n_heads = step.shape[0] if step.axes[0].endswith("head") else 1
    if n_heads > 1:
        with columns[1]:
            selection = controls.pick(selection, "head", TEXTS["head"], range(1, n_heads + 1))
    head = min(selection.head or 1, n_heads)
    frame = tables.matrix(step, trace.query_tokens, trace.key_tokens, head - 1)
    whole = tables.tidy(step, trace.query_tokens, trace.key_tokens)
    columns[2].download_button(
        TEXTS["save"], lambda: tables.csv(whole), file_name=f"{name}.csv", mime="text/csv", on_click="ignore"
    )
    st.dataframe(frame)
    return replace(selection, step=name)


def _table(title: str, frame: object, name: str, *, index: bool = True) -> None:
    line([title])
    st.dataframe(frame, hide_index=not index, key=f"table-{name}")
