"""One cell of the weights, all the way down: every number between the layer's input and the output of the head."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.notation.derivation import ArithmeticLine, Derivation, largest
from attnviz.arithmetic.notation.latex_numbers import NumberFormat
from attnviz.arithmetic.step_lines import PARTS, StepLines
from attnviz.engine.numerics import cancellation
from attnviz.engine.records.trace import Trace
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
    parts = {part: Derivation(NumberFormat(digits), dict(facts), sizes) for part in PARTS}
    writer = StepLines(position, parts)
    with np.errstate(all="ignore"):
        for step in writer.steps_of_head:
            writer.write(step)
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
        vectors=tuple(parts["vectors"].lines),
        score=tuple(parts["score"].lines),
        weight=tuple(parts["weight"].lines),
        output=tuple(parts["output"].lines),
        allowed=position.may,
        forbidden_by=position.forbidden_by,
        emptied=position.emptied,
    )
