"""The words of a link before anybody opens it: what a chat shows of the setting that it leads to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.masks import MASKS
from attnviz.engine.tables.scores import SCORES
from attnviz.settings.faults import cut
from attnviz.settings.language import Plural, Words, full_stop, sign, translate
from attnviz.settings.plain_text import clean
from attnviz.text import opening_sentence
from attnviz.text.cell_sentence import percent
from attnviz.text.format.number_format import localised, short
from attnviz.text.format.sentence_parts import QUOTED, Sentence, fill, within_sentence
from attnviz.text.headline import headline
from attnviz.text.query_sentences import query_weights, visible_token

WORDS = Words(
    {
        "takes": "{query} attends to {key}",
        "share": "{amount} of its attention",
        "weight": "with weight {amount}",
        "in_short": "{said} ({amount})",
        "width": "{n} wide",
        "itself": "itself",
    }
)
COUNTS = Words({"head": Plural("{n} head", "{n} heads"), "layer": Plural("{n} layer", "{n} layers")})
LONGEST_WORD, LONGEST_SENTENCE = 24, 90
"""Characters of a token and of a sentence; a chat shows no more of a title."""


@dataclass(frozen=True)
class Telling:
    """The weight that a link is about: where it stands, counted from 0, and what is said of it.

    said    "cat attends to dog", the two words marked;  amount  "99 % of its attention"
    brief   both in one line: "cat attends to dog (99 %)"
    """

    head: int
    query: int
    key: int
    said: Sentence
    amount: str
    brief: str


def telling(
    trace: Trace, layer: int, head: int | None = None, query: int | None = None, key: int | None = None
) -> Telling | None:
    """Return what is said of the chosen weight, or of the one that tells most; None where no weight can be named.

    >>> from attnviz import Config, run
    >>> telling(run(Config(sentence="the cat sat", initialiser="by_hand")), 0).brief
    'sat attends to cat (> 99 %)'
    """
    if "weights" not in trace.layers[layer]:
        return None
    queries = None if query is None else [query]
    head, query, best = opening_sentence.telling(trace, layer, head, queries)
    weights = query_weights(trace, layer, head)
    kind, row = weights.kind(query), np.where(weights.masked[query], 0.0, weights.weights[query])
    key = best if key is None else key
    if kind == "no_numbers" or not np.isfinite(row[key]) or row[key] <= 0:
        return None
    is_itself = weights.is_self and query == key
    word = WORDS["itself"] if is_itself else _word(weights.keys[key])
    said = fill(WORDS["takes"], query=(("token", _word(weights.queries[query])),), key=(("token", word),))
    is_share = kind == "shares"
    number = percent(float(row[key])) if is_share else localised(short(float(row[key])))
    whole = "".join(words for _, words in said)
    brief = WORDS["in_short"].replace("{amount}", number).replace("{said}", whole)
    return Telling(head, query, key, said, WORDS["share" if is_share else "weight"].format(amount=number), brief)


def _word(token: str) -> str:
    return cut(clean(visible_token(token)), LONGEST_WORD)


def facts(config: Config) -> tuple[str, ...]:
    """Return what a setting is made of, in a few words each, what matters most first.

    >>> facts(Config(mask=("causal", "window")))
    ('4 heads', 'causal', 'sliding window', '16 wide', 'scaled dot product')
    """
    layers = (COUNTS["layer"].format(n=config.n_layers),) if config.n_layers > 1 else ()
    masks = tuple(within_sentence(translate(MASKS[name].label)) for name in config.mask if name != "none")
    score = within_sentence(translate(SCORES[config.score].label))
    return (COUNTS["head"].format(n=config.n_heads), *layers, *masks, WORDS["width"].format(n=config.d_model), score)


def sentence(config: Config) -> str:
    """Return the sentence of a setting between quotation marks, cut where it is long; empty where it has none."""
    said = clean(" ".join(config.sentence[: 4 * LONGEST_SENTENCE].split()))
    return translate(QUOTED, token=cut(said, LONGEST_SENTENCE)) if said else ""


def title(config: Config, brief: str = "") -> str:
    """Return what a link shows, in one line; without `brief`, as nothing was computed, its sentence.

    >>> title(Config(sentence="the cat sat", mask="causal"), "cat attends to the (52 %)")
    'cat attends to the (52 %) · 4 heads, causal'
    """
    n_masks = sum(name != "none" for name in config.mask)
    named = facts(config)[: 1 + (config.n_layers > 1) + n_masks]
    return " · ".join(filter(None, (brief or sentence(config), sign(", ").join(named))))


def about(config: Config, trace: Trace | None) -> str:
    """Return a sentence or two on a setting: its words, what is shown, and where the numbers come from."""
    said = headline(trace) if trace is not None else (f"{', '.join(facts(config))}{full_stop()}",)
    return sign(" ").join(filter(None, (sentence(config), *said)))
