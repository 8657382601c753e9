"""The operations of a plan, each with its value and with its slopes.

`value(at, v, *x)` computes the operation v from what it reads; `back(at, v, G, y, *x)` carries the slopes G of its
result y back, one array for each thing read, None where nothing goes back. `at` is the layer that is computed: its rows
and numbers, and what was found out about its arrays. Batch axes may stand in front of those that a value names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics import buffer_pool, products
from attnviz.engine.plan.chosen import rule_back
from attnviz.engine.plan.layer_facts import LayerFacts
from attnviz.engine.plan.model_operations import Clipped, EachUnit, FromSink, Route, Slopes
from attnviz.engine.plan.values import Axes, Value, axes_by_length
from attnviz.engine.tables.normalised_axes import NORMALISED_AXES
from attnviz.engine.tables.normalisers.hardmax import hardmax, size_of_terms
from attnviz.engine.tables.scores import Score, swap
from attnviz.formula import names
from attnviz.formula.evaluation.functions import all_slopes, checked_bias


class Operation(Protocol):
    """An operation of a plan: its value and its slopes."""

    @property
    def value(self) -> Callable[..., Array]: ...
    @property
    def back(self) -> Callable[..., Slopes]: ...


OWN_NAMES = {step: own for own, step in names.STEPS.items()}
"""The name of a score's parameter in its line, by that of its step."""


def spread_over(axes: Axes, x: Array, value: Value) -> Array:
    """Return x, the array of a value, with the axes of a wider array: those that it lacks are of length 1."""
    if value.is_number or not value.axes or len(value.axes) == len(axes):
        return x
    have = axes_by_length(value.axes)
    return x[(..., *(slice(None) if axis in have else None for axis in axes_by_length(axes)))]


class Add:
    """A sum; what is narrower is added to every row."""

    def value(self, at: LayerFacts, v: Value, x: Array, y: Array) -> Array:
        return spread_over(v.axes, x, v.args[0]) + spread_over(v.axes, y, v.args[1])

    def back(self, at: LayerFacts, v: Value, G: Array, _: Array, *x: Array) -> Slopes:
        return [at.gathered(G, v.axes, arg) if at.moves(arg) else None for arg in v.args]


class Times:
    """A product entry by entry, or with a number."""

    def value(self, at: LayerFacts, v: Value, x: Array, y: Array) -> Array:
        if np.ndim(y) == 0 and y == 1.0:
            return x
        x, y = spread_over(v.axes, x, v.args[0]), spread_over(v.axes, y, v.args[1])
        return np.multiply(x, y, out=buffer_pool.empty(np.broadcast_shapes(np.shape(x), np.shape(y))))

    def back(self, at: LayerFacts, v: Value, G: Array, _: Array, x: Array, y: Array) -> Slopes:
        (a, b), slopes = v.args, list[Array | None]()
        for value, other, by in ((a, b, y), (b, a, x)):
            into = G * spread_over(v.axes, by, other) if at.moves(value) else None
            slopes.append(None if into is None else at.gathered(into, v.axes, value))
        return slopes


class Over:
    """A quotient by a number of the setting."""

    def value(self, at: LayerFacts, v: Value, x: Array, y: Array) -> Array:
        return x / y

    def back(self, at: LayerFacts, v: Value, G: Array, _: Array, x: Array, y: Array) -> Slopes:
        return [G / y, None]


class Product:
    """A matrix product, with equal rows where rows of the left are equal."""

    def value(self, at: LayerFacts, v: Value, X: Array, W: Array) -> Array:
        return products.product(X, W, at.first_equals(X))

    def back(self, at: LayerFacts, v: Value, G: Array, _: Array, X: Array, W: Array) -> Slopes:
        into_x = G @ swap(W)  # a head at a time: one large product would wake all threads
        return [at.gathered(into_x, (*v.axes[:-1], v.args[0].axes[-1]), v.args[0]), swap(X) @ G]


class Tanh:
    """The hyperbolic tangent, entry by entry."""

    def value(self, at: LayerFacts, v: Value, x: Array) -> Array:
        return np.tanh(x)

    def back(self, at: LayerFacts, v: Value, G: Array, y: Array, x: Array) -> Slopes:
        return [G * (1.0 - y**2)]


class Norm:
    """A norm of each row, by its row of the table."""

    def value(self, at: LayerFacts, v: Value, X: Array) -> Array:
        return at.chosen.norm.fn(X)

    def back(self, at: LayerFacts, v: Value, G: Array, y: Array, X: Array) -> Slopes:
        return [rule_back(at.chosen.norm)(G, X, y)]


class NormOfHeads:
    """A norm of the rows of all heads side by side, which stay where they are."""

    def value(self, at: LayerFacts, v: Value, X: Array) -> Array:
        return apart(at.chosen.norm.fn(joined(X)), X.shape[-3])

    def back(self, at: LayerFacts, v: Value, G: Array, y: Array, X: Array) -> Slopes:
        return [apart(rule_back(at.chosen.norm)(joined(G), joined(X), joined(y)), X.shape[-3])]


class Activation:
    """The activation of hidden units, entry by entry."""

    def value(self, at: LayerFacts, v: Value, X: Array) -> Array:
        return at.chosen.activation.fn(X)

    def back(self, at: LayerFacts, v: Value, G: Array, y: Array, X: Array) -> Slopes:
        return [rule_back(at.chosen.activation)(G, X, y)]


class Rope:
    """A rotation of each row by its position, over the true columns of each head."""

    def value(self, at: LayerFacts, v: Value, X: Array) -> Array:
        return at.turned(v, X, at.turn.fn)

    def back(self, at: LayerFacts, v: Value, G: Array, y: Array, X: Array) -> Slopes:
        return [at.turned(v, G, at.turn.back)]


class AsKeys:
    """The same rows, read as what is attended to."""

    def value(self, at: LayerFacts, v: Value, X: Array) -> Array:
        return X

    def back(self, at: LayerFacts, v: Value, G: Array, *_: Array) -> Slopes:
        return [G]


class ScoreOf:
    """A score of each query with each key. Equal queries get equal rows and equal keys equal columns, to the bit."""

    def row(self, at: LayerFacts) -> Score:
        """Return the row whose line is computed."""
        return at.chosen.score

    def value(self, at: LayerFacts, v: Value, Q: Array, K: Array, *parameters: Array) -> Array:
        row, K_h = at.chosen.score, at.each_head(K)
        same_query = None if row.by_query_position else at.first_equals(Q)
        same_key = None if row.by_position else at.first_equals(K_h)
        S = products.spread(row.fn(Q, K_h, **self._own(at, v, parameters)), same_query)
        products.spread(swap(S), same_key)
        return S

    def back(self, at: LayerFacts, v: Value, G: Array, S: Array, Q: Array, K: Array, *parameters: Array) -> Slopes:
        into_q, into_k, of_own = rule_back(self.row(at))(G, S, Q, at.each_head(K), **self._own(at, v, parameters))
        return [into_q, at.added_up(into_k), *as_steps(v.args[2:], of_own)]

    def _own(self, at: LayerFacts, v: Value, arrays: tuple[Array, ...]) -> dict[str, Array]:
        return {**at.chosen.params, **by_own_names(v.args[2:], arrays)}


def by_own_names(args: Sequence[Value], arrays: Sequence[Array]) -> dict[str, Array]:
    """Return the parameters under the names that a line has for them; a number a head without its axis of length 1."""
    return {OWN_NAMES[arg.name]: x[..., 0] if arg.axes[1:] == ("number",) else x for arg, x in zip(args, arrays)}


def as_steps(args: Sequence[Value], slopes: Mapping[str, Array]) -> Slopes:
    """Return the slopes of parameters, which are known by the names of a line, with the axes of their steps."""
    found = [slopes.get(OWN_NAMES[arg.name]) for arg in args]
    return [g if g is None or arg.axes[1:] != ("number",) else g[:, None] for g, arg in zip(found, args)]


class BiasLine(ScoreOf):
    """A typed bias with learned numbers; of queries and keys it reads only how many there are."""

    def row(self, at: LayerFacts) -> Score:
        return at.chosen.bias or at.chosen.score  # a plan without one never asks

    def value(self, at: LayerFacts, v: Value, Q: Array, K: Array, *parameters: Array) -> Array:
        B = self.row(at).fn(Q, at.each_head(K), **self._own(at, v, parameters))
        return checked_bias(self.row(at).definition, B)


class OnlyWhere:
    """The scores, minus infinity where a query may not attend."""

    def value(self, at: LayerFacts, v: Value, S: Array, allowed: Array) -> Array:
        return np.where(allowed, S, -np.inf)

    def back(self, at: LayerFacts, v: Value, G: Array, _: Array, S: Array, allowed: Array) -> Slopes:
        return [np.where(allowed, G, 0.0), None]


class Normalise:
    """The weights of each row of scores; exactly 0 where a score is minus infinity, also in a row that is NaN."""

    def value(self, at: LayerFacts, v: Value, S: Array, Q: Array, K: Array, *learned: Array) -> Array:
        row, chosen = at.chosen.normaliser, at.chosen
        fn = partial(hardmax, size=size_of_terms(Q, at.each_head(K), chosen.scale)) if row.fn is hardmax else row.fn
        fn = partial(fn, **by_own_names(v.args[3:], learned)) if learned else fn
        A = NORMALISED_AXES[chosen.over].fn(fn, S, chosen.temperature)
        return np.where(np.isneginf(S), 0.0, A) if np.isnan(A.sum()) else A

    def back(
        self, at: LayerFacts, v: Value, G: Array, A: Array, S: Array, Q: Array, K: Array, *learned: Array
    ) -> Slopes:
        turn, row = swap if at.chosen.over == "queries" else np.asarray, at.chosen.normaliser
        given = turn(G), turn(S), turn(A), at.chosen.temperature
        if not learned:
            return [turn(rule_back(row)(*given)), None, None]
        into_s, of_own = all_slopes(row.line_formula)(*given, **by_own_names(v.args[3:], learned))
        return [turn(into_s), None, None, *as_steps(v.args[3:], of_own)]


class Mix:
    """The values, weighed and added up. A forbidden value takes no part: 0 times infinity would be NaN."""

    def value(self, at: LayerFacts, v: Value, A: Array, V: Array, Q: Array, allowed: Array | None = None) -> Array:
        Z = _sum_of_values(A, at.each_head(V), allowed)
        same_query = None if at.chosen.score.by_query_position else at.first_equals(Q)
        return Z if same_query is None else products.spread(Z, products.first_equals(A, same_query))

    def back(self, at: LayerFacts, v: Value, G: Array, _: Array, A: Array, V: Array, *rest: Array) -> Slopes:
        V_h = at.each_head(V)
        V_h = V_h if np.isfinite(V_h.sum()) else np.where(np.isfinite(V_h), V_h, 0.0)
        return [G @ swap(V_h), at.added_up(swap(A) @ G), *(None for _ in rest)]


class SideBySide:
    """The true columns of all heads, one head after the other."""

    def value(self, at: LayerFacts, v: Value, Z: Array) -> Array:
        widths = at.chosen.value_widths
        if widths is None or len(set(widths)) == 1:
            return joined(Z)
        return np.concatenate([Z[h][:, :width] for h, width in enumerate(widths)], axis=-1)

    def back(self, at: LayerFacts, v: Value, G: Array, _: Array, Z: Array) -> Slopes:
        slopes, start = np.zeros(Z.shape), 0
        for h, width in enumerate(at.chosen.value_widths or [Z.shape[-1]] * len(Z)):
            slopes[h, :, :width] = G[:, start : start + width]
            start += width
        return [slopes]


def joined(Z: Array) -> Array:
    """Return the heads side by side: (..., H, n, d_v) becomes (..., n, H * d_v)."""
    rows = np.swapaxes(Z, -2, -3)
    C = buffer_pool.empty((*rows.shape[:-2], rows.shape[-2] * rows.shape[-1]))
    np.copyto(C.reshape(rows.shape), rows)
    return C


def apart(C: Array, heads: int) -> Array:
    """Return joined heads each on its own: (..., n, H * d_v) becomes (..., H, n, d_v)."""
    return np.ascontiguousarray(np.swapaxes(C.reshape(*C.shape[:-1], heads, -1), -2, -3))


def _sum_of_values(A: Array, V: Array, allowed: Array | None) -> Array:
    if allowed is None or np.isfinite(V).all():
        return buffer_pool.product(A, V)
    infinite = ~np.isfinite(V)
    Z = buffer_pool.product(A, np.where(infinite, 0.0, V))
    for j in np.flatnonzero(infinite.any(axis=-1).reshape(-1, V.shape[-2]).any(axis=0)):
        share = A[..., j, None] * V[..., None, j, :]
        may = np.broadcast_to(allowed, A.shape)[..., j, None]
        Z = Z + np.where(may & infinite[..., None, j, :], share, 0.0)
    return Z


OPERATIONS: dict[str, Operation] = {
    "+": Add(),
    "*": Times(),
    "/": Over(),
    "@": Product(),
    "tanh": Tanh(),
    "norm": Norm(),
    "norm_of_heads": NormOfHeads(),
    "activation": Activation(),
    "clipped": Clipped(),
    "from_sink": FromSink(),
    "rope": Rope(),
    "route": Route(),
    "each_unit": EachUnit(),
    "as_keys": AsKeys(),
    "score": ScoreOf(),
    "bias_line": BiasLine(),
    "only_where": OnlyWhere(),
    "normalise": Normalise(),
    "mix": Mix(),
    "side_by_side": SideBySide(),
}
"""Each operation by its name in a plan."""
