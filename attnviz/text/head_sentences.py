"""Each head in a few words: its kind, and how clear that is."""

from __future__ import annotations

from attnviz.analysis.all_heads import all_kinds, open_weights
from attnviz.analysis.head_kinds import HeadKind
from attnviz.engine.records.trace import Trace
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.text.query_sentences import visible_token

WORDS = Words(
    {
        "previous": "previous token",
        "self": "the word itself",
        "next": "next token",
        "same": "the same word elsewhere",
        "article": "from an article to its noun",
        "first": "first token",
        "word": "mostly {word}",
        "spread": "spreads over {n:.1f} words",
        "share": "{amount} of its weight on average",
        "share_same": "{amount} of the weight of words that stand twice",
        "share_article": "{amount} of the weight of articles",
        "most": "most of all to {word}: {amount}",
        "position": "layer {layer}, head {head}",
        "keys": "a row spreads over {n:.1f} of {all} words",
        "none": "no shares to compare",
        "no_row": "each row is all zeros or has a weight below 0",
    }
)

SHORT = Words({"previous": "previous", "self": "itself", "next": "next", "same": "same word", "article": "→ noun"})


def short(head_kind: HeadKind, word: str) -> str:
    """Return the title of a head in a word or two, to stand below a small picture.

    >>> short(HeadKind(0, "article", 0.9, 2, 1.6), "sat"), short(HeadKind(0, "word", 0.5, 2, 1.6), "sat")
    ('→ noun', 'sat')
    """
    return SHORT.get(head_kind.kind, word)


def about(head_kind: HeadKind, word: str, at: tuple[int, int], keys: int) -> str:
    """Describe a head in one line with its position, `at`: its layer and its number in it, from 0.

    >>> about(HeadKind(0, "previous", 0.93, 2, 1.24), "sat", (0, 2), 7)
    'layer 1, head 3: previous token, 93 % of its weight on average'
    """
    position = WORDS["position"].format(layer=ordinal(at[0]), head=ordinal(at[1]))
    return f"{position}: {title(head_kind, word)}, {lines(head_kind, word, keys)[0]}"


def title(head_kind: HeadKind, word: str) -> str:
    """Return the title of a head: where most of its weight goes; `word` is the one with the most weight.

    >>> title(HeadKind(0, "word", 0.5, 2, 1.6), "sat"), title(HeadKind(0, "spread", 0.2, 2, 6.31), "sat")
    ('mostly sat', 'spreads over 6.3 words')
    """
    if not head_kind.has_shares:
        return WORDS["none"]
    return (
        WORDS[head_kind.kind].replace("{word}", word)
        if head_kind.kind == "word"
        else WORDS[head_kind.kind].format(n=head_kind.keys)
    )


def lines(head_kind: HeadKind, word: str, keys: int) -> tuple[str, str]:
    """Describe the share of a head's weight on that relation, and the number of words that a row spreads over.

    >>> lines(HeadKind(0, "previous", 0.93, 2, 1.24), "sat", 7)
    ('93 % of its weight on average', 'a row spreads over 1.2 of 7 words')
    """
    if not head_kind.has_shares:
        return WORDS["no_row"], ""
    amount = percent(head_kind.share)
    which = {"spread": "most", "same": "share_same", "article": "share_article"}.get(head_kind.kind, "share")
    first = WORDS[which].replace("{amount}", amount).replace("{word}", word)
    return first, WORDS["keys"].format(n=head_kind.keys, all=keys)


def what_heads_do(trace: Trace, layer: int) -> list[tuple[str, str]]:
    """Return for each head of a layer what it does on this sentence, in a word, if one says it, and in a line."""
    kinds = all_kinds(trace, open_weights(trace.layers[layer]))
    sentences = []
    for each in kinds:
        word = visible_token(trace.key_tokens[each.key])
        named = "" if each.kind == "spread" else short(each, word)
        sentences.append((named, about(each, word, (layer, each.head), len(trace.key_tokens))))
    return sentences
