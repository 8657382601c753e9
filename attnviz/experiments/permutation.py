"""Does order matter: the outputs of the same words in two orders, side by side, and what they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attnviz.analysis.permutations import Reordered, without_position_effects, words
from attnviz.engine.records.config import Config
from attnviz.engine.records.typed_rows import score_of
from attnviz.engine.tables.masks import MASKS
from attnviz.engine.tables.positions import POSITIONS
from attnviz.experiments.axis_and_sharing import small
from attnviz.pictures import stages
from attnviz.pictures.stage_record import Stage
from attnviz.settings.language import Words, sign, translate, translate_all
from attnviz.text.format.number_format import short
from attnviz.text.format.sentence_parts import AND, Sentence, fill, join_sentences, name_token

TITLES = Words({"off": "Without positions", "on": "With positions"})
TILES = ("before", "after, by word", "difference")
PHRASES = Words({"moved": "every output row moves along with its word", "changed": "{n} of {all} output rows change"})
MOST_NAMED = 6

SENTENCES = Words(
    {
        "moved": "{how}: all {n} output rows move along with their words and stay the same; the largest difference is "
        "{largest}{rounding}.",
        "changed": "{how}: {n} of {all} output rows change, that of {word} most, by up to {largest}.",
        "kept": "The rows of {words} stay the same.",
        "same_order": "The order is the same as before, so nothing can change.",
        "same_words": "The sentence reads as before: only equal words have changed places.",
        "one": "One word has only one order.",
        "unmovable": "Some characters of this sentence join what follows them, so this order would give other tokens.",
        "places": "The setting compares positions even without position vectors: {what}. Without that, {rest}.",
        "places_still": "The setting compares positions even without position vectors: {what}.",
        "rest_moved": "all rows would move along (largest difference {largest})",
        "rest_changed": "{n} of {all} rows would still change",
        "one_hot": "One-hot vectors are numbered by first appearance; here every word keeps the vector it had.",
        "own": "Your own numbers belong to positions; here they are moved along with their words.",
        "by_hand": "Heads set by hand are solved once, for the first order, and kept.",
        "cross": "Only the first sentence is reordered; its words ask, and the second sentence answers as before.",
    }
)
ROUNDING = ", which is rounding"
HOW = Words({"off": "Without positions", "on": "With positions ({position})"})
PLACED = Words({"mask": "mask ({labels})", "bias": "bias by distance", "location": "location-based score"})


def stage(name: str, reordered: Reordered) -> Stage:
    """Return the outputs of both orders, row by row for the same words, and their difference, on one colour scale."""
    before = reordered.before["output"].array
    drawn = stages.stage(reordered.before, reordered.before["output"], TITLES[name])
    n = int(reordered.changed.sum())
    phrase = PHRASES["changed" if n else "moved"].format(n=n, all=len(before))
    return replace(
        drawn,
        name=name,
        array=np.stack([before, reordered.matched, reordered.matched - before]),
        widths=None,
        masked=None,
        heads=translate_all(TILES),
        phrase=phrase,
        alt=TITLES[name] + sign(": ") + phrase,
    )


def unchanged_order(reordered: Reordered) -> list[str]:
    """Return a note if the new order is the old one.

    >>> from attnviz.analysis.permutations import reordered
    >>> unchanged_order(reordered(Config(sentence="one"), (0,)))
    ['One word has only one order.']
    """
    n, tokens = len(words(reordered.before.config)), reordered.before.query_tokens
    if reordered.order == tuple(range(len(tokens))):
        return [SENTENCES["one" if n < 2 else "same_order"]]
    return [SENTENCES["same_words"]] if reordered.after.query_tokens == tokens else []


def order_sentences(name: str, reordered: Reordered) -> Sentence:
    """List the output rows that moved along unchanged, and those that changed, with the largest change."""
    tokens, differences, changed = reordered.before.query_tokens, reordered.differences, reordered.changed
    how = HOW[name].format(position=POSITIONS[reordered.before.config.position].label)
    n, largest = len(tokens), float(differences.max())
    if not changed.any():
        rounding = translate(ROUNDING) if largest else ""
        return fill(SENTENCES["moved"], how=how, n=str(n), largest=small(largest), rounding=rounding)
    most = name_token(tokens, int(differences.argmax()))
    sentence = fill(
        SENTENCES["changed"], how=how, n=str(int(changed.sum())), all=str(n), word=most, largest=short(largest)
    )
    kept = [name_token(tokens, int(at)) for at in np.flatnonzero(~changed)]
    if not 0 < len(kept) <= MOST_NAMED:
        return sentence
    return (*sentence, ("text", " "), *fill(SENTENCES["kept"], words=join_sentences(kept)))


def placed(config: Config) -> tuple[str, ...]:
    """Return, in words, the parts of a setting other than positions that depend on the order of the words.

    >>> placed(Config(mask=("causal", "padding"), bias="alibi"))
    ('mask (Causal)', 'bias by distance')
    """
    free = without_position_effects(config)
    labels = sign(", ").join(MASKS[name].label for name in config.mask if name not in free.mask)
    holds = {"mask": labels, "bias": config.bias != "none", "location": score_of(config).by_position}
    return tuple(PLACED[name].format(labels=labels) for name, each in holds.items() if each)


def position_sentences(config: Config, freed: Reordered | None) -> str:
    """Return what the setting compares by position although it has none, and what the result would be without that.

    freed  the words reordered with neither positions nor what compares positions; None if that cannot be had
    """
    what = translate(AND).join(placed(config))
    if freed is None:
        return SENTENCES["places_still"].format(what=what)
    n, every = int(freed.changed.sum()), len(freed.changed)
    rest = SENTENCES["rest_changed" if n else "rest_moved"].format(
        n=n, all=every, largest=small(float(freed.differences.max()))
    )
    return SENTENCES["places"].format(what=what, rest=rest)


def notes(config: Config) -> list[str]:
    """Return notes on the changes that leave the order as the only difference."""
    cases = {
        "cross": config.is_cross_attention,
        "one_hot": config.embedding == "one_hot",
        "own": config.embedding == "own",
        "by_hand": config.initialiser == "by_hand",
    }
    return [SENTENCES[name] for name, holds in cases.items() if holds]
