"""One run through a trained model, every step of every layer kept under the names that it has in any run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.attention import steps_of_attention
from attnviz.engine.numerics.products import product
from attnviz.engine.plan.chosen import Chosen
from attnviz.engine.plan.formulas import attention_formulas
from attnviz.engine.plan.operations import joined
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.engine.records.trace import Steps
from attnviz.engine.records.typed_rows import mask_of, normaliser_of
from attnviz.engine.tables import masks
from attnviz.engine.tables.blocks import FEED_FORWARDS, gelu_tanh
from attnviz.engine.tables.scores import SCORES
from attnviz.engine.tables.tokenisers import PAD
from attnviz.models.shapes import Shape

ModelParameters = Mapping[str, Array]

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {name: row.fn for name, row in FEED_FORWARDS.items()}
ACTIVATIONS["geglu_tanh"] = gelu_tanh
GATED = ("swiglu", "geglu", "geglu_tanh")


class Layer:
    """One layer of a model: its parameters, and the steps that are recorded as it runs."""

    def __init__(
        self, steps: Steps, shape: Shape, parameters: ModelParameters, config: PretrainedConfig, window: int | None
    ) -> None:
        self._steps, self._shape, self._parameters, self._config = steps, shape, parameters, config
        self._window = window
        self._kind = "LN" if shape.norm == "layer" else "RMS"

    def run(self, X: Array, tokens: tuple[str, ...]) -> Array:
        """Compute the output of the layer for X."""
        before, after, both = (self._shape.norm_applied == each for each in ("before", "after", "both"))
        read, record = X, self._steps.record
        if before or both:
            read = self._normed("normed", X, "1", r"\hat X", "X")
        Y = self._attention(read, r"\hat X" if before or both else "X", tokens)
        if both:
            Y = self._normed("output_normed", Y, "1_out", r"\hat Y", "Y")
        stream = Y = record("added", X + Y, formula=r"X + \hat Y" if both else "X + Y")
        if after:
            stream = Y = self._normed("added_normed", Y, "1", "", "X + Y")
        elif self._shape.parallel:
            Y = X
        G = self._feed_forward(Y, before or both)
        if both:
            G = self._normed("ff_output_normed", G, "2_out", r"\hat G", "G")
        result = record("ff_added", stream + G, formula=r"Y + \hat G" if both else "Y + G")
        return self._normed("ff_added_normed", result, "2", "", "Y + G") if after else result

    def _parameter(self, name: str) -> Array | None:
        """Return a weight, recorded; None where the model has none of that name."""
        return self._steps.record(name, self._parameters[name]) if name in self._parameters else None

    def _normed(self, name: str, X: Array, which: str, left: str, x: str) -> Array:
        gain, added = self._parameter(f"g_{which}"), self._parameter(f"c_{which}")
        right = rf"\mathrm{{{self._kind}}}({x})" + (r" \odot g" if gain is not None else "")
        formula = (f"{left} = " if left else "") + right + (" + c" if added is not None else "")
        return self._steps.record(name, normed(X, self._shape, gain, added), formula=formula)

    def _projected(self, letter: str, X: Array) -> tuple[Array, str]:
        """Return queries, keys or values of every head, and what they are called in a formula."""
        W, b = self._parameter(f"w_{letter}"), self._parameter(f"b_{letter}")
        assert W is not None  # noqa: S101  # every family has all three
        Y = product(X, W)
        return Y if b is None else Y + b[:, None, :], letter.upper()

    def _attention(self, X: Array, x: str, tokens: tuple[str, ...]) -> Array:
        """Compute multi-head attention, from what it reads to what it hands on."""
        config, record = self._config, self._steps.record
        Q, K = (self._rotated(name, *self._projected(name[0], X), x) for name in ("queries", "keys"))
        V, _ = self._projected("v", X)
        V = record("values", V, formula=self._affine("v", "V", x))
        K, V = (np.repeat(Y, config.group_size, axis=0) for Y in (K, V))
        formulas = attention_formulas(config, self._steps)
        chosen = Chosen(
            score=SCORES["scaled_dot"],
            normaliser=normaliser_of(config),  # type: ignore[arg-type]  # to a checker its score is a descriptor
            scale=SCORES["scaled_dot"].scale(Q.shape[-1]) if config.scale is None else config.scale,
            softcap=config.softcap,
            temperature=config.temperature,
        )
        kept = lambda name, array: record(name, array, formula=formulas.get(name))  # noqa: E731
        Z = steps_of_attention(Q, K, V, chosen=chosen, bias=None, allowed=self._allowed(tokens), record=kept)
        C = record("concat", joined(Z))
        return self._matrix("output", "o", C, "Y = C W_O")

    def _affine(self, letter: str, symbol: str, x: str) -> str:
        biased = rf" + b_{symbol}^h" if f"b_{letter}" in self._parameters else ""
        return f"{symbol}_h = {x} W_{symbol}^h{biased}"

    def _rotated(self, name: str, Y: Array, symbol: str, x: str) -> Array:
        """Return queries or keys, normalised and rotated by their positions where the model does so."""
        letter, frequencies, record = name[0], self._shape.frequencies, self._steps.record
        formula = self._affine(letter, symbol, x)
        if frequencies is None:
            return record(name, Y, formula=formula)
        Y = record(f"projected_{name}", Y, formula=rf"\tilde {formula}")
        inner = rf"\tilde {symbol}_h"
        gain = self._parameter(f"g_{letter}")
        if gain is not None:
            formula = rf"\hat {symbol}_h = \mathrm{{RMS}}({inner}) \odot g_{symbol}"
            Y = record(f"normed_{name}", normed(Y, self._shape, gain), formula=formula)
            inner = rf"\hat {symbol}_h"
        return record(name, rotated(Y, frequencies), formula=rf"{symbol}_h = R\, {inner}")

    def _allowed(self, tokens: tuple[str, ...]) -> Array:
        """Combine the model's masks, the visitor's and the window of this layer."""
        config, words, n = self._config, (tokens, tokens), len(tokens)
        pad = np.array([token == PAD for token in tokens], dtype=bool)
        names: tuple[str, ...] = tuple(config.mask)
        settings = {name: masks.settings_of(config, name, words) for name in names}
        formulas = [mask_of(config, name).formula for name in names]  # type: ignore[arg-type]  # as above
        may = masks.allowed(names, n, pad, settings)
        if self._window is not None:
            i, j = np.indices((n, n))
            may, formulas = may & (i - j <= self._window), [*formulas, rf"i - j \le {self._window}"]
        return self._steps.record("allowed", may, formula=r"\;\text{and}\;".join(formulas))

    def _matrix(self, name: str, symbol: str, X: Array, formula: str) -> Array:
        W, b = self._parameter(f"w_{symbol}"), self._parameter(f"b_{symbol}")
        assert W is not None  # noqa: S101  # every family has it
        Y = product(X, W)
        return self._steps.record(name, Y if b is None else Y + b, formula=formula if b is None else None)

    def _feed_forward(self, Y: Array, is_normed: bool) -> Array:
        record, kind = self._steps.record, self._shape.feed_forward
        x = "Y"
        if is_normed:
            x = "X" if self._shape.parallel else "Y"
            Y, x = self._normed("ff_normed", Y, "2", rf"\hat {x}", x), rf"\hat {x}"
        W, b = self._parameter("w_1"), self._parameter("b_1")
        assert W is not None  # noqa: S101  # every family has it
        activated = f"f({x} W_1{'' if b is None else ' + b_1'})"
        F = ACTIVATIONS[kind](product(Y, W) if b is None else product(Y, W) + b)
        if kind in GATED:
            F_1 = record("ff_gate", F, formula=f"F_1 = {activated}")
            F = record("ff_hidden", F_1 * self._matrix("ff_up", "3", Y, f"F_3 = {x} W_3"), formula=r"F = F_1 \odot F_3")
        else:
            F = record("ff_hidden", F, formula=f"F = {activated}")
        return self._matrix("ff_output", "2", F, "G = F W_2")


def normed(X: Array, shape: Shape, gain: Array | None, added: Array | None = None) -> Array:
    """Return the rows of X with mean square 1, and for layer norm mean 0; times the gain, plus what is added."""
    X = X - X.mean(axis=-1, keepdims=True) if shape.norm == "layer" else X
    X = X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + shape.eps)
    X = X if gain is None else X * gain
    return X if added is None else X + added


def rotated(Y: Array, frequencies: Array) -> Array:
    """Return the first columns turned in pairs (i, i + half of them) by an angle a position; the others stay.

    Source: Su et al. 2021, arXiv:2104.09864, in the layout of Llama's files; a part of a head: Black et al. 2022,
    arXiv:2204.06745, section 2.1.
    """
    n = len(frequencies)
    angle = np.arange(Y.shape[-2])[:, None] * frequencies
    cos, sin, Z = np.cos(angle), np.sin(angle), Y.copy()
    left, right = Y[..., :n], Y[..., n : 2 * n]
    Z[..., :n] = left * cos - right * sin
    Z[..., n : 2 * n] = right * cos + left * sin
    return Z


def embedded(
    around: Steps, shape: Shape, tables: Mapping[str, Array], parameters: ModelParameters, ids: Sequence[int]
) -> Array:
    """Return the input of the first layer: a vector for each token, with what the model adds before the first norm."""
    E = np.asarray(tables["tokens"][list(ids)], dtype=float) * shape.embedding_factor
    parts = ["E"]
    U = around.record("token_embeddings", E)
    if "positions" in tables:
        first = shape.first_position
        P = around.record("positions", np.asarray(tables["positions"][first : first + len(ids)], dtype=float))
        U, parts = U + P, [*parts, "P"]
    if "types" in tables:
        T = np.repeat(np.asarray(tables["types"][:1], dtype=float), len(ids), axis=0)
        U, parts = U + around.record("token_types", T), [*parts, "T"]
    total = " + ".join(parts)
    if "g_e" in parameters:
        U = around.record("embedded_sum", U, formula=f"U = {total}")
        gain, added = (around.record(name, parameters[name]) for name in ("g_e", "c_e"))
        X = around.record("embedded", normed(U, shape, gain, added), formula=r"X = \mathrm{LN}(U) \odot g_E + c_E")
    else:
        X = around.record("embedded", U, formula=f"X = {total}")
    return around.record("embedded_kv", X, formula="X' = X")
