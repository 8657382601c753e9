"""The links of the gallery in docs/: a title, a sentence, and the settings that differ from the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Shown:
    """One link: what it shows, in a sentence, and its settings by their names in an address."""

    title: str
    about: str
    link: Mapping[str, str]


KING = {"sentence": "the king and his queen saw a dog and a cat", "initialiser": "by_hand", "n_heads": "1"}
AGAIN = {"sentence": "A B C D A B C", "bos": "yes", "n_heads": "1", "initialiser": "by_hand", "patterns": "induction",
         "mask": "causal", "n_layers": "2", "residual": "yes", "layer": "2"}  # fmt: skip
CAT = {"sentence": "the cat sat on the warm mat", "n_heads": "2"}
LONG = {"sentence": "one two three four five six seven eight nine ten eleven twelve", "n_heads": "1"}


def _of(base: Mapping[str, str], **more: str) -> dict[str, str]:
    return {**base, **more}


LINKS = {
    "similar-meaning": Shown(
        "Similar meaning", "A head made by hand: king and queen, dog and cat.",
        _of(KING, embedding="meaning", patterns="alike", mask="no_self", head="1", query="2"),
    ),
    "previous-token": Shown(
        "The previous token", "Positions alone, no words: each token attends to the one before.",
        _of(KING, patterns="previous", position="sinusoidal", head="1", query="4"),
    ),
    "same-word": Shown(
        "The same word", "A word finds itself elsewhere.",
        _of(KING, sentence="a rose is a rose is a rose", patterns="same_word", mask="no_self", head="1", query="5"),
    ),
    "first-token": Shown(
        "A sink", "All weight on the first token, as many heads of trained models do where they have nothing to say.",
        _of(KING, patterns="first", head="1", query="6"),
    ),
    "induction": Shown(
        "Induction", "Two layers: what followed the same token before.", _of(AGAIN, head="1", query="6"),
    ),
    "causal": Shown("The causal mask", "None attends to a later one.", _of(CAT, mask="causal", head="1", query="5")),
    "window": Shown(
        "A sliding window", "Two tokens to either side.", _of(LONG, mask="window", head="1", query="6"),
    ),
    "dilated": Shown(
        "A dilated window", "Every second token of a wider one.",
        _of(LONG, mask="dilated", reach="3", head="1", query="6"),
    ),
    "blocks": Shown("Blocks", "Tokens attend within their block.", _of(LONG, mask="block", head="1", query="6")),
    "prefix": Shown(
        "A prefix, then causal", "The first tokens see each other, as the input of a T5-like decoder does.",
        _of(LONG, mask="prefix", head="1", query="8"),
    ),
    "global-tokens": Shown(
        "Global tokens", "A window, and one token that sees all and is seen by all.",
        _of(LONG, mask="global_window", head="1", query="8"),
    ),
    "typed-mask": Shown(
        "A typed mask", "Any line: here strides of three.",
        _of(LONG, mask="formula", mask_formula="j <= i and (i - j) % 3 == 0", head="1", query="10"),
    ),
    "additive": Shown(
        "Bahdanau's score", "tanh of a sum, weighed by a vector.", _of(CAT, score="additive", head="1", query="3"),
    ),
    "cosine": Shown("Cosine", "Only the angle counts.", _of(CAT, score="cosine", head="1", query="3")),
    "typed-score": Shown(
        "A typed score", "Any line: here near keys count more.",
        _of(CAT, score="formula", score_formula="sum(tanh(q*k)) - abs(i-j)", head="1", query="4"),
    ),
    "no-scale": Shown(
        "Without 1/√d_k", "The softmax of large scores is nearly one token.",
        _of(CAT, score="dot", d_k="16", head="1", query="4"),
    ),
    "sparsemax": Shown(
        "Sparsemax", "Weights that are exactly zero.", _of(CAT, normaliser="sparsemax", head="1", query="4"),
    ),
    "hardmax": Shown("Hardmax", "All on the largest score.", _of(CAT, normaliser="hardmax", head="1", query="4")),
    "temperature": Shown(
        "A warm softmax", "At temperature 8 little is preferred.", _of(CAT, temperature="8", head="1", query="4"),
    ),
    "wrong-axis": Shown(
        "The wrong axis", "A softmax over the queries: columns add to 1, rows do not.",
        _of(CAT, normalise_over="queries", head="1", query="4"),
    ),
    "alibi": Shown(
        "ALiBi", "A bias that grows with distance.", _of(LONG, bias="alibi", mask="causal", head="1", query="10"),
    ),
    "rope": Shown(
        "Rotary positions", "Queries and keys turned by their positions.",
        _of(LONG, position="rope", embedding="one_hot", head="1", query="7"),
    ),
    "cross-attention": Shown(
        "Two sentences", "Queries of one attend to keys of another.",
        _of(CAT, second_sentence="die Katze lag auf der warmen Matte", head="1", query="2"),
    ),
    "translation": Shown(
        "A head that learned to translate", "Trained for 120 steps, from nothing.",
        {"sentence": "begin le chat noir voit un", "second_sentence": "the black cat sees a dog", "d_model": "64",
         "position": "random", "n_heads": "1", "d_k": "32", "d_v": "64", "initialiser": "learned",
         "task": "translation", "learn_steps": "120", "head": "1", "query": "3"},
    ),
}  # fmt: skip
"""The links by the names of their pictures."""
