"""One cell of the scores, from its head's output back: the arithmetic of its slope, with the run's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.arithmetic.notation.latex_numbers import Member, NumberFormat, aligned, chain
from attnviz.arrays import Array
from attnviz.engine.backward.gradients import Gradients
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.records.typed_rows import normaliser_in, normaliser_of, score_of
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words

SLOPE_OF_MASKED = r"\frac{\partial L}{\partial \hat s_{ij}}"

TITLES = Words(
    {
        "weight": "Slope of the weight",
        "row": "Slopes of the whole row of weights",
        "masked": "Through the normaliser",
        "softmax": "The same, written out for softmax",
        "score": "Through bias, cap and scale",
    }
)
SENTENCES = Words(
    {
        "weight": "What L gains per unit of this weight: the output's slopes times the value.",
        "given": "L is made from this weight itself, or this weight was changed by hand.",
        "row": "These reach the weights; no slope passes back through a number that was changed by hand.",
        "masked": "The slopes of the weights times column {key} of the Jacobian below.",
        "softmax": "The weight times the difference between its slope and the weighted mean of the row's slopes: a "
        "weight near 0 or 1 passes on almost nothing.",
        "score": "The scale, times the slope of the cap where there is one; a bias changes nothing.",
    }
)


@dataclass(frozen=True)
class SlopeLine:
    """One line: its name, title and sentence, what it comes to, and the arithmetic as aligned LaTeX."""

    name: str
    title: str
    sentence: str
    value: float
    latex: str


def jacobian(trace: Trace, layer: int, head: int, query: int, key: int) -> Array:
    """Compute the derivatives of one row's weights by its masked scores, (weights, scores); a column of the wrong axis.

    Row l holds the slopes of weight l. What a row's weights add to stays the same, so for softmax every column of the
    Jacobian adds to 0; every row does, as a number added to all scores changes nothing.
    """
    config, row = trace.config, normaliser_in(trace.config, trace.layers[layer])
    X, line = trace.layers[layer]["masked"].array, query
    if config.normalise_over == "queries":
        X, line = np.swapaxes(X, -1, -2), key
    n = X.shape[-1]
    if row.back is None:
        return np.zeros((n, n))
    with np.errstate(all="ignore"):
        A = row.fn(X, config.temperature)
        if row.typed is None:
            tiled = (np.tile(each[head, line], (n, 1)) for each in (X, A))
            return np.asarray(row.back(np.eye(n), *tiled, config.temperature))
        rows = []
        for e in np.eye(n):  # all heads and rows each time, so that both are counted as in the run
            G = np.zeros(X.shape)
            G[head, line] = e
            rows.append(row.back(G, X, A, config.temperature)[head, line])
        return np.stack(rows)


def slope_lines(
    trace: Trace, slopes: Gradients, layer: int, head: int, query: int, key: int, digits: int = 4
) -> list[SlopeLine]:
    """Return the lines from the slopes of the head's output to that of one score; all positions count from 0."""
    steps, slopes_of_layer, write = trace.layers[layer], slopes.layers[layer], NumberFormat(digits)
    config, at = trace.config, (head, query, key)
    kv_head = head // config.group_size
    width = config.value_widths()[kv_head]
    over_keys = config.normalise_over == "keys"
    line = np.s_[head, query] if over_keys else np.s_[head, :, key]
    position = key if over_keys else query
    a, g = steps["weights"].array[line], _through(trace, layer, "weights", slopes_of_layer["weights"].array)[line]
    lines = [_of_weight(steps, slopes_of_layer, at, kv_head, width, write)]
    row = chain(rf"\frac{{\partial L}}{{\partial a_{{{'i l' if over_keys else 'l j'}}}}}", [write.vector(g, position)])
    lines.append(SlopeLine("row", TITLES["row"], SENTENCES["row"], float(g[position]), aligned(row)))
    through = _through_normaliser(g, jacobian(trace, layer, head, query, key)[:, position], position, write)
    lines.append(through)
    if normaliser_of(config).slopes_as_softmax and not any(edit[:2] == (layer, "weights") for edit in trace.edits):
        lines.append(_by_softmax(a, g, position, config.temperature, write))
    return [*lines, _to_score(trace, layer, at, through.value, write)]


def _through_normaliser(g: Array, column: Array, position: int, write: NumberFormat) -> SlopeLine:
    """Return the slopes of the row times a column of the Jacobian."""
    value = float(g @ column)
    members: list[Member] = [
        r"\sum_l \frac{\partial L}{\partial a_l} \, \frac{\partial a_l}{\partial \hat s_{ij}}",
        write.products(g, column, position),
        write.number(value),
    ]
    sentence = SENTENCES["masked"].format(key=ordinal(position))
    return SlopeLine("masked", TITLES["masked"], sentence, value, aligned(chain(SLOPE_OF_MASKED, members)))


def _to_score(trace: Trace, layer: int, at: tuple[int, int, int], masked: float, write: NumberFormat) -> SlopeLine:
    """Return the slope of the masked score times those of the cap and the scale.

    0 where a number between was changed.
    """
    config, row = trace.config, score_of(trace.config)
    scale = row.scale(config.key_widths()[at[0] // config.group_size]) if config.scale is None else config.scale
    factors = [scale]
    if config.softcap:
        x = float(trace.layers[layer]["scaled"].array[at])
        factors.append(1.0 - float(np.tanh(x / config.softcap)) ** 2)
    changed = any((layer, name, at) in {edit[:3] for edit in trace.edits} for name in ("masked", "capped", "scaled"))
    value = 0.0 if changed else masked * float(np.prod(factors))
    members: list[Member] = [] if changed else [write.product(masked, *factors)]
    latex = aligned(chain(r"\frac{\partial L}{\partial s_{ij}}", [*members, write.number(value)]))
    return SlopeLine("score", TITLES["score"], SENTENCES["score"], value, latex)


def _through(trace: Trace, layer: int, name: str, G: Array) -> Array:
    """Return the slope before a step from the one after it: 0 where a number was changed by hand."""
    changed = [edit[2] for edit in trace.edits if edit[:2] == (layer, name)]
    G = np.array(G)
    for index in changed:
        G[index] = 0.0
    return G


def _of_weight(
    steps: Mapping[str, Step],
    slopes: Mapping[str, Step],
    at: tuple[int, int, int],
    kv_head: int,
    width: int,
    write: NumberFormat,
) -> SlopeLine:
    head, query, key = at
    z = slopes["heads"].array[head, query, :width]
    v = steps["values"].array[kv_head, key, :width]
    weight = float(slopes["weights"].array[at])
    slope = float(z @ v)
    symbol = r"\frac{\partial L}{\partial a_{ij}}"
    is_made = np.isclose(slope, weight, rtol=1e-9, atol=1e-12)
    members: list[Member] = [write.number(weight)]
    if is_made:
        members = [r"\frac{\partial L}{\partial z_i} \cdot v_j", write.products(z, v), write.number(weight)]
    sentence = SENTENCES["weight" if is_made else "given"]
    return SlopeLine("weight", TITLES["weight"], sentence, weight, aligned(chain(symbol, members)))


def _by_softmax(a: Array, g: Array, position: int, temperature: float, write: NumberFormat) -> SlopeLine:
    mean = float(a @ g)
    value = float(a[position] * (g[position] - mean)) / temperature
    over = "" if temperature == 1.0 else f" / {write.number(temperature)}"
    members = [
        r"a_{ij} \left(\frac{\partial L}{\partial a_{ij}} - \sum_l a_l \frac{\partial L}{\partial a_l}\right)"
        + (" / T" if over else ""),
        rf"{write.number(a[position])} \cdot ({write.difference(g[position], mean)}){over}",
        write.number(value),
    ]
    return SlopeLine(
        "softmax", TITLES["softmax"], SENTENCES["softmax"], value, aligned(chain(SLOPE_OF_MASKED, members))
    )
