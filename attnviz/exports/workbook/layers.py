"""The sheets of a workbook for each layer: its plan, walked step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product

import numpy as np

from attnviz.engine.external.layer_plans import plan_of_layer
from attnviz.engine.plan.plans import layer_plan, parts_of, trained_plan
from attnviz.engine.plan.tracing import Plan
from attnviz.engine.plan.values import Value
from attnviz.engine.pretrained.model_registry import model_of
from attnviz.engine.pretrained.pretrained_config import is_pretrained
from attnviz.engine.records.trace import Trace
from attnviz.exports.workbook.layout import MOST_CELLS, Block, Book, Sheet, fault
from attnviz.exports.workbook.operations import Blocks, OnSheet, leaves
from attnviz.exports.workbook.settings_sheet import embedded, input_sheet, setting
from attnviz.exports.workbook.steps import StepWriter
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, translate
from attnviz.text.step_names import ORDER

NAMES = Words(
    {
        "before": "Normed",
        "weight": "Projections",
        "given": "Mask",
        "heads": "Head {n}",
        "after": "Output",
    }
)
IN_LAYER = Words(
    {
        "before": "L{layer} normed",
        "weight": "L{layer} projections",
        "given": "L{layer} mask",
        "heads": "L{layer} head {n}",
        "after": "L{layer} output",
    }
)
TITLES = Words(
    {
        "before": "The input, normalised",
        "weight": "The matrices",
        "given": "The mask",
        "heads": "Head {n}",
        "after": "From the heads to the output",
    }
)
LINES = Words({"given": ("1 means that the query of the row may attend to the key of the column, 0 that it may not.",)})
"""The sheets of a layer, in their order."""

LAYER_TITLE = "Layer {n} · {title}"


def sheets(trace: Trace) -> Book:
    """Return every sheet of the workbook of a run, as blocks of numbers and formulas.

    Raises ConfigError for a run too large for a workbook, and for one with infinity where no mask put it.
    """
    _check_size(trace)
    book, is_self = Book(), not trace.config.is_cross_attention
    with np.errstate(all="ignore"):
        read = [each for value in plans_of(trace, 0)[0].values() for each in leaves(value)]
        inputs = setting(book, trace, [each.name for each in read if each.op == "setting"])
        X, X_kv = (_of_model if is_pretrained(trace) else embedded)(book, trace)
        for layer in range(len(trace.layers)):
            X = LayerSheets(book, trace, layer, inputs).write(X, X if is_self else X_kv)
    return book


def _check_size(trace: Trace) -> None:
    """Raise ConfigError for a trained model that is too large for a workbook, or whose matrices are not there."""
    if is_pretrained(trace):
        matrices = model_of(trace).sizes.n_weights
        if matrices > MOST_CELLS:
            raise fault("model", most=MOST_CELLS, n=matrices)


def _of_model(book: Book, trace: Trace) -> tuple[Block, Block | None]:
    """Place what the first layer of a trained model reads, and what that is made of."""
    writer, plan = StepWriter(trace, None, trace.around), plan_of_layer(trace, None)
    sheet = input_sheet(book)
    X = writer.step(sheet, "token_embeddings", None)
    at = OnSheet(writer, {}, plan, plan, {("token_embeddings", 0): X}, sheet)
    for name, value in plan.items():
        if name != "embedded_kv" or writer.edited(name, None):  # it is the same as X, unless it was changed by hand
            X = at.step(value)
    if trace.config.is_cross_attention:
        return X, writer.step(sheet, "embedded_kv", None)
    return X, None


def plans_of(trace: Trace, layer: int) -> tuple[Plan, Plan]:
    """Return the plan of a layer with what a number of the setting switches on, as a visitor may, and without it."""
    if is_pretrained(trace):
        has = plan_of_layer(trace, layer).has
        return trained_plan(replace(has, softcap=True)), trained_plan(replace(has, softcap=False))
    given = trace.given_in[layer] if trace.given_in else frozenset[str]()
    has = replace(parts_of(trace.config, given), output="w_o" in trace.layers[layer])
    return layer_plan(replace(has, softcap=True)), layer_plan(replace(has, softcap=False))


def _add_to_heads(on: Sequence[OnSheet], values: Sequence[Value]) -> None:
    """Add steps to the sheets of all heads: one after the other, but what reads all heads stands behind all of them."""
    starts = [at for at, value in enumerate(values) if any(each.op == "norm_of_heads" for each in _inner(value))]
    for start, end in pairwise([0, *starts, len(values)]):
        for at, value in product(on, values[start:end]):
            at.add(value)


def _inner(value: Value) -> Iterator[Value]:
    """Yield what a step is made of, up to what has a name."""
    for arg in value.args:
        yield arg
        if not arg.name:
            yield from _inner(arg)


class LayerSheets:
    """The sheets of one layer. Steps that were given and not computed are numbers to change, like parameters."""

    def __init__(self, book: Book, trace: Trace, layer: int, inputs: Mapping[str, Block]) -> None:
        self._book, self._trace, self._layer, self._inputs = book, trace, layer, inputs
        self._writer = StepWriter(trace, layer, trace.layers[layer])
        self._plans, self._blocks = plans_of(trace, layer), Blocks()

    def write(self, X: Block | None, X_kv: Block | None) -> Block | None:
        """Write every sheet of the layer; return what it hands on, None where there is nothing."""
        self._blocks |= {(name, 0): block for name, block in (("X", X), ("X_kv", X_kv)) if block is not None}
        last = None
        for which, values in self._sorted().items():
            each = range(len(self._writer.steps["weights"].array) if which == "heads" else bool(values))
            on = [
                OnSheet(self._writer, self._inputs, *self._plans, self._blocks, self._sheet(which, ordinal(n)), n)
                for n in each
            ]
            if which == "heads":
                _add_to_heads(on, values)
                continue
            for at, value in product(on, values):
                last = self._weight(at, value) if which == "weight" else at.step(value)
        return last

    def _sorted(self) -> dict[str, list[Value]]:
        """Return the values of the plan by the sheet on which they stand, in the order of the sheets."""
        found: dict[str, list[Value]] = {which: [] for which in NAMES}
        for value in self._plans[0].values():
            which = "after" if found["heads"] else "before"
            which = value.op if value.op in found else "heads" if value.axes[0].endswith("head") else which
            is_bias = value.op == "given" and value.axes[0] == "head"  # it stands where it is added
            if value.name in self._writer.steps and not is_bias:
                found[which].append(value)
        found["weight"].sort(key=lambda value: ORDER.index(value.name))
        return found

    def _weight(self, at: OnSheet, value: Value) -> Block | None:
        """Place a matrix or a bias; those of which every head has its own stand side by side."""
        if not value.axes[0].endswith("head"):
            return at.step(value)
        block: Block | None = None
        size = self._trace.config.group_size if value.axes[0] == "kv_head" else 1
        for number in range(len(self._writer.steps[value.name].array)):
            block = replace(at, head=number * size).step(value, beside=block)
        return block

    def _sheet(self, which: str, n: int = 0) -> Sheet:
        name, title = NAMES[which].format(n=n), TITLES[which].format(n=n)
        if len(self._trace.layers) > 1:
            name = IN_LAYER[which].format(layer=ordinal(self._layer), n=n)
            title = translate(LAYER_TITLE, n=ordinal(self._layer), title=title)
        return self._book.sheet(name, title, LINES.get(which, ()))
