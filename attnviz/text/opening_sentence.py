"""The sentence that opens the page: which word is most worth looking at, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz.analysis.statistics import shares
from attnviz.arrays import Array
from attnviz.engine.head_goals import rows_without_goal
from attnviz.engine.records.trace import Trace
from attnviz.settings.language import Words
from attnviz.text.format.sentence_parts import within_sentence
from attnviz.text.provenance import origin

WORDS = Words(
    {
        "shows": "Attention: how much each word attends to every word.",
        "crossed": "Attention: how much each word attends to the words of the other sentence.",
        "takes": "{query} attends to {key} ({amount}).",
        "takes_two": "{query} attends to {key} ({amount}) and {other} ({more}).",
        "weighs": "{query} puts weight {amount} on {key}.",
        "nothing": "{query} attends to no word.",
        "no_numbers": "{query} has weights that are not finite numbers.",
        "itself": "itself",
        "head": "head {n}",
        "random": "random numbers, no meaning yet",
        "by_hand": "made by hand",
        "sentence": "The sentence",
        "masked": "may not be attended to",
    }
)
SURE = 0.93  # a weight above this tells less: it is nearly all there is
PLAIN = 0.3  # where no weight below that is larger than this, a sure one is better than none
ALIKE = 0.02  # of weights that hardly differ, the last of the sentence
FAR = 0.25  # what the distance over the whole sentence takes from a weight
HALF = 0.5  # two words apart that take more than this of what each gives to others tell most, however sure they are
QUARTER = 0.25  # and at least this of all that each takes


def telling(
    trace: Trace,
    layer: int,
    head: int | None = None,
    queries: Sequence[int] | None = None,
    keys: Sequence[int] | None = None,
) -> tuple[int, int, int]:
    """Return head, query and key of the weight that tells most: large, and between two words.

    It is not all there is, unless the two take most from each other and are not neighbours. Rows of heads set by hand
    that have nothing to attend to are left out. Where numbers of one row were changed by hand, it is the largest there.

    head  look in this head alone;  queries, keys  and at these positions, in ascending order

    >>> from attnviz import Config, run
    >>> trace = run(Config(sentence="the cat sat", initialiser="by_hand"))
    >>> head, query, key = telling(trace, 0)
    >>> trace.query_tokens[query], trace.key_tokens[key]
    ('sat', 'cat')
    """
    array = trace.layers[layer]["weights"].array
    _, n, m = array.shape
    rows = np.arange(n) if queries is None else np.array(queries, int)
    columns = np.arange(m) if keys is None else np.array(keys, int)
    array = np.where(np.isfinite(array), array, 0.0)
    changed = _changed(trace, layer, head, rows)
    if changed is not None:
        return *changed, int(columns[np.argmax(array[changed][columns])])
    weights = array[:, rows][:, :, columns]
    worth, mutual = _worth(trace, layer, array, rows, columns)
    if head is not None:
        worth[np.arange(len(worth)) != head] = -np.inf
    doubtful = np.where((weights < SURE) | mutual, worth, -np.inf)
    best = doubtful if doubtful.max() > PLAIN else worth
    ties = np.argwhere(best >= best.max() - ALIKE)
    head, query, key = (int(at) for at in ties[ties[:, 0] == ties[0, 0]][-1])
    return head, int(rows[query]), int(columns[key])


def _worth(trace: Trace, layer: int, array: Array, rows: Array, columns: Array) -> tuple[Array, Array]:
    """Return how much each weight tells, and which are between two words that take most from each other."""
    _, n, m = array.shape
    weights = array[:, rows][:, :, columns]
    positions, others = rows[:, None], columns
    far = FAR * np.abs(positions / max(n, 1) - others / max(m, 1))
    mutual = np.zeros_like(weights, bool)
    if not trace.config.is_cross_attention:
        mutual = _mutual(array)[:, rows][:, :, columns]
        mutual &= np.abs(positions - others) > 1
    worth = weights - far + mutual
    worth[rows_without_goal(trace, layer)[:, rows]] -= 6.0
    asking, read = (np.array(tokens, object) for tokens in (trace.query_tokens, trace.key_tokens))
    same = (asking[rows][:, None] == read[columns]).astype(bool)
    worth[np.broadcast_to(same & (not trace.config.is_cross_attention), worth.shape)] -= 2.0
    return worth, mutual


def _changed(trace: Trace, layer: int, head: int | None, rows: Array) -> tuple[int, int] | None:
    """Return head and query of the only row of which numbers were changed by hand; None where there is none such."""
    steps = trace.layers[layer]
    changed = {
        index[:2]
        for at, name, index, _ in trace.edits
        if at == layer and name in steps and steps[name].axes[:2] == ("head", "query")
    }
    if len(changed) != 1:
        return None
    of, row = changed.pop()
    return (of, row) if head in (None, of) and row in rows else None


def _mutual(A: Array) -> Array:
    """Return where two words take most of what each gives to others from each other. Shape (heads, words, words)."""
    of_others = shares(A * (1.0 - np.eye(A.shape[-1])))
    return (np.minimum(of_others, of_others.swapaxes(-1, -2)) > HALF) & (np.minimum(A, A.swapaxes(-1, -2)) > QUARTER)


def describe_origin(trace: Trace) -> str:
    """Describe the origin of the numbers, in a few words."""
    source = origin(trace)
    name = {"random": "random", "random_own": "random", "mixed": "random", "hand": "by_hand", "solved": "by_hand"}
    return within_sentence(source.label) if source.edited or source.name not in name else WORDS[name[source.name]]
