"""One cell of the weights, all the way down: every number between the layer's input and the output of the head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.arithmetic import row_lines, score_lines, typed_lines, vectors, written_lines
from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.latex_numbers import NumberFormat, row
from attnviz.arithmetic.line import ArithmeticLine, Derivation, Equation, MatVec, Result, dimension, largest
from attnviz.arithmetic.normalised_slice import NormalisedSlice
from attnviz.engine.external import first_steps
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of
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
        symbol = score_lines.write(scored, place, vectors.query(first, place), vectors.key(first, place))
    elif "scores" in place.steps:
        symbol = score_lines.from_score(scored, place, score_lines.given(scored, place, "scores", "score", "s"))
    if "weights" in first_steps(place.steps):
        score_lines.given(weighed, place, "weights", "weight", "a")
    else:
        _weight(weighed, place, symbol)
    if "values" in place.steps:
        _output(mixed, place)


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
