"""Settings to try things on: many, all different, and the same in every run."""

from __future__ import annotations

import random

from attnviz import EMBEDDINGS, INITIALISERS, NORMALISERS, SCORES, Config
from attnviz.engine.tables.blocks import FEED_FORWARDS, NORMS
from attnviz.engine.tables.head_patterns import PATTERNS

WORDS = ("a", "rose", "is", "the")


def repeated_words(number: int) -> Config:
    """Return a setting with repeated words and without positions, masks and biases; every number is another."""
    dice = random.Random(number)  # noqa: S311 - nothing secret
    n_kv_heads, group = dice.randint(1, 3), dice.randint(1, 2)
    embeddings = [name for name in EMBEDDINGS if name != "own"]
    return Config(
        sentence=" ".join(dice.choices(WORDS, k=dice.randint(2, 16))),
        second_sentence=" ".join(dice.choices(WORDS, k=dice.randint(0, 9) * dice.randint(0, 1))),
        seed=dice.randrange(1000),
        embedding=dice.choice(embeddings),
        position="none",
        mask=(dice.choice(("none", "padding")),),
        pad_to=dice.choice((0, 0, 18)),
        d_model=dice.randint(1, 24),
        n_heads=n_kv_heads * group,
        n_kv_heads=n_kv_heads,
        d_k=tuple(dice.randint(1, 9) for _ in range(dice.randint(1, 3))),
        d_v=tuple(dice.randint(1, 9) for _ in range(dice.randint(1, 3))),
        n_layers=dice.randint(1, 3),
        initialiser=dice.choice(list(INITIALISERS)),
        patterns=tuple(dice.choices(list(PATTERNS), k=2)),
        projection_bias=dice.random() < 0.3,
        score=dice.choice(list(SCORES)),
        softcap=dice.choice((0.0, 0.0, 2.0)),
        normaliser=dice.choice(list(NORMALISERS)),
        normalise_over=dice.choice(("keys", "keys", "queries")),
        temperature=dice.choice((1.0, 0.7)),
        residual=dice.random() < 0.5,
        norm=dice.choice(list(NORMS)),
        feed_forward=dice.choice(list(FEED_FORWARDS)),
    )
