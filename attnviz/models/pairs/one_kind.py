"""One of the two kinds of attention of a decoder, in all layers: its own text's, or that to the encoder's.

A trace of one begins with queries, keys and values; or with scores, where the model adds to these by distance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.engine.external.traces import of_scores, of_vectors
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.models.pairs.parts import PARTS
from attnviz.settings.language import Words

NOTES = Words(
    {
        "vectors": "The part {part} of a model with an encoder and a decoder: queries, keys and values are computed "
        "from its file, as is all that leads to them, which this trace does not show. part= chooses another: {parts}.",
        "scores": "The part {part} of a model with an encoder and a decoder: scores, with what the model adds to them "
        "by distance, are computed from its file, as is all that leads to them, which this trace does not show. "
        "part= chooses another: {parts}.",
    }
)


def attention_of(trace: Trace, part: str, scale: float) -> Trace:
    """Return attention in every layer of a decoder's run: to its own text, or of `cross` to the encoder's."""
    n, reads = len(trace.query_tokens), facts_of(trace.config).reads
    first = len(trace.key_tokens) - n
    kind, columns = ("other", slice(first)) if part == "cross" else ("own", slice(first, None))
    layers = [layer for layer, each in zip(trace.layers, reads) if each == kind]
    words = trace.key_tokens[columns]
    mask: Any = "none" if part == "cross" else "causal"
    config = Config(score="dot", scale=scale, mask=mask)
    has_bias = "bias" in layers[0]
    if has_bias:
        S = np.stack([(each["scaled"].array + each["bias"].array)[..., columns] for each in layers])
        found = of_scores(S, trace.query_tokens, words, config=replace(config, scale=1.0))
    else:
        Q = np.stack([each["queries"].array for each in layers])
        K, V = (np.stack([each[name].array[:, columns] for each in layers]) for name in ("keys", "values"))
        found = of_vectors(Q, K, V, trace.query_tokens, words, config=config)
    parts = ", ".join(each for each in PARTS if each != part)
    said = NOTES["scores" if has_bias else "vectors"].format(part=part, parts=parts)
    return replace(found, notes=(said, *trace.notes[1:], *found.notes))
