"""`compare`: how far two checkpoints are apart over many texts, head by head and layer by layer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from attnviz.analysis import statistics
from attnviz.analysis.corpus.study import AXES, ModelOf, Study, Sums, given, measure, model_of
from attnviz.arrays import Array
from attnviz.engine.numerics import cancellation
from attnviz.engine.records.trace import Step, Trace, result_of
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

MEANINGS = Words(
    {
        "distance": "the part of a row's weight that lies elsewhere in the other model, 0 to 1",
        "states": "how far the vectors after a layer are apart, over their length in the first model",
        "change": "{name}: the second model's less the first's",
    }
)
FAULTS = Words(
    {
        "tokens": "text {n} has other tokens in the second model; compare checkpoints with one tokeniser",
        "sizes": "the first model has {a} layers and heads, the second {b}; compare checkpoints of one size",
    }
)


@dataclass(frozen=True, repr=False)
class Comparison(Study):
    """The differences between two models over some texts: `found["entropy"]` is how far that moved, second less first.

    `found["distance"]` (layers, heads) is the total variation distance of the weights, the mean over all rows;
    `found["states"]` (layers,) the relative distance of the vectors after each layer, the mean over all tokens.

    a, b   the studies of the two models
    kinds  (layers, heads): the kind of each head in both, or the two with an arrow between them
    """

    a: Study
    b: Study


def compare(model_a: ModelOf, model_b: ModelOf, texts: Iterable[str]) -> Comparison:
    r"""Return how far two models, such as two checkpoints of one, are apart over many texts, read one at a time.

    model_a, model_b, texts  as `study` takes them; both models must cut a text into the same tokens

    Distances of weights are $\tfrac12 \sum_j |p_j - q_j|$ of the shares of a row, those of states
    $\lVert y - x \rVert / \lVert x \rVert$.

    Raises ConfigError as `study`, and for models of other sizes or other tokens.

    >>> from attnviz import Config
    >>> found = compare(Config(temperature=1.0), Config(temperature=0.5), ["the cat sat", "a dog"])
    >>> (found["entropy"].array < 0).all(), found["states"].axes
    (np.True_, ('layer',))
    """
    models, sums, apart = (model_of(model_a), model_of(model_b)), (Sums(), Sums()), Sums()
    for n, text in enumerate(given(texts), 1):
        cancellation.check()
        a, b = (model(text) for model in models)
        for each, trace in zip(sums, (a, b)):
            each.add(trace)
        _add(apart, n, a, b)
    one, other = (each.study() for each in sums)
    return _comparison(one, other, apart)


def _add(apart: Sums, n: int, a: Trace, b: Trace) -> None:
    """Add the distances of two runs of one text."""
    sizes = [f"{len(trace.layers)} and {trace.config.n_heads}" for trace in (a, b)]
    if sizes[0] != sizes[1]:
        raise ConfigError(FAULTS["sizes"].format(a=sizes[0], b=sizes[1]))
    if (a.query_tokens, a.key_tokens) != (b.query_tokens, b.key_tokens):
        raise ConfigError(FAULTS["tokens"].format(n=n))
    P, Q = (statistics.shares(np.stack([steps["weights"].array for steps in trace.layers])) for trace in (a, b))
    apart.copying = np.zeros(P.shape[:2])
    apart.add_rows("distance", 0.5 * np.abs(P - Q).sum(axis=-1))
    X, Y = (_states(trace) for trace in (a, b))
    if X.shape == Y.shape:
        with np.errstate(all="ignore"):
            apart.add_rows("states", np.linalg.norm(Y - X, axis=-1) / np.linalg.norm(X, axis=-1))


def _states(trace: Trace) -> Array:
    """Return the vectors after each layer: (layers, tokens, width), zeros behind those that are narrower."""
    each = [result_of(steps).array for steps in trace.layers]
    each = [np.moveaxis(x, 0, 1).reshape(x.shape[1], -1) if x.ndim == 3 else x for x in each]
    wide = max(x.shape[-1] for x in each)
    return np.stack([np.pad(x, ((0, 0), (0, wide - x.shape[-1]))) for x in each])


def _comparison(one: Study, other: Study, apart: Sums) -> Comparison:
    measures: dict[str, Step] = {"distance": _apart("distance", apart.mean("distance"))}
    if "states" in apart.totals:
        measures["states"] = _apart("states", apart.totals["states"] / np.maximum(apart.counts["states"], 1), AXES[:1])
    for name in one:
        meaning = MEANINGS["change"].format(name=one[name].meaning.rstrip("."))
        measures[name] = measure(name, other[name].array - one[name].array, kind="signed", meaning=meaning)
    kinds = np.where(one.kinds == other.kinds, one.kinds, one.kinds + " → " + other.kinds)
    return Comparison(measures, kinds, one.n_texts, one.n_rows, one, other, elsewhere=one.elsewhere)


def _apart(name: str, array: Array, axes: tuple[str, ...] = AXES) -> Step:
    return measure(name, array, axes=axes, meaning=MEANINGS[name])
