"""One cell of the weights, all the way down: every number between the layer's input and the output of the head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.arithmetic import row_lines, score_lines, typed_lines, vectors, written_lines
from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.derivation import (
    ArithmeticLine,
    Derivation,
    Display,
    Equation,
    MatVec,
    Result,
    dimension,
    largest,
)
from attnviz.arithmetic.latex_numbers import NumberFormat, row
from attnviz.arithmetic.normalised_slice import NormalisedSlice
from attnviz.engine.external.traces import first_steps
from attnviz.engine.numerics import cancellation
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
        """The lines of all parts, in the order of the arithmetic."""
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
    position = CellPosition(trace, layer, head, query, key)
    return _derived(position, digits, _sizes(trace, layer))


def derive_row(trace: Trace, layer: int, head: int, query: int, digits: int = 4) -> list[Cell]:
    """Return the arithmetic of all cells of one query, as `derive` does; what they share is measured but once.

    Raises ValueError if the trace has no such row, or for digits outside the range.
    """
    positions = [CellPosition(trace, layer, head, query, key) for key in range(len(trace.key_tokens))]
    sizes = _sizes(trace, layer)
    return [_derived(position, digits, sizes) for position in positions]


def _sizes(trace: Trace, layer: int) -> dict[str, float]:
    """Return the largest number of each step, which says what is next to nothing beside it."""
    return {name: largest(step.array) for name, step in trace.layers[layer].items()}


def _derived(position: CellPosition, digits: int, sizes: dict[str, float]) -> Cell:
    cancellation.check()
    trace, layer, head, query, key = position.trace, position.layer, position.head, position.query, position.key
    facts = {
        "i": ordinal(query),
        "j": ordinal(key),
        "h": ordinal(head),
        "line": translate("row") if position.over_keys else translate("column"),
    }
    of_vectors, scored, weighed, mixed = (Derivation(NumberFormat(digits), dict(facts), sizes) for _ in range(4))
    with np.errstate(all="ignore"):
        _lines(position, of_vectors, scored, weighed, mixed)
    return Cell(
        layer=layer,
        head=head,
        kv_head=position.kv_head,
        query=query,
        key=key,
        query_token=trace.query_tokens[query],
        key_token=trace.key_tokens[key],
        over=trace.config.normalise_over,
        line_tokens=position.line_tokens,
        d_k=position.d_k,
        d_v=position.d_v,
        vectors=tuple(of_vectors.lines),
        score=tuple(scored.lines),
        weight=tuple(weighed.lines),
        output=tuple(mixed.lines),
        allowed=position.may,
        forbidden_by=position.forbidden_by,
        emptied=position.emptied,
    )


def _lines(
    position: CellPosition, of_vectors: Derivation, scored: Derivation, weighed: Derivation, mixed: Derivation
) -> None:
    """Add every line to its derivation, from what the layer begins with."""
    symbol = ""
    if "queries" in position.steps:
        first = of_vectors if "w_q" in position.steps else scored
        symbol = score_lines.add_lines(scored, position, vectors.query(first, position), vectors.key(first, position))
    elif "scores" in position.steps:
        symbol = score_lines.from_score(
            scored, position, score_lines.add_given(scored, position, "scores", "score", "s")
        )
    if "weights" in first_steps(position.steps):
        score_lines.add_given(weighed, position, "weights", "weight", "a")
    else:
        _weight(weighed, position, symbol)
    if "values" in position.steps:
        _output(mixed, position)


def _weight(derivation: Derivation, position: CellPosition, symbol: str) -> None:
    """Add the lines from the scores of the whole row, which are called `symbol`, to the weight."""
    x = position.scores_to_normalise
    at = position.key if position.over_keys else position.query
    each = f"{ordinal(position.query)},l" if position.over_keys else f"l,{ordinal(position.key)}"
    name = symbol.replace("@", each)
    divided = f"z_{{{each.replace('l', '@')}}}"
    line = NormalisedSlice(
        x,
        at,
        position.config.temperature,
        position.at("weights"),
        position.over_keys,
        name,
        divided,
        position.size_of_terms,
    )
    its = normaliser_of(position.config)
    if position.emptied or (its.typed and not position.may):
        written_lines.nothing(derivation, line, "emptied" if position.emptied else "typed_forbidden")
    elif np.isnan(x).any() or np.isposinf(x).any():
        written_lines.other(derivation, line)
    elif its.lines:
        row_lines.weight(derivation, position, its, line)
    elif its.written:
        its.written.cell(written_lines.WrittenLines(derivation, line, its))
    else:
        typed_lines.weight(derivation, position, _definition(its), line)


def _definition(its: Normaliser) -> Formula:
    if its.definition is None:
        raise ValueError(f"the normaliser {its.name} has neither lines nor a formula")
    return its.definition


def _output(derivation: Derivation, position: CellPosition) -> None:
    """Weight times value, dimension by dimension, and the sum over the keys."""
    v = vectors.value(derivation, position)
    A = position.steps["weights"].array[position.head, position.query]
    V = position.steps["values"].array[position.kv_head, :, : position.d_v]
    part = position.steps["allowed"].array[position.query][:, None] | np.isfinite(V)
    V = np.where(part, V, 0.0)  # what is forbidden takes no part: 0 times infinity would be NaN
    i, a = ordinal(position.query), A[position.key]
    seen = derivation.as_printed(V[position.key], derivation.sizes["values"])
    derivation.add_line(
        "share",
        Equation(
            rf"a_{{{derivation.ij}}}\, v_{{{ordinal(position.key)}}}",
            [row([derivation.fmt.product(a, x) for x in seen])],
        ),
        Result(
            a * V[position.key], {"weight": a, "value": V[position.key]}, beside=abs(a) * derivation.sizes["values"]
        ),
        words="share" if np.isfinite(v).all() or position.may else "share_of_forbidden",
        display=Display(bars=dimension),
    )
    derivation.add_matvec(
        "output",
        (f"Z_{{{i}}}", f"Z_{{{i},", rf"\textstyle\sum_l a_{{{i},l}}\, v_l"),
        MatVec(A, V, keep=position.key, beside=derivation.sizes["heads"], exact=True),
        recorded=position.steps["heads"].array[position.head, position.query, : position.d_v],
        step="heads",
        display=Display(bars=dimension),
    )
