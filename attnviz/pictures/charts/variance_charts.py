"""Charts over d_k that show why scores are divided by √d_k, and sentences on one width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.analysis.variance_and_sharing import DIVISORS, WIDTHS, Spread
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of, score_of
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tables.scores import SCORES
from attnviz.pictures.colours import CHARTS, CLEAR
from attnviz.settings.language import Words, translate
from attnviz.text.format.number_format import localised, plotly_separators, short

SYMBOLS = {"one": "square", "root": "circle", "width": "diamond"}
REFERENCE = "√d_k"
PHRASE = "largest weight {largest} on average"
HEIGHT = 300
DIVIDED = "÷ {divisor}"

SENTENCES = Words(
    {
        "scores": "At d_k = {d_k} the scores have standard deviation {one}; divided by √d_k = {root_of} it is {root}, "
        "divided by d_k {width}.",
        "largest": "The largest weight of a row is {one} on average without division, {root} with √d_k and {width} "
        "with d_k; equal shares would make it {equal}.",
        "one_wide": "At d_k = 1 all three divisors are 1.",
        "one_key": "Every row may attend to one key only, which gets all the weight whatever its score is divided by.",
        "indifferent": "{normaliser} gives the same weights whatever all scores are divided by.",
        "same": "In this setting the divisor makes no difference to the weights.",
        "temperature": "The temperature of the setting, {temperature:g}, divides once more: with √d_k by {product} in "
        "all.",
        "softcap": "The soft cap of the setting, {softcap:g}, holds large scores back, also undivided ones.",
        "bias": "The bias by distance is added after the division and is not divided.",
        "product": "The experiment uses dot products; your setting uses: {score}.",
        "entries": "The entries of these queries and keys have standard deviation {q_first} and {k_first} at d_k = "
        "{first}, {q_last} and {k_last} at {last}, and they are not independent: a spread of √d_k follows only for "
        "independent entries of mean 0 and standard deviation 1.",
        "by_hand": "Set by hand, they are worked out once: another d_k adds columns that hold little or nothing, "
        "scores stay as large as they were, and √d_k makes them smaller.",
        "by_hand_anew": "Set by hand, they are chosen so that the scores, divided by √d_k, are the same at every d_k "
        "that is large enough.",
        "over": "Weights are normalised over the keys here, as they should be.",
    }
)


def of_spread(trace: Trace, spread: Spread) -> list[str]:
    """Describe the dot products of one width, and the parts of the setting that hide or bend the answer."""
    if math.isnan(spread.equal):
        return []
    scores, largest = ({name: short(value) for name, value in each.items()} for each in (spread.scores, spread.largest))
    sentences = [SENTENCES["scores"].format(d_k=spread.d_k, root_of=short(math.sqrt(spread.d_k)), **scores)]
    sentences.append(SENTENCES["largest"].format(equal=short(spread.equal), **largest))
    return [*sentences, *_hidden(trace, spread), *_elsewhere(trace, spread)]


def of_entries(trace: Trace, spreads: Sequence[Spread]) -> list[str]:
    """Describe the distance of the queries and keys of the setting from the assumptions behind the root."""
    (q_first, k_first), (q_last, k_last) = (tuple(map(short, spreads[at].entries)) for at in (0, -1))
    ends = {"first": spreads[0].d_k, "last": spreads[-1].d_k}
    sentences = SENTENCES["entries"].format(q_first=q_first, k_first=k_first, q_last=q_last, k_last=k_last, **ends)
    if not INITIALISERS[trace.config.initialiser].solved:
        return [sentences]
    return [sentences, SENTENCES["by_hand_anew" if trace.config.solved_anew else "by_hand"]]


def phrase(spread: Spread, divisor: str) -> str:
    """Return the largest weight under one divisor; nothing where no row may attend to anything."""
    largest = spread.largest[divisor]
    return "" if math.isnan(largest) else translate(PHRASE, largest=localised(short(largest)))


def _hidden(trace: Trace, spread: Spread) -> list[str]:
    """Say why the three divisors give the same weights, if they do."""
    A = spread.weights
    if max(float(np.abs(A["root"] - A[name]).max()) for name in ("one", "width")) > 1e-9:
        return []
    if spread.d_k == 1:
        return [SENTENCES["one_wide"]]
    if spread.equal == 1:
        return [SENTENCES["one_key"]]
    normaliser = normaliser_of(trace.config)
    return [SENTENCES["indifferent" if normaliser.is_indifferent else "same"].format(normaliser=normaliser.label)]


def _elsewhere(trace: Trace, spread: Spread) -> list[str]:
    """List the other parts of the setting that affect the answer."""
    config = trace.config
    cases = {
        "temperature": config.temperature != 1.0,
        "softcap": config.softcap != 0.0,
        "bias": config.bias != "none",
        "product": not score_of(config).is_dot,
        "over": config.normalise_over == "queries",
    }
    words = {
        "temperature": config.temperature,
        "product": short(math.sqrt(spread.d_k) * config.temperature),
        "softcap": config.softcap,
        "score": SCORES[config.score].label,
    }
    return [SENTENCES[name].format(**words) for name, holds in cases.items() if holds]


def spread_chart(spreads: Sequence[Spread], d_k: int, *, reference: bool) -> dict[str, Any]:
    """Draw the standard deviation of the scores over d_k, a line for each divisor; both axes are logarithmic.

    d_k        marked by an upright line
    reference  draw √d_k as well, which follows for independent entries of variance 1 and for no others
    """
    lines = [_line(spreads, name, [each.scores[name] for each in spreads]) for name in ("one", "root", "width")]
    if reference:
        x = [WIDTHS[0], WIDTHS[-1]]
        dashes = {"color": CHARTS["reference"], "dash": "dash", "width": 1.5}
        lines.append(
            {"type": "scatter", "mode": "lines", "x": x, "y": [math.sqrt(each) for each in x], "line": dashes}
            | {"name": REFERENCE, "hoverinfo": "skip"}
        )
    ticks = [10.0**power * digit for power in range(-4, 7) for digit in (1, 3)]
    axis = {"type": "log", "tickvals": ticks, "ticktext": [_tick(tick) for tick in ticks]}
    return {"data": lines, "layout": _layout(d_k, axis)}


def largest_chart(spreads: Sequence[Spread], d_k: int) -> dict[str, Any]:
    """Return the largest weight of a row over d_k, the mean over heads and rows, a line for each divisor."""
    lines = [_line(spreads, name, [each.largest[name] for each in spreads]) for name in ("one", "root", "width")]
    return {"data": lines, "layout": _layout(d_k, {"range": [0, 1.03], "dtick": 0.25})}


def _line(spreads: Sequence[Spread], name: str, values: Sequence[float]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": translate(DIVIDED, divisor=DIVISORS[name].label),
        "x": [each.d_k for each in spreads],
        "y": list(values),
        "line": {"color": CHARTS[name], "width": 2},
        "marker": {"color": CHARTS[name], "symbol": SYMBOLS[name], "size": 7},
        "hovertemplate": "d_k = %{x}: %{y:.4~g}",
    }


def _tick(number: float) -> str:
    return f"{number:,.6g}".translate(str.maketrans(".,", plotly_separators()))


def _layout(d_k: int, y: dict[str, Any]) -> dict[str, Any]:
    axis = {"fixedrange": True, "zeroline": False, "gridcolor": CHARTS["grid"]}
    mark = {"type": "line", "x0": d_k, "x1": d_k, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    return {
        "template": "none",
        "height": HEIGHT,
        "margin": {"l": 44, "r": 8, "t": 34, "b": 40},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "showlegend": True,
        "separators": plotly_separators(),
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "xaxis": axis
        | {"type": "log", "tickvals": list(WIDTHS), "ticktext": list(map(str, WIDTHS)), "title": {"text": "d_k"}},
        "yaxis": axis | y,
        "shapes": [mark | {"line": {"color": CHARTS["reference"], "width": 1, "dash": "dot"}}],
    }
