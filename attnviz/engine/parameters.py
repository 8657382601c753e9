"""The parameters of one layer: supplied by the caller or else drawn, and recorded as steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics import cancellation
from attnviz.engine.numerics.noise import Address
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Steps
from attnviz.engine.records.typed_rows import TYPED, score_of
from attnviz.engine.solved_heads import SolvedHeads, SolvedLayer
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.formula import names
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

    def matrix(self, name: str, X: Array, width: int) -> Array:
        """Return one matrix (columns of X, width) for all heads."""
        shape = (X.shape[-1], width)
        array = self._supplied_array(name, shape) if self.is_supplied(name) else self._row.fn(self._at(name), shape, X)
        return self._layer.record(name, array)

    def vector(self, name: str, width: int, d_in: int) -> Array | None:
        """Return one bias for all heads; None while biases are off."""
        if self.is_supplied(name):
            return self._layer.record(name, self._supplied_array(name, (width,)))
        return (
            self._layer.record(name, self._row.bias(self._at(name), width, d_in))
            if self._config.projection_bias
            else None
        )

    def heads(self, name: str, X: Array, widths: Sequence[int], like: Array | None = None) -> Array:
        """Return a matrix (columns of X, width of the head) for each head, stacked.

        `like` stands in for what is not supplied.
        """
        shapes = [(X.shape[-1], width) for width in widths]
        if self.is_supplied(name):
            return self._record(name, self._stacked(name, shapes), widths)
        if like is not None:
            return self._record(name, like, widths)
        return self._record(name, self._draw(name, shapes, X), widths)

    def head_biases(self, name: str, widths: Sequence[int], d_in: int, like: Array | None = None) -> Array | None:
        """Return a bias for each head, stacked; None while biases are off."""
        if self.is_supplied(name):
            return self._record(name, self._stacked(name, [(width,) for width in widths]), widths)
        if not self._config.projection_bias:
            return None
        if like is not None:
            return self._record(name, like, widths)
        return self._record(
            name, _padded([self._row.bias(self._at(name, h), w, d_in) for h, w in enumerate(widths)]), widths
        )

    def query_and_key(self, X: Array, X_kv: Array) -> tuple[Array, Array, Array | None, Array | None]:
        """Draw W_Q, W_K and their biases. Tied, the matrices of W_Q are drawn once a key head and serve both."""
        config, group = self._config, self._config.group_size
        d_k = config.key_widths()
        d_q = tuple(np.repeat(d_k, group).tolist())
        if not config.tied or X.shape[-1] != X_kv.shape[-1]:
            W_Q, b_q = self.heads("w_q", X, d_q), self.head_biases("b_q", d_q, X.shape[-1])
            W_K, b_k = self.heads("w_k", X_kv, d_k), self.head_biases("b_k", d_k, X_kv.shape[-1])
            return W_Q, W_K, b_q, b_k
        drawn = self._draw("w_q", [(X.shape[-1], width) for width in d_k], X)
        W_Q = self.heads("w_q", X, d_q, like=np.repeat(drawn, group, axis=0))
        biases = _padded([self._row.bias(self._at("b_q", g), width, X.shape[-1]) for g, width in enumerate(d_k)])
        b_q = self.head_biases("b_q", d_q, X.shape[-1], like=np.repeat(biases, group, axis=0))
        W_K = self.heads("w_k", X_kv, d_k, like=self._one_a_group("w_k", W_Q))
        like = None if b_q is None else self._one_a_group("b_k", b_q)
        return W_Q, W_K, b_q, self.head_biases("b_k", d_k, X.shape[-1], like=like)

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

    def output_matrix(self, C: Array, widths: Sequence[int]) -> Array:
        """Draw W_O (sum of the heads' widths, d_model).

        Each head's rows are drawn separately, unless the initialiser gives the whole matrix a form.
        A supplied W_O may have any number of columns where nothing has to be added to the output.
        """
        d_out = self._config.d_model
        if self.is_supplied("w_o") and self._config.n_layers == 1 and not self._config.residual:
            d_out = np.shape(self._supplied["w_o"])[-1]
        if self.is_supplied("w_o") or not self._row.by_head:
            return self.matrix("w_o", C, d_out)
        ends = np.cumsum(widths)
        rows = [
            self._row.fn(self._at("w_o", h), (width, d_out), C[:, end - width : end])
            for h, (width, end) in enumerate(zip(widths, ends))
        ]
        return self._layer.record("w_o", np.concatenate(rows))

    def of_score(self, Q: Array, K: Array, widths: Sequence[int]) -> dict[str, Array]:
        """Return the score function's own matrices, one of each for every head.

        Without its biases while biases are off, but for one that was typed: what a line says is computed.
        """
        score = score_of(self._config)
        has_biases = self._config.projection_bias or self._config.score == TYPED
        fixed = {**dict.fromkeys(HIDDEN, self._config.d_a), "key": K.shape[-2]}
        arrays = {}
        for own_name, axes in score.parameters.items():
            name, is_bias = names.STEPS[own_name], own_name in score.biases
            if is_bias and not (has_biases or self.is_supplied(name)):
                continue
            shapes = [tuple(fixed.get(axis, width) for axis in axes) for width in widths]
            array = (
                self._stacked(name, shapes)
                if self.is_supplied(name)
                else self._scoring(name, shapes, widths, Q, is_bias)
            )
            if not axes:
                arrays[own_name] = self._layer.record(name, array[:, None])[:, 0]
                continue
            axes = ("head", *_recorded(axes))
            arrays[own_name] = self._layer.record(name, array, axes=axes, widths={"d_k": tuple(widths)})
        return arrays

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

    def _draw(self, name: str, shapes: Sequence[tuple[int, ...]], X: Array) -> Array:
        return _padded([self._filled(name, h, shape, X, len(shapes)) for h, shape in enumerate(shapes)])

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

    def _record(self, name: str, array: Array, widths: Sequence[int]) -> Array:
        return self._layer.record(name, array, widths={"d_v" if name.endswith("_v") else "d_k": tuple(widths)})

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


def _recorded(axes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the axes of a parameter as a step has them: queries are as wide as keys, and all hidden widths are d_a."""
    known = {"d_q": "d_k", **dict.fromkeys(HIDDEN, "d_a")}
    return tuple(known.get(axis, axis) for axis in axes)


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
