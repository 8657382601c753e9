"""A layer's plan in the cells of sheets: where its steps stand, and a rule for the formula of each operation.

A rule says what stands in the cells of a value, from the cells or the blocks of what the operation reads. It may add
blocks of its own to the sheet first, such as the angles of a rotation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnviz.engine.external.layer_plans import chosen_in
from attnviz.engine.external.traces import first_steps
from attnviz.engine.plan.chosen import Chosen
from attnviz.engine.plan.layer_arrays import LayerArrays
from attnviz.engine.plan.operations import OWN_NAMES
from attnviz.engine.plan.tracing import Plan
from attnviz.engine.plan.values import PRECEDENCE, Value
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.engine.recorded_layer import true_widths
from attnviz.engine.records.config import Config
from attnviz.engine.records.step_specs import STEPS
from attnviz.engine.records.trace import Step
from attnviz.engine.records.typed_rows import bias_formula, normaliser_of, score_of
from attnviz.engine.tables.blocks import LIMIT
from attnviz.engine.tables.normalisers.hardmax import size_of_terms
from attnviz.exports.workbook import score_formulas as formulas
from attnviz.exports.workbook import typed
from attnviz.exports.workbook.layout import FORBIDDEN, Block, Formula, Sheet
from attnviz.exports.workbook.normaliser_formulas import MaskedScores
from attnviz.exports.workbook.score_formulas import Pair, product, shape
from attnviz.exports.workbook.steps import StepWriter
from attnviz.settings.language import translate
from attnviz.text.step_names import plain

SHARED = "{heading} · made on the sheet {sheet}"
LOOSE, WHOLE = 0, 9
"""How tightly the parts of a formula bind that stands in brackets among others, and those of a reference or a call."""

Blocks = dict[tuple[str, int], Block]
"""The blocks of a layer, by the name of the step and the head, which is 0 where there are none."""


@dataclass(frozen=True)
class Cells:
    """The formula of each cell of a value.

    binds   how tightly its parts bind, as PRECEDENCE has it
    masked  the blocks to which it refers whose forbidden cells hold a text, with which nothing can be computed
    """

    formula: Formula
    binds: int = LOOSE
    masked: tuple[Block, ...] = ()

    def beside(self, tightness: int) -> Formula:
        """Return the formula as it stands beside a sign that binds so tightly."""
        return self.formula if self.binds >= tightness else lambda i, j: f"({self.formula(i, j)})"

    def only_if(self, condition: Formula | None, otherwise: Formula) -> Formula:
        """Return the formula where a condition holds and all that it refers to are numbers."""

        def formula(i: int, j: int) -> str:
            conditions = [condition(i, j)] if condition else []
            conditions += [f"ISNUMBER({block.at(i, j)})" for block in self.masked]
            test = ",".join(conditions) if len(conditions) == 1 else f"AND({','.join(conditions)})"
            return f"IF({test},{self.formula(i, j)},{otherwise(i, j)})"

        return formula


@dataclass(frozen=True)
class OnSheet:
    """A sheet of a layer, and the head that it is of.

    plan, without  the layer with what a number of the setting switches on, and without it
    blocks         those of all sheets of the layer;  `copies` what stands again on this one
    """

    writer: StepWriter
    inputs: Mapping[str, Block]
    plan: Plan
    without: Plan
    blocks: Blocks
    sheet: Sheet
    head: int = 0
    copies: dict[str, Block] = field(default_factory=dict)

    @property
    def config(self) -> Config:
        return self.writer.trace.config

    @property
    def chosen(self) -> Chosen:
        return chosen_in(self.writer.trace, self.writer.layer)

    def _given(self) -> tuple[str, ...]:
        """Return the steps that were given and not computed; those around the layers of a model begin with vectors."""
        return first_steps(self.writer.steps) if self.writer.layer is not None else ()

    def _number(self, value: Value) -> int | None:
        """Return the head of a value that belongs to the head of this sheet; None where it has no heads."""
        return {"head": self.head, "kv_head": self.head // self.config.group_size}.get(value.axes[0])

    def known(self, value: Value) -> Block | None:
        """Return the block of a step if there is one."""
        return self.copies.get(value.name) or self.blocks.get((value.name, self._number(value) or 0))

    def add(self, value: Value) -> None:
        """Add a step; one that another head of the group has made stands here again, if heads read it."""
        made = self.known(value)
        if made is None:
            self.step(value)
        elif any(value.name in map(str, leaves(each)) for each in self.plan.values() if each.axes[0] == "head"):
            heading = translate(SHARED, heading=made.heading, sheet=made.sheet)
            block = self.sheet.add(heading, made.array, made.at, rows=made.rows, columns=made.columns)
            self.copies[value.name] = block

    def step(self, value: Value, **more: Any) -> Block:
        """Return the block of a step, or of what belongs to the head, added to the sheet; `more` as `Sheet.add`."""
        name, number, formula, forbidden = value.name, self._number(value), None, np.array(False)
        if value.op == "step" and name in self._given():
            forbidden = np.isneginf(self.writer.steps[name].array[self.head]) if name == "scores" else forbidden
        elif value.args:
            cells = self.cells(value.args[0])
            forbidden = np.any([np.isneginf(block.array) for block in cells.masked], axis=0)
            formula = self._switched(value, cells)
            more |= {"grey_of": self.block(value.args[0].args[0])} if value.args[0].op == "normalise" else {}
        more["may_forbid"] = name == "bias" or any(made.op == "only_where" for made in value.args)
        block = self.writer.step(self.sheet, name, formula, number, forbidden=forbidden, **more)
        self.blocks[name, number or 0] = block
        return block

    def _switched(self, value: Value, cells: Cells) -> Formula:
        """Return the formula of a step for every number that the setting's switches may have."""
        made, without = value.args[0], (self.without[value.name].args or value.args)[0]
        if str(made) != str(without):
            switch = self.inputs["softcap"].at(0, 0)
            return cells.only_if(lambda i, j: f"{switch}>0", self.cells(without).formula)
        return cells.only_if(None, cells.masked[0].at) if cells.masked and not made.name else cells.formula

    def cells(self, value: Value) -> Cells:
        """Return what stands in the cells of a value."""
        if value.op == "number":
            return Cells(lambda i, j: repr(value.number), WHOLE)
        if value.op == "setting":
            number = self.inputs[value.name]
            reference = number.at(0, self.head if number.array.shape[1] > 1 else 0)
            return Cells(lambda i, j: reference, WHOLE)
        if not value.name:
            return OPERATIONS[value.op](self, value)
        block, is_row = self.block(value), len(value.axes) - value.axes[0].endswith("head") == 1
        masked = (block,) if block.is_masked else ()
        return Cells(lambda i, j: block.at(0 if is_row else i, j), WHOLE, masked)

    def block(self, value: Value, heading: str = "") -> Block:
        """Return the block of a value; one that no step records is added to the sheet, under the heading."""
        if value.op == "as_keys":
            return self.block(value.args[0])
        if value.name:
            return self.known(value) or self.step(value)
        known = {name: step.array for name, step in self.writer.steps.items()}
        known |= {name: block.array for (name, _), block in self.blocks.items() if name not in known}
        array = LayerArrays(self.chosen, known).of(value)
        step = Step("", array, str(value), value.axes, "plain", "", "", true_widths(self.config, value.axes))
        array, rows, columns = self.writer.labelled(step, self._number(value))
        heading = (heading or f"{value} · {{shape}}").format(shape=shape(array))
        return self.sheet.add(heading, array, self.cells(value).formula, rows=rows, columns=columns)


def leaves(value: Value) -> Iterator[Value]:
    """Yield the steps, weights, inputs and settings that a value is made of."""
    for arg in value.args:
        if arg.name:
            yield arg
        else:
            yield from leaves(arg)


def _between(at: OnSheet, v: Value) -> Cells:
    own = PRECEDENCE[v.op]
    left, right = (at.cells(arg) for arg in v.args)
    x, y = left.beside(own), right.beside(own + (v.op == "/"))
    return Cells(lambda i, j: f"{x(i, j)}{v.op}{y(i, j)}", own, left.masked + right.masked)


def _product(at: OnSheet, v: Value) -> Cells:
    return Cells(product(at.block(v.args[0]), at.block(v.args[1])), PRECEDENCE["@"])


def _tanh(at: OnSheet, v: Value) -> Cells:
    x = at.cells(v.args[0])
    return Cells(lambda i, j: f"TANH({x.formula(i, j)})", WHOLE, x.masked)


def _norm(at: OnSheet, v: Value) -> Cells:
    return Cells(formulas.NORMS[at.config.norm](at.sheet, at.block(v.args[0]), at.chosen.norm.epsilon))


def _norm_of_heads(at: OnSheet, v: Value) -> Cells:
    x = v.args[0]
    heads = [block for (name, _), block in at.blocks.items() if name == x.name]
    own = heads.index(at.block(x))
    return Cells(formulas.rms_normed_over_heads(at.sheet, heads, own, at.chosen.norm.epsilon))


def _route(at: OnSheet, v: Value) -> Cells:
    scores, experts = at.block(v.args[0]), at.chosen.experts
    assert experts is not None  # noqa: S101  # a plan without experts never asks
    shares = experts.shares(scores.array)
    many, whole = experts.n_chosen, experts.adds_up
    return Cells(formulas.routed(at.sheet, scores, shares, n_chosen=many, adds_up=whole), PRECEDENCE["/"])


def _each_unit(at: OnSheet, v: Value) -> Cells:
    shares, experts = at.block(v.args[0]), at.chosen.experts
    assert experts is not None  # noqa: S101
    units = experts.units
    return Cells(lambda i, j: shares.at(i, j // units), WHOLE)


def _activation(at: OnSheet, v: Value) -> Cells:
    symbols = " + ".join(plain(STEPS[each.name].symbol) for each in leaves(v) if each.op == "weight")
    heading = formulas.HEADINGS["linear_part"].format(symbol=f"Y {symbols}", shape="{shape}")
    before, activated = at.block(v.args[0], heading), formulas.FEED_FORWARDS_OF_MODELS[at.chosen.activation.name]
    return Cells(lambda i, j: activated(before.at(i, j)))


def _clipped(at: OnSheet, v: Value) -> Cells:
    x = at.cells(v.args[0])
    return Cells(lambda i, j: f"MAX(-{LIMIT:g},MIN({LIMIT:g},{x.formula(i, j)}))+1")


def _from_sink(at: OnSheet, v: Value) -> Cells:
    sink = at.block(v.args[0]).at(0, 0)
    return Cells(lambda i, j: f"-{sink}")


def _rope(at: OnSheet, v: Value) -> Cells:
    block = at.block(v.args[0])
    if angles := facts_of(at.config).rotation_name(at.writer.layer):
        return Cells(formulas.rotated_by(at.sheet, block, at.inputs[angles]))
    return Cells(formulas.rotated(at.sheet, block, at.config.rope_base, at.inputs["rope_base"].at(0, 0)))


def _score(at: OnSheet, v: Value) -> Cells:
    """Return the cells of a score, or of a bias with learned numbers, which is written as one."""
    line = bias_formula(at.config) if v.op == "bias_line" else None
    Q, K, *own = v.args
    pair = Pair(at.sheet, at.block(Q), at.block(K), _own(at, own))
    return Cells(typed.score(pair, line or score_of(at.config).definition, (at.head, at.config.n_heads)))


def _own(at: OnSheet, weights: Sequence[Value]) -> dict[str, Block]:
    """Return the blocks of the parameters of a line, by their names in it."""
    return {OWN_NAMES[each.name]: block for each in weights if (block := at.known(each))}


def _only_where(at: OnSheet, v: Value) -> Cells:
    may, S = at.block(v.args[1]), at.cells(v.args[0])
    S = Cells(S.formula) if v.args[0].name else S  # a text that stays as it is may be one
    return Cells(S.only_if(lambda i, j: f"{may.at(i, j)}<>0", lambda i, j: f'"{FORBIDDEN}"'), WHOLE)


def _normalise(at: OnSheet, v: Value) -> Cells:
    (S, Q, K, *own), config, its = v.args, at.config, normaliser_of(at.config)
    masked, by_column, T = at.block(S), config.normalise_over == "queries", at.inputs["temperature"].at(0, 0)
    size = _size_of_terms(at, at.block(Q), at.block(K)) if at.known(Q) else ("0", 0.0)
    lines = MaskedScores(at.sheet, masked, T, config.temperature, by_column, size)
    if its.written:
        return Cells(its.written.workbook(lines))
    return Cells(typed.weights(lines, its.line_formula, (at.head, config.n_heads), _own(at, own)))


def _size_of_terms(at: OnSheet, Q: Block, K: Block) -> tuple[str, float]:
    """Return the size of the terms that the scores of a head are sums of, as a formula and as a number."""
    scale = at.inputs["scale"]
    formula = f"ABS({scale.at(0, at.head)})*SQRT(SUMSQ({Q.whole()}))*SQRT(SUMSQ({K.whole()}))"
    return formula, size_of_terms(Q.array, K.array, float(scale.array[0, at.head])).item()


def _side_by_side(at: OnSheet, v: Value) -> Cells:
    heads = [at.blocks[v.args[0].name, h] for h in range(at.config.n_heads)]
    columns = [(block, j) for block in heads for j in range(block.array.shape[1])]
    return Cells(lambda i, j: columns[j][0].at(i, columns[j][1]), WHOLE)


OPERATIONS: dict[str, Callable[[OnSheet, Value], Cells]] = {
    **dict.fromkeys("+*/", _between),
    "@": _product,
    "mix": _product,
    "tanh": _tanh,
    "norm": _norm,
    "norm_of_heads": _norm_of_heads,
    "activation": _activation,
    "clipped": _clipped,
    "from_sink": _from_sink,
    "rope": _rope,
    "route": _route,
    "each_unit": _each_unit,
    "as_keys": lambda at, v: at.cells(v.args[0]),
    "score": _score,
    "bias_line": _score,
    "only_where": _only_where,
    "normalise": _normalise,
    "side_by_side": _side_by_side,
}
"""Each operation by its name in a plan."""
