"""Every setting that changes a number, each once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from attnviz.engine.records import edits, hosted
from attnviz.engine.records.edits import Edit
from attnviz.engine.tables import biases, embeddings, mask_bits, masks, normalisers, scores
from attnviz.engine.tables.biases import BIASES
from attnviz.engine.tables.blocks import FEED_FORWARDS, NORMS
from attnviz.engine.tables.embeddings import EMBEDDINGS
from attnviz.engine.tables.head_patterns import PATTERNS
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tables.masks import MASKS
from attnviz.engine.tables.normalised_axes import NORMALISED_AXES
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.engine.tables.positions import POSITIONS
from attnviz.engine.tables.row_names import (
    BiasName,
    EmbeddingName,
    FeedForwardName,
    InitialiserName,
    MaskName,
    Names,
    NormaliserName,
    NormName,
    PatternName,
    PositionName,
    ScoreName,
    SideName,
    TaskName,
    TokeniserName,
)
from attnviz.engine.tables.scores import SCORES, Score
from attnviz.engine.tables.tokenisers import TOKENISERS
from attnviz.engine.tasks.tasks import GAMES
from attnviz.settings import fields
from attnviz.settings.fields import knobs, listed, named, number, option, options, serialised, switch, text, widths
from attnviz.settings.rows import KnobValue

MOST_HEADS = 16
MOST_STEPS = 2000
LONGEST_FORMULA = 300

Item = TypeVar("Item")


def divisors(values: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the numbers of key/value heads that the query heads can share evenly."""
    n_heads = values["n_heads"]
    return tuple(n for n in range(1, n_heads + 1) if n_heads % n == 0)


class ScoreField:
    """The type of the field that takes the name of a score or a row made by `attnviz.score`, and holds the name.

    Only a checker reads it.
    """

    if TYPE_CHECKING:

        def __get__(self, record: Any, owner: Any = None) -> ScoreName: ...

        def __set__(self, record: Any, value: ScoreName | Score) -> None: ...


class KnobsField:
    """The type of a field that takes a dict of numbers by `row.knob`, and holds those that are not the default.

    Only a checker reads it.
    """

    if TYPE_CHECKING:

        def __get__(self, record: Any, owner: Any = None) -> tuple[tuple[str, KnobValue], ...]: ...

        def __set__(self, record: Any, value: Mapping[str, KnobValue] | tuple[tuple[str, KnobValue], ...]) -> None: ...


@dataclass(frozen=True)
class Config:
    """All that `run` needs to know; everything has a default.

    Raises ConfigError, a ValueError, for a value outside its range, before anything is computed.

    >>> Config(n_heads=2, mask="causal").mask
    ('causal',)
    >>> Config(n_heads=99)
    Traceback (most recent call last):
    ...
    attnviz.settings.faults.ConfigError: n_heads is 99; choose 1 to 16
    """

    sentence: str = text(
        "the cat sat on the warm mat",
        label="Sentence",
        longest=10_000,
        help="Each token becomes a row: a query, a key and a value.",
    )
    model: str = named(
        hosted.names,
        label="Model",
        help="A trained model that this host offers: it brings its own words, sizes and matrices.",
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
        help="0 is off. The padding mask hides what is filled in.",
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
    position: PositionName = option(POSITIONS, "sinusoidal", label="Positions", group="Embedding and positions")
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

    n_heads: int = number(4, 1, MOST_HEADS, label="Heads", help="How many times attention is done side by side.")
    n_kv_heads: int | None = number(
        None,
        1,
        MOST_HEADS,
        none="as many as heads",
        offered=divisors,
        label="Key/value heads",
        group="Heads and projections",
        help="Fewer than heads: query heads share keys and values (grouped-query attention); 1 is multi-query.",
    )
    d_k: int | tuple[int, ...] = widths(
        4,
        1,
        64,
        most=MOST_HEADS,
        label="Width of queries and keys, d_k",
        group="Heads and projections",
        help="One number, or one for each key/value head: 4, 3, 2. The last one repeats.",
    )
    d_v: int | tuple[int, ...] = widths(
        4,
        1,
        64,
        most=MOST_HEADS,
        label="Width of values, d_v",
        group="Heads and projections",
        help="One number, or one for each key/value head. It need not equal d_k.",
    )
    initialiser: InitialiserName = option(INITIALISERS, "glorot", label="Projections", group="Heads and projections")
    patterns: Names[PatternName] = listed(
        PATTERNS,
        ("previous", "same_word", "first", "uniform"),
        most=MOST_HEADS,
        each=lambda values: values["n_kv_heads"] or values["n_heads"],
        label="Pattern",
        group="Heads and projections",
        help="What each key/value head is made for. The last one repeats.",
    )
    sharpness: float = number(
        6.0,
        0.0,
        50.0,
        step=0.5,
        integer=False,
        label="Sharpness",
        group="Heads and projections",
        help="How far the right key is ahead of the next best, in score. 6 leaves it about 0.995 of the weight.",
    )
    task: TaskName = option(GAMES, "translation", label="Task", group="Heads and projections")
    learn_steps: int = number(
        100,
        0,
        MOST_STEPS,
        label="Steps of learning",
        stops=(0, 1, 2, 5, *range(10, 201, 10), *range(240, 401, 40), *range(500, MOST_STEPS + 1, 100)),
        group="Heads and projections",
        help="One batch of sentences each. 0 leaves the random start as it is.",
    )
    learn_rate: float = number(
        0.01,
        0.0001,
        0.1,
        step=0.001,
        integer=False,
        label="Learning rate",
        group="Heads and projections",
        help="About how far a number moves in a step at first; from step 150 on it falls.",
    )
    learn_batch: int = number(
        16,
        1,
        64,
        label="Sentences in a batch",
        group="Heads and projections",
        help="How many sentences each step learns from.",
    )
    projection_bias: bool = switch(
        False, label="Biases b_Q, b_K, b_V, b_O", group="Heads and projections", help="Added after each projection."
    )
    tied: bool = switch(
        False,
        label="W_K = W_Q",
        group="Heads and projections",
        help="Queries and keys from one matrix: in self-attention QKᵀ is symmetric.",
    )
    output_projection: bool = switch(
        True,
        label="W_O after the heads",
        group="Heads and projections",
        help="Mixes the heads. With several layers or a residual it is always there.",
    )

    score: ScoreField = option(SCORES, "scaled_dot", label="Score function")
    score_formula: str = text(
        scores.FORMULA,
        label="Formula of the score",
        longest=LONGEST_FORMULA,
        group="Score",
        help="One line of arithmetic on q, k, i and j, such as sum(tanh(q*k)) / sqrt(d_k) - 0.1*abs(i-j).",
    )
    score_knobs: KnobsField = knobs(
        "score",
        SCORES,
        most=MOST_HEADS,
        label="Settings of the score",
        group="Score",
        help="The numbers that the chosen score lets you set.",
    )
    d_a: int = number(8, 1, 64, label="Hidden width d_a", group="Score", help="How many tanh units score a pair.")
    scale: float | None = number(
        None,
        -1000.0,
        1000.0,
        step=0.05,
        integer=False,
        none="the score's own",
        label="Scale",
        group="Score",
        help="A factor on every score. The score's own is 1/√d_k for the scaled dot product, 1 for every other.",
    )
    softcap: float = number(
        0.0,
        0.0,
        1000.0,
        step=0.5,
        integer=False,
        label="Soft cap",
        group="Score",
        help="Squeezes scores between plus and minus this, by c·tanh(s/c). 0 is off. (Gemma 2, arXiv:2408.00118)",
    )
    bias: BiasName = option(BIASES, "none", label="Bias by distance", group="Score")
    bias_formula: str = text(
        biases.FORMULA,
        label="Formula of the bias",
        longest=LONGEST_FORMULA,
        group="Score",
        help="One line of arithmetic on the places i and j and the head h, such as -abs(i-j) * 2**(-8*h/n_heads).",
    )
    bias_slope: float = number(
        0.5,
        0.0,
        100.0,
        step=0.05,
        integer=False,
        label="Cost of a step",
        group="Score",
        help="Subtracted once a position.",
    )
    t5_n_buckets: int = number(
        32,
        4,
        128,
        step=2,
        label="T5 buckets",
        group="Score",
        help="How many ranges of distance are told apart.",
        stops=(4, 8, 16, 32, 64, 128),
    )
    t5_max_distance: int = number(
        128, 65, 1024, label="T5 furthest distance", group="Score", help="All that is further shares one bucket."
    )
    t5_bidirectional: bool = switch(True, label="T5 tells before from after", group="Score")

    mask: Names[MaskName] = options(MASKS, "none", label="Mask", help="Several masks may be on; all must allow a cell.")
    mask_formula: str = text(
        masks.FORMULA,
        label="Formula of the mask",
        longest=LONGEST_FORMULA,
        group="Mask",
        help='What has to hold for query i to attend to key j, such as j <= i and token[j] != "the".',
    )
    reach: int = number(2, 0, 64, label="Reach", group="Mask", help="How many positions to either side.")
    dilation: int = number(2, 1, 16, label="Dilation", group="Mask", help="Only every n-th position is visible.")
    block_size: int = number(3, 1, 64, label="Block size", group="Mask", help="In tokens.")
    prefix_length: int = number(3, 0, 64, label="Prefix length", group="Mask", help="In tokens.")
    n_global: int = number(1, 0, 16, label="Global tokens", group="Mask", help="The first n tokens.")
    custom_cells: str = text(
        "1: 1, 2: 1-2, 3: 1-3",
        label="Allowed cells",
        longest=20_000,
        lines=3,
        shorter=mask_bits.shorter,
        whole=mask_bits.whole,
        group="Mask",
        help="For each query the keys that it may attend to, counted from 1.",
    )

    normaliser: NormaliserName = option(NORMALISERS, "softmax", label="Normaliser", group="Normaliser")
    normaliser_formula: str = text(
        normalisers.FORMULA,
        label="Formula of the normaliser",
        longest=LONGEST_FORMULA,
        group="Normaliser",
        help="One line of arithmetic on the scores x of a row, such as exp(x - max(x)) / (1 + sum(exp(x - max(x)))).",
    )
    normaliser_knobs: KnobsField = knobs(
        "normaliser",
        NORMALISERS,
        most=MOST_HEADS,
        label="Settings of the normaliser",
        group="Normaliser",
        help="The numbers that the chosen normaliser lets you set.",
    )
    temperature: float = number(
        1.0,
        0.01,
        100.0,
        step=0.05,
        integer=False,
        label="Temperature",
        group="Normaliser",
        help="Scores are divided by it: low is sharp, high is flat.",
    )
    normalise_over: SideName = option(NORMALISED_AXES, "keys", label="Normalise over", group="Normaliser")

    n_layers: int = number(1, 1, 6, label="Layers", group="Layers", help="The output of one is the input of the next.")
    residual: bool = switch(
        False, label="Residual connections", group="Layers", help="Adds the input of a block to its output."
    )
    norm: NormName = option(NORMS, "none", label="Layer norm", group="Layers")
    feed_forward: FeedForwardName = option(FEED_FORWARDS, "none", label="Feed-forward block", group="Layers")
    d_ff: int = number(
        32, 1, 1024, label="Feed-forward width", group="Layers", stops=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
    )

    seed: int = number(
        0,
        0,
        999_999,
        label="Seed",
        always=True,
        help="Another seed, other random numbers; the same seed, the same numbers.",
    )
    edits: tuple[Edit, ...] = serialised(
        edits.MOST,
        edits.canonicalise,
        edits.encode,
        edits.decode,
        label="Changed numbers",
        help="(layer, step, index, value): set as the step is computed, so that all that follows uses them.",
    )

    def __post_init__(self) -> None:
        for name, write in (("own_numbers", embeddings.written), ("own_numbers_second", embeddings.written)):
            object.__setattr__(self, name, write(getattr(self, name)))
        object.__setattr__(self, "custom_cells", masks.written(self.custom_cells))
        for name in ("score_formula", "mask_formula", "bias_formula", "normaliser_formula"):
            object.__setattr__(self, name, _on_one_line(getattr(self, name)))
        if isinstance(self.score, Score) and self.score.typed:
            if self.score.name == "formula":
                object.__setattr__(self, "score_formula", self.score.typed.text)
            object.__setattr__(self, "score", self.score.name)
        fields.check(self)

    @property
    def chosen(self) -> Config:
        """The setting as it was chosen, which is what a link holds; here the setting itself."""
        return self

    @property
    def is_cross_attention(self) -> bool:
        """True if keys and values come from a sentence of their own."""
        return bool(self.second_sentence.strip())

    @property
    def kv_heads(self) -> int:
        """The number of key/value heads."""
        return self.n_kv_heads or self.n_heads

    @property
    def group_size(self) -> int:
        """The number of query heads that share one key/value head; head h uses group h // group_size."""
        return self.n_heads // self.kv_heads

    def key_widths(self) -> tuple[int, ...]:
        """d_k of each key/value head; the last one given repeats."""
        return _repeated(self.d_k, self.kv_heads)

    def value_widths(self) -> tuple[int, ...]:
        """d_v of each key/value head; the last one given repeats."""
        return _repeated(self.d_v, self.kv_heads)

    def head_patterns(self) -> tuple[PatternName, ...]:
        """Return the pattern of each key/value head; the last one given repeats."""
        return _repeated(self.patterns, self.kv_heads)

    def has_output_projection(self) -> bool:
        """Return whether W_O is used: by choice, or because what follows needs d_model columns."""
        return self.output_projection or self.n_layers > 1 or self.residual


def _on_one_line(formula: object) -> object:
    """Return a formula whose lines stand behind each other, as a link and a field hold them."""
    if not isinstance(formula, str) or "\n" not in formula:
        return formula
    return "; ".join(line.strip() for line in formula.split("\n") if line.strip())


def _repeated(given: Item | tuple[Item, ...], n: int) -> tuple[Item, ...]:
    one_each = given if isinstance(given, tuple) else (given,)
    return (one_each + (one_each[-1],) * n)[:n]
