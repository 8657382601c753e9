"""What the numbers of a run are: random, set by hand, or the visitor's own; the badge that keeps the page honest."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.core.biases import BIASES
from attnviz.core.config import Config
from attnviz.core.embeddings import EMBEDDINGS
from attnviz.core.given import is_given
from attnviz.core.language import Words, say
from attnviz.core.positions import POSITIONS
from attnviz.core.projections import INITIALISERS, no_bias
from attnviz.core.trace import Trace

ORIGINS = Words(
    {
        "random": ("Random projections", "Random projections: the pattern means nothing yet."),
        "random_own": (
            "Random projections",
            "Your own numbers, but through random projections: the pattern means nothing yet.",
        ),
        "mixed": (
            "Partly random projections",
            "Some projections are your own, others random: the pattern means nothing yet.",
        ),
        "hand": (
            "Set by hand",
            "Projections set by hand: the pattern is what they were made for, nothing was learned.",
        ),
        "hand_random": (
            "Set by hand",
            "Projections set by hand, on random vectors: what is alike by chance counts as alike.",
        ),
        "solved": ("Set by hand", "Q and K are made by hand for this sentence, V and W_O are random."),
        "own": ("Your own numbers", "Your own numbers, and none drawn at random: the pattern is as good as they are."),
        "given": (
            "Your own attention",
            "Your own attention: these are the numbers that were given, and what follows from them.",
        ),
        "own_random": (
            "Your own projections",
            "Your own projections, on random vectors: what is alike by chance counts as alike.",
        ),
    }
)
"""For each case the words of the badge, and a sentence."""

EDITED = "{label}, edited"
BY_HAND = Words(
    {
        "one": "{sentence} One number was changed by hand, and all that follows uses it.",
        "many": "{sentence} {n} numbers were changed by hand, and all that follows uses them.",
    }
)


@dataclass(frozen=True)
class Origin:
    """What the numbers of a run are: the row of ORIGINS, a few words for a badge, and a sentence or two."""

    name: str
    label: str
    sentence: str
    edited: bool = False


def origin(trace: Trace) -> Origin:
    """Whether the numbers are random, set by hand or the visitor's own, and whether any was changed."""
    name = _case(trace, set(trace.given))
    label, sentence = ORIGINS[name]
    n = len(trace.edits)
    if not n:
        return Origin(name, label, sentence)
    words = BY_HAND["one" if n == 1 else "many"]
    return Origin(name, say(EDITED, label=label), words.format(sentence=sentence, n=n), edited=True)


def _case(trace: Trace, given: set[str]) -> str:
    if is_given(trace):
        return "given"
    config = trace.config
    row, is_own, by_chance = INITIALISERS[config.initialiser], config.embedding == "own", _by_chance(config)
    drawn = _parameters(trace) - given
    if drawn and row.solved:
        return "solved"
    if drawn and row.origin == "random":
        return "mixed" if given else "random_own" if is_own else "random"
    if drawn and not given:
        return "hand_random" if by_chance else "own" if is_own else "hand"
    return "own_random" if by_chance else "own"


def _parameters(trace: Trace) -> set[str]:
    """The names of the run's parameters; biases only where they are not simply zero."""
    starts = ("w_", "score_") if INITIALISERS[trace.config.initialiser].bias is no_bias else ("w_", "score_", "b_")
    return {name for layer in trace.layers for name in layer if name.startswith(starts)}


def _by_chance(config: Config) -> bool:
    """Whether vectors or distances get numbers from the seed: a row that draws at random says that it uses it."""
    rows = EMBEDDINGS[config.embedding], POSITIONS[config.position], BIASES[config.bias]
    return any("seed" in row.uses for row in rows)
