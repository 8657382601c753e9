"""Four experiments: which axis sums to one, what the scale is for, what sharing saves, and whether order matters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from attnviz.analysis import permutations, variance_and_sharing
from attnviz.analysis.permutations import ORDERS, Reordered
from attnviz.analysis.variance_and_sharing import DIVISORS, VECTORS, WIDTHS, Spread
from attnviz.engine.cost.need import SHORT, Need
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of, score_of
from attnviz.engine.tables.normalised_axes import NORMALISED_AXES
from attnviz.engine.tables.row_names import PositionName
from attnviz.experiments import axis_and_sharing as words
from attnviz.experiments import permutation
from attnviz.pictures import figures, stages
from attnviz.pictures.charts import variance_charts
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Plural, Words, aside
from attnviz.text.format.html_math import as_markdown
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import TEXT, plain
from attnviz.ui.components import number_tables
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.view import WHOLE
from attnviz.ui.session import admission, session_state, widgets
from attnviz.ui.session.notices import paragraph, typeset
from attnviz.ui.session.selection import Selection

QUESTIONS = Words(
    {
        "axis": "Which axis has to sum to one?",
        "scale": "Why are the scores divided by √d_k?",
        "sharing": "What does it cost to share keys and values?",
        "shuffle": "Does the order of the words matter?",
    }
)
TEXTS = Words(
    {
        "axis": "Each query distributes a weight of 1 over the keys, so the weights of a row add to 1 and its output "
        "is an average of the values. Normalised along the other axis, each key is distributed over the queries "
        "instead, and a query may receive any amount.",
        "scale": "A dot product of queries and keys with independent entries of mean 0 and variance 1 has variance "
        "d_k (Vaswani et al. 2017, section 3.2.1). The larger the scores, the nearer softmax comes to all or nothing; "
        "dividing by √d_k keeps their spread the same at every width.",
        "sharing": "While a text is generated, the keys and values of all tokens so far are kept. Query heads may "
        "share them: in groups (Ainslie et al. 2023) or all of them (Shazeer 2019), and the cache shrinks with the "
        "number of key/value heads.",
        "shuffle": "Attention itself sums over a set: reorder the words, and the output rows are reordered in the same "
        "way. Only what is added for positions, and masks that compare positions, tells one order from another.",
        "keys": "Over the keys",
        "queries": "Over the queries, the wrong way",
        "rows_one": "each row adds to 1",
        "columns_one": "each column adds to 1",
        "head": "Head",
        "vectors": "Queries and keys",
        "divided": "Divided by {divisor}",
        "spread": "Standard deviation of the scores.",
        "reference": "Dashed: √d_k, which follows for independent entries of variance 1.",
        "largest": "Largest weight of a row, on average.",
        "own": "One for each head",
        "groups": "Groups of {n}",
        "all": "One for all",
        "between": "Key/value heads, when grouped",
        "order": "Order",
        "one": "First position to swap",
        "other": "Second position to swap",
        "reordered": "Reordered: {tokens}",
        "wait": "Running at every d_k",
    }
)
KV_HEADS = Plural("{n} key/value head", "{n} key/value heads")
KEEP = Words(
    {
        "side": "Use this setting: {label}",
        "divided": "Use d_k = {d_k}, divided by {divisor}",
        "order": "Use this order",
    }
)
AXIS = Need(drawn=48, excludes_models=True)
SCALE = Need(drawn=150, slow_drawn=3e-6, excludes_models=True)
SCALE_OF_SETTING = replace(SCALE, held=1, made=8, most=20)
SHARING = Need(drawn=48, most=SHORT, excludes_models=True)
SHUFFLE = Need(held=2, made=9, drawn=48, most=SHORT, excludes_models=True)
RUNS = 3
"""The runs that another order of the words takes, at most."""

SHARE = Plural("Use {n} key/value head", "Use {n} key/value heads")


def axis(trace: Trace, selection: Selection) -> Selection:
    """Draw the weights normalised over the keys and over the queries, with the sums of rows and columns."""
    _ask("axis")
    layer = selection.layer
    if not admission.admitted(AXIS, trace.config, _up_to(trace.config, layer)):
        return selection
    sides = {side: _with(trace, replace(trace.config, normalise_over=side), layer) for side in NORMALISED_AXES}
    adds = normaliser_of(trace.config).sums_to_one
    phrases = (
        {"keys": TEXTS["rows_one"], "queries": TEXTS["columns_one"]} if adds else dict.fromkeys(NORMALISED_AXES, "")
    )
    shown = [_weights(each, layer, side, TEXTS[side], phrases[side]) for side, each in sides.items()]
    heatmap.show(shown, key="trial", view=WHOLE)
    paragraph(map(localised, words.axis_sentences(sides, layer)))
    _tell("axis")
    n_heads = trace.config.n_heads
    if n_heads > 1:
        selection = widgets.choose_available(selection, "head", TEXTS["head"], range(n_heads), width=120)
    heatmap.show([words.with_sums(each, selection.head or 0) for each in shown], key="trial-sums")
    other = next(side for side in NORMALISED_AXES if side != trace.config.normalise_over)
    _keep({KEEP["side"].format(label=TEXTS[other]): replace(trace.config, normalise_over=other)}, selection)
    return selection


def scale(trace: Trace, selection: Selection) -> Selection:
    """Draw the weights under three divisors, and the standard deviation of the scores over d_k."""
    _ask("scale")
    layer = selection.layer
    width, source = st.columns(2)
    with width:
        selection = widgets.draw(selection, "trial_d_k")
    with source:
        selection = widgets.choose_available(
            selection, "trial_vectors", TEXTS["vectors"], [*VECTORS], words=_vectors, buttons=True
        )
    vectors = selection.trial_vectors
    d_k = selection.trial_d_k
    measured = replace(trace.config, d_k=max(*WIDTHS, d_k))
    if not admission.admitted(SCALE if vectors == "unit" else SCALE_OF_SETTING, measured):
        return selection
    with st.spinner(TEXTS["wait"]):
        widths = sorted({*WIDTHS, d_k})
        trial = partial(admission.repeated, trace.config, len(widths), variance_and_sharing.spreads_of)
        spreads = trial(layer, vectors, widths, known=trace, like=measured)
    at_d_k = next(each for each in spreads if each.d_k == d_k)
    drawn = _weights(trace, layer, "", "")
    if vectors == "unit":  # drawn for the trial, so no head is made for anything
        drawn = replace(drawn, heads=None)
    titles = {name: TEXTS["divided"].format(divisor=row.label) for name, row in DIVISORS.items()}
    heatmap.show(
        [replace(drawn, **_divided(at_d_k, name, title)) for name, title in titles.items()], key="trial", view=WHOLE
    )
    _tell("scale")
    sentences = variance_charts.of_spread(trace, at_d_k)
    sentences += variance_charts.of_entries(trace, spreads) if vectors == "setting" else []
    typeset(*(((TEXT, each),) for each in sentences))
    charts = (
        variance_charts.spread_chart(spreads, d_k, reference=vectors == "unit"),
        variance_charts.largest_chart(spreads, d_k),
    )
    for column, name, chart in zip(st.columns(2), ("spread", "largest"), charts):
        with column:
            sentences = [TEXTS[name], *[TEXTS["reference"]] * (name == "spread" and vectors == "unit")]
            typeset(*(((TEXT, each),) for each in sentences))
            st.plotly_chart(
                figures.without_template(chart), key=f"chart-{name}", config={"displayModeBar": False}, alt=TEXTS[name]
            )
    if vectors == "setting" and layer == 0:  # a later layer would read what another divisor makes of the first
        _keep(_with_divisors(trace.config, d_k), selection)
    return selection


def _divided(spread: Spread, name: str, title: str) -> dict[str, Any]:
    """Return the changes to the picture of the weights under one divisor."""
    phrase = variance_charts.phrase(spread, name)
    weights = {"array": spread.weights[name], "masked": spread.masked}
    return {"name": name, "title": title, "phrase": phrase, "alt": aside(title, phrase)} | weights


def _with_divisors(config: Config, d_k: int) -> dict[str, Config]:
    """Return the settings that an experiment with one width has tried, by what their buttons say."""
    return {
        KEEP["divided"].format(d_k=d_k, divisor=row.label): replace(
            config, d_k=d_k, score="scaled_dot", scale=None if name == "root" else 1.0 / row.fn(d_k)
        )
        for name, row in DIVISORS.items()
    }


def sharing(trace: Trace, selection: Selection) -> Selection:
    """Draw the weights with keys and values for each head, for groups and for all, and what has to be cached."""
    _ask("sharing")
    layer, n_heads = selection.layer, trace.config.n_heads
    between = variance_and_sharing.groupings(n_heads)
    middle = between[len(between) // 2 :][:1]
    if len(between) > 1:
        selection = widgets.choose_available(
            selection, "trial_kv", TEXTS["between"], between, otherwise=middle[0], buttons=True
        )
        middle = (selection.trial_kv,) if selection.trial_kv in between else middle
    numbers = tuple(dict.fromkeys((n_heads, *middle, 1)))
    others = {n: _up_to(replace(trace.config, n_kv_heads=n), layer) for n in numbers}
    if not admission.admitted(SHARING, trace.config, *others.values()):
        return selection
    variants = [_with(trace, replace(trace.config, n_kv_heads=n), layer) for n in numbers]
    heatmap.show([_shared(each, layer) for each in variants], key="trial", view=WHOLE)
    paragraph(map(localised, words.sharing_sentences(variants, layer)))
    _tell("sharing")
    number_tables.show(words.sharing_table(words.shared(variants, layer)), hide_index=True)
    kept = {n: SHARE.format(n=n) for n in numbers if n != trace.config.kv_heads}
    _keep({label: replace(trace.config, n_kv_heads=n) for n, label in kept.items()}, selection)
    return selection


def shuffle(trace: Trace, selection: Selection) -> Selection:
    """Draw the outputs of the same words in two orders, without positions and with them."""
    _ask("shuffle")
    config = trace.config
    selection, new = _order(config, selection)
    if not admission.admitted(SHUFFLE, config):
        return selection
    modes: dict[str, PositionName] = {
        "off": "none",
        "on": config.position if config.position != "none" else "sinusoidal",
    }
    by_name = {name: _outcome(replace(config, position=position), new, trace) for name, position in modes.items()}
    kept = {name: each for name, each in by_name.items() if each is not None}
    if len(kept) < len(by_name):
        paragraph([permutation.SENTENCES["unmovable"]])
        return selection
    paragraph([TEXTS["reordered"].format(tokens=" ".join(kept["on"].after.query_tokens))])
    paragraph(map(localised, permutation.unchanged_order(kept["on"])))
    heatmap.show([permutation.stage(name, each) for name, each in kept.items()], key="trial", view=WHOLE)
    for name, each in kept.items():
        paragraph([localised(plain(permutation.order_sentences(name, each)))])
    sentences = permutation.notes(config)
    if kept["off"].changed.any() and permutation.placed(config):
        bare = replace(permutations.without_position_effects(config), position="none")
        of_words = None if score_of(config).by_position else _outcome(bare, new, trace)
        sentences.insert(0, permutation.position_sentences(config, of_words))
    paragraph(map(localised, sentences))
    _tell("shuffle")
    moved = permutations.in_order(config, new)
    _keep({KEEP["order"]: moved} if moved and moved.sentence != config.sentence else {}, selection)
    return selection


def _outcome(config: Config, new: tuple[int, ...], known: Trace) -> Reordered | None:
    """Return the results of both orders, if there are such."""
    return admission.repeated(config, RUNS, permutations.outcome, new, known=known)


def _order(config: Config, selection: Selection) -> tuple[Selection, tuple[int, ...]]:
    """Return the order of the words that the visitor chooses."""
    n = len(permutations.words(config))
    selection = widgets.choose_available(
        selection, "trial_order", TEXTS["order"], [*ORDERS], words=_order_named, buttons=True
    )
    if n < 2:
        return selection, tuple(range(n))
    name = selection.trial_order
    if name == "swap":
        one, other = st.columns(2)
        with one:
            selection = widgets.choose_available(selection, "swap_one", TEXTS["one"], range(n))
        with other:
            selection = widgets.choose_available(selection, "swap_other", TEXTS["other"], range(n), otherwise=n - 1)
    last = n - 1
    other_position = last if selection.swap_other is None else selection.swap_other
    positions = min(selection.swap_one, last), min(other_position, last)
    return selection, tuple(ORDERS[name].fn(n, seed=config.seed, positions=positions))


def _ask(name: str) -> None:
    """Write the question."""
    st.subheader(as_markdown(QUESTIONS[name]), anchor=False)


def _tell(name: str) -> None:
    """Write what a textbook says of it, below what the experiment shows."""
    typeset(((TEXT, TEXTS[name]),))


def _with(trace: Trace, config: Config, layer: int) -> Trace:
    """Return the run of a variation up to a layer, without computing that of the current setting again."""
    return trace if config == trace.config else admission.run_of(_up_to(config, layer))


def _up_to(config: Config, layer: int) -> Config:
    """Return the setting without the layers after one, whose matrices and weights stay the same."""
    return replace(config, n_layers=ordinal(layer), output_projection=config.has_output_projection())


def _weights(trace: Trace, layer: int, name: str, title: str, phrase: str = "") -> Stage:
    """Return the weights of a layer as a picture with a name of its own."""
    drawn = stages.stage(trace, trace.layers[layer]["weights"], title, phrase)
    return replace(drawn, name=name, alt=aside(title, phrase))


def _shared(trace: Trace, layer: int) -> Stage:
    """Return the weights where so many key/value heads are shared."""
    n, group = trace.config.kv_heads, trace.config.group_size
    title = TEXTS["own" if group == 1 else "all" if n == 1 else "groups"].format(n=group)
    return _weights(trace, layer, f"kv{n}", title, KV_HEADS.format(n=n))


def _vectors(name: str) -> str:
    return VECTORS[name].label


def _order_named(name: str) -> str:
    return ORDERS[name].label


def _keep(settings: Mapping[str, Config], selection: Selection) -> None:
    """Draw a button that adopts each of these settings."""
    with st.container(horizontal=True):
        for at, (label, config) in enumerate(settings.items()):
            st.button(as_markdown(label), key=f"keep-{at}", on_click=session_state.adopt, args=(config, selection))
