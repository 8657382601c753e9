"""The names of heads that were set by hand, on a sentence: the labels of their patterns, if they hold there."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.engine.head_goals import misses
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.embeddings import has_meaning
from attnviz.engine.tables.head_patterns import PATTERNS
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.settings.language import Words
from attnviz.text.format.sentence_parts import within_sentence

WORDS = Words({"spelling": "Similar spelling", "vectors": "Similar vectors", "missed": "{label}, missed"})


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


def goal_labels(trace: Trace, layer: int | None) -> tuple[str, ...]:
    """Return what each query head was made for, to stand in a sentence; none where heads were made for nothing.

    A head that does not do what it was made for says so: another setting, or a changed number, may be in its way.

    layer  counted from 0, in which they may miss it; None for what no layer has

    >>> from attnviz import run
    >>> goal_labels(run(Config(initialiser="by_hand", embedding="meaning")), 0)[0]
    'previous token'
    """
    config = trace.config
    if not INITIALISERS[config.initialiser].solved:
        return ()
    missed = misses(trace, layer) if layer is not None else ()
    tokens = trace.query_tokens + trace.key_tokens
    labels = [within_sentence(goal_label(config, name, tokens)) for name in config.head_patterns()]
    made_for = [labels[h // config.group_size] for h in range(config.n_heads)]
    return tuple(WORDS["missed"].format(label=label) if h in missed else label for h, label in enumerate(made_for))
