"""The names of the rows of every table as types: a checker refuses a misspelt one, an editor offers them.

Made by `python -m tools.row_names`.
"""

from __future__ import annotations

from typing import Literal

TokeniserName = Literal["words", "whitespace", "characters", "pieces"]
EmbeddingName = Literal["normal", "uniform", "binary", "one_hot", "spelling", "meaning", "own"]
PositionName = Literal["none", "sinusoidal", "random", "rope"]
InitialiserName = Literal[
    "glorot", "normal", "uniform", "binary", "linear", "identity", "orthogonal", "by_hand", "learned"
]
PatternName = Literal["previous", "same_word", "first", "uniform", "next", "induction", "alike"]
TaskName = Literal["translation", "dates", "backwards", "recall", "induction", "coreference"]
ScoreName = Literal[
    "scaled_dot",
    "dot",
    "general",
    "additive",
    "cosine",
    "gaussian",
    "negative_distance",
    "location",
    "multiplicative_tanh",
    "qk_norm",
    "scaled_cosine",
    "formula",
]
BiasName = Literal["none", "alibi", "t5", "linear", "formula"]
MaskName = Literal[
    "none", "causal", "padding", "window", "dilated", "block", "prefix", "global_window", "no_self", "custom", "formula"
]
NormaliserName = Literal[
    "softmax",
    "sparsemax",
    "entmax15",
    "sigmoid",
    "hardmax",
    "quiet_softmax",
    "linear",
    "entmax",
    "relu_over_n",
    "softmax_with_sink",
    "squared_relu_over_n",
    "formula",
]
SideName = Literal["keys", "queries"]
NormName = Literal["none", "pre", "post", "rms"]
FeedForwardName = Literal["none", "relu", "gelu", "gelu_tanh", "swiglu", "geglu"]
