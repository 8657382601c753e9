"""The setting of a run through a trained model: what the model decides, and what stays free."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from attnviz.engine.pretrained.image import Image
from attnviz.engine.pretrained.model_facts import ModelFacts
from attnviz.engine.records.config import Config
from attnviz.engine.records.head_settings import divisors
from attnviz.engine.records.trace import Trace
from attnviz.settings.fields import number, text, widths

MOST_HEADS, MOST_LAYERS, MOST_WIDTH, MOST_UNITS = 256, 256, 65_536, 4_194_304

FREE = (
    "sentence",
    "model",
    "max_tokens",
    "mask",
    "mask_formula",
    "reach",
    "dilation",
    "block_size",
    "prefix_length",
    "n_global",
    "custom_cells",
    "normaliser",
    "normaliser_formula",
    "normaliser_knobs",
    "temperature",
    "edits",
)
"""The fields that apply to a trained model; all else is the model's own."""

WITH_SINK: Literal["softmax_with_sink"] = "softmax_with_sink"
"""The softmax of a model whose heads have sinks."""


@dataclass(frozen=True)
class PretrainedConfig(Config):
    """A setting whose sizes and blocks are those of a trained model, in wider ranges than can be chosen by hand."""

    sentence: str = text("", label="Sentence", longest=1_000_000)
    second_sentence: str = text("", label="Second sentence (cross-attention)", longest=1_000_000)
    max_tokens: int = number(64, 1, 1_000_000, label="Tokens at most")
    n_heads: int = number(1, 1, MOST_HEADS, label="Heads")
    n_kv_heads: int | None = number(
        None, 1, MOST_HEADS, none="as many as heads", offered=divisors, label="Key/value heads"
    )
    n_layers: int = number(1, 1, MOST_LAYERS, label="Layers")
    d_model: int = number(1, 1, MOST_WIDTH, label="Embedding size")
    d_ff: int = number(1, 1, MOST_UNITS, label="Feed-forward width")
    d_k: int | tuple[int, ...] = widths(1, 1, MOST_WIDTH, most=1, label="Width of queries and keys, d_k")
    d_v: int | tuple[int, ...] = widths(1, 1, MOST_WIDTH, most=1, label="Width of values, d_v")
    t5_n_buckets: int = number(32, 4, MOST_WIDTH, label="T5 buckets")
    t5_max_distance: int = number(128, 1, MOST_WIDTH, label="T5 furthest distance")
    beside: Config = Config()
    """The setting that the run was made of; the page keeps what does not apply to the model."""
    own_masks: tuple[str, ...] = ()
    """The masks that the model itself has."""
    own_normaliser: str = ""
    """The normaliser that the model has in place of softmax, if it has another."""
    facts: ModelFacts = ModelFacts()
    """The model's tensors in its files, and its other peculiarities."""
    image: Image | None = None
    """What a model of images reads; its sentence is then a name of it."""

    @property
    def chosen(self) -> Config:
        """The setting as it was chosen: what applies to a model as it is here, all else as it was."""
        kept = {name: getattr(self, name) for name in FREE}
        masks = tuple(name for name in self.mask if name not in self.own_masks or name in self.beside.mask)
        if self.own_normaliser and self.normaliser == self.own_normaliser != self.beside.normaliser:
            kept["normaliser"] = "softmax"
        return replace(self.beside, **kept | {"mask": masks or ("none",)})


def is_pretrained(trace: Trace) -> bool:
    """Return whether the numbers of the trace are those of a trained model."""
    return isinstance(trace.config, PretrainedConfig)


def facts_of(config: Config) -> ModelFacts:
    """Return what is known of the model of a run; nothing for a run of the page's own settings."""
    return config.facts if isinstance(config, PretrainedConfig) else NOTHING_KNOWN


NOTHING_KNOWN = ModelFacts()
