"""The name of a head that was set by hand, on a sentence: the label of its pattern, if it holds there."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.engine.records.config import Config
from attnviz.engine.tables.embeddings import has_meaning
from attnviz.engine.tables.head_patterns import PATTERNS
from attnviz.settings.language import Words

WORDS = Words({"spelling": "Similar spelling", "vectors": "Similar vectors"})


def goal_label(config: Config, pattern: str, tokens: Sequence[str]) -> str:
    """Return the label of a pattern on these tokens.

    Vectors point the same way for similar meanings only where they stand for meanings: with the embedding Meaning, and
    for words that are in its list. Other words have the vectors of their spelling, and other embeddings draw them.

    >>> config = Config(embedding="meaning")
    >>> goal_label(config, "alike", ("king", "queen")), goal_label(config, "alike", ("Hund", "Katze"))
    ('Similar meaning', 'Similar spelling')
    """
    row = PATTERNS[pattern]
    if not row.alike or (config.embedding == "meaning" and has_meaning(tokens)):
        return row.label
    return WORDS["spelling" if config.embedding in ("meaning", "spelling") else "vectors"]
