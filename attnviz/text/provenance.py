"""The origin of a run's numbers: random, set by hand, learned, or one's own; the badge that keeps the page honest."""

from __future__ import annotations

from dataclasses import dataclass

from attnviz.engine.external.traces import is_external
from attnviz.engine.learning import learnable
from attnviz.engine.pretrained.pretrained_config import is_pretrained
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables import lexicon
from attnviz.engine.tables.biases import BIASES
from attnviz.engine.tables.embeddings import EMBEDDINGS
from attnviz.engine.tables.initialisers import INITIALISERS, no_bias
from attnviz.engine.tables.positions import POSITIONS
from attnviz.engine.tasks.games import GAMES
from attnviz.settings.fields import settings
from attnviz.settings.language import Plural, Words, sign, translate

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
        "mixed_learned": (
            "Partly learned projections",
            "Some projections are your own, others were learned together with others: the pattern means nothing.",
        ),
        "hand": (
            "Set by hand",
            "Projections set by hand: the pattern is what they were made for, nothing was learned.",
        ),
        "hand_random": (
            "Set by hand",
            "Projections set by hand, on random vectors: what is alike by chance counts as alike.",
        ),
        "hand_learned": (
            "Set by hand",
            "Projections set by hand, on vectors learned from text: words that mean something similar count "
            "as similar.",
        ),
        "solved": ("Set by hand", "Q and K are made by hand for this sentence, V and W_O are random."),
        "learned": (
            "Learned projections",
            "These projections were learned in {steps} steps on made-up sentences (task: {task}); they mean nothing "
            "outside that task.",
        ),
        "own": ("Your own numbers", "Your own numbers, and none drawn at random: the pattern is as good as they are."),
        "pretrained": (
            "A trained model",
            "Nothing here is random: a trained model computed these numbers, with the matrices in its own file.",
        ),
        "given": (
            "Your own attention",
            "Your own attention: these are the numbers that were given, and what follows from them.",
        ),
        "own_random": (
            "Your own projections",
            "Your own projections, on random vectors: what is alike by chance counts as alike.",
        ),
        "own_learned": ("Your own projections", "Your own projections, on vectors learned from text."),
    }
)
"""For each case the words of the badge, and a sentence."""

EDITED = "{label}, edited"
WIDE = (
    "{sentence} A d_model beyond {columns} changes the outputs and hardly a weight: the vectors of meaning have "
    "{columns} numbers."
)
NOT_ITS_OWN = "{sentence} Chosen here, and not the model's own: {settings}."
BY_HAND = Plural(
    "{sentence} {n} number was changed by hand, and all that follows uses it.",
    "{sentence} {n} numbers were changed by hand, and all that follows uses them.",
)


@dataclass(frozen=True)
class Origin:
    """The origin of a run's numbers: the row of ORIGINS, a few words for a badge, and a sentence or two."""

    name: str
    label: str
    sentence: str
    edited: bool = False


def origin(trace: Trace) -> Origin:
    """Return whether the numbers are random, set by hand or the visitor's own, and whether any was changed."""
    name = _case(trace, set(trace.given))
    label, sentence = ORIGINS[name]
    if name == "pretrained" and (chosen := _not_its_own(trace.config)):
        sentence = translate(NOT_ITS_OWN, sentence=sentence, settings=sign(", ").join(chosen))
    if name == "solved" and _is_wide(trace):
        sentence = translate(WIDE, sentence=sentence, columns=lexicon.COLUMNS)
    if name == "learned":
        sentence = sentence.format(steps=trace.config.learn_steps, task=GAMES[trace.config.task].label)
    n = len(trace.edits)
    if not n:
        return Origin(name, label, sentence)
    return Origin(name, translate(EDITED, label=label), BY_HAND.format(n=n, sentence=sentence), edited=True)


def _case(trace: Trace, given_steps: set[str]) -> str:
    if is_pretrained(trace):
        return "pretrained"
    if is_external(trace):
        return "given"
    config = trace.config
    row, is_own, by_chance = INITIALISERS[config.initialiser], config.embedding == "own", _by_chance(config)
    learned = config.embedding == "meaning"
    drawn = _parameters(trace) - given_steps
    if drawn and row.solved:
        return "solved"
    if drawn and learnable.learns(config):
        return "mixed_learned" if given_steps else "learned"
    if drawn and row.origin != "set by hand":
        return "mixed" if given_steps else "random_own" if is_own else "random"
    if drawn and not given_steps:
        return "hand_random" if by_chance else "hand_learned" if learned else "own" if is_own else "hand"
    return "own_random" if by_chance else "own_learned" if learned else "own"


def _is_wide(trace: Trace) -> bool:
    """Return whether more numbers a word would move no weight, so that nobody looks for what they do to it."""
    config = trace.config
    is_plain = config.n_layers == 1 and not config.solved_anew and "seed" not in POSITIONS[config.position].uses
    has_room = len({*trace.query_tokens, *trace.key_tokens}) < lexicon.COLUMNS <= config.d_model
    return is_plain and has_room and config.embedding == "meaning"


def _not_its_own(config: Config) -> list[str]:
    """Return the labels of settings that were chosen for a trained model and make other weights than its own."""
    own = {"mask": {"none", *getattr(config, "own_masks", ())}, "temperature": {1.0}}
    own["normaliser"] = {"softmax", getattr(config, "own_normaliser", "")}
    chosen = {name: getattr(config, name) for name in own}
    differing = {name for name, each in chosen.items() if not {*(each if name == "mask" else (each,))} <= own[name]}
    return [translate(item.metadata["label"]) for item in settings(config) if item.name in differing]


def _parameters(trace: Trace) -> set[str]:
    """Return the names of the run's parameters; biases only where they are not simply zero."""
    starts = ("w_", "score_") if INITIALISERS[trace.config.initialiser].bias is no_bias else ("w_", "score_", "b_")
    return {name for layer in trace.layers for name in layer if name.startswith(starts)}


def _by_chance(config: Config) -> bool:
    """Return whether vectors or distances get numbers from the seed: a row that draws at random says that it uses
    it.
    """
    rows = [POSITIONS[config.position], BIASES[config.bias]]
    if config.embedding != "meaning":  # which draws for words that it does not know, and says which they are
        rows.append(EMBEDDINGS[config.embedding])
    return any("seed" in row.uses for row in rows)
