"""Panels below the pictures: a word, every step, statistics, the seed dealt again, tables."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from attnviz.analysis.seed_average import is_random, mean_weights
from attnviz.engine.cost import estimate as cost
from attnviz.engine.cost.need import SHORT, Need
from attnviz.engine.external.layer_plans import plan_of_layer
from attnviz.engine.learning import learnable
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.exports import tables
from attnviz.exports.formats import ExportTarget
from attnviz.pictures import pipeline_strip, stages
from attnviz.pictures.static.svg_image import WORDS as TITLE
from attnviz.pictures.static.svg_image import over_image, without_text
from attnviz.pictures.step_path import way
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, aside
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.cost_ledger import ledger
from attnviz.ui.components import formula, number_tables
from attnviz.ui.components.pickers import head_cards, step_path
from attnviz.ui.components.sentence import attention_lines
from attnviz.ui.components.stage import heatmap
from attnviz.ui.panels import window
from attnviz.ui.panels.window import Positions
from attnviz.ui.session import admission, widgets
from attnviz.ui.session.browser.stage_events import last
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection

CARDS, PATH = "cards", "steps"
SEEDS = 10
FEWEST_SEEDS = 2
BUTTONS_UP_TO = 12
WIDTH = 560
"""Pixels of an image with weights over it."""
SEED_AVERAGE = Need(drawn=40, excludes_models=True)
TEXTS = Words(
    {
        "flow": "Choose a step to see it large.",
        "ledger": "Shapes, parameters and multiply-adds",
        "plan": "The layer as it is computed: each step, its axes, and what it is made of. `plan_of` says the same in "
        "Python.",
        "axes": "What the axes mean",
        "heads": "Each head: the average over its rows, and the largest weight of all of them",
        "rows": "Each row of head {head}",
        "columns": "Weight that each key receives in all",
        "part": "{title}; of the words that the maps show",
        "rollout": "Rollout: how much of each token of the sentence has reached each row after layer {layer}",
        "one": "Weights, seed {seed}",
        "one_phrase": "as above",
        "mean": "Average over {n} seeds",
        "mean_phrase": "seeds {first} to {last}",
        "random": "A random pattern fades as seeds are added; what stays comes from mask, positions and equal words.",
        "fixed": "These weights do not depend on the seed: every seed gives the same picture.",
        "fewer": "This setting takes long to compute, so the average is over {n} seeds, not {all}.",
        "too_slow": "This setting takes too long to compute with other seeds: two seeds would keep the server busy "
        "for more than {seconds} seconds. Fewer layers, fewer heads or a smaller embedding size would help.",
        "save": "Save as CSV",
        "layer": "Layer",
        "step": "Step",
        "head": "Head",
    }
)


def choose_layer(trace: Trace, selection: Selection, **layout: Any) -> Selection:
    """Draw the list of layers, where there are several, and return the selection."""
    n = len(trace.layers)
    if n == 1:
        return selection
    return widgets.choose_available(selection, "layer", TEXTS["layer"], range(n), buttons=n <= BUTTONS_UP_TO, **layout)


def sentence_panel(trace: Trace, selection: Selection) -> Selection:
    """Draw the weights of one word, in one head or on average over all."""
    if isinstance(trace.config, PretrainedConfig) and trace.config.image is not None:
        _over_image(trace, selection)
    request = attention_lines.show(trace, selection.layer, key="word", query=selection.query, head=selection.head)
    if request is None:
        return selection
    return replace(selection, query=request.query, head=request.head)


def over_patches(trace: Trace, layer: int, head: int, query: int, *, small: bool = False) -> dict[str, Any]:
    """Return the weights of a patch over the image that the model reads, as an address, and what is said of it."""
    drawing = over_image(trace, layer=layer, head=head, query=query)
    data = b64encode((without_text(drawing) if small else drawing).encode()).decode("ascii")
    named = {"layer": ordinal(layer), "head": ordinal(head), "query": trace.query_tokens[query]}
    said = {"alt": TITLE["title"].format(**named), "src": f"data:image/svg+xml;base64,{data}"}
    return {"head": head, "query": query, **said}


def _over_image(trace: Trace, selection: Selection) -> None:
    """Draw the weights of a patch over the image that the model reads."""
    image = over_patches(trace, selection.layer, selection.head or 0, selection.query or 0)
    st.html(f'<img alt="{escape(image["alt"])}" width="{WIDTH}" style="max-width: 100%" src="{image["src"]}">')


def steps_panel(trace: Trace, selection: Selection) -> Selection:
    """Draw the way from the sentence to the output, one step of it large, and the shape of everything."""
    paragraph([TEXTS["flow"]])
    entries = pipeline_strip.entries(trace, selection.layer)
    names = [entry.name for entry in entries]
    pressed = last("show", PATH)
    if pressed is not None and pressed.stage in names:
        selection = replace(selection, step=pressed.stage)
    selection = widgets.choose_available(
        selection, "step", TEXTS["step"], names, words=NAMES.__getitem__, otherwise="weights"
    )
    selection = replace(selection, step=selection.step if selection.step in names else "weights")
    path = way(trace, selection.layer, min(selection.head or 0, trace.config.n_heads - 1))
    step_path.show(path, key=PATH, words=len(trace.query_tokens), shown=[selection.step])
    entry = entries[names.index(selection.step)]
    step = step_names.steps(trace, selection.layer)[entry.name]
    formula.show(entry.formula)
    heatmap.show([stages.stage(trace, step, entry.text)], key="step-large")
    _shapes(trace, selection.layer)
    return selection


def _shapes(trace: Trace, layer: int) -> None:
    """Show the shape of every step, and what it takes to compute it."""
    with st.expander(TEXTS["ledger"], key="ledger"):
        entries = ledger(trace, layer)
        number_tables.show(tables.of_ledger(entries), hide_index=True)
        paragraph([TEXTS["axes"]])
        number_tables.show(tables.axes(entries), hide_index=True)
        paragraph([TEXTS["plan"]])
        st.code(str(plan_of_layer(trace, layer)), language=None)


def statistics_panel(trace: Trace, selection: Selection) -> Selection:
    """Draw what can be said of heads and rows: a card a head, and all of it in numbers."""
    layer = selection.layer
    heads = len(trace.layers[layer]["weights"].array)
    head = min(selection.head or 0, heads - 1)
    head_cards.show(trace, layer, key=CARDS, focus=None if selection.head is None else head)
    _table(TEXTS["heads"], tables.head_statistics(trace, layer), "heads", index=False)
    rows = tables.row_statistics(trace, layer)
    of_head = rows[rows["head"] == ordinal(head)].drop(columns="head")
    _table(TEXTS["rows"].format(head=ordinal(head)), of_head, "rows", index=False)
    seen = window.seen(trace, selection)
    _part(TEXTS["columns"], tables.column_sums(trace, layer), "columns", (None, seen.keys))
    rolled = tables.rollout(trace, layer)
    if rolled is not None and len(trace.layers) > 1:
        _part(TEXTS["rollout"].format(layer=ordinal(layer)), rolled, "rollout", (seen.queries, seen.keys))
    return selection


def _part(title: str, frame: pd.DataFrame, name: str, along: tuple[Positions | None, Positions | None]) -> None:
    """Draw a table with a column for each token; of a long text the part that the maps show.

    along  the rows and columns that are shown; None for all of them
    """
    if max(frame.shape) > window.MOST_WHOLE:
        title = TEXTS["part"].format(title=title)
        frame = frame.iloc[tuple(slice(None) if each is None else [*each] for each in along)]
    _table(title, frame, name)


def seed_average_panel(trace: Trace, selection: Selection) -> Selection:
    """Draw this seed's weights beside the mean over several seeds."""
    config, layer = trace.config, selection.layer
    refused = admission.refusal(SEED_AVERAGE, trace) if config.model else ""
    if refused:
        notice(refused)
        return selection
    needed = config if learnable.learns(config) else replace(config, n_layers=ordinal(layer))
    n_seeds = cost.times(needed, SEEDS)
    if n_seeds < FEWEST_SEEDS:
        notice(TEXTS["too_slow"].format(seconds=SHORT), kind="fault")
        return selection
    if not admission.admitted(SEED_AVERAGE, config, needed):
        return selection
    seeds = range(config.seed, config.seed + n_seeds)
    mean = admission.repeated(config, n_seeds, mean_weights, seeds, layer)
    step = trace.layers[layer]["weights"]
    if n_seeds < SEEDS:
        notice(TEXTS["fewer"].format(n=n_seeds, all=SEEDS))
    paragraph([TEXTS["random" if is_random(step.array, mean) else "fixed"]])
    one = stages.stage(trace, step, TEXTS["one"].format(seed=config.seed), TEXTS["one_phrase"])
    title, phrase = TEXTS["mean"].format(n=n_seeds), TEXTS["mean_phrase"].format(first=seeds[0], last=seeds[-1])
    many = replace(one, name="mean", title=title, array=mean, phrase=phrase, alt=aside(title, phrase))
    heatmap.show([one, many], key="redeal")
    return selection


def table(trace: Trace, selection: Selection, again: Callable[[], Trace] | None = None) -> Selection:
    """Draw the numbers of one step as a table.

    `again` makes the run anew for its file, if the setting alone cannot.
    """
    steps = step_names.steps(trace, selection.layer)
    columns = st.columns([2, 1, 1], vertical_alignment="bottom")
    with columns[0]:
        usual = "weights" if "weights" in steps else None
        shown = widgets.choose_available(
            selection, "step", TEXTS["step"], list(steps), words=NAMES.__getitem__, otherwise=usual
        )
    name = shown.step if shown.step in steps else "weights"
    step = steps[name]
    n_heads = step.shape[0] if step.axes[0].endswith("head") else 1
    if n_heads > 1:
        with columns[1]:
            selection = widgets.choose_available(selection, "head", TEXTS["head"], range(n_heads))
    head = min(selection.head or 0, n_heads - 1)
    frame = tables.matrix(step, trace.query_tokens, trace.key_tokens, head)
    target = ExportTarget(selection.layer, name)
    admission.download(
        columns[2], TEXTS["save"], "csv", trace, again or partial(run, trace.config), target, file_name=f"{name}.csv"
    )
    number_tables.show(frame)
    _shapes(trace, selection.layer)
    return replace(selection, step=name)


def _table(title: str, frame: pd.DataFrame, name: str, *, index: bool = True) -> None:
    paragraph([title])
    number_tables.show(frame, hide_index=not index, key=f"table-{name}")
