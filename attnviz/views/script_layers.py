"""The parts of a script that are one layer, from what it reads to what it hands on."""

from __future__ import annotations

import numpy as np

from attnviz.core.positions import POSITIONS
from attnviz.core.trace import Trace
from attnviz.views import script_inputs, script_rows
from attnviz.views.script_lines import Lines
from attnviz.views.script_parameters import Filling
from attnviz.views.script_rows import Normalise


class Layer:
    """Writes one layer, or the loop over all of them, into `lines`."""

    def __init__(self, lines: Lines, trace: Trace) -> None:
        self.lines, self.trace, self.config = lines, trace, trace.config
        self.fill = Filling(lines, trace.config)
        self.x = "X"
        self.has_empty = False
        group = trace.config.group_size
        self.K, self.V = ("K_h", "V_h") if group > 1 else ("K", "V")

    def write(self, *, last: bool) -> str:
        """Every part; gives the variable that holds the result. `last` says that no layer follows."""
        lines = self.lines
        if self.config.norm == "pre":
            self.x = lines.step("normed", "layer_norm(X)")
            lines.end("normed")
        self._projections()
        self._queries_keys_values()
        script_inputs.mask_and_bias(lines, self.trace, changed=True)
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
        for name, sharing in (("K", self.config.score != "location"), ("V", self.repeats_values())):
            if group > 1 and sharing:
                lines.write(f"{name}_h = np.repeat({name}, {group}, axis=0)  # head h uses key/value head h // {group}")
        lines.end("queries")

    def x_kv(self) -> str:
        """What keys and values are made of."""
        return "X_kv" if self.config.is_cross_attention else self.x

    def _projected(self, name: str, code: str, bias: str, widths: str) -> None:
        """Queries or keys, turned where RoPE is on; heads of different width are turned by their own."""
        code += f" + {bias}[:, None, :]" if self.config.projection_bias else ""
        if POSITIONS[self.config.position].turn is None:
            self.lines.step(name, code)
            return
        variable = self.lines.step(f"projected_{name}", code)
        turned = (
            f"stacked([rope({variable}[h, :, :d]) for h, d in enumerate({widths})])" if widths else f"rope({variable})"
        )
        self.lines.step(name, turned)

    def _scores(self) -> str:
        """S, scaled and capped where they are; gives the variable that holds what came out."""
        lines, config = self.lines, self.config
        self.fill.of_score()
        if config.score == "additive":
            left = "(Q @ W_q + b[:, None, :])" if config.projection_bias else "(Q @ W_q)"
            lines.write(script_rows.HIDDEN.format(left=left, K=self.K))
        variable = lines.step("scores", script_rows.SCORES[config.score].format(K=self.K))
        scale = self._scale()
        if scale:
            lines.write(f"scale = {scale}")
        if scale or lines.edited("scaled"):
            variable = lines.step("scaled", f"scale * {variable}" if scale else variable, same=not scale)
        if config.softcap:
            variable = lines.step("capped", f"softcap * np.tanh({variable} / softcap)")
        elif lines.edited("capped"):
            variable = lines.step("capped", variable, same=True)
        lines.end("scores")
        return variable

    def _scale(self) -> str:
        """The factor on the scores, as code; nothing where it is 1."""
        if self.config.scale is not None:
            return "" if self.config.scale == 1.0 else repr(self.config.scale)
        if self.config.score != "scaled_dot":
            return ""
        widths = self.fill.d_q
        return f"np.array([1 / math.sqrt(d) for d in {widths}])[:, None, None]" if widths else "1 / math.sqrt(d_k)"

    def _masked(self, variable: str) -> str:
        """The scores with the bias, and minus infinity where it is forbidden."""
        lines, trace = self.lines, self.trace
        masked, biased = script_inputs.needs_mask(trace), script_inputs.needs_bias(trace)
        code = f"{variable} + B" if biased else variable
        if masked or biased or lines.edited("masked"):
            variable = lines.step(
                "masked", f"np.where(M, {code}, -np.inf)" if masked else code, same=not (masked or biased)
            )
        lines.end("biased" if not masked else "masked_biased" if biased else "masked")
        return variable

    def _weights(self, x: str) -> None:
        """A, along the keys or the wrong way; a row with nothing allowed gets zeros."""
        lines, config = self.lines, self.config
        row, axis = script_rows.NORMALISERS[config.normaliser], -1 if config.normalise_over == "keys" else -2
        self.has_empty = row.shares and any(np.isneginf(S).all(axis=axis).any() for S in lines.arrays("masked"))
        if self.has_empty:
            lines.write(f"nothing = np.isneginf({x}).all(axis={axis}, keepdims=True)  # a row with nothing allowed ...")
            lines.write(f"S_open = np.where(nothing, 0.0, {x})")
            x = "S_open"
        code = self.normalised(row, x, axis)
        code = f"np.where(nothing, 0.0, {code})" if self.has_empty else code
        code = f"np.where(M, {code}, 0.0)" if self.leaks("weights") else code
        lines.write(*(["# ... has weights that are all zeros, not 0 / 0"] if self.has_empty else []))
        lines.step("weights", code)
        lines.end("weights")

    def normalised(self, row: Normalise, x: str, axis: int) -> str:
        """The lines before A, and what A is."""
        self.lines.write(*(line.format(**self.named(x, axis)) for line in row.before))
        code = row.weights.format(**self.named(x, axis))
        if row.turn and axis == -2:
            return f"np.swapaxes({code.replace(x, f'np.swapaxes({x}, 1, 2)')}, 1, 2)"
        return code

    def named(self, x: str, axis: int) -> dict[str, str]:
        """What stands in the lines of a normaliser for the scores and the temperature."""
        T = "" if self.config.temperature == 1.0 else " / temperature"
        z, quiet = f"{x} - {x}.max(axis={axis}, keepdims=True)", f"{x} - top"
        return {
            "x": x,
            "T": T,
            "axis": str(axis),
            "z": f"({z}){T}" if T else z,
            "quiet": f"({quiet}){T}" if T else quiet,
        }

    def leaks(self, name: str) -> bool:
        """Whether a number that is none, or infinite, has to be kept from where it is forbidden."""
        return script_inputs.needs_mask(self.trace) and not all(np.isfinite(X).all() for X in self.lines.arrays(name))

    def _heads(self) -> None:
        lines, fill = self.lines, self.fill
        lines.step("heads", self.mixed())
        lines.end("heads")
        if fill.ragged_v:
            code = f"np.concatenate([Z[h, :, :d] for h, d in enumerate({fill.d_z})], axis=1)"
        else:
            code = "np.concatenate([*Z], axis=1)"
        lines.step("concat", code)
        lines.end("concat")

    def repeats_values(self) -> bool:
        """Whether heads that share values need them once each."""
        return True

    def mixed(self) -> str:
        """The lines before Z, and what Z is."""
        if not self.leaks("values"):
            return f"A @ {self.V}"
        self.lines.write("# A forbidden value takes no part: 0 times infinity would be no number.")
        return f"np.where(M[:, :, None], A[:, :, :, None] * {self.V}[:, None, :, :], 0.0).sum(axis=2)"

    def module(self) -> None:
        """The same once more, where a library has a module for it."""

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
        """The residual connection and the norm after it, where they are on."""
        if self.config.residual:
            after = self.lines.step(name, f"{before} + {after}")
        if self.config.norm == "post":
            after = self.lines.step(f"{name}_normed", f"layer_norm({after})")
        self.lines.end({"added": "after_attention", "ff_added": "after_feed_forward"}[name])
        return after

    def _feed_forward(self, Y: str) -> str:
        lines, config, fill = self.lines, self.config, self.fill
        if config.feed_forward == "none":
            return Y
        read = lines.step("ff_normed", f"layer_norm({Y})") if config.norm == "pre" else Y
        width = "d_model" if config.has_output_projection() else "C.shape[1]"
        fill.matrix("w_1", width, "d_ff")
        fill.vector("b_1", "d_ff", width)
        hidden = f"{read} @ W_1" + (" + b_1" if config.projection_bias else "")
        lines.step("ff_hidden", script_rows.FEED_FORWARDS[config.feed_forward].format(hidden=hidden))
        fill.matrix("w_2", "d_ff", width)
        fill.vector("b_2", width, "d_ff")
        G = lines.step("ff_output", "F @ W_2" + (" + b_2" if config.projection_bias else ""))
        lines.end("feed_forward")
        return self._around("ff_added", Y, G)
