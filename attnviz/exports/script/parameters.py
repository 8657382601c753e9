"""The lines of a script that fill the matrices and biases of a layer, as the engine's `Parameters` does."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace

import numpy as np

from attnviz.codegen.words import Words
from attnviz.engine.learning import film, learnable
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.records.typed_rows import score_of
from attnviz.engine.run import run
from attnviz.engine.tables.head_patterns import PATTERNS
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.exports.script import rows as templates
from attnviz.exports.script.lines import Lines, vector
from attnviz.exports.script.rows import VARIABLES
from attnviz.formula import names
from attnviz.formula.graph import HIDDEN

MATRICES = {"w_q": "W_Q", "w_k": "W_K", "w_v": "W_V"}


class ParameterWriter:
    """A writer of the parameters of one setting into `lines`, those of the layer that they belong to."""

    def __init__(self, lines: Lines, config: Config) -> None:
        self._lines, self._config, self._words = lines, config, lines.words
        self._matrix = templates.INITIALISERS[config.initialiser]
        self._start = templates.STARTS[config.initialiser]
        shared = config.group_size > 1
        self._ragged_k, self._ragged_v = len(set(config.key_widths())) > 1, len(set(config.value_widths())) > 1
        self._query_width = "d_q" if self._ragged_k and shared else "d_k"
        self.d_z = "d_z" if self._ragged_v and shared else "d_v"
        self._n_kv = "n_kv_heads" if shared else "n_heads"
        self.ragged_v = self._ragged_v
        self.d_q = self._query_width if self._ragged_k else ""
        self.d_k = "d_k" if self._ragged_k else ""

    def query_and_key(self) -> None:
        """Write W_Q, W_K and their biases; where they are tied, W_K is taken from W_Q."""
        config, lines, group = self._config, self._lines, self._config.group_size
        first = f"[::{group}]" if group > 1 else ""
        if config.tied:
            lines.step(
                "w_q",
                self._repeated(
                    "W", self._solved("w_q") or self._heads("w_q", self._n_kv, "d_k"), is_solved=self._is_solved
                ),
                same=self._is_solved,
            )
            after = [("w_k", f"W_Q{first}")]
        else:
            lines.step(
                "w_q", self._solved("w_q") or self._heads("w_q", "n_heads", self._query_width), same=self._is_solved
            )
            after = [("w_k", self._solved("w_k") or self._heads("w_k", self._n_kv, "d_k"))]
        if config.projection_bias:
            b_q = (
                self._biases("b_q", self._n_kv, "d_k")
                if config.tied
                else self._biases("b_q", "n_heads", self._query_width)
            )
            lines.step("b_q", self._repeated("b", b_q) if config.tied else b_q)
            after.append(("b_k", f"b_Q{first}" if config.tied else self._biases("b_k", self._n_kv, "d_k")))
        for name, code in after:
            lines.step(name, code, same=config.tied or self._is_solved)

    @property
    def _is_solved(self) -> bool:
        return INITIALISERS[self._config.initialiser].solved

    def _solved(self, name: str) -> str:
        """Return the variable of the matrix that was solved beforehand, or "" where none was."""
        at = f"[{self._lines.layer_index()}]" if self._config.n_layers > 1 else ""
        return f"{MATRICES[name]}_made{at}" if self._is_solved else ""

    def _repeated(self, letter: str, code: str, *, is_solved: bool = False) -> str:
        """Repeat each key/value head for the query heads that share it.

        Matrices that were solved beforehand are repeated already.
        """
        group = self._config.group_size
        if group == 1 or is_solved:
            return code
        self._lines.write(f"{letter}_shared = {code}  # one for each key/value head")
        return f"{self._words.repeat}({letter}_shared, {group}, {self._words.axis}=0)"

    def value(self) -> None:
        """Write W_V and its bias."""
        self._lines.step("w_v", self._heads("w_v", self._n_kv, "d_v"), then=self._solved_values())
        if self._config.projection_bias:
            self._lines.step("b_v", self._biases("b_v", self._n_kv, "d_v"))

    def _heads(self, name: str, count: str, widths: str) -> str:
        """Return a matrix (d_model, width) for each head."""
        return self._stack(name, count, widths, "d_model", widths, widths)

    def _stack(self, name: str, count: str, widths: str, rows: str, columns: str, ragged_along: str) -> str:
        """Return the code of a matrix for each head: all at once where heads are of one width, else one by one."""
        if self._is_ragged(ragged_along):
            rows, columns = (("d" if size == widths else size) for size in (rows, columns))
            return self._stacked_by_width(
                self._filled(name, (rows, columns), at=True), widths, is_numbered="{at}" in self._matrix
            )
        if self._config.initialiser == "identity":
            numpy = self._words.np
            return f"{numpy}.stack([{self._matrix.format(rows=rows, columns=columns, np=numpy)}] * {count})"
        return self._filled(name, (count, rows, columns))

    def _is_ragged(self, widths: str) -> bool:
        return self._ragged_v if widths in ("d_v", "d_z") else self._ragged_k

    def _stacked_by_width(self, code: str, widths: str, stack: str = "stacked", *, is_numbered: bool) -> str:
        """Return the code that stacks an array for each width d; `is_numbered` if it uses the number h of the head."""
        which = f"h, d in enumerate({widths})" if is_numbered else f"d in {widths}"
        return f"{stack}([{code} for {which}])"

    def _filled(self, name: str, shape: tuple[str, ...], *, at: bool = False) -> str:
        """Return a matrix, or a stack of them, of this shape."""
        rows, columns = shape[-2:]
        return self._matrix.format(
            address=self._lines.address(name),
            shape=_shape(*shape),
            at=", at=(h,)" if at else "",
            rows=rows,
            columns=columns,
            np=self._words.np,
        )

    def _biases(self, name: str, count: str, widths: str) -> str:
        """Return a bias for each head."""
        if not self._is_ragged(widths):
            return self._started(name, (count, widths), "d_model")
        if "zeros" in self._start:
            return self._started(name, (count, f"max({widths})"), "d_model")
        return self._stacked_by_width(
            self._started(name, ("d",), "d_model", at=True), widths, is_numbered="{at}" in self._start
        )

    def _started(self, name: str, shape: tuple[str, ...], d_in: str, *, at: bool = False) -> str:
        counter = ", at=(h,)" if at else ""
        address, numpy = self._lines.address(name), self._words.np
        return self._start.format(address=address, shape=_shape(*shape), d_in=d_in, at=counter, np=numpy)

    def vector(self, name: str, width: str, d_in: str) -> None:
        """Write one bias for all heads, where biases are on."""
        if self._config.projection_bias:
            self._lines.step(name, self._started(name, (width,), d_in))

    def matrix(self, name: str, rows: str, columns: str) -> None:
        """Write one matrix for all heads."""
        self._lines.step(name, self._filled(name, (rows, columns)))

    def output(self) -> None:
        """Write W_O, head by head where the initialiser draws it so, and its bias."""
        if not INITIALISERS[self._config.initialiser].by_head:
            self.matrix("w_o", f"sum({self.d_z})" if self._ragged_v else "n_heads * d_v", "d_model")
        elif self._ragged_v:
            self._lines.step(
                "w_o",
                self._stacked_by_width(
                    self._filled("w_o", ("d", "d_model"), at=True),
                    self.d_z,
                    self._words.join,
                    is_numbered="{at}" in self._matrix,
                ),
            )
        else:
            code = self._filled("w_o", ("n_heads", "d_v", "d_model"))
            self._lines.step("w_o", f"{code}.reshape(n_heads * d_v, d_model)")
        self.vector("b_o", "d_model", f"{self.d_z}[0]" if self._ragged_v else "d_v")

    def of_score(self) -> None:
        """Write the score function's own matrices, one of each for every head."""
        kv = "_kv" if self._config.is_cross_attention else ""
        sizes = {"d_q": self._query_width, "d_k": self._query_width, "key": f"len(tokens{kv})"} | dict.fromkeys(
            HIDDEN, "d_a"
        )
        score = score_of(self._config)
        for own_name, axes in score.parameters.items():
            name = names.STEPS[own_name]
            if not self._lines.has(name):
                continue
            if own_name in score.biases:
                self._lines.step(name, self._score_bias(name, sizes[axes[0]]))
            elif not axes:
                self._lines.step(name, f"{self._words.np}.ones((n_heads, 1))")
            elif len(axes) == 1:
                self._lines.step(name, self._score_vector(name, sizes[axes[0]]))
            else:
                rows, columns = (sizes[axis] for axis in axes)
                self._lines.step(
                    name, self._stack(name, "n_heads", self._query_width, rows, columns, self._query_width)
                )

    def _score_bias(self, name: str, width: str) -> str:
        if self._ragged_k and width == self._query_width:
            return self._stacked_by_width(
                self._started(name, ("d",), "d", at=True), self._query_width, is_numbered="{at}" in self._start
            )
        if self._ragged_k and "{d_in}" in self._start:
            code, stack = self._started(name, (width,), "d", at=True), f"{self._words.np}.stack"
            return self._stacked_by_width(code, self._query_width, stack, is_numbered="{at}" in self._start)
        return self._started(name, ("n_heads", width), self._query_width)

    def _score_vector(self, name: str, width: str) -> str:
        template = templates.VECTORS[self._config.initialiser]
        address, numpy = self._lines.address(name), self._words.np
        if not (self._ragged_k and width == self._query_width):
            shape, column = f"(n_heads, {width})", f"(n_heads, {width}, 1)"
            return template.format(address=address, shape=shape, column=column, width=width, np=numpy)
        at = ", at=(h,)" if "{address}" in template else ""
        code = template.format(address=address, shape=f"(d,){at}", column=f"(d, 1){at}", width="d", np=numpy)
        return self._stacked_by_width(code, width, is_numbered=bool(at))

    def _solved_values(self) -> dict[int, list[str]]:
        """Return the lines that give the first of two layers the values that were solved for it."""
        at = "[0]" if self._config.n_layers > 1 else ""
        heads = _relay_heads(self._config) if self._is_solved else []
        return {0: [f"W_V[{g}] = W_V_made{at}[{g}]  # made by hand, too" for g in heads]}


def _shape(*sizes: str) -> str:
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def _relay_heads(config: Config) -> list[int]:
    """Return the key/value heads of the first layer that a pattern of the second builds on: their values are solved."""
    return [g for g, name in enumerate(config.head_patterns()) if PATTERNS[name].before]


def write_solved(lines: Lines, trace: Trace) -> None:
    """Write the matrices that were solved from the input of each layer, number by number, without columns of zeros."""
    config = trace.config
    if not INITIALISERS[config.initialiser].solved:
        return
    before = run(replace(config, edits=())) if config.edits else trace
    names = ("w_q",) if config.tied else ("w_q", "w_k")
    for name in (*names, *(("w_v",) if _relay_heads(config) else ())):
        shape = before.layers[0][name].shape
        several = config.n_layers > 1
        lines.write(
            f"{MATRICES[name]}_made = {lines.words.np}.zeros({(config.n_layers, *shape) if several else shape})"
        )
        for layer, steps in enumerate(before.layers if name != "w_v" else before.layers[:1]):
            at = f"{layer}, " if several else ""
            for h in range(shape[0]) if name != "w_v" else _relay_heads(config):
                lines.write(*_columns(f"{MATRICES[name]}_made", at, steps[name], h, lines.words))
    lines.end("made")


BYTES_PER_LINE = 81
"""Bytes of an array in one line of a script: 108 characters of base64."""


def write_learned(lines: Lines, trace: Trace) -> None:
    """Write the parameters that were learned, in base64: as decimal numbers they would be twice as long."""
    config = trace.config
    if not learnable.learns(config):
        return
    layers = film.learned(config, run, len(trace.key_tokens))
    for name in layers[0]:
        array = np.stack([layer[name] for layer in layers]) if len(layers) > 1 else layers[0][name]
        data = array.astype("<f8").tobytes()
        pieces = (data[at : at + BYTES_PER_LINE] for at in range(0, len(data), BYTES_PER_LINE))
        lines.write(
            f"{VARIABLES[name]}_learned = learned({array.shape},",
            *(f'    "{b64encode(piece).decode()}"' for piece in pieces),
            ")",
        )
    lines.end("learned")


def _columns(variable: str, at: str, step: Step, h: int, words: Words) -> list[str]:
    """Return the lines that fill one head's matrix, or copy it from an earlier head that has the same."""
    W = step.array[h]
    if not W.any():
        return []
    for former in range(h):
        if (step.array[former] == W).all():
            return [f"{variable}[{at}{h}] = {variable}[{at}{former}]"]
    columns = {c: f"{words.array}({vector(W[:, c], words)})" for c in range(W.shape[1]) if W[:, c].any()}
    return [f"{variable}[{at}{h}, :, {c}] = {code}" for c, code in columns.items()]
