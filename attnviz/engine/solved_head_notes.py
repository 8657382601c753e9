"""The sentences on heads set by hand that do not attend to what they were made for."""

from __future__ import annotations

from attnviz.settings.counting import ordinal
from attnviz.settings.language import Plural, Words, translate

MISSED = (
    "{where}{heads} should attend to {goal}; the least that goes there is {share:.2f}, in row {row}, “{token}”{why}."
)
SEVERAL_MISSED = (
    "{where}{heads} should attend to {goals}, in this order; the least that goes there is {share:.2f}, in head {head} "
    "row {row}, “{token}”{why}."
)
SHARED_MISSED = (
    "{where}{heads} should attend to {goals}; the least that goes there is {share:.2f}, in head {head} row {row}, "
    "“{token}”{why}."
)
HALF = (
    "{heads}: one layer holds only the first half of induction, a head that attends to the previous token; the other "
    "half needs a second layer."
)
NEARLY = Plural(
    "{where}{heads} should attend to {goal}, and does so only nearly{why}.",
    "{where}{heads} should attend to {goal}, and do so only nearly{why}.",
)
LARGE = Plural(
    "{where}{heads}: rows of X are so nearly dependent that W_Q or W_K has entries up to {largest}; the last digits of "
    "its scores depend on the order in which products are added.",
    "{where}{heads}: rows of X are so nearly dependent that W_Q or W_K has entries up to {largest}; the last digits of "
    "their scores depend on the order in which products are added.",
)
NOTHING = (
    "{where}{heads} should attend to {goal}; where there is none to attend to (rows: {n}), their weights mean nothing."
)
NEW = "{where}{heads}: a word that comes for the first time (rows: {n}) has nothing to find, and its row means nothing."
WHY = Words(
    {
        "hidden": "the mask hides it",
        "score": "the construction is made for products of queries and keys",
        "narrow": "the construction needs two columns a head",
        "tied": "with W_K = W_Q a token can only ask for what it answers to itself",
        "cross": "keys come from the second sentence, where the first layer writes nothing",
        "norm": "the construction is not made for layer norm",
        "residual": "without residual connections the words do not reach the second layer",
        "causal": "it needs the causal mask",
        "bos": "it needs <bos>, as the first token can only attend to itself",
        "turned": "RoPE rotates queries and keys after they were set",
        "rows": "there are more tokens than the {room} that this embedding size can tell apart for certain",
        "alike": "without positions, equal words are equal rows of X",
        "dependent": "the rows of X are too nearly dependent; a larger embedding size may help",
        "edited": "numbers were changed by hand",
        "changed": "this setting is not the one that it is made for: {setting}",
        "blunt": "a higher sharpness helps",
    }
)
"""Why a head can miss what it should attend to, to stand after a colon."""


def heads_in_words(heads: list[int]) -> str:
    """Return heads, counted from 0, as a sentence begins: head 2, or heads 1, 2 and 4."""
    named = [str(ordinal(h)) for h in heads]
    if len(named) == 1:
        return translate("head {n}", n=named[0])
    return translate("heads {heads} and {last}", heads=", ".join(named[:-1]), last=named[-1])
