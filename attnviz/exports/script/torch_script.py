"""The current setting as a stand-alone script in PyTorch, in float64, with the library's own calls where they fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from attnviz.codegen.words import TORCH
from attnviz.engine.plan.values import Value
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import TYPED, normaliser_of, score_of
from attnviz.exports.script.inputs import needs_bias
from attnviz.exports.script.layers import LayerScript
from attnviz.exports.script.lines import Part
from attnviz.exports.script.numpy_script import opening, run_of, script
from attnviz.exports.script.parts import parts

PRINT = Part("print", "torch.set_printoptions(precision=3, sci_mode=False, linewidth=120)\nprint(A)")
DTYPE = "torch.set_default_dtype(torch.float64)"

ONE_CALL = "# Scores, mask, softmax and A @ V in one call; A is only there to be looked at."
POLARITY = "# In attn_mask True means MAY look here; in nn.MultiheadAttention it means may NOT."
CAUSAL = "# is_causal is j <= i, both counted from the first."
SCALE = "# Without scale= the scores would be divided by the root of d_k."
EMPTY = "# Older versions give NaN where nothing is allowed."

CALL = "torch.nn.functional.scaled_dot_product_attention"
MODULE = """\
attention = torch.nn.MultiheadAttention(d_model, n_heads, bias={bias})
with torch.no_grad():
    attention.in_proj_weight.copy_(torch.cat([W.mT.reshape(d_model, d_model) for W in (W_Q, W_K, W_V)]))
    attention.out_proj.weight.copy_(W_O.mT)
{biases}    Y_module, A_module = attention({x}, {x_kv}, {x_kv}, {mask}average_attn_weights=False)
assert torch.allclose(Y_module, Y) and torch.allclose(A_module, A)"""
BIASES = """\
    attention.in_proj_bias.copy_(torch.cat([b_Q.flatten(), b_K.flatten(), b_V.flatten()]))
    attention.out_proj.bias.copy_(b_O)
"""

IN_CALL = {
    "scores": ("score(queries, keys)",),
    "scaled": ("scale * scores", "scores"),
    "capped": ("scaled",),
    "masked": ("only_where(allowed, capped + bias)", "only_where(allowed, capped)", "capped + bias", "capped"),
    "weights": ("normalise(masked)",),
    "heads": ("mix(weights, values)",),
}
"""What the one call computes, as the plan says it; a number that is changed inside cannot be handed to it."""

IN_MODULE = {
    "queries": ("{x} @ w_q", "{x} @ w_q + b_q"),
    "keys": ("{x_kv} @ w_k", "{x_kv} @ w_k + b_k"),
    "values": ("{x_kv} @ w_v", "{x_kv} @ w_v + b_v"),
    "concat": ("side_by_side(heads)",),
    "output": ("concat @ w_o", "concat @ w_o + b_o"),
}
"""What nn.MultiheadAttention computes around that."""


def torch_script(of: Config | Trace) -> str:
    """Return a setting or its run as a PyTorch script that computes every step anew and prints the weights.

    Where `scaled_dot_product_attention` can do what is set, it does; where `nn.MultiheadAttention` can, too, that is
    shown with the same matrices, and compared. Random numbers are those of the NumPy script, bit for bit.

    Raises ConfigError for a setting that cannot be run.

    >>> "is_causal=True" in torch_script(Config(sentence="a b", mask="causal"))
    True
    >>> "attn_mask=~M" in torch_script(Config(sentence="a b", mask="no_self", bos=True))
    True
    """
    trace = run_of(of)
    script_parts = parts(trace, looped=True, write=TorchLayerScript)
    whole = [*opening(trace, script_parts, TORCH), *script_parts, PRINT]
    whole[0] = replace(whole[0], code=f"{DTYPE}\n{whole[0].code}")
    return script(trace, "PyTorch", whole)


class TorchLayerScript(LayerScript):
    """A writer of layers with the library's own calls where they can do what is set."""

    words = TORCH

    def repeats_values(self) -> bool:
        """Return whether heads that share values need them once each; the one call knows how to share."""
        return not self._is_one_call()

    def mix(self, value: Value) -> str:
        """Return what Z is; the lines before it say how the one call is made."""
        if not self._is_one_call():
            return super().mix(value)
        if self._has_bias():
            self.lines.write(self._added())
        arguments = ["Q", "K", "V", *self._masking()]
        lines = [ONE_CALL]
        lines += [CAUSAL] if "is_causal=True" in arguments else [POLARITY] if "attn_mask=M" in arguments else []
        if self._factor():
            arguments.append(f"scale={self._factor()}")
            lines += [SCALE]
        arguments += ["enable_gqa=True"] if self.config.group_size > 1 else []
        call = f"{CALL}({', '.join(arguments)})"
        self.lines.write(*lines)
        if not self.has_empty:
            return call
        self.lines.write(f"Z_call = {call}", EMPTY)
        return "torch.where(nothing, 0.0, Z_call)"

    def _is_one_call(self) -> bool:
        """Return whether scaled_dot_product_attention can do all from the scores to the heads' outputs."""
        config, score = self.config, score_of(self.config)
        one_scale = not score.is_over_root or config.scale is not None or not self.fill.d_q
        return (
            score.is_dot
            and one_scale
            and normaliser_of(config).is_softmax
            and config.normalise_over == "keys"
            and self._computes(IN_CALL)
            and not any(self.lines.edited(name) for name in IN_CALL if name != "heads")
            and not self.leaks("values")
        )

    def _computes(self, said: Mapping[str, Sequence[str]]) -> bool:
        """Return whether the plan computes these steps just so."""
        inputs = {"x": self.plan["w_q"].read[0], "x_kv": self._bare(self.plan["w_k"].read[0])}
        return all(
            str(self.plan[name].args[0]) in [text.format(**inputs) for text in texts]
            for name, texts in said.items()
            if name in self.plan
        )

    def _masking(self) -> list[str]:
        """Return the arguments for the mask and for what is added to the scores."""
        if self._has_bias():
            return ["attn_mask=added"]
        if self._is_causal():
            return ["is_causal=True"]
        return ["attn_mask=M"] if self.masks else []

    def _added(self) -> str:
        """Return the line for a mask of numbers, which are added to the scores."""
        B = "B" if self.config.temperature == 1.0 else "B / temperature"
        if not self.masks:
            is_typed = self.config.bias == TYPED and B == "B"  # a line of whole numbers makes a tensor of them
            return f"added = {f'{B}.to(Q.dtype)' if is_typed else B}"
        return f"added = torch.where(M, {B}, -torch.inf)  # a mask of numbers is added to the scores"

    def _is_causal(self) -> bool:
        everywhere = facts_of(self.config).reach(self.lines.layer or 0) is None
        is_causal = self.config.mask == ("causal",) and everywhere and not facts_of(self.config).reads
        return is_causal and not self.lines.edited("allowed")

    def _has_bias(self) -> bool:
        """Return whether something is added to the scores of this layer."""
        return needs_bias(self.trace) and "bias" in self.plan

    def _factor(self) -> str:
        """Return the scale, where it is not the call's own; the temperature goes into it."""
        config = self.config
        is_own = config.scale is None and score_of(config).is_over_root
        if is_own and config.temperature == 1.0:
            return ""
        scale = "scale" if is_own or config.scale not in (None, 1.0) else "1.0"
        return scale if config.temperature == 1.0 else f"{scale} / temperature"

    def module(self) -> None:
        """Write the same as nn.MultiheadAttention, compared."""
        if not self._is_module():
            return
        mask = "attn_mask=added, " if self._has_bias() else "attn_mask=~M, " if self.masks else ""
        biased = "b_q" in self.plan
        x, x_kv = (self.code(self._bare(self.plan[name].read[0])) for name in ("w_q", "w_k"))
        self.lines.write(MODULE.format(bias=biased, biases=BIASES if biased else "", x=x, x_kv=x_kv, mask=mask))
        self.lines.end("module")

    def _is_module(self) -> bool:
        """Return whether nn.MultiheadAttention has this shape, this scale, and nothing that would have to be changed
        in it.
        """
        config = self.config
        widths = {*config.key_widths(), *config.value_widths()}
        return (
            self._is_one_call()
            and self._computes(IN_MODULE)
            and len({f"b_{x}" in self.plan for x in "qkvo"}) == 1
            and not self._factor()
            and config.group_size == 1
            and widths == {config.d_model / config.n_heads}
            and config.has_output_projection()
            and not any(self.lines.edited(name) for name in (*IN_MODULE, "heads"))
            and not any(np.isneginf(S).all(axis=-1).any() for S in self.lines.arrays("masked"))
        )
