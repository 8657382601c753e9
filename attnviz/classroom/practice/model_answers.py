"""Questions to be answered in one's own words, each with a model answer and the change of setting that is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnviz.settings.language import Words

ASK = Words(
    {
        "scale": "Why are the scores divided by √d_k before softmax?",
        "infinity": "Why does a mask put −∞ into a score, and not 0?",
        "causal": "Why may a word of a language model not attend to the words after it?",
        "rows": "Why does every row of the weights add to 1, and a column as a rule not?",
        "order": "Without positions, what does a word know of the order of the words? Why?",
        "value": "A word has a query, a key and a value. What is each of them for?",
    }
)
ANSWER = Words(
    {
        "scale": "A score adds d_k products, so its spread grows as √d_k. Wide heads would give nearly all weight to "
        "one key, and the slope of softmax would be close to zero there. Dividing by √d_k keeps the spread near 1 at "
        "every width.",
        "infinity": "Softmax takes e to the power of the score. e to the power of −∞ is 0, so the key gets no weight. "
        "e to the power of 0 is 1: a forbidden key would still get a share.",
        "causal": "It is trained to predict the next word at every position at once. If it could attend to the words "
        "after it, the answer would be among what it reads, and nothing would be learned that helps while writing.",
        "rows": "Softmax runs along a row: a query divides a total of 1 among the keys. A column collects what all "
        "queries give one key, and nothing holds that sum fixed.",
        "order": "Nothing. A score depends on the two vectors alone, so the same words elsewhere give the same "
        "scores in another order. Only a mask or positions tell where a word stands.",
        "value": "The query says what a word looks for, and the key what it is found by: their product is the score. "
        "The value is what a word passes on, in proportion to its weight.",
    }
)
CHANGES: Mapping[str, Mapping[str, Any]] = {
    "scale": {"d_k": 16, "score": "dot"},
    "infinity": {"mask": "causal"},
    "causal": {"mask": "causal"},
}


def answers() -> Sequence[tuple[str, str, Mapping[str, Any]]]:
    """Return each question, its model answer, and what is otherwise in its setting."""
    return [(ASK[name], ANSWER[name], CHANGES.get(name, {})) for name in ASK]
