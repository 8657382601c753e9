"""A Trace of attention that was computed elsewhere: from weights, from scores, or from queries, keys and values.

It holds the steps that were given and those that follow from them, and no others. What was given is never altered;
what is odd about it is said in the notes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.attention import steps_of_attention
from attnviz.engine.external.arrays import finite, is_generated, labels_of, stack, tokens_of
from attnviz.engine.external.notes import NOTES, closed_cells, layers_or_batch, masked_entries, oddities, slack
from attnviz.engine.plan.chosen import Chosen
from attnviz.engine.plan.formulas import attention_formulas
from attnviz.engine.plan.operations import joined
from attnviz.engine.recorded_layer import mask_of
from attnviz.engine.records.config import Config
from attnviz.engine.records.head_settings import divisors
from attnviz.engine.records.trace import Step, Steps, Trace
from attnviz.engine.records.typed_rows import check_nothing_learned, normaliser_of, score_of
from attnviz.engine.run_notes import note_empty_rows
from attnviz.engine.tables.masks import MASKS, Tokens
from attnviz.engine.tables.scores import SCORES, Score, of_formula
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.fields import number, settings, switch, widths
from attnviz.settings.language import translate

MOST_HEADS, MOST_LAYERS, MOST_WIDTH = 128, 128, 1024
FIRST = ("queries", "scores", "weights")
"""The step with which a layer can begin."""

SETTING = (
    "score",
    "score_formula",
    "scale",
    "softcap",
    "normaliser",
    "normaliser_formula",
    "temperature",
    "normalise_over",
)
"""The fields that apply to external numbers, with the masks and what they use."""


@dataclass(frozen=True)
class ExternalConfig(Config):
    """The setting of attention that was given: as many heads and layers as came, and only what applies to them.

    `is_cross` says that the keys are other tokens than the queries. For given scores and weights the score and the
    widths mean nothing.
    """

    n_heads: int = number(1, 1, MOST_HEADS, label="Heads")
    n_kv_heads: int | None = number(
        None, 1, MOST_HEADS, none="as many as heads", offered=divisors, label="Key/value heads"
    )
    n_layers: int = number(1, 1, MOST_LAYERS, label="Layers")
    d_k: int | tuple[int, ...] = widths(1, 1, MOST_WIDTH, most=1, label="Width of queries and keys, d_k")
    d_v: int | tuple[int, ...] = widths(1, 1, MOST_WIDTH, most=1, label="Width of values, d_v")
    is_cross: bool = switch(False, label="Keys of their own")

    @property
    def is_cross_attention(self) -> bool:
        return self.is_cross


def is_external(trace: Trace) -> bool:
    """Return whether the trace begins with numbers that were brought along, not with a sentence."""
    return isinstance(trace.config, ExternalConfig)


def first_steps(steps: Mapping[str, Step]) -> tuple[str, ...]:
    """Return the steps of a layer that were given and not computed; none in a run."""
    if "w_q" in steps:
        return ()
    first = next(name for name in FIRST if name in steps)
    return ("queries", "keys", "values") if first == "queries" else (first,)


def forbidden(steps: Mapping[str, Step]) -> Array:
    """Return True where a query may not attend to a key: (heads, queries, keys). Nowhere if only weights were given."""
    if "masked" in steps:
        return np.isneginf(steps["masked"].array)
    return np.zeros(steps["weights"].shape, dtype=bool)


def are_shares(trace: Trace, layer: int) -> bool:
    """Return whether every row of the weights is shares of one.

    As the normaliser promises, or as the given numbers are.
    """
    steps = trace.layers[layer]
    if "masked" in steps:
        return normaliser_of(trace.config).sums_to_one and trace.config.normalise_over == "keys"
    A = steps["weights"].array
    return bool((A >= 0).all() and (abs(A.sum(axis=-1) - 1) <= slack(A)).all())


def of_weights(
    weights: Any,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    batch: int | None = None,
) -> Trace:
    """Return a Trace with weights alone.

    weights       (queries, keys), (heads, queries, keys), (layers, heads, queries, keys), or a tuple with an array a
                  layer, such as the `attentions` of a model, each (batch, heads, queries, keys); or the whole output,
                  that of `generate` too; or a dictionary with an array a layer, such as a cache of TransformerLens
    query_tokens  a token a query, numbered if left out;  `key_tokens` likewise, those of the queries if left out; a
                  data frame has them as its labels. Of what `generate` wrote, the last token may be among them, which
                  the model did not read: it is left out, and a note says so
    batch         which element, where a batch axis holds several

    Weights below zero and rows that do not add to one stay as they are; the notes tell where they are.

    Raises ConfigError for shapes that do not fit, and for NaN and infinity.

    >>> trace = of_weights([[1.0, 0.0], [0.5, 0.5]], ["a", "b"])
    >>> list(trace.layers[0]), trace["weights"].shape
    (['weights'], (1, 2, 2))
    """
    A = finite("weights", stack("weights", weights, batch))
    notes = masked_entries(weights) + layers_or_batch(weights, batch)
    if is_generated(weights) and key_tokens is None and _is_one_more(query_tokens, A.shape[-1]):
        *query_tokens, last = query_tokens or ()
        notes.append(NOTES["last"].replace("{token}", last))
    tokens = _tokens(weights, A, query_tokens, key_tokens)
    config = _setting(None, tokens, n_layers=len(A), n_heads=A.shape[1])

    def record(layer: Steps, at: int, notes: list[str]) -> None:
        layer.record("weights", A[at], formula="A")

    return _trace(config, tokens, record, notes + oddities(A))


def _is_one_more(tokens: Sequence[str] | None, n: int) -> bool:
    """Return whether these are the tokens of n keys and one behind them."""
    return tokens is not None and len(tokens) == n + 1 and all(isinstance(token, str) for token in tokens)


def of_scores(
    scores: Any,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    config: Config | None = None,
    batch: int | None = None,
) -> Trace:
    """Return a Trace from scores on: scaled, capped, masked, weights.

    scores  shapes and tokens as in `of_weights`; -inf where a query may not attend, or what models write in its place:
            -9000 or less beside scores above -1000
    config  whose masks, scale, soft cap, normaliser and temperature apply; without a scale, 1

    Raises ConfigError for shapes that do not fit, and for NaN and plus infinity.

    >>> of_scores([[0.0, 0.0], [3.0, -np.inf]])["weights"].array
    array([[[0.5, 0.5],
            [1. , 0. ]]])
    """
    S = finite("scores", stack("scores", scores, batch), minus_infinity=True)
    closed, all_notes = closed_cells(S)
    tokens = _tokens(scores, S, query_tokens, key_tokens)
    setting = _setting(config, tokens, n_layers=len(S), n_heads=S.shape[1], score="dot")

    def record(layer: Steps, at: int, notes: list[str]) -> None:
        known = replace(SCORES["dot"], fn=lambda Q, K: S[at])
        nothing = np.zeros((S.shape[1], S.shape[-1], 0))
        _attention(layer, setting, known, S[at], S[at], nothing, tokens, closed=closed[at])

    return _trace(setting, tokens, record, all_notes)


def _tokens(
    value: Any, array: Array, queries: Sequence[str] | None, keys: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tokens of queries and keys: those that were given, or the labels of a data frame."""
    if queries is None and keys is None:
        queries, keys = labels_of(value)
    return tokens_of(array.shape[-2:], queries, keys)


def of_vectors(
    q: Any,
    k: Any,
    v: Any,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    config: Config | None = None,
    batch: int | None = None,
) -> Trace:
    """Return a Trace from queries, keys and values on: everything up to the heads side by side, which is the output.

    q       (queries, d_k), (heads, queries, d_k) or (layers, heads, queries, d_k)
    k, v    likewise with a row a key; of heads as many as q has, or fewer that divide them
    config  whose score, masks, scale, soft cap, normaliser and temperature apply; a score that needs matrices of its
            own cannot be had

    Raises ConfigError for shapes that do not fit, and for NaN and infinity.

    >>> of_vectors([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[1.0], [2.0]])["scores"].array
    array([[[1., 0.]]])
    """
    Q, K, V = (finite(name, stack(name, x, batch)) for name, x in {"q": q, "k": k, "v": v}.items())
    _check_vectors(Q, K, V)
    score = score_of(config) if config else SCORES["scaled_dot"]
    if score.parameters:
        raise ConfigError(
            translate(
                "the score {name} has matrices of its own; choose one without, such as scaled_dot",
                name=repr(score.name),
            )
        )
    if score.typed:
        score = of_formula(score, score.typed)  # heads of given vectors are of one width
    tokens = tokens_of((Q.shape[2], K.shape[2]), query_tokens, key_tokens)
    sizes = {"n_layers": len(Q), "n_heads": Q.shape[1], "n_kv_heads": K.shape[1]}
    setting = _setting(config, tokens, **sizes, d_k=Q.shape[3], d_v=V.shape[3])

    def record(layer: Steps, at: int, notes: list[str]) -> None:
        steps = {"queries": Q[at], "keys": K[at], "values": V[at]}
        q, k, v = (layer.record(name, x, formula=f"{name[0].upper()}_h") for name, x in steps.items())
        k, v = (np.repeat(x, setting.group_size, axis=0) for x in (k, v))
        C = layer.record("concat", joined(_attention(layer, setting, score, q, k, v, tokens)))
        layer.record("output", C, formula="Y = C")

    return _trace(setting, tokens, record)


def _check_vectors(Q: Array, K: Array, V: Array) -> None:
    shapes = translate(
        "q has shape {q}, k {k} and v {v} (layers, heads, rows, columns)", q=Q.shape, k=K.shape, v=V.shape
    )
    if not len(Q) == len(K) == len(V):
        raise ConfigError(translate("{given}; give the same number of layers of each", given=shapes))
    if K.shape[1:3] != V.shape[1:3] or Q.shape[1] % K.shape[1]:
        raise ConfigError(
            translate("{given}; give k and v the same rows and heads, as many heads as q or a divisor", given=shapes)
        )
    if Q.shape[3] != K.shape[3]:
        raise ConfigError(translate("{given}; q and k need the same number of columns", given=shapes))


def _setting(config: Config | None, tokens: tuple[tuple[str, ...], tuple[str, ...]], **known: Any) -> ExternalConfig:
    """Return the setting of a given trace: what `config` says of masks and weights, and what is known of the arrays."""
    if config is not None and not isinstance(config, Config):
        raise ConfigError(translate("config is {given}; give a Config", given=f"{config!r:.60}"))
    kept = {}
    if config is not None:
        check_nothing_learned(config)
        wanted = {*SETTING, "mask", *(used for row in MASKS.values() for used in row.uses)}
        kept = {item.name: getattr(config, item.name) for item in settings(config) if item.name in wanted}
    fixed = {"sentence": "", "position": "none", "output_projection": False}
    return ExternalConfig(**(kept | fixed | known), is_cross=tokens[0] != tokens[1] or len(tokens[0]) != len(tokens[1]))


def _attention(
    layer: Steps,
    config: ExternalConfig,
    score: Score,
    Q: Array,
    K: Array,
    V: Array,
    words: Tokens,
    closed: Array | None = None,
) -> Array:
    """Record everything from the scores on; `closed` is True where the given scores forbid the cell.

    Without a column in V there are no heads to record.
    """
    may = mask_of(layer, config, words)
    formulas = (
        attention_formulas(config, layer) if closed is None else attention_formulas(config, layer) | {"scores": "S"}
    )

    def record(name: str, array: Array) -> Array:
        return layer.record(name, array, formula=formulas.get(name)) if array.shape[-1] else array

    chosen = Chosen(
        score=score,
        normaliser=normaliser_of(config),  # type: ignore[arg-type]  # to a checker its score is a descriptor
        scale=score.scale(Q.shape[-1]) if config.scale is None else config.scale,
        softcap=config.softcap,
        temperature=config.temperature,
        over=config.normalise_over,
    )
    allowed = may if closed is None else may & ~closed
    return steps_of_attention(Q, K, V, chosen=chosen, bias=None, allowed=allowed, record=record)


def _trace(
    config: ExternalConfig,
    tokens: tuple[tuple[str, ...], tuple[str, ...]],
    record: Callable[[Steps, int, list[str]], None],
    notes: Sequence[str] = (),
) -> Trace:
    """Return every layer recorded, and what is to be said of them."""
    all_notes, sizes, layers = list(notes), dict[str, int](), []
    for at in range(config.n_layers):
        layer = Steps(translate("layer {n}", n=at), sizes, words=tokens)
        record(layer, at, all_notes)
        if "masked" in layer:
            where = translate("layer {n}, ", n=ordinal(at)) if config.n_layers > 1 else ""
            note_empty_rows(layer, config, where, all_notes)
        layers.append(layer)
    result = list(layers[-1].values())[-1]
    around = Steps(translate("the steps around the layers"), sizes, words=tokens)
    return Trace(config, *tokens, around, tuple(layers), result, tuple(all_notes))
