"""One cell of the weights, all the way down: every number between the layer's input and the output of the head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.core.biases import BIASES
from attnviz.core.given import first_steps
from attnviz.core.language import say
from attnviz.core.scores import SCORES
from attnviz.core.trace import Step, Trace
from attnviz.views import scoring, vectors, weighing
from attnviz.views.latex import Pen, chain, row
from attnviz.views.line import Array, Line, Sheet
from attnviz.views.place import Place

INDIFFERENT = ("hardmax", "linear")
"""Normalisers that give the same weights at every temperature."""


@dataclass(frozen=True, eq=False)
class Cell:
    """The whole arithmetic of one cell; all indices count from 0.

    vectors  the lines that make q_i and k_j from the layer's input
    score    from q_i and k_j to the score as it enters the normaliser
    weight   from the scores of the whole row (or column, see `over`) to the weight
    output   v_j, the weight times it, and the sum over all keys
    allowed  whether query i may look at key j;  `forbidden_by` the masks of the settings that say no
    emptied  whether nothing in the normalised row or column may be looked at
    over     "keys" or "queries": along what the scores are normalised, and `line_tokens` are the tokens along it

    Tokens stand in the fields that end in token or tokens, and nowhere else.
    """

    layer: int
    head: int
    kv_head: int
    query: int
    key: int
    query_token: str
    key_token: str
    over: str
    line_tokens: tuple[str, ...]
    d_k: int
    d_v: int
    vectors: tuple[Line, ...]
    score: tuple[Line, ...]
    weight: tuple[Line, ...]
    output: tuple[Line, ...]
    allowed: bool
    forbidden_by: tuple[str, ...]
    emptied: bool

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines, in the order of the arithmetic."""
        return self.vectors + self.score + self.weight + self.output

    def __getitem__(self, name: str) -> Line:
        for line in self.lines:
            if line.name == name:
                return line
        raise KeyError(name)

    @property
    def edited(self) -> tuple[str, ...]:
        """The names of the lines whose result a person has changed."""
        return tuple(line.name for line in self.lines if line.edited)


def follow(trace: Trace, layer: int, head: int, query: int, key: int, digits: int = 4) -> Cell:
    """The arithmetic of one cell, with the run's own numbers; `digits` significant digits in what is written, 2 to 17.

    Where the attention was given it begins with what was: the parts before that, and after it, have no lines.

    Raises ValueError if the trace has no such cell, or for digits outside the range.
    """
    place = Place(trace, layer, head, query, key)
    facts = {"i": query + 1, "j": key + 1, "h": head + 1, "line": say("row") if place.over_keys else say("column")}
    made, scored, weighed, mixed = (Sheet(Pen(digits), dict(facts)) for _ in range(4))
    with np.errstate(all="ignore"):
        _lines(place, made, scored, weighed, mixed)
    return Cell(
        layer=layer,
        head=head,
        kv_head=place.kv_head,
        query=query,
        key=key,
        query_token=trace.query_tokens[query],
        key_token=trace.key_tokens[key],
        over=trace.config.normalise_over,
        line_tokens=place.line_tokens,
        d_k=place.d_k,
        d_v=place.d_v,
        vectors=tuple(made.lines),
        score=tuple(scored.lines),
        weight=tuple(weighed.lines),
        output=tuple(mixed.lines),
        allowed=place.may,
        forbidden_by=place.forbidden_by,
        emptied=place.emptied,
    )


def _lines(place: Place, made: Sheet, scored: Sheet, weighed: Sheet, mixed: Sheet) -> None:
    """Every line on its sheet, from what the layer begins with."""
    if "queries" in place.steps:
        first = made if "w_q" in place.steps else scored
        _score(scored, place, vectors.query(first, place), vectors.key(first, place))
    elif "scores" in place.steps:
        _from_score(scored, place, _given(scored, place, "scores", "score", "s"))
    if "weights" in first_steps(place.steps):
        _given(weighed, place, "weights", "weight", "a")
    else:
        _weight(weighed, place)
    if "values" in place.steps:
        _output(mixed, place)


def _score(sheet: Sheet, place: Place, q: Array, k: Array) -> None:
    """From q_i and k_j to the score that enters the normaliser."""
    write = scoring.ARITHMETIC.get(place.config.score, scoring.other)
    _from_score(sheet, place, write(sheet, q, k, _own(place), place.at("scores")))


def _given(sheet: Sheet, place: Place, step: str, name: str, letter: str) -> Array:
    """The number that the arithmetic begins with."""
    symbol, value = f"{letter}_{{{sheet.ij}}}", place.at(step)
    return sheet.write(name, symbol, [], value, operands={}, step=step, words=f"given_{name}")


def _from_score(sheet: Sheet, place: Place, s: Array) -> None:
    """From the score to what enters the normaliser."""
    s = _capped(sheet, place, _scaled(sheet, place, s))
    s = _masked(sheet, place, _biased(sheet, place, s))
    _cooled(sheet, place, s)


def _own(place: Place) -> Mapping[str, Array]:
    """The score's own parameters for this head, in their true widths; where W has a column a key, the cell's own."""
    own = {}
    for name in SCORES[place.config.score].parameters:
        step: Step | None = place.steps.get(f"score_{name.lower()}")
        if step is not None:
            ends = {"d_k": slice(place.d_k), "key": place.key}
            own[name] = step.array[place.head][tuple(ends.get(axis, slice(None)) for axis in step.axes[1:])]
    return own


def _scaled(sheet: Sheet, place: Place, s: Array) -> Array:
    config, row = place.config, SCORES[place.config.score]
    c = row.scale(place.d_k) if config.scale is None else config.scale
    by_width = config.scale is None and config.score == "scaled_dot"
    return sheet.write(
        "scale",
        f"s'_{{{sheet.ij}}}",
        [rf"c\, s_{{{sheet.ij}}}", sheet.pen.product(c, s)],
        c * s,
        operands={"scale": c, "score": s},
        recorded=place.at("scaled"),
        step="scaled",
        above=chain("c", [rf"\frac{{1}}{{\sqrt{{{place.d_k}}}}}", sheet.pen.number(c)]) if by_width else [],
        active=c != 1.0,
        words="scale_of_width" if by_width else "scale",
        c=sheet.said(c),
        d=place.d_k,
    )


def _capped(sheet: Sheet, place: Place, s: Array) -> Array:
    cap, pen = place.config.softcap, sheet.pen
    inside = rf"\frac{{{pen.number(s)}}}{{{pen.number(cap)}}}"
    return sheet.write(
        "softcap",
        f"s''_{{{sheet.ij}}}",
        [rf"{pen.number(cap)} \cdot \tanh\left({inside}\right)" if cap else f"s'_{{{sheet.ij}}}"],
        cap * np.tanh(s / cap) if cap else s,
        operands={"softcap": cap, "score": s},
        recorded=place.at("capped"),
        step="capped",
        active=bool(cap),
        words="softcap" if cap else "softcap_off",
        cap=sheet.said(cap),
    )


def _biased(sheet: Sheet, place: Place, s: Array) -> Array:
    """The score and what is added for the distance; the run keeps the sum only after the mask."""
    bias = float(place.at("bias")) if "bias" in place.steps else 0.0
    expected = _bias_of_settings(place)
    words = "bias_off" if "bias" not in place.steps else "bias" if bias == expected else "bias_edited"
    return sheet.write(
        "bias",
        rf"s''_{{{sheet.ij}}} + B_{{{sheet.ij}}}",
        [f"{sheet.pen.number(s)} + {sheet.pen.factor(bias)}"],
        s + bias,
        operands={"score": s, "bias": bias},
        active="bias" in place.steps,
        words=words,
        bias=sheet.said(bias),
        expected=sheet.said(expected),
    )


def _bias_of_settings(place: Place) -> float:
    row = BIASES[place.config.bias]
    shape = place.steps["scores"].shape
    B = row.fn(*shape, **row.settings(place.config))
    return 0.0 if B is None else float(np.broadcast_to(B, shape)[place.head, place.query, place.key])


def _masked(sheet: Sheet, place: Place, s: Array) -> Array:
    closed = not place.may or bool(np.isneginf(s))
    opened = place.may and bool(place.forbidden_by)
    return sheet.write(
        "mask",
        rf"\hat s_{{{sheet.ij}}}",
        [] if closed else [rf"s''_{{{sheet.ij}}} + B_{{{sheet.ij}}}"],
        s if place.may else -np.inf,
        operands={"score": s, "allowed": place.may},
        recorded=place.at("masked"),
        step="masked",
        active=place.config.mask != ("none",) or closed,
        words="forbidden" if closed else "opened" if opened else "mask",
        why=place.why,
    )


def _cooled(sheet: Sheet, place: Place, s: Array) -> None:
    T, unused = place.config.temperature, place.config.normaliser in INDIFFERENT
    sheet.write(
        "temperature",
        f"z_{{{sheet.ij}}}",
        [rf"\frac{{{sheet.pen.number(s)}}}{{{sheet.pen.number(T)}}}"],
        s / T,
        operands={"score": s, "T": T},
        active=T != 1.0 and not unused,
        words="temperature_unused" if unused else "temperature",
        T=sheet.said(T),
    )


def _weight(sheet: Sheet, place: Place) -> None:
    """From the scores of the whole row to the weight."""
    x, ij = place.line, (place.query + 1, place.key + 1)
    at = place.key if place.over_keys else place.query
    line = weighing.Row(x, at, place.config.temperature, place.at("weights"), place.over_keys, ij)
    if place.emptied:
        weighing.nothing(sheet, line, "emptied")
    elif np.isnan(x).any() or np.isposinf(x).any():
        weighing.other(sheet, line)
    else:
        weighing.ARITHMETIC.get(place.config.normaliser, weighing.other)(sheet, line)


def _output(sheet: Sheet, place: Place) -> None:
    """Weight times value, dimension by dimension, and the sum over the keys."""
    v = vectors.value(sheet, place)
    A = place.steps["weights"].array[place.head, place.query]
    V = place.steps["values"].array[place.kv_head, :, : place.d_v]
    part = place.steps["allowed"].array[place.query][:, None] | np.isfinite(V)
    V = np.where(part, V, 0.0)  # what is forbidden takes no part: 0 times infinity would be NaN
    i, a = place.query + 1, A[place.key]
    sheet.write(
        "share",
        rf"a_{{{sheet.ij}}}\, v_{{{place.key + 1}}}",
        [row([sheet.pen.product(a, x) for x in V[place.key]])],
        a * V[place.key],
        operands={"weight": a, "value": V[place.key]},
        words="share" if np.isfinite(v).all() or place.may else "share_of_forbidden",
        bars=lambda d: f"a × v{d}",
    )
    sheet.through(
        "output",
        (f"Z_{{{i}}}", f"Z_{{{i},", rf"\textstyle\sum_l a_{{{i},l}}\, v_l"),
        A,
        V,
        keep=place.key,
        recorded=place.steps["heads"].array[place.head, place.query, : place.d_v],
        step="heads",
        bars=lambda d: f"Z{d}",
    )
