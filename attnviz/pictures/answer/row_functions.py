"""The lines of a score and of a normaliser for a browser: functions of one cell, and what each line is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attnviz.codegen.javascript import helpers, javascript
from attnviz.codegen.steps import steps
from attnviz.engine.records.typed_rows import ChosenRows, normaliser_of, score_of
from attnviz.engine.rows.line_row import CellLine
from attnviz.engine.tables.normalisers import Normaliser
from attnviz.engine.tables.scores import Score
from attnviz.formula.graph import REDUCTIONS, Formula, Node
from attnviz.formula.names import STEPS
from attnviz.formula.reader import parse

SIGNS = {"*": "×", "-": "−"}
LAST = ""
"""The name of the last line of a row: the score or the weight itself."""


def functions(config: ChosenRows, recorded: Sequence[str]) -> str:
    """Return the source of a JavaScript module with the functions of one cell: `score`, `normaliser` and `written`.

    The first two return the named lines and the number; what a normaliser that sorts says is `written`.

    recorded  the names of the steps that the layer has
    """
    its = normaliser_of(config)
    score = javascript(_score_lines(config, recorded), every=True)
    normaliser = javascript(_normaliser_lines(config), every=True) if its.lines else "null"
    written = f"(above, winners) => (x, place, head) => {its.written.browser}" if its.written else "null"
    code = f"export default {{\nscore: {score},\nnormaliser: {normaliser},\nwritten: {written},\n}};\n"
    return helpers(code) + code


def arguments(formula: Formula) -> dict[str, Any]:
    """Return what says which numbers go into the function of a score."""
    listed = [
        {"name": name, "step": STEPS[name], "role": parameter.role, "axes": formula.axes_of(name)}
        for name, parameter in formula.parameters.items()
    ]
    return {"text": formula.text, "sizes": formula.sizes, "parameters": listed}


def score(config: ChosenRows, recorded: Sequence[str]) -> dict[str, Any]:
    """Return what an answer says of a score: its arguments, what is added up, and its last line."""
    row, formula = score_of(config), _score_lines(config, recorded)
    said = {**arguments(formula), "match": _match(formula, row.lines), "last": None}
    if row.lines:
        return said | {"text": "", "last": _last(formula, row.lines[-1])}
    return said


def has_products(config: ChosenRows, recorded: Sequence[str]) -> bool:
    """Return whether each entry of a score is a number of the query times one of the key."""
    match = score(config, recorded)["match"] or {}
    return [match.get(name) for name in ("left", "sign", "right")] == ["q", "×", "k"]


def normaliser(config: ChosenRows) -> dict[str, Any]:
    """Return what an answer says of a normaliser: its last line, the operands of its exponent, and its sentences.

    sentences  of the weight where nothing shorter says it: `weight`, or `loser` where it is nothing
    """
    row = normaliser_of(config)
    words = {line.name: line.sentence for line in (row.written.words if row.written else row.lines)}
    said: dict[str, Any] = {"text": row.typed.text if row.typed else "", "last": None, "exponent": []}
    said["sentences"] = {name: words.get(name, "") for name in ("weight", "loser")}
    if not row.lines:
        return said
    formula = _normaliser_lines(config)
    names = {line.name: line.formula.partition(" = ")[0] for line in row.lines[:-1]}
    exponent = _operands(formula.named[names["exponents"]], formula) if "exponents" in names else []
    return said | {"last": _last(formula, row.lines[-1]), "exponent": [name for name, _ in exponent]}


def _score_lines(config: ChosenRows, recorded: Sequence[str]) -> Formula:
    """Return the lines of a score as one formula, without a bias that is off."""
    row = score_of(config)
    if not row.lines:
        return row.definition
    off = [f" + {name}" for name in row.biases if f"score_{name}" not in recorded]
    return _joined(row, "score", off, dict(config.score_knobs))


def _normaliser_lines(config: ChosenRows) -> Formula:
    """Return the lines of a normaliser as one formula; its temperature may be moved, also where it is 1."""
    return _joined(normaliser_of(config), "normaliser_lines", [], dict(config.normaliser_knobs))


def _joined(row: Score | Normaliser, kind: str, without: Sequence[str], knobs: dict[str, Any]) -> Formula:
    text = "; ".join(line.formula for line in row.lines)
    for part in without:
        text = text.replace(part, "")
    return parse(text, kind, row.knob_values(knobs))


def _match(formula: Formula, lines: Sequence[CellLine]) -> dict[str, Any] | None:
    """Return the last vector on the way to the score and what it comes to, by the names of their lines.

    left, right  the lines or variables of which it is made entry by entry, under `sign`; null where that is longer
    total        the line after it, which is the number that its entries come to
    """
    named = [*_named(formula, lines)]
    vectors = [at for at, (_, node, _) in enumerate(named) if _has_bars(formula, node, is_typed=not lines)]
    if not vectors:
        return None
    at = vectors[-1]
    (name, node, line), (after, total, _) = named[at : at + 2]
    if formula.kind.over in total.axes:
        return None
    signs = [_sign(each, formula) if lines else "" for _, each, _ in named]
    joined = node if signs[at] else named[at - 1][1] if at and signs[at - 1] else None
    sides = [side for side, _ in _operands(joined, formula)][:2] if joined else [None, None]
    sign = signs[at] or (signs[at - 1] if at else "")
    return {
        "name": name,
        "left": sides[0],
        "right": sides[1],
        "total": after,
        "sign": sign if joined else "",
        "brief": line.brief if line else "",
    }


def _named(formula: Formula, lines: Sequence[CellLine]) -> Iterator[tuple[str, Node, CellLine | None]]:
    """Yield the lines in their order: the name under which a function has each, its node, and its words."""
    if not lines:
        *before, (_, root) = steps(formula, every=True)
        yield from ((name, node, None) for name, node in before)
        yield LAST, root, None
        return
    for line in lines[:-1]:
        name = line.formula.partition(" = ")[0]
        yield name, formula.named[name], line
    yield LAST, formula.root, lines[-1]


def _has_bars(formula: Formula, node: Node, *, is_typed: bool) -> bool:
    is_vector = formula.kind.over in node.axes and node is not formula.root
    return is_vector and (is_typed or node.op != "@")


def _sign(node: Node, formula: Formula) -> str:
    """Return the sign between two vectors that a line joins entry by entry."""
    names = set(map(id, formula.named.values()))
    joins = "d" in node.axes and all(arg.is_leaf or id(arg) in names for arg in node.args)
    return SIGNS.get(node.op, "") if joins else ""


def _operands(node: Node, formula: Formula) -> list[tuple[str, Node]]:
    """Return the lines and the variables that a line is made of, by their names in it."""
    names = {id(each): name for name, each in formula.named.items()}
    operands: dict[str, Node] = {}
    for arg in node.args:
        if id(arg) in names:
            operands[names[id(arg)]] = arg
        elif arg.op in ("variable", "matrix"):
            operands[arg.name] = arg
        else:
            operands |= dict(_operands(arg, formula))
    return list(operands.items())


def _last(formula: Formula, line: CellLine) -> dict[str, Any]:
    """Return the words of the last line, the numbers that go into them, and by what it is divided if by anything.

    Where it is one of two, as a condition says, both have the same numbers.
    """
    root = formula.root
    while root.op == "if":
        root = root.args[1]
    whole = _summed(root, formula)
    numbers = [name for name, _ in _operands(root, formula) if name not in whole]
    below = root.args[1] if root.op == "ratio" else None
    names = {id(each): name for name, each in formula.named.items()}
    divided = [names[id(below)]] if id(below) in names else [n for n, _ in _operands(below, formula)] if below else []
    return {"brief": line.brief, "zero": line.zero, "numbers": numbers, "divisors": divided}


def _summed(node: Node, formula: Formula) -> set[str]:
    """Return the operands that a node, or a part of it, adds up entry by entry."""
    if node in formula.named.values():
        return set()
    if node.op in REDUCTIONS:
        return {name for name, arg in _operands(node, formula) if formula.kind.over in arg.axes}
    return {name for arg in node.args for name in _summed(arg, formula)}
