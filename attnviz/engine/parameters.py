"""The parameters of one layer: supplied by the caller or else drawn, and recorded as steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics import cancellation, noise
from attnviz.engine.numerics.noise import Address
from attnviz.engine.plan.layer_arrays import LayerArrays
from attnviz.engine.plan.operations import OWN_NAMES
from attnviz.engine.plan.values import Value
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Steps
from attnviz.engine.solved_heads import SolvedHeads, SolvedLayer
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.formula.graph import HIDDEN
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import translate


class Parameters:
    """Every matrix and bias of one layer.

    Heads of different width ride padded with zeros to the widest; each is drawn at its own shape and its own address,
    so that another head, or another width of it, does not change this one.
    """

    def __init__(
        self,
        layer: Steps,
        config: Config,
        address: str,
        supplied: Mapping[str, Any],
        solver: SolvedHeads | None = None,
        solved: SolvedLayer | None = None,
    ) -> None:
        """Take what solves the heads of this layer, or the matrices that were solved before; neither for drawn ones."""
        self._layer, self._config, self._address = layer, config, address
        self._solver, self._solved = solver, solved
        self._supplied = dict(supplied)
        self._row = INITIALISERS[config.initialiser]

    @property
    def supplied(self) -> frozenset[str]:
        """The names of the parameters that the caller supplies."""
        return frozenset(name for name in self._supplied if self.is_supplied(name))

    def is_supplied(self, name: str) -> bool:
        """Return whether the caller supplies this parameter."""
        return self._supplied.get(name) is not None

    def check_used(self) -> None:
        """Raise ConfigError if the caller supplies something that this layer does not have."""
        unused = [name for name in self._supplied if name not in self._layer and self.is_supplied(name)]
        if unused:
            raise ConfigError(
                translate(
                    "projections names {name}, which this setting does not use; leave it out", name=repr(unused[0])
                )
            )

    def has_own_heads(self) -> bool:
        """Return whether the caller supplies neither queries nor keys, so that heads do what they are made for."""
        return not (self.is_supplied("w_q") or self.is_supplied("w_k"))

    def weight(self, value: Value, arrays: LayerArrays) -> Array:
        """Return a matrix or a bias of the plan, recorded; `arrays` are the steps before it.

        Every axis but those of heads is that of the setting or of what the weight multiplies. Raises ConfigError for
        what the caller supplies and does not fit.
        """
        name, X = value.name, arrays.of(value.read[0])
        if name in OWN_NAMES:
            return self._of_score(value, X, arrays)
        if value.axes[0].endswith("head"):
            same = self._one_a_group(name, arrays.known[value.args[0].name]) if value.args else None
            return self._of_heads(value, X, same)
        if name == "w_o":
            return self._output_matrix(X)
        if name.startswith("b"):
            into = self._value_widths()[0] if name == "b_o" else X.shape[-1]
            return self._vector(name, arrays.known[f"w{name[1:]}"].shape[-1], into)
        return self._matrix(name, X, arrays.known["output"].shape[-1] if name == "w_2" else self._config.d_ff)

    def _matrix(self, name: str, X: Array, width: int) -> Array:
        """Return one matrix (columns of X, width) for all heads."""
        shape = (X.shape[-1], width)
        array = self._supplied_array(name, shape) if self.is_supplied(name) else self._row.fn(self._at(name), shape, X)
        return self._layer.record(name, array)

    def _vector(self, name: str, width: int, d_in: int) -> Array:
        """Return one bias for all heads; `d_in` is the number of products that it is added to."""
        if self.is_supplied(name):
            return self._layer.record(name, self._supplied_array(name, (width,)))
        return self._layer.record(name, self._row.bias(self._at(name), width, d_in))

    def _value_widths(self) -> tuple[int, ...]:
        """Return the width of the values of each head of queries."""
        return tuple(np.repeat(self._config.value_widths(), self._config.group_size).tolist())

    def _of_heads(self, value: Value, X: Array, same: Array | None) -> Array:
        """Return a matrix (columns of X, width of the head) or a bias for each head, stacked.

        `same` stands in for what is not supplied. Tied, what makes queries is drawn once for all heads of a group, and
        makes their keys too.
        """
        name, config, of_values = value.name, self._config, value.axes[-1] == "d_v"
        widths = config.value_widths() if of_values else config.key_widths()
        of_queries = value.axes[0] == "head"
        each = tuple(np.repeat(widths, config.group_size).tolist()) if of_queries else widths
        if self.is_supplied(name):
            array = self._stacked(name, [(width,) if len(value.axes) == 2 else (X.shape[-1], width) for width in each])
        elif same is not None:
            array = same
        elif of_queries and config.tied:
            array = np.repeat(self._drawn(name, X, widths), config.group_size, axis=0)
        else:
            array = self._drawn(name, X, each)
        return self._layer.record(name, array, widths={"d_v" if of_values else "d_k": tuple(each)})

    def _drawn(self, name: str, X: Array, widths: Sequence[int]) -> Array:
        """Return what is drawn or solved for each head, stacked."""
        d_in = X.shape[-1]
        if name.startswith("b"):
            return _padded([self._row.bias(self._at(name, h), width, d_in) for h, width in enumerate(widths)])
        shapes = [(d_in, width) for width in widths]
        at_once = None if self._solver or self._solved else self._at_once(name, shapes)
        if at_once is not None:
            return at_once
        return _padded([self._filled(name, h, shape, X, len(widths)) for h, shape in enumerate(shapes)])

    def _at_once(self, name: str, shapes: Sequence[tuple[int, int]]) -> Array | None:
        """Return small matrices of one shape, drawn for all heads at once; None where they are drawn one by one."""
        shape = shapes[0]
        if self._row.of_uniform is None or len({*shapes}) > 1 or not noise.are_few(shape):
            return None
        return self._row.of_uniform(noise.uniform_stack(self._at(name), len(shapes), shape), shape)

    def _one_a_group(self, name: str, queries: Array) -> Array:
        """Return W_Q or its bias as that of the keys; raises ConfigError if heads that share keys have several."""
        group = self._config.group_size
        first = queries[::group]
        if not self.is_supplied(name) and not np.array_equal(np.repeat(first, group, axis=0), queries):
            raise ConfigError(
                translate(
                    "with W_K = W_Q, heads that share keys have one matrix, and {given} differs among them; "
                    "give {name} too, or the same to each",
                    given=name.replace("k", "q"),
                    name=name,
                )
            )
        return first

    def _output_matrix(self, C: Array) -> Array:
        """Draw W_O (sum of the heads' widths, d_model).

        Each head's rows are drawn separately, unless the initialiser gives the whole matrix a form.
        A supplied W_O may have any number of columns where nothing has to be added to the output.
        """
        d_out, widths = self._config.d_model, self._value_widths()
        if self.is_supplied("w_o") and self._config.n_layers == 1 and not self._config.residual:
            d_out = np.shape(self._supplied["w_o"])[-1]
        if self.is_supplied("w_o") or not self._row.by_head:
            return self._matrix("w_o", C, d_out)
        at_once = self._at_once("w_o", [(width, d_out) for width in widths])
        if at_once is not None:
            return self._layer.record("w_o", at_once.reshape(-1, d_out))
        ends = np.cumsum(widths)
        rows = [
            self._row.fn(self._at("w_o", h), (width, d_out), C[:, end - width : end])
            for h, (width, end) in enumerate(zip(widths, ends))
        ]
        return self._layer.record("w_o", np.concatenate(rows))

    def _of_score(self, value: Value, Q: Array, arrays: LayerArrays) -> Array:
        """Return one of the parameters of the score or of another line, one of each for every head."""
        name, score, own = value.name, arrays.chosen.score, OWN_NAMES[value.name]
        axes = score.parameters.get(own, ())  # those of a bias and a normaliser are numbers
        widths = tuple(np.repeat(self._config.key_widths(), self._config.group_size).tolist())
        fixed = {**dict.fromkeys(HIDDEN, self._config.d_a), "key": arrays.of(value.read[1]).shape[-2]}
        shapes = [tuple(fixed.get(axis, width) for axis in axes) for width in widths]
        if self.is_supplied(name):
            array = self._stacked(name, shapes)
        else:
            array = self._scoring(name, shapes, widths, Q, own in score.biases)
        array = array if axes else array[:, None]
        return self._layer.record(name, array, axes=value.axes, widths={"d_k": widths})

    def _scoring(
        self, name: str, shapes: Sequence[tuple[int, ...]], widths: Sequence[int], Q: Array, is_bias: bool
    ) -> Array:
        row = self._row
        if not shapes[0]:
            return np.ones(len(shapes))
        if is_bias:
            return _padded([row.bias(self._at(name, h), shape[0], widths[h]) for h, shape in enumerate(shapes)])
        return _padded([row.fn(self._at(name, h), shape, Q[h][:, : widths[h]]) for h, shape in enumerate(shapes)])

    def _at(self, name: str, *index: int) -> Address:
        return Address(self._config.seed, f"{self._address}/{name}", index)

    def _filled(self, name: str, h: int, shape: tuple[int, ...], X: Array, n: int) -> Array:
        """Return the matrix of head h out of n: solved where the setting says so, drawn otherwise."""
        cancellation.check()
        W = None
        if self._solved:
            W = self._solved.matrix(name, h, n)
        elif self._solver:
            W = self._solver.matrix(name, h * self._config.kv_heads // n, shape, X)
        if W is not None:
            return W
        return self._row.fn(self._at(name, h), shape, X)

    def _supplied_array(self, name: str, shape: tuple[int, ...]) -> Array:
        array = np.array(self._supplied[name], dtype=float)
        if array.shape != shape:
            raise ConfigError(
                translate(
                    "{name} has shape {shape}; this setting needs {needed}", name=name, shape=array.shape, needed=shape
                )
            )
        return _finite(name, array)

    def _stacked(self, name: str, shapes: Sequence[tuple[int, ...]]) -> Array:
        """Stack the arrays supplied for each head. Raises ConfigError where their shapes do not fit the setting."""
        arrays = [_finite(name, np.array(matrix, dtype=float)) for matrix in self._supplied[name]]
        if [matrix.shape for matrix in arrays] != list(shapes):
            have = ", ".join(str(matrix.shape) for matrix in arrays[:4])
            need = ", ".join(str(shape) for shape in shapes[:4])
            raise ConfigError(
                translate(
                    "{name} has {n} heads of shape {shape}; this setting needs {n_needed} of shape {needed}",
                    name=name,
                    n=len(arrays),
                    shape=have,
                    n_needed=len(shapes),
                    needed=need,
                )
            )
        return _padded(arrays)


def _finite(name: str, array: Array) -> Array:
    if not np.isfinite(array).all():
        raise ConfigError(translate("{name} holds NaN or infinity; give finite numbers", name=name))
    return array


def _padded(arrays: Sequence[Array]) -> Array:
    """Stack arrays of different size with zeros up to the largest: columns of zeros change no score and no sum."""
    if not arrays[0].ndim:
        return np.array(arrays)
    shape = np.max([array.shape for array in arrays], axis=0)
    stack = np.zeros((len(arrays), *shape))
    for h, array in enumerate(arrays):
        stack[h][tuple(map(slice, array.shape))] = array
    return stack
