"""The names of the rows of every table as types, so that a checker refuses a misspelt one and an editor offers them.

A test holds that they are the keys of the tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

TokeniserName = Literal["words", "whitespace", "characters", "pieces"]
EmbeddingName = Literal["normal", "uniform", "binary", "one_hot", "spelling", "meaning", "own"]
PositionName = Literal["none", "sinusoidal", "random", "rope"]
InitialiserName = Literal[
    "glorot", "normal", "uniform", "binary", "linear", "identity", "orthogonal", "by_hand", "learned"
]
TaskName = Literal["translation", "dates", "backwards", "recall", "induction", "coreference"]
PatternName = Literal["previous", "same_word", "first", "uniform", "next", "induction", "alike"]
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

Name = TypeVar("Name", bound=str)


class Names(Generic[Name]):
    """The type of a field that takes one name or several, and holds a tuple of them.

    Only a checker reads it: what it says of getting and setting is what the record does when it is made.
    """

    if TYPE_CHECKING:

        def __get__(self, record: Any, owner: Any = None) -> tuple[Name, ...]: ...

        def __set__(self, record: Any, value: Name | tuple[Name, ...] | list[Name]) -> None: ...
