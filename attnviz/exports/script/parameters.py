"""The lines of a script that fill the matrices and biases of a layer, as the engine's `Parameters` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attnviz.codegen.words import Words
from attnviz.engine.learning import film, learnable
from attnviz.engine.plan.operations import OWN_NAMES
from attnviz.engine.plan.tracing import Plan
from attnviz.engine.plan.values import Value
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.records.typed_rows import score_of
from attnviz.engine.run import run
from attnviz.engine.tables.head_patterns import PATTERNS
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.exports.script import rows as templates
from attnviz.exports.script.lines import Lines, in_base64, vector
from attnviz.exports.script.rows import VARIABLES
from attnviz.formula.graph import HIDDEN

MADE = {"w_q": "W_Q_made", "w_k": "W_K_made", "w_v": "W_V_made"}
"""The variables of the matrices that may be solved for the sentence."""


class ParameterWriter:
    """A writer of the parameters of one setting into `lines`, those of the layer that they belong to."""

    def __init__(self, lines: Lines, config: Config, plan: Plan) -> None:
        self._lines, self._config, self._words = lines, config, lines.words
        self._matrix = templates.INITIALISERS[config.initialiser]
        self._start = templates.STARTS[config.initialiser]
        self._is_solved = INITIALISERS[config.initialiser].solved
        shared = config.group_size > 1
        self._ragged_k, self.ragged_v = len(set(config.key_widths())) > 1, len(set(config.value_widths())) > 1
        self._query_width = "d_q" if self._ragged_k and shared else "d_k"
        self.d_z = "d_z" if self.ragged_v and shared else "d_v"
        self._n_kv = "n_kv_heads" if shared else "n_heads"
        self.d_q = self._query_width if self._ragged_k else ""
        self.d_k = "d_k" if self._ragged_k else ""
        self._sizes = {
            **{name: name for name in ("d_v", "d_a", "d_ff")},
            **dict.fromkeys(HIDDEN, "d_a"),
            "model": "d_model",
            "d_k": self._query_width,
            "key": "len(tokens_kv)" if config.is_cross_attention else "len(tokens)",
            "joined": f"sum({self.d_z})" if self.ragged_v else "n_heads * d_v",
            "out": "d_model" if plan.has.output else "C.shape[1]",
        }

    def weight(self, value: Value) -> str:
        """Write the line of a matrix or a bias of the plan, and what was changed in it; gives its variable."""
        name, axes = value.name, value.axes
        if value.args:  # one for each group of heads, the same as that of the queries
            group = self._config.group_size
            first = f"[::{group}]" if group > 1 else ""
            return self._lines.step(name, f"{VARIABLES[value.args[0].name]}{first}", same=True)
        if name in OWN_NAMES:
            return self._lines.step(name, self._of_score(value))
        if axes[0] in ("head", "kv_head"):
            return self._of_heads(value)
        if name == "w_o":
            return self._lines.step(name, self._output())
        sizes = tuple(self._sizes[axis] for axis in axes)
        if len(axes) == 2:
            return self._lines.step(name, self._filled(name, self._matrix, sizes))
        d_in = self._sizes[value.read[0].axes[-1]]
        if name == "b_o":  # each head's rows of W_O are drawn by themselves
            d_in = f"{self.d_z}[0]" if self.ragged_v else "d_v"
        return self._lines.step(name, self._filled(name, self._start, sizes, d_in))

    def _of_heads(self, value: Value) -> str:
        """Write a matrix or a bias of each head.

        Tied, what makes queries is drawn once for the heads of a group; matrices that were solved are repeated already.
        """
        name, config, lines = value.name, self._config, self._lines
        is_bias, of_queries = len(value.axes) == 2, value.axes[0] == "head"
        widths = "d_v" if value.axes[-1] == "d_v" else self._query_width if of_queries and not config.tied else "d_k"
        count = "n_heads" if of_queries and not config.tied else self._n_kv
        if self._is_solved and name in ("w_q", "w_k"):
            at = f"[{lines.layer_index()}]" if config.n_layers > 1 else ""
            return lines.step(name, f"{MADE[name]}{at}", same=True)
        if is_bias:
            all_zero = "zeros" in self._start and self._is_ragged(widths)
            sizes = (f"max({widths})",) if all_zero else (widths,)
            code = self._each(name, self._start, count, widths, sizes, "d_model")
        else:
            code = self._each(name, self._matrix, count, widths, ("d_model", widths))
        if of_queries and config.tied and config.group_size > 1:
            shared = f"{name[0] if is_bias else 'W'}_shared"
            lines.write(f"{shared} = {code}  # one for each key/value head")
            code = f"{self._words.repeat}({shared}, {config.group_size}, {self._words.axis}=0)"
        return lines.step(name, code, then=self._solved_values() if name == "w_v" else None)

    def _each(
        self, name: str, template: str, count: str, widths: str, sizes: Sequence[str], d_in: str = "", stack: str = ""
    ) -> str:
        """Return the code of an array for each head: all at once where heads are of one width, else one by one."""
        numpy, has_width = self._words.np, widths in sizes
        if self._is_ragged(widths) and (has_width or (d_in == widths and "{d_in}" in template)):
            own = tuple("d" if size == widths else size for size in sizes)
            code = self._filled(name, template, own, "d" if d_in == widths else d_in, at=True)
            which = f"h, d in enumerate({widths})" if "{at}" in template else f"d in {widths}"
            return f"{stack or ('stacked' if has_width else f'{numpy}.stack')}([{code} for {which}])"
        code = self._filled(name, template, (count, *sizes), d_in)
        return f"{numpy}.stack([{code}] * {count})" if "{rows}" in template else code

    def _is_ragged(self, widths: str) -> bool:
        return self.ragged_v if widths in ("d_v", "d_z") else self._ragged_k

    def _filled(self, name: str, template: str, shape: tuple[str, ...], d_in: str = "", *, at: bool = False) -> str:
        """Return an array of this shape as the template has it; `at` if it is that of one head."""
        return template.format(
            address=self._lines.address(name),
            shape=_shape(*shape),
            column=_shape(*shape, "1"),
            at=", at=(h,)" if at else "",
            rows=shape[-2:][0],
            columns=shape[-1],
            d_in=d_in,
            np=self._words.np,
        )

    def _output(self) -> str:
        """Return W_O, head by head where the initialiser draws it so."""
        joined, out = self._sizes["joined"], self._sizes["out"]
        if not INITIALISERS[self._config.initialiser].by_head:
            return self._filled("w_o", self._matrix, (joined, out))
        code = self._each("w_o", self._matrix, "n_heads", self.d_z, (self.d_z, out), stack=self._words.join)
        return code if self.ragged_v else f"{code}.reshape({joined}, {out})"

    def _of_score(self, value: Value) -> str:
        """Return one of the score function's own parameters, one of each for every head."""
        row, own = score_of(self._config), OWN_NAMES[value.name]
        axes = row.parameters.get(own, ())  # of a bias they are numbers
        sizes = [self._sizes[{"d_q": "d_k"}.get(axis, axis)] for axis in axes]
        if not sizes:
            return f"{self._words.np}.ones((n_heads, 1))"
        vector, is_bias = templates.VECTORS[self._config.initialiser], own in row.biases
        template = self._start if is_bias else vector if len(sizes) == 1 else self._matrix
        widths = self._query_width
        return self._each(value.name, template, "n_heads", widths, sizes, widths if is_bias else "")

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
    before = run(replace(config, edits=())) if trace.edits else trace
    names = ("w_q",) if config.tied else ("w_q", "w_k")
    for name in (*names, *(("w_v",) if _relay_heads(config) else ())):
        shape = before.layers[0][name].shape
        several = config.n_layers > 1
        lines.write(f"{MADE[name]} = {lines.words.np}.zeros({(config.n_layers, *shape) if several else shape})")
        for layer, steps in enumerate(before.layers if name != "w_v" else before.layers[:1]):
            at = f"{layer}, " if several else ""
            for h in range(shape[0]) if name != "w_v" else _relay_heads(config):
                lines.write(*_columns(MADE[name], at, steps[name], h, lines.words))
    lines.end("made")


def write_learned(lines: Lines, trace: Trace) -> None:
    """Write the parameters that were learned, in base64: as decimal numbers they would be twice as long."""
    config = trace.config
    if not learnable.learns(config):
        return
    layers = film.learned(config, run, len(trace.key_tokens))
    for name in layers[0]:
        array = np.stack([layer[name] for layer in layers]) if len(layers) > 1 else layers[0][name]
        lines.write(f"{VARIABLES[name]}_learned = learned({array.shape},", *in_base64(array.astype("<f8")), ")")
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
