"""Each head in a few words: its name, which is the same wherever it stands, its kind, and how clear that is."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.analysis.all_heads import all_kinds, open_weights
from attnviz.analysis.head_kinds import HeadKind
from attnviz.engine.records.trace import Trace
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, aside, sign
from attnviz.text import head_roles
from attnviz.text.cell_sentence import percent
from attnviz.text.format.number_format import localised
from attnviz.text.format.patch_words import has_patches, said
from attnviz.text.goal_label import goal_labels
from attnviz.text.query_sentences import visible_token

WORDS = Words(
    {
        "previous": "previous token",
        "previous_often": "often the previous token",
        "self": "mostly itself",
        "self_often": "often itself",
        "next": "next token",
        "next_often": "often the next token",
        "same": "the same word elsewhere",
        "same_often": "often the same word",
        "article": "from an article to its noun",
        "article_often": "often article to noun",
        "first": "first token",
        "first_often": "often the first token",
        "word": "mostly “{word}”",
        "word_often": "often “{word}”",
        "spread": "over {n:.1f} words",
        "share": "{amount} of its weight on average",
        "share_same": "{amount} of the weight of words that stand twice",
        "share_article": "{amount} of the weight of articles",
        "most": "most of all to {word}: {amount}",
        "position": "layer {layer}, head {head}",
        "keys": "a row spreads over {n:.1f} of {all} words",
        "here": "here: {name}",
        "none": "no shares to compare",
        "no_row": "each row is all zeros or has a weight below 0",
    }
)

SHORT = Words({"previous": "previous", "self": "itself", "next": "next", "same": "same word", "article": "→ noun"})

MOST = 0.5
"""A head gives most of its weight to what gets more than this part of it; less is often."""


def names(trace: Trace, layer: int, kinds: Sequence[HeadKind]) -> list[str]:
    """Return the name of each head of a layer: what it was made for, what it does by test, or where its weight goes.

    kinds  of the layer's heads, in their order
    """
    tested = head_roles.of_card(trace)
    return list(goal_labels(trace, layer)) or [
        head_roles.heading(tested, layer, each.head)
        or _here(title(each, visible_token(trace.key_tokens[each.key]), patches=has_patches(trace)), tested)
        for each in kinds
    ]


def _here(name: str, tested: head_roles.Roles) -> str:
    """Return a name that is of this sentence alone, marked as such where other heads are named by test."""
    return WORDS["here"].replace("{name}", name) if tested else name


def short(head_kind: HeadKind, word: str) -> str:
    """Return the title of a head in a word or two, to stand below a small picture.

    >>> short(HeadKind(0, "article", 0.9, 2, 1.6), "sat"), short(HeadKind(0, "word", 0.5, 2, 1.6), "sat")
    ('→ noun', 'sat')
    """
    return SHORT.get(head_kind.kind, word)


def about(head_kind: HeadKind, word: str, at: tuple[int, int], keys: int, name: str) -> str:
    """Describe a head in one line with its position, `at`: its layer and its number in it, from 0.

    name  what it is called, of `names`

    >>> about(HeadKind(0, "previous", 0.93, 2, 1.24), "sat", (0, 2), 7, "previous token")
    'layer 1, head 3: previous token, 93 % of its weight on average'
    """
    position = WORDS["position"].format(layer=ordinal(at[0]), head=ordinal(at[1]))
    return aside(position + sign(": ") + name, lines(head_kind, word, keys, name)[0])


def title(head_kind: HeadKind, word: str, *, patches: bool = False) -> str:
    """Return where most of a head's weight goes; `word` is the one with the most weight.

    >>> title(HeadKind(0, "word", 0.6, 2, 1.6), "sat"), title(HeadKind(0, "word", 0.4, 2, 1.6), "sat")
    ('mostly “sat”', 'often “sat”')
    >>> title(HeadKind(0, "previous", 0.42, 2, 6.31), "sat"), title(HeadKind(0, "spread", 0.2, 2, 6.31), "sat")
    ('often the previous token', 'over 6.3 words')
    """
    if not head_kind.has_shares:
        return WORDS["none"]
    is_rare = head_kind.kind != "spread" and head_kind.share <= MOST
    words = said(WORDS, f"{head_kind.kind}_often" if is_rare else head_kind.kind, patches=patches)
    return localised(words.format(n=head_kind.keys)) if head_kind.kind == "spread" else words.replace("{word}", word)


def lines(head_kind: HeadKind, word: str, keys: int, name: str = "") -> tuple[str, str]:
    """Describe the share of a head's weight on that relation, and the number of words that a row spreads over.

    name  what the head is called; where that is something else, the relation is named, too

    >>> lines(HeadKind(0, "previous", 0.93, 2, 1.24), "sat", 7)
    ('93 % of its weight on average', 'a row spreads over 1.2 of 7 words')
    >>> lines(HeadKind(0, "self", 0.62, 2, 1.24), "sat", 7, "similar meaning")[0]
    'mostly itself, 62 % of its weight on average'
    """
    if not head_kind.has_shares:
        return WORDS["no_row"], ""
    amount = percent(head_kind.share)
    which = {"spread": "most", "same": "share_same", "article": "share_article"}.get(head_kind.kind, "share")
    first = WORDS[which].replace("{amount}", amount).replace("{word}", word)
    relation = title(head_kind, word)
    first = first if not name or name == relation else aside(relation, first)
    return first, localised(WORDS["keys"].format(n=head_kind.keys, all=keys))


def what_heads_do(trace: Trace, layer: int) -> list[tuple[str, str]]:
    """Return for each head of a layer what it does on this sentence, in a word, if one says it, and in a line."""
    kinds = all_kinds(trace, open_weights(trace.layers[layer]))
    sentences = []
    for each, name in zip(kinds, names(trace, layer, kinds)):
        word = visible_token(trace.key_tokens[each.key])
        named = "" if each.kind == "spread" else short(each, word)
        sentences.append((named, about(each, word, (layer, each.head), len(trace.key_tokens), name)))
    return sentences
