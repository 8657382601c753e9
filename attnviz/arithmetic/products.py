"""Any number of a run, taken down to what it is made of: to products, where it is a sum of these.

Nothing is rounded and nothing is computed but what the plan of the layer says; with a trained model each parameter is
named by its position in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attnviz.arithmetic import tensor_slices
from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.entries import Entry
from attnviz.arithmetic.entry_rules import RULES
from attnviz.arithmetic.entry_symbols import PAIR, letter
from attnviz.arithmetic.notation.derivation import Derivation
from attnviz.arithmetic.notation.latex_numbers import NumberFormat, aligned, chain
from attnviz.arithmetic.step_words import ops_in, weights_in
from attnviz.arrays import Array
from attnviz.engine.external.layer_plans import plan_of_layer
from attnviz.engine.external.traces import first_steps
from attnviz.engine.plan.values import Value
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import score_of
from attnviz.settings.counting import ordinal

NONE = np.zeros(0)
EMBEDDED = {"X": "embedded", "X_kv": "embedded_kv"}
"""The steps by which the inputs of a layer are called."""


@dataclass(frozen=True, eq=False)
class Products:
    """One number and what it is made of.

    read, matrix  where there is a sum of products, the names of the steps that the two vectors are of; otherwise empty
    left, right   the vectors;  `bias` what is added, 0 without one;  `total` the products and the bias added up
    activated     whether more is made of the total, as a feed-forward block does
    result        the number of the run;  `sources` where the parameters lie in a model's files, sentences
    computed      what is made of what goes in, which is the result but where that was changed by hand;  `latex` how
    """

    read: str
    matrix: str
    left: Array
    right: Array
    bias: float
    total: float
    activated: bool
    result: float
    sources: tuple[str, ...]
    computed: float
    latex: str

    @property
    def values(self) -> Array:
        """The products."""
        return self.left * self.right


def offered(trace: Trace, layer: int) -> tuple[str, ...]:
    """Return the steps of a layer whose numbers are made of others, in the order of the data."""
    plan, given = plan_of_layer(trace, layer), first_steps(trace.layers[layer])
    without = {"normalise"} if score_of(trace.config).is_dot else {"normalise", "score"}

    def is_made(value: Value) -> bool:
        made = value.op == "step" and not value.args[0].name and without.isdisjoint(ops_in(value.args[0]))
        return made and not _moves_rows(value.args[0])

    return tuple(name for name in trace.layers[layer] if name in plan and name not in given and is_made(plan[name]))


def products(trace: Trace, layer: int, step: str, row: int, column: int, head: int = 0, digits: int = 4) -> Products:
    """Return what one number is made of; layer, row, column and head count from 0.

    row  the query, or the key of keys and values;  `head` matters to steps that have heads

    Raises KeyError for a step that is not made of others, ValueError or IndexError for a position that there is not.

    >>> from attnviz import Config, run
    >>> trace = run(Config())
    >>> found = products(trace, 0, "queries", 2, 1, head=3)
    >>> len(found.values), bool(abs(found.total - trace["queries"].array[3, 2, 1]) < 1e-12)
    (16, True)
    """
    value = plan_of_layer(trace, layer)[step]
    made, is_pair = value.args[0], value.axes[-2:] == PAIR
    query, key = (row, column) if is_pair else (0, row) if "key" in value.axes else (row, 0)
    of_group = trace.config.group_size if "kv_head" in value.axes else 1
    position = CellPosition(trace, layer, head * of_group, query, key)
    at = Entry(position, Derivation(NumberFormat(digits), {}), position.index, RULES)
    result, d = at.number(value), None if is_pair else column
    number = float(result if d is None else result[d])
    found = _sum_in(made)
    bias = sum(float(at.number(each)[column]) for each in found.added) if found else 0.0
    left, W = RULES[found.product.op].parts(at, found.product) if found else (NONE, NONE[:, None])
    left, right = left.astype(float), W[:, d or 0].astype(float) if found else NONE
    symbol = f"{letter(value)}_{{{ordinal(row)},{ordinal(column)}}}"
    computed = float(np.ravel(at.number(made))[d or 0])
    members = [each for each in (at.written(made, d), at.to.fmt.number(computed)) if each]
    return Products(
        latex=aligned([*at.above(made), *chain(symbol, members)]),
        read=EMBEDDED.get(found.read.name, found.read.name) if found else "",
        matrix=EMBEDDED.get(found.product.args[1].name, found.product.args[1].name) if found else "",
        left=left,
        right=right,
        bias=bias,
        total=float(left @ right) + bias,
        activated=found is not None and found.whole is not made,
        computed=computed,
        result=number,
        sources=tuple(_sources(at, made, column)),
    )


@dataclass(frozen=True, eq=False)
class _Sum:
    """A sum of products, what is added to it, and both together."""

    product: Value
    added: tuple[Value, ...]
    whole: Value

    @property
    def read(self) -> Value:
        """Return the step that the row, the query or the weights are of."""
        x = self.product.args[0]
        return x.args[0] if x.op == "as_keys" else x


def _moves_rows(value: Value) -> bool:
    """Return whether a value is rows in other places, as the words that a decoder reads one later."""
    found = _sum_in(value)
    return found is not None and found.product.op == "@" and not {"query", "key"}.isdisjoint(found.product.args[1].axes)


def _sum_in(value: Value) -> _Sum | None:
    """Return the sum of products that a value is made of, if there is one."""
    if value.op in ("@", "mix", "score"):
        return _Sum(value, (), value)
    for arg in () if value.name else value.args:
        found = _sum_in(arg)
        if found and found.whole is arg and value.op == "+":
            return _Sum(found.product, (*found.added, *(other for other in value.args if other is not arg)), value)
        if found:
            return found
    return None


def _sources(at: Entry, made: Value, column: int) -> Iterator[str]:
    known, position = facts_of(at.position.config), at.position
    for weight in weights_in(made):
        place = known.slice_of(position.layer, weight.name)
        if place is not None:
            head = at.index[weight.axes[0]] if weight.axes[0].endswith("head") else 0
            yield tensor_slices.column(place, letter(weight), column, head)
