"""The parts of a script that are one layer, from what it reads to what it hands on."""

from __future__ import annotations

import numpy as np

from attnviz.codegen.forbidden import is_zero_of_nothing
from attnviz.codegen.words import NUMPY
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of, score_of
from attnviz.engine.rows.line_row import Written
from attnviz.engine.tables.blocks import FEED_FORWARDS, NORMS
from attnviz.engine.tables.positions import POSITIONS
from attnviz.exports.script import inputs, rows
from attnviz.exports.script import typed as script_typed
from attnviz.exports.script.lines import Lines
from attnviz.exports.script.parameters import ParameterWriter
from attnviz.formula import names
from attnviz.formula.graph import Formula


class LayerScript:
    """A writer of one layer, or of the loop over all of them, into `lines`."""

    words = NUMPY

    def __init__(self, lines: Lines, trace: Trace) -> None:
        self.lines, self.trace, self.config = lines, trace, trace.config
        self.fill = ParameterWriter(lines, trace.config)
        self.x = "X"
        self.has_empty = False
        group = trace.config.group_size
        self.K, self.V = ("K_h", "V_h") if group > 1 else ("K", "V")

    def write(self, *, last: bool) -> str:
        """Write every part; return the variable that holds the result. `last` says that no layer follows."""
        lines = self.lines
        if self._norm_stands("before"):
            self.x = lines.step("normed", self._normed("X"))
            lines.end("normed")
        self._projections()
        self._queries_keys_values()
        inputs.mask_and_bias(lines, self.trace, changed=True)
        self._weights(self._masked(self._scores()))
        self._heads()
        Y = self._output()
        self.module()
        result = self._feed_forward(self._around("added", "X", Y))
        if not last:
            lines.write(f"X = {result}  # what the next layer reads")
            lines.end("hand_on")
        return result

    def _projections(self) -> None:
        self.fill.query_and_key()
        self.fill.value()
        self.lines.end("projections")

    def _queries_keys_values(self) -> None:
        lines, kv = self.lines, self.x_kv()
        self._projected("queries", f"{self.x} @ W_Q", "b_Q", self.fill.d_q)
        self._projected("keys", f"{kv} @ W_K", "b_K", self.fill.d_k)
        lines.step("values", f"{kv} @ W_V" + (" + b_V[:, None, :]" if self.config.projection_bias else ""))
        group = self.config.group_size
        for name, sharing in (("K", self._reads_keys()), ("V", self.repeats_values())):
            if group > 1 and sharing:
                repeated = f"{self.words.repeat}({name}, {group}, {self.words.axis}=0)"
                lines.write(f"{name}_h = {repeated}  # head h uses key/value head h // {group}")
        lines.end("queries")

    def _reads_keys(self) -> bool:
        """Return whether a line reads the keys: the score, or a normaliser that asks how large scores can be."""
        written = normaliser_of(self.config).written
        return score_of(self.config).looks_at_keys or (written is not None and written.asks_size)

    def x_kv(self) -> str:
        """Return the name of the rows that keys and values are made of."""
        return "X_kv" if self.config.is_cross_attention else self.x

    def _projected(self, name: str, code: str, bias: str, widths: str) -> None:
        """Write queries or keys, rotated where RoPE is on; heads of different width are rotated by their own."""
        code += f" + {bias}[:, None, :]" if self.config.projection_bias else ""
        if POSITIONS[self.config.position].rotate is None:
            self.lines.step(name, code)
            return
        variable = self.lines.step(f"projected_{name}", code)
        transposed = (
            f"stacked([rope({variable}[h, :, :d]) for h, d in enumerate({widths})])" if widths else f"rope({variable})"
        )
        self.lines.step(name, transposed)

    def _scores(self) -> str:
        """Write S, scaled and capped where they are; gives the variable that holds what came out."""
        lines, config = self.lines, self.config
        self.fill.of_score()
        row = score_of(config)
        formula, widths = row.definition, self.fill.d_q if row.typed else ""  # the others see no padding
        has = {name for name in formula.parameters if lines.has(names.STEPS[name])}
        code = script_typed.score(self.trace, formula, self.K, has, widths, self.words)
        lines.write(*code.before)
        variable = lines.step("scores", code.code)
        scale = self._scale()
        if scale:
            lines.write(f"scale = {scale}")
        if scale or lines.edited("scaled"):
            variable = lines.step("scaled", f"scale * {variable}" if scale else variable, same=not scale)
        if config.softcap:
            variable = lines.step("capped", f"softcap * {self.words.np}.tanh({variable} / softcap)")
        elif lines.edited("capped"):
            variable = lines.step("capped", variable, same=True)
        lines.end("scores")
        return variable

    def _scale(self) -> str:
        """Return the factor on the scores, as code; nothing where it is 1."""
        if self.config.scale is not None:
            return "" if self.config.scale == 1.0 else repr(self.config.scale)
        if not score_of(self.config).is_over_root:
            return ""
        widths = self.fill.d_q
        return (
            f"{self.words.array}([1 / math.sqrt(d) for d in {widths}])[:, None, None]"
            if widths
            else "1 / math.sqrt(d_k)"
        )

    def _masked(self, variable: str) -> str:
        """Return the scores with the bias, and minus infinity where it is forbidden."""
        lines, trace = self.lines, self.trace
        masked, biased = inputs.needs_mask(trace), inputs.needs_bias(trace)
        code, np = f"{variable} + B" if biased else variable, self.words.np
        if masked or biased or lines.edited("masked"):
            code = f"{np}.where(M, {code}, -{np}.inf)" if masked else code
            variable = lines.step("masked", code, same=not (masked or biased))
        lines.end("biased" if not masked else "masked_biased" if biased else "masked")
        return variable

    def _weights(self, x: str) -> None:
        """Write A, along the keys or the wrong way; a row with nothing allowed gets zeros."""
        lines, words, config = self.lines, self.words, self.config
        axis = -1 if config.normalise_over == "keys" else -2
        its = normaliser_of(config)
        typed = None if its.written else its.line_formula
        shares = typed is None or not is_zero_of_nothing(typed)
        self.has_empty = shares and any(np.isneginf(S).all(axis=axis).any() for S in lines.arrays("masked"))
        if self.has_empty:
            whole = f"{words.np}.isneginf({x}).all({words.along_axis(axis)})"
            lines.write(f"nothing = {whole}  # a row with nothing allowed ...")
            lines.write(f"S_open = {words.np}.where(nothing, 0.0, {x})")
            x = "S_open"
        code = self._written(its.written, x, axis) if its.written else self._normalised(its.line_formula, x, axis)
        code = f"{words.np}.where(nothing, 0.0, {code})" if self.has_empty else code
        code = f"{words.np}.where(M, {code}, 0.0)" if self.leaks("weights") else code
        lines.write(*(["# ... has weights that are all zeros, not 0 / 0"] if self.has_empty else []))
        lines.step("weights", code)
        lines.end("weights")

    def _normalised(self, formula: Formula, x: str, axis: int) -> str:
        """Write the lines before A, and return what A is."""
        forbids = any(np.isneginf(S).any() for S in self.lines.arrays("masked"))
        code = script_typed.weights(self.trace, formula, x, over_keys=axis == -1, forbids=forbids, words=self.words)
        self.lines.write(*code.before)
        return code.code

    def _written(self, row: Written, x: str, axis: int) -> str:
        """Write the lines before A of a row that no line says, and return what A is."""
        words = self.words
        transposed = row.turn and axis == -2
        terms = words.terms | {"over": words.along_axis(axis), "size": self._size_of_terms()}
        terms["x"] = words.transposed.format(x) if transposed else x
        self.lines.write(*(line.format(**terms) for line in row.before))
        code = row.weights.format(**terms)
        return words.transposed.format(code) if transposed else code

    def _size_of_terms(self) -> str:
        """Write the code for the size of the numbers whose sums are the scores of a head."""
        words = self.words
        squares = [f"({X}**2).sum({words.axis}=(1, 2), {words.keep}=True)" for X in ("Q", self.K)]
        size = f"{words.np}.sqrt({squares[0]} * {squares[1]})"
        return f"abs(scale) * {size}" if self._scale() else size

    def leaks(self, name: str) -> bool:
        """Return whether a number that is none, or infinite, has to be kept from where it is forbidden."""
        return inputs.needs_mask(self.trace) and not all(np.isfinite(X).all() for X in self.lines.arrays(name))

    def _heads(self) -> None:
        lines, fill = self.lines, self.fill
        lines.step("heads", self.mixed())
        lines.end("heads")
        if fill.ragged_v:
            heads = f"[Z[h, :, :d] for h, d in enumerate({fill.d_z})]"
        else:
            heads = "[*Z]"
        code = f"{self.words.join}({heads}, {self.words.axis}=1)"
        lines.step("concat", code)
        lines.end("concat")

    def repeats_values(self) -> bool:
        """Return whether heads that share values need them once each."""
        return True

    def mixed(self) -> str:
        """Return the lines before Z, and what Z is."""
        if not self.leaks("values"):
            return f"A @ {self.V}"
        self.lines.write("# A forbidden value takes no part: 0 times infinity would be no number.")
        shares = f"A[:, :, :, None] * {self.V}[:, None, :, :]"
        return f"{self.words.np}.where(M[:, :, None], {shares}, 0.0).sum({self.words.axis}=2)"

    def module(self) -> None:
        """Write the same once more, where a library has a module for it."""

    def _output(self) -> str:
        if not self.config.has_output_projection():
            if not self.lines.edited("output"):
                return "C"
            variable = self.lines.step("output", "C", same=True)
        else:
            self.fill.output()
            variable = self.lines.step("output", "C @ W_O" + (" + b_O" if self.config.projection_bias else ""))
        self.lines.end("output")
        return variable

    def _around(self, name: str, before: str, after: str) -> str:
        """Return the residual connection and the norm after it, where they are on."""
        if self.config.residual:
            after = self.lines.step(name, f"{before} + {after}")
        if self._norm_stands("after"):
            after = self.lines.step(f"{name}_normed", self._normed(after))
        self.lines.end({"added": "after_attention", "ff_added": "after_feed_forward"}[name])
        return after

    def _norm_stands(self, applied: str) -> bool:
        return NORMS[self.config.norm].applied == applied

    def _normed(self, x: str) -> str:
        return self.words.terms[rows.NORMS[self.config.norm]].format(x)

    def _read_by(self, number: str, read: str, width: str) -> str:
        """Write W_1 or W_3 with its bias, filled, and what it makes of what the block reads."""
        self.fill.matrix(f"w_{number}", width, "d_ff")
        self.fill.vector(f"b_{number}", "d_ff", width)
        return f"{read} @ W_{number}" + (f" + b_{number}" if self.config.projection_bias else "")

    def _feed_forward(self, Y: str) -> str:
        lines, config, fill = self.lines, self.config, self.fill
        if config.feed_forward == "none":
            return Y
        read = lines.step("ff_normed", self._normed(Y)) if self._norm_stands("before") else Y
        width = "d_model" if config.has_output_projection() else "C.shape[1]"
        activated = self.words.terms[rows.FEED_FORWARDS[config.feed_forward]].format(self._read_by("1", read, width))
        if FEED_FORWARDS[config.feed_forward].gated:
            gate = lines.step("ff_gate", activated)
            activated = f"{gate} * {lines.step('ff_up', self._read_by('3', read, width))}"
        lines.step("ff_hidden", activated)
        fill.matrix("w_2", "d_ff", width)
        fill.vector("b_2", width, "d_ff")
        G = lines.step("ff_output", "F @ W_2" + (" + b_2" if config.projection_bias else ""))
        lines.end("feed_forward")
        return self._around("ff_added", Y, G)
