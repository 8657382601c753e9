"""The loss of a next word without each part of a model: in sentences, and as a table of the parts that do most."""

from __future__ import annotations

import numpy as np
import pandas as pd

from attnviz.analysis.circuits.attribution import Attribution
from attnviz.analysis.circuits.behaviours import Behaviour
from attnviz.analysis.circuits.maps import Without
from attnviz.analysis.circuits.prompts import prompts
from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.models import boxed
from attnviz.models.model import Model
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.text.head_roles import Roles, in_short, in_words
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components import number_tables
from attnviz.ui.panels.depth import head_roles
from attnviz.ui.panels.depth.head_maps import number
from attnviz.ui.panels.depth.next_word import say_special, shown_word
from attnviz.ui.session.notices import paragraph

WORDS = Words(
    {
        "head": "head {name}",
        "block": "feed-forward block {name}",
        "block_in_table": "feed-forward {name}",
        "why": "By the difference it is owed most to {part}: without it the difference goes from {logit} to {left}.",
        "then": "Then the likeliest next word is “{word}” ({share}).",
        "behind": "The first word is not ahead, so no head is owed a lead; exchange the two words.",
        "by_test": "Head {head} by test: {does}.",
        "same": "By its share it is the same one: without it “{word}” falls from {before} to {share}, rank {rank}.",
        "share": "By its share “{word}” is owed most to {part}: without it the share falls from {before} to {share}, "
        "rank {rank}, and “{said}” ({said_share}) is said.",
        "two": "Both are right: the difference compares the logits of these two words alone, and without {part} it is "
        "still {left}, as “{other}” has {other_share} then; the share is a probability among all words.",
        "card": "The model's card counts as the share does: it asks whether the word is still said.",
        "little": "“{word}” has a share of {before}: too little to say to which part it is owed.",
        "neither": "No single part, when taken out, lowers the share of “{word}”.",
        "part": "Part",
        "off": "Difference without it",
        "share_off": "Share of “{word}” without it",
        "said": "Then said",
        "direct": "Its own part",
        "looks": "Looks most at",
        "role": "What it does here",
        "tested": "By test over {n} prompts",
        "untold": "Tested on {n} prompts, none of these heads does any of these in half of the cases: previous token, "
        "duplicate token, induction, name mover, inhibition.",
    }
)
LISTED = 12
LITTLE = 0.01
"""A word with a smaller share is not what the model says, and no part is what it would be owed to."""


def name(layer: int, head: int) -> str:
    """Return a head as layer and head, counted from 1: 2.3."""
    return f"{ordinal(layer)}.{ordinal(head)}"


def part_name(trace: Trace, layer: int, part: int) -> str:
    """Return a part in a sentence: head 2.3, or the feed-forward block of a layer, which is behind the heads."""
    if part == trace.config.n_heads:
        return WORDS["block"].format(name=ordinal(layer))
    return WORDS["head"].format(name=name(layer, part))


def most(losses: Array) -> tuple[int, int] | None:
    """Return the part without which most is lost, the lowest of the numbers; None where nothing is lost without any."""
    layer, part = (int(at) for at in np.unravel_index(int(losses.argmin()), losses.shape))
    return (layer, part) if losses[layer, part] < 0 else None


def by_difference(trace: Trace, off: Without, logit: float, tested: Roles) -> list[str]:
    """Return what is said of the part without which most of the difference of two words is lost."""
    if logit <= 0:
        return [WORDS["behind"]]
    at = most(off.difference)
    if at is None:
        return []
    layer, part = at
    named = part_name(trace, layer, part)
    said = shown_word(trace, int(off.said[at]))
    does = in_words(tested, layer, part)
    return [
        WORDS["why"].format(part=named, logit=number(logit), left=number(logit + off.difference[at])),
        WORDS["then"].format(word=said, share=percent(float(off.said_share[at]))),
        *([WORDS["by_test"].format(head=name(layer, part), does=does)] if does else []),
    ]


def by_share(trace: Trace, words: tuple[int, int], off: Without, logit: float) -> list[str]:
    """Return what is said of the part without which the share of the word falls most, and why it may be another one."""
    word, other = (shown_word(trace, each) for each in words)
    at = most(off.share - off.before)
    if off.before < LITTLE:
        return [WORDS["little"].format(word=word, before=percent(off.before))]
    if at is None:
        return [WORDS["neither"].format(word=word)]
    facts = {
        "word": word, "other": other, "part": part_name(trace, *at), "before": percent(off.before),
        "share": percent(float(off.share[at])), "rank": int(off.rank[at]),
        "said": shown_word(trace, int(off.said[at])), "said_share": percent(float(off.said_share[at])),
        "left": number(logit + off.difference[at]), "other_share": percent(float(off.other_share[at])),
    }  # fmt: skip
    if logit > 0 and at == most(off.difference):
        return [WORDS["same"].format(**facts)]
    has_card = isinstance(trace.model, Model) and boxed.card_of(trace.model.digest) is not None
    two = logit > 0 and logit + off.difference[at] > 0
    return [
        WORDS["share"].format(**facts),
        *([WORDS["two"].format(**facts)] if two else []),
        *([WORDS["card"]] if has_card else []),
    ]


def table(trace: Trace, word: int, off: Without, found: Attribution) -> None:
    """Draw the parts without which the difference changes most: what is said then, what they add, where they look."""
    parts = _listed(off)
    direct = found.parts
    columns = {
        WORDS["part"]: [_in_table(trace, *at) for at in parts],
        WORDS["off"]: [float(off.difference[at]) for at in parts],
        WORDS["share_off"].format(word=shown_word(trace, word)): [percent(float(off.share[at])) for at in parts],
        WORDS["said"]: [f"{shown_word(trace, int(off.said[at]))} {percent(float(off.said_share[at]))}" for at in parts],
        WORDS["direct"]: [float(direct[at]) for at in parts],
        WORDS["looks"]: [_looks(trace, *at) for at in parts],
    }
    number_tables.show(pd.DataFrame(columns), hide_index=True, key="owed-table", height="content")
    say_special(trace, [int(off.said[at]) for at in parts])


def roles_table(trace: Trace, off: Without, here: dict[tuple[int, int], Behaviour], tested: Roles | None) -> None:
    """Draw what the same heads do on this sentence, and by test on others, where they do any of it."""
    n, titles = len(prompts()), [WORDS["part"], WORDS["role"]]
    titles += [] if tested is None else [WORDS["tested"].format(n=n)]
    rows = [
        [
            _in_table(trace, *at),
            head_roles.on_this(here.get(at), *at),
            *([] if tested is None else [in_short(tested, *at)]),
        ]
        for at in _listed(off)
    ]
    frame = pd.DataFrame([row for row in rows if any(row[1:])], columns=titles)
    if len(frame):
        number_tables.show(frame, hide_index=True, key="owed-roles", height="content")
    if tested is not None:
        paragraph([head_roles.WORDS["about"].format(n=n) if len(frame) else WORDS["untold"].format(n=n)])


def _listed(off: Without) -> list[tuple[int, int]]:
    order = np.argsort(-abs(off.difference), axis=None, kind="stable")[:LISTED]
    return [(int(i), int(j)) for i, j in zip(*np.unravel_index(order, off.difference.shape))]


def _in_table(trace: Trace, layer: int, part: int) -> str:
    return WORDS["block_in_table"].format(name=ordinal(layer)) if part == trace.config.n_heads else name(layer, part)


def _looks(trace: Trace, layer: int, part: int) -> str:
    """Return the word that a head attends to most at the end, with the weight; a feed-forward block looks nowhere."""
    if part == trace.config.n_heads:
        return ""
    last = trace.layers[layer]["weights"].array[part, -1]
    at = int(last.argmax())
    return f"{visible_token(trace.key_tokens[at])} {percent(float(last[at]))}"
