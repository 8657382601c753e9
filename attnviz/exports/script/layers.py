"""The parts of a script that are one layer: a walk over its plan, a line for each step and each weight."""

from __future__ import annotations

from attnviz.engine.plan.values import Value
from attnviz.engine.pretrained.pretrained_config import is_pretrained
from attnviz.exports.script import inputs
from attnviz.exports.script.model_parameters import stored
from attnviz.exports.script.operations import OperationWriter
from attnviz.exports.script.rows import VARIABLES

PARTS = {
    "positions": "embedding",
    "token_types": "embedding",
    "embedded_sum": "embedding",
    "embedded": "embedding",
    "normed": "normed",
    "shift": "queries",
    "w_q": "projections",
    "projected_queries": "queries",
    "queries": "queries",
    "allowed": "mask",
    "sinks": "sinks",
    "bias": "bias",
    "scores": "scores",
    "weights": "weights",
    "heads": "heads",
    "concat": "concat",
    "w_o": "output",
    "output": "output",
    "added": "after_attention",
    "added_normed": "after_attention",
    "ff_normed": "feed_forward",
    "w_1": "feed_forward",
    "w_router": "feed_forward",
    "ff_added": "after_feed_forward",
    "ff_added_normed": "after_feed_forward",
    "g_f": "final",
}
"""The steps that can be the first of a part; any other belongs to the part that is being written."""

PARTS_OF_MODELS = PARTS | {"w_q": "queries"}
"""The same for a trained model, in whose layers each matrix stands right before what it makes."""

CALLED_LATER = ("embedded", "weights")
"""The steps that the script calls by their own variables, so that each has a line whatever it is."""

GAINS = {"g_1": "normed", "g_2": "feed_forward"}
"""The parts of the gains of norms that stand before a block."""


class LayerScript(OperationWriter):
    """A writer of one layer, or of the loop over all of them, into `lines`."""

    def write(self, *, last: bool) -> str:
        """Write every part, and return the code of what the layer hands on. `last` says that no layer follows."""
        part = ""
        for name, value in self.plan.items():
            opened = self._part_of(name, part)
            if part and opened != part:
                self._end(part)
            part = opened
            if value.op == "step":
                self._step(name, value.args[0])
            elif value.op == "weight":
                self.called[name] = self.fill.weight(value)
            else:
                self._given(name)
        self._end(part)
        if not last:
            self.lines.write(f"X = {self.called[name]}  # what the next layer reads")
            self.lines.end("hand_on")
        return self.called[name]

    def _given(self, name: str) -> None:
        """Write the mask or the bias where it stands in the layer, or vectors that a model adds to those of tokens."""
        if name in ("positions", "token_types"):
            self.lines.step(name, stored(self.trace.around[name].array, self.words))
        else:
            inputs.given(self.lines, self.trace, name, changed=True)
        self.called[name] = VARIABLES[name]

    def module(self) -> None:
        """Write the same once more, where a library has a module for it."""

    def _part_of(self, name: str, part: str) -> str:
        """Return the part of a step that follows on this part."""
        if name == "masked":
            has_bias = "bias" in self.plan
            return "biased" if not self.masks else "masked_biased" if has_bias else "masked"
        if name == "bias" and "sinks" in self.plan:
            return "sinks"
        if name in GAINS and self.plan.has.norm_before:
            return GAINS[name]
        parts = PARTS_OF_MODELS if is_pretrained(self.trace) else PARTS
        if name.startswith("score_") and name not in dict(self.plan.has.score_weights):
            return "bias" if name in self.plan.has.bias_weights else "weights"
        return "scores" if name.startswith("score_") else parts.get(name, part)

    def _end(self, part: str) -> None:
        """End a part, with what else belongs to it."""
        if part == "queries":
            self.share_heads()
        self.lines.end(part)
        if part == "output":
            self.module()

    def _step(self, name: str, value: Value) -> None:
        """Write the line of a step; one that is another as it stands needs none, unless it is changed by hand."""
        code = self.code(value)
        same = code in self.called.values()
        if not same or name in CALLED_LATER or self.lines.edited(name):
            code = self.lines.step(name, code, same=same)
        self.called[name] = code
