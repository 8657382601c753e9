"""The settings that make rows of numbers out of a sentence: its tokens, their embedding, their positions."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.engine.records import offered_models
from attnviz.engine.tables.embeddings import EMBEDDINGS
from attnviz.engine.tables.positions import POSITIONS
from attnviz.engine.tables.row_names import (
    EmbeddingName,
    PositionName,
    TokeniserName,
)
from attnviz.engine.tables.tokenisers import TOKENISERS
from attnviz.settings.fields import named, number, option, switch, text


@dataclass(frozen=True)
class WordSettings:
    """The fields that decide the rows that a layer reads: sentences, tokens, embeddings, positions."""

    sentence: str = text(
        "the cat sat on the warm mat",
        label="Sentence",
        longest=10_000,
        help="Each token becomes a row: a query, a key and a value.",
    )
    model: str = named(
        offered_models.names,
        offered_models.present,
        label="Model",
        help="A trained model: it brings its own words, sizes and matrices.",
    )
    second_sentence: str = text(
        "",
        label="Second sentence (cross-attention)",
        longest=10_000,
        group="Tokens",
        help="If there is one, queries come from the first sentence, keys and values from the second.",
    )
    tokeniser: TokeniserName = option(TOKENISERS, "words", label="Tokens", group="Tokens")
    piece_length: int = number(4, 1, 12, label="Longest piece", group="Tokens", help="In characters.")
    bos: bool = switch(False, label="Start with <bos>", group="Tokens", help="A token that marks the beginning.")
    eos: bool = switch(False, label="End with <eos>", group="Tokens", help="A token that marks the end.")
    pad_to: int = number(
        0,
        0,
        128,
        label="Fill up with <pad> to",
        group="Tokens",
        help="0 is off. The padding mask hides the <pad> tokens.",
    )
    max_tokens: int = number(
        64, 1, 1024, label="Tokens at most", group="Tokens", help="Longer sentences are cut here; the page says so."
    )

    embedding: EmbeddingName = option(EMBEDDINGS, "normal", label="Embedding", group="Embedding and positions")
    own_numbers: str = text(
        "",
        label="Your own numbers, one row per token",
        longest=40_000,
        lines=6,
        group="Embedding and positions",
        help="Numbers separated by spaces or commas; a line, a semicolon or a bracket ends a row.",
    )
    own_numbers_second: str = text(
        "",
        label="Your own numbers for the second sentence",
        longest=40_000,
        lines=6,
        group="Embedding and positions",
        help="Used in cross-attention only.",
    )
    d_model: int = number(
        16,
        1,
        512,
        label="Embedding size",
        stops=(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512),
        help="d_model: how many numbers stand for a token.",
    )
    position: PositionName = option(
        POSITIONS, "sinusoidal", label="Positional encoding", group="Embedding and positions"
    )
    rope_base: float = number(
        10_000.0,
        1.0,
        1e6,
        step=100.0,
        integer=False,
        label="RoPE base",
        group="Embedding and positions",
        help="The larger, the slower all pairs but the first rotate.",
    )
