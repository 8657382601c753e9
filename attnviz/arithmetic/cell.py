"""One cell of the weights, all the way down: every number between the layer's input and the output of the head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.arithmetic import row_lines, typed_lines, vectors, written_lines
from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.latex_numbers import NumberFormat, chain, row
from attnviz.arithmetic.line import ArithmeticLine, Derivation, Equation, MatVec, Result, dimension, largest
from attnviz.arithmetic.normalised_slice import NormalisedSlice
from attnviz.arrays import Array
from attnviz.engine.external import first_steps
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of, score_of
from attnviz.engine.tables.biases import BIASES
from attnviz.engine.tables.normalisers import Normaliser
from attnviz.formula.graph import Formula
from attnviz.settings.counting import ordinal
from attnviz.settings.language import translate


@dataclass(frozen=True, eq=False)
class Cell:
    """The whole arithmetic of one cell; all indices count from 0.

    vectors  the lines that make q_i and k_j from the layer's input
    score    from q_i and k_j to the score as it enters the normaliser
    weight   from the scores of the whole row (or column, see `over`) to the weight
    output   v_j, the weight times it, and the sum over all keys
    allowed  whether query i may attend to key j;  `forbidden_by` the masks of the settings that say no
    emptied  whether nothing in the normalised row or column may be attended to
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
    vectors: tuple[ArithmeticLine, ...]
    score: tuple[ArithmeticLine, ...]
    weight: tuple[ArithmeticLine, ...]
    output: tuple[ArithmeticLine, ...]
    allowed: bool
    forbidden_by: tuple[str, ...]
    emptied: bool

    @property
    def lines(self) -> tuple[ArithmeticLine, ...]:
        """All lines, in the order of the arithmetic."""
        return self.vectors + self.score + self.weight + self.output

    def __getitem__(self, name: str) -> ArithmeticLine:
        for line in self.lines:
            if line.name == name:
                return line
        raise KeyError(name)

    @property
    def edited(self) -> tuple[str, ...]:
        """The names of the lines whose result a person has changed."""
        return tuple(line.name for line in self.lines if line.edited)


def derive(trace: Trace, layer: int, head: int, query: int, key: int, digits: int = 4) -> Cell:
    """Return the arithmetic of one cell, with the run's own numbers.

    `digits` significant digits in what is written, 2 to 17.

    Where the attention was given it begins with what was: the parts before that, and after it, have no lines.

    Raises ValueError if the trace has no such cell, or for digits outside the range.
    """
    place = CellPosition(trace, layer, head, query, key)
    facts = {
        "i": ordinal(query),
        "j": ordinal(key),
        "h": ordinal(head),
        "line": translate("row") if place.over_keys else translate("column"),
    }
    sizes = {name: largest(step.array) for name, step in place.steps.items()}
    made, scored, weighed, mixed = (Derivation(NumberFormat(digits), dict(facts), sizes) for _ in range(4))
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


def _lines(place: CellPosition, made: Derivation, scored: Derivation, weighed: Derivation, mixed: Derivation) -> None:
    """Write every line on its sheet, from what the layer begins with."""
    symbol = ""
    if "queries" in place.steps:
        first = made if "w_q" in place.steps else scored
        symbol = _score(scored, place, vectors.query(first, place), vectors.key(first, place))
    elif "scores" in place.steps:
        symbol = _from_score(scored, place, _given(scored, place, "scores", "score", "s"))
    if "weights" in first_steps(place.steps):
        _given(weighed, place, "weights", "weight", "a")
    else:
        _weight(weighed, place, symbol)
    if "values" in place.steps:
        _output(mixed, place)


def _score(derivation: Derivation, place: CellPosition, q: Array, k: Array) -> str:
    """Add the lines from q_i and k_j to the score that enters the normaliser; return what that is called."""
    row = score_of(place.config)
    if row.lines:
        return _from_score(derivation, place, row_lines.score(derivation, place, row, q, k))
    return _from_score(derivation, place, typed_lines.score(derivation, place, row.definition, q, k))


def _given(derivation: Derivation, place: CellPosition, step: str, name: str, letter: str) -> Array:
    """Return the number that the arithmetic begins with."""
    symbol, value = f"{letter}_{{{derivation.ij}}}", place.at(step)
    return derivation.add_line(name, Equation(symbol), Result(value, step=step), words=f"given_{name}")


def _from_score(derivation: Derivation, place: CellPosition, s: Array) -> str:
    """Add the lines from the score to what enters the normaliser; return what that is called, with @ for the subscript.

    A line that changes nothing here is not shown, so what it would call the score is not used either.
    """
    symbol = "s_{@}"
    for write in (_scaled, _capped, _biased, _masked):
        s, its = write(derivation, place, s, symbol)
        symbol = its if derivation.is_shown() else symbol
    _cooled(derivation, place, s)
    return symbol


def _scaled(derivation: Derivation, place: CellPosition, s: Array, symbol: str) -> tuple[Array, str]:
    config, row = place.config, score_of(place.config)
    c = row.scale(place.d_k) if config.scale is None else config.scale
    by_width = config.scale is None and row.is_over_root
    made = derivation.add_line(
        "scale",
        Equation(
            f"s'_{{{derivation.ij}}}",
            [
                rf"c\, {symbol.replace('@', derivation.ij)}",
                derivation.fmt.product(c, derivation.seen(s, derivation.sizes["scores"])),
            ],
            above=chain("c", [rf"\frac{{1}}{{\sqrt{{{place.d_k}}}}}", derivation.fmt.number(c)]) if by_width else [],
        ),
        Result(
            c * s,
            {"scale": c, "score": s},
            recorded=place.at("scaled"),
            step="scaled",
            beside=derivation.sizes["scaled"],
        ),
        active=c != 1.0,
        words="scale_of_width" if by_width else "scale",
        c=derivation.format(c),
        d=place.d_k,
    )
    return made, "s'_{@}"


def _capped(derivation: Derivation, place: CellPosition, s: Array, symbol: str) -> tuple[Array, str]:
    cap, fmt = place.config.softcap, derivation.fmt
    inside = rf"\frac{{{fmt.number(derivation.seen(s, derivation.sizes['scaled']))}}}{{{fmt.number(cap)}}}"
    made = derivation.add_line(
        "softcap",
        Equation(
            f"s''_{{{derivation.ij}}}",
            [rf"{fmt.number(cap)} \cdot \tanh\left({inside}\right)" if cap else symbol.replace("@", derivation.ij)],
        ),
        Result(
            cap * np.tanh(s / cap) if cap else s,
            {"softcap": cap, "score": s},
            recorded=place.at("capped"),
            step="capped",
            beside=derivation.sizes["capped"],
        ),
        active=bool(cap),
        words="softcap" if cap else "softcap_off",
        cap=derivation.format(cap),
    )
    return made, "s''_{@}"


def _biased(derivation: Derivation, place: CellPosition, s: Array, symbol: str) -> tuple[Array, str]:
    """Return the score and what is added for the distance; the run keeps the sum only after the mask."""
    bias = float(place.at("bias")) if "bias" in place.steps else 0.0
    expected = _bias_of_settings(place)
    words = "bias_off" if "bias" not in place.steps else "bias" if bias == expected else "bias_edited"
    added = symbol + " + B_{@}"
    seen = derivation.seen(s, derivation.sizes["capped"])
    made = derivation.add_line(
        "bias",
        Equation(added.replace("@", derivation.ij), [f"{derivation.fmt.number(seen)} + {derivation.fmt.factor(bias)}"]),
        Result(s + bias, {"score": s, "bias": bias}, beside=derivation.sizes["capped"]),
        active="bias" in place.steps,
        words=words,
        bias=derivation.format(bias),
        expected=derivation.format(expected),
    )
    return made, added


def _bias_of_settings(place: CellPosition) -> float:
    row = BIASES[place.config.bias]
    shape = place.steps["scores"].shape
    B = row.fn(*shape, **row.settings(place.config))
    return 0.0 if B is None else float(np.broadcast_to(B, shape)[place.head, place.query, place.key])


def _masked(derivation: Derivation, place: CellPosition, s: Array, symbol: str) -> tuple[Array, str]:
    closed = not place.may or bool(np.isneginf(s))
    opened = place.may and bool(place.forbidden_by)
    made = derivation.add_line(
        "mask",
        Equation(rf"\hat s_{{{derivation.ij}}}", [] if closed else [symbol.replace("@", derivation.ij)]),
        Result(
            s if place.may else -np.inf,
            {"score": s, "allowed": place.may},
            recorded=place.at("masked"),
            step="masked",
            beside=derivation.sizes["masked"],
        ),
        active=place.config.mask != ("none",) or closed or bool(np.isneginf(place.line).any()),
        words="forbidden" if closed else "opened" if opened else "mask",
        why=place.why,
    )
    return made, r"\hat s_{@}"


def _cooled(derivation: Derivation, place: CellPosition, s: Array) -> None:
    T, unused = place.config.temperature, normaliser_of(place.config).is_indifferent
    above = derivation.fmt.number(derivation.seen(s, derivation.sizes["masked"]))
    derivation.add_line(
        "temperature",
        Equation(f"z_{{{derivation.ij}}}", [rf"\frac{{{above}}}{{{derivation.fmt.number(T)}}}"]),
        Result(s / T, {"score": s, "T": T}, beside=derivation.sizes["masked"] / T),
        active=T != 1.0 and not unused,
        words="temperature_unused" if unused else "temperature",
        T=derivation.format(T),
    )


def _weight(derivation: Derivation, place: CellPosition, symbol: str) -> None:
    """Add the lines from the scores of the whole row, which are called `symbol`, to the weight."""
    x = place.line
    at = place.key if place.over_keys else place.query
    each = f"{ordinal(place.query)},l" if place.over_keys else f"l,{ordinal(place.key)}"
    name = symbol.replace("@", each)
    divided = f"z_{{{each.replace('l', '@')}}}"
    line = NormalisedSlice(
        x, at, place.config.temperature, place.at("weights"), place.over_keys, name, divided, place.size_of_terms
    )
    its = normaliser_of(place.config)
    if place.emptied or (its.typed and not place.may):
        written_lines.nothing(derivation, line, "emptied" if place.emptied else "typed_forbidden")
    elif np.isnan(x).any() or np.isposinf(x).any():
        written_lines.other(derivation, line)
    elif its.lines:
        row_lines.weight(derivation, place, its, line)
    elif its.written:
        its.written.cell(written_lines.WrittenLines(derivation, line, its))
    else:
        typed_lines.weight(derivation, place, _definition(its), line)


def _definition(its: Normaliser) -> Formula:
    if its.definition is None:
        raise ValueError(f"the normaliser {its.name} has neither lines nor a formula")
    return its.definition


def _output(derivation: Derivation, place: CellPosition) -> None:
    """Weight times value, dimension by dimension, and the sum over the keys."""
    v = vectors.value(derivation, place)
    A = place.steps["weights"].array[place.head, place.query]
    V = place.steps["values"].array[place.kv_head, :, : place.d_v]
    part = place.steps["allowed"].array[place.query][:, None] | np.isfinite(V)
    V = np.where(part, V, 0.0)  # what is forbidden takes no part: 0 times infinity would be NaN
    i, a = ordinal(place.query), A[place.key]
    seen = derivation.seen(V[place.key], derivation.sizes["values"])
    derivation.add_line(
        "share",
        Equation(
            rf"a_{{{derivation.ij}}}\, v_{{{ordinal(place.key)}}}", [row([derivation.fmt.product(a, x) for x in seen])]
        ),
        Result(a * V[place.key], {"weight": a, "value": V[place.key]}, beside=abs(a) * derivation.sizes["values"]),
        words="share" if np.isfinite(v).all() or place.may else "share_of_forbidden",
        bars=dimension,
    )
    derivation.add_matvec(
        "output",
        (f"Z_{{{i}}}", f"Z_{{{i},", rf"\textstyle\sum_l a_{{{i},l}}\, v_l"),
        MatVec(A, V, keep=place.key, beside=derivation.sizes["heads"], exact=True),
        recorded=place.steps["heads"].array[place.head, place.query, : place.d_v],
        step="heads",
        bars=dimension,
    )
