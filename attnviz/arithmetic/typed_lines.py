"""The arithmetic of one cell under a typed score or a typed normaliser."""

from __future__ import annotations

import numpy as np

from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.normalised_slice import NormalisedSlice
from attnviz.arithmetic.notation.derivation import Derivation, Display, Equation, Result, dimension
from attnviz.arithmetic.notation.latex_numbers import Member
from attnviz.arrays import Array
from attnviz.codegen.cell import FormulaLine, cell
from attnviz.engine.records.typed_rows import bias_formula
from attnviz.formula.evaluation.arrays import Part, of_normaliser, of_score
from attnviz.formula.evaluation.functions import complete
from attnviz.formula.evaluation.numbers import Numbers
from attnviz.formula.graph import REDUCTIONS, Formula, Node
from attnviz.formula.names import NUMBERS, STEPS
from attnviz.settings.counting import ordinal

STEP_OF = {"score": "scores", "weight": "weights", "bias": "bias"}
"""The step that the last line of each ends in."""


def score(
    derivation: Derivation, position: CellPosition, formula: Formula, q: Array, k: Array, recorded: Array | None
) -> Array:
    """Add the lines of a typed score, from the vectors of one query and one key, and return the score."""
    numbers = score_numbers(position, formula, q, k)
    names = str(ordinal(position.query)), str(ordinal(position.key))
    *before, last = cell(formula, numbers, derivation.fmt.factor, names)
    for line in before:
        _write(derivation, formula, numbers, line)
    return _last(derivation, formula, numbers, last, f"s_{{{derivation.ij}}}", "score", recorded)


def bias(derivation: Derivation, position: CellPosition, q: Array, k: Array, recorded: Array) -> Array:
    """Add the lines of a typed bias that has learned numbers, and return it; it reads nothing of q and k."""
    formula = bias_formula(position.config)
    assert formula is not None  # noqa: S101  # a plan without one never asks
    numbers = score_numbers(position, formula, q, k)
    *before, last = cell(
        formula, numbers, derivation.fmt.factor, (str(ordinal(position.query)), str(ordinal(position.key)))
    )
    for line in before:
        _write(derivation, formula, numbers, line)
    made = _last(derivation, formula, numbers, last, f"B_{{{derivation.ij}}}", "bias", recorded)
    derivation.rename_last("bias_of_line")  # to add it to the score is the line called so
    return made


def score_numbers(position: CellPosition, formula: Formula, q: Array, k: Array) -> Numbers:
    """Return the numbers of a score in one cell, with the parameters of its head."""
    Q, K = q[None, None], k[None, None]
    shape = position.steps["scores"].shape
    completed = complete(formula, _recorded(formula, position), Q[None], K[None])
    part = Part(position.query, position.key, shape[1], shape[2], (position.head,), shape[0])
    return Numbers(of_score(formula, Q, K, completed, part))


def _recorded(formula: Formula, position: CellPosition) -> dict[str, Array]:
    """Return the parameters of the head that were recorded, by their names in the line."""
    found = {name: position.steps[STEPS[name]] for name in formula.parameters if STEPS[name] in position.steps}
    heads = {name: np.asarray(step.head(position.head))[None] for name, step in found.items()}
    return {name: array[:, 0] if name in NUMBERS else array for name, array in heads.items()}


def weight(derivation: Derivation, position: CellPosition, formula: Formula, line: NormalisedSlice) -> None:
    """Write the lines of a typed normaliser, from the scores of the whole row to the weight of one key."""
    numbers = weight_numbers(position, line, formula)
    *before, last = cell(
        formula, numbers, derivation.fmt.factor, (str(ordinal(position.query)), str(ordinal(position.key))), line.at
    )
    for each in before:
        _write(derivation, formula, numbers, each, line)
    _last(derivation, formula, numbers, last, f"a_{{{derivation.ij}}}", "weight", line.recorded)


def weight_numbers(position: CellPosition, line: NormalisedSlice, formula: Formula) -> Numbers:
    """Return the numbers of a normaliser in the row of a cell."""
    shape = position.steps["scores"].shape
    n, m = (shape[1], shape[2]) if position.over_keys else (shape[2], shape[1])
    first = position.query if position.over_keys else position.key
    part = Part(first, 0, n, m, (position.head,), shape[0])
    return Numbers(of_normaliser((line.x / line.T)[None, None], part, _recorded(formula, position)))


def _last(
    derivation: Derivation,
    formula: Formula,
    numbers: Numbers,
    line: FormulaLine,
    symbol: str,
    name: str,
    recorded: Array | None,
) -> Array:
    """Write the whole formula with the numbers of the lines before."""
    return derivation.add_line(
        name,
        Equation(symbol, _members(derivation, numbers, line, None)),
        Result(
            float(line.values[0]),
            _operands(formula, numbers),
            recorded=recorded,
            step="" if recorded is None else STEP_OF[name],
            size=size(formula, numbers),
        ),
        words=f"typed_{name}",
    )


def _write(
    derivation: Derivation, formula: Formula, numbers: Numbers, line: FormulaLine, row: NormalisedSlice | None = None
) -> None:
    derivation.add_line(
        line.name,
        Equation(
            line.symbol, _members(derivation, numbers, line, row.at if row else None), keep=row.at if row else None
        ),
        Result(line.values if line.is_vector else float(line.values[0]), _operands(formula, numbers)),
        words=_words(line.node, along_row=row is not None and line.is_vector),
        display=Display(bars=(row.label if row else dimension) if line.is_vector else None),
    )


def _members(derivation: Derivation, numbers: Numbers, line: FormulaLine, keep: int | None) -> list[Member]:
    """Return the sides of a line's equation: in symbols, and in numbers; a sum shows its terms."""
    members: list[Member] = [line.formula]
    if line.node.op == "sum" and not line.node.args[0].truth:
        terms = numbers(line.node.args[0]).reshape(-1)
        allowed = numbers.arrays.allowed
        if allowed is not None and terms.size == allowed.size:
            terms, keep = terms[allowed.reshape(-1)], None
        return [*members, derivation.fmt.total(terms, keep)]
    return [*members, line.inserted] if line.inserted else members


def _words(node: Node, *, along_row: bool) -> str:
    if node.op in REDUCTIONS:
        return f"typed_{node.op}"
    if node.op == "@":
        return "typed_through"
    return "typed_row" if along_row else "typed_vector" if "d" in node.axes else "typed_number"


def _operands(formula: Formula, numbers: Numbers) -> dict[str, Array]:
    """Return the operands: the variables and parameters of this cell."""
    operands = {}
    for node in formula.nodes:
        if node.op in ("variable", "matrix") and not node.is_token:
            array = np.asarray(numbers(node), dtype=float)
            operands[node.name] = array[0, 0] if node.op == "matrix" else array.reshape(-1)
    return {name: array[0] if array.shape == (1,) else array for name, array in operands.items()}


def size(formula: Formula, numbers: Numbers) -> float:
    """Return the size of the terms that were summed on the way, which tells rounding from an edit."""
    total = 0.0
    for node in formula.nodes:
        if node.op not in ("text", "matrix") and not node.truth and not node.is_token:
            values = np.asarray(numbers(node), dtype=float)
            total += float(np.abs(values[np.isfinite(values)]).sum())
    return total
