"""Every setting that changes a number, each once: those of words and of heads, and from here on scores to layers."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from attnviz.engine.records import edits
from attnviz.engine.records.edits import Edit
from attnviz.engine.records.head_settings import MOST_HEADS, HeadSettings
from attnviz.engine.records.row_fields import KnobsField, NormaliserField, ScoreField, fields_of
from attnviz.engine.records.word_settings import WordSettings
from attnviz.engine.tables import biases, embeddings, mask_bits, masks, normalisers, scores
from attnviz.engine.tables.biases import BIASES
from attnviz.engine.tables.blocks import FEED_FORWARDS, NORMS
from attnviz.engine.tables.masks import MASKS
from attnviz.engine.tables.normalised_axes import NORMALISED_AXES
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.engine.tables.row_names import (
    BiasName,
    FeedForwardName,
    MaskName,
    NormName,
    SideName,
)
from attnviz.engine.tables.scores import SCORES
from attnviz.settings import fields
from attnviz.settings.fields import knobs, number, option, options, serialised, switch, text
from attnviz.settings.held import Holds
from attnviz.settings.language import translate

LONGEST_FORMULA = 300


@dataclass(frozen=True)
class Config(HeadSettings, WordSettings):
    """The setting of a run: everything that changes a number, each field with a default.

    Raises ConfigError, a ValueError, for a value outside its range, before anything is computed.

    >>> Config(n_heads=2, mask="causal").mask
    ('causal',)
    >>> Config(n_heads=99)
    Traceback (most recent call last):
    ...
    attnviz.settings.faults.ConfigError: n_heads is 99; choose 1 to 16
    """

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
        help="One line of arithmetic on the positions i and j and the head h, such as -abs(i-j) * 2**(-8*h/n_heads), "
        "and on g, alpha, beta, gamma, lam and tau, each a number a head that is learned, 1 at first.",
    )
    bias_slope: float = number(
        0.5,
        0.0,
        100.0,
        step=0.05,
        integer=False,
        label="Cost per position",
        group="Score",
        help="Subtracted once for each position of distance.",
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
        128, 65, 1024, label="T5 furthest distance", group="Score", help="All larger distances share one bucket."
    )
    t5_bidirectional: bool = switch(True, label="T5 tells before from after", group="Score")

    mask: Holds[tuple[MaskName, ...], MaskName | list[MaskName]] = options(
        MASKS, "none", label="Mask", help="Several masks may be on; all must allow a cell."
    )
    mask_formula: str = text(
        masks.FORMULA,
        label="Formula of the mask",
        longest=LONGEST_FORMULA,
        group="Mask",
        help='What has to hold for query i to attend to key j, such as j <= i and token[j] != "the"; with the head h, '
        "as in i - j < 2**h, each head has a mask of its own.",
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

    normaliser: NormaliserField = option(NORMALISERS, "softmax", label="Normaliser", group="Normaliser")
    normaliser_formula: str = text(
        normalisers.FORMULA,
        label="Formula of the normaliser",
        longest=LONGEST_FORMULA,
        group="Normaliser",
        help="One line of arithmetic on the scores x of a row, such as exp(x - max(x)) / (1 + sum(exp(x - max(x)))), "
        "and on g, alpha, beta, gamma, lam and tau, each a number a head that is learned, 1 at first.",
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
        help="A different seed gives different random numbers; the same seed gives the same ones.",
    )
    edits: tuple[Edit, ...] = serialised(
        edits.MAX_EDITS,
        edits.canonicalise,
        edits.encode,
        edits.decode,
        label="Changed numbers",
        help="(layer, step, index, value): set as the step is computed, so that all that follows uses them.",
    )

    if not TYPE_CHECKING:  # a checker knows the fields, and would take any name here

        def __new__(cls, *values, **named):
            """Say which field may be meant where there is none of a name; a dataclass says no more than that."""
            for name in named:
                if name not in cls.__dataclass_fields__:
                    raise TypeError(_no_field(name, list(cls.__dataclass_fields__)))
            return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, write in (("own_numbers", embeddings.written), ("own_numbers_second", embeddings.written)):
            object.__setattr__(self, name, write(getattr(self, name)))
        object.__setattr__(self, "custom_cells", masks.written(self.custom_cells))
        for name in ("score_formula", "mask_formula", "bias_formula", "normaliser_formula"):
            object.__setattr__(self, name, _on_one_line(getattr(self, name)))
        for kind in ("score", "normaliser"):
            for name, value in fields_of(kind, getattr(self, kind)).items():
                object.__setattr__(self, name, value)
        fields.check(self)

    @property
    def chosen(self) -> Config:
        """The setting as it was chosen, which is what a link holds; here the setting itself."""
        return self

    @property
    def is_cross_attention(self) -> bool:
        """True if keys and values come from a sentence of their own."""
        return bool(self.second_sentence.strip())

    def has_output_projection(self) -> bool:
        """Return whether W_O is used: by choice, or because what follows needs d_model columns."""
        return self.output_projection or self.n_layers > 1 or self.residual


def all_but_seed(config: Config) -> tuple[Any, ...]:
    """Return a key that settings share which differ in the seed alone; it moves most, and no size depends on it.

    >>> all_but_seed(Config(seed=1)) == all_but_seed(Config()) != all_but_seed(Config(n_heads=1))
    True
    """
    return _values_but_seed()(config)


@cache
def _values_but_seed() -> attrgetter[tuple[Any, ...]]:
    return attrgetter(*(item.name for item in fields.settings(Config) if item.name != "seed"))


def _no_field(name: str, known: list[str]) -> str:
    """Return a sentence on a setting that there is not, with those that its name resembles.

    >>> _no_field("heads", ["n_heads", "mask"])
    'a Config has no heads; did you mean n_heads?'
    """
    alike = [each for each in known if name.lower().strip("_") in each] or get_close_matches(name, known, 3)
    if not alike:
        return translate("a Config has no {name}; help(attnviz.Config) lists its settings", name=name)
    return translate("a Config has no {name}; did you mean {alike}?", name=name, alike=", ".join(alike[:3]))


def _on_one_line(formula: object) -> object:
    """Return a formula whose lines stand behind each other, as a link and a field hold them."""
    if not isinstance(formula, str) or "\n" not in formula:
        return formula
    return "; ".join(line.strip() for line in formula.split("\n") if line.strip())
