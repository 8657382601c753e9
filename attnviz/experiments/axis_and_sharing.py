"""The axis that sums to one, and the saving by shared keys and values: both experiments in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from attnviz.analysis import statistics, variance_and_sharing
from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_of
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Plural, Words, translate, translate_all
from attnviz.text import cost_ledger
from attnviz.text.cell_sentence import percent
from attnviz.text.format.number_format import short

SUM = "Σ"
SUMS = Words(
    {
        "keys": "{normaliser} over the keys: rows add to {rows}, columns to {columns}.",
        "queries": "Over the queries: columns add to {columns}, rows to {rows}.",
    }
)
CASES = Words(
    {
        "one_cell": "With one query and one key there is one cell, and the axis makes no difference.",
        "one_query": "With one query, every key can only go to it: over the queries each weight comes out by itself.",
        "one_key": "With one key, every query can only attend to it: over the keys each weight comes out by itself.",
        "same": "In this setting the axis makes no difference: the largest is {difference}.",
        "by_cell": "{normaliser} takes each cell by itself, so the axis makes no difference.",
        "leak": "Masked cells have a weight of {leak} on both sides.",
        "emptied": "No query may attend to {n}: what is empty adds to 0, whichever axis is used.",
        "alone": "Only one cell is left in {n}: over the queries its score competes with no other.",
        "layers": "In layer {layer} the two sides read different inputs, as the layers before it differ already.",
    }
)
COLUMNS = Plural("{n} column", "{n} columns")


def sums(A: Array, head: int) -> dict[str, Array]:
    """Sum the rows and the columns of a head, by the axis that is left: "query" and "key".

    >>> sums(np.array([[[0.25, 0.75], [1.0, 0.0]]]), 0)
    {'query': array([1., 1.]), 'key': array([1.25, 0.75])}
    """
    return {"query": statistics.row_sums(A[head]), "key": statistics.column_sums(A[head])}


def with_sums(picture: Stage, head: int) -> Stage:
    """Return one head of a picture of weights, the sums of its rows and columns in the margins, coloured as shares.

    The corner is what all of them add to. `head` counts from 0.
    """
    A = picture.array[head]
    sums_of_axis = sums(picture.array, head)
    framed = np.block([[A, sums_of_axis["query"][:, None]], [sums_of_axis["key"][None], A.sum(keepdims=True)]])
    hidden = None if picture.masked is None else np.pad(picture.masked[head], ((0, 1), (0, 1)))[None]
    return replace(
        picture,
        name=f"{picture.name}-sums",
        array=framed[None],
        rows=[*picture.rows, SUM],
        columns=[*(picture.columns or ()), SUM],
        masked=hidden,
        heads=[picture.names[head]],
        reach=1.0,
        margin=1,
    )


def axis_sentences(sides: dict[str, Trace], layer: int) -> list[str]:
    """Describe the sums over both axes of a run, over all heads."""
    weights = {side: trace.layers[layer]["weights"].array for side, trace in sides.items()}
    may = ~np.isneginf(sides["keys"].layers[layer]["masked"].array)
    words = {"normaliser": NORMALISERS[sides["keys"].config.normaliser].label}
    sentences = []
    for side, A in weights.items():
        rows, columns = statistics.row_sums(A)[may.any(axis=-1)], statistics.column_sums(A)[may.any(axis=-2)]
        sentences.append(SUMS[side].format(rows=span(rows), columns=span(columns), **words))
    return [*sentences, *_no_difference(sides, weights), *_masked(sides, layer, weights, may)]


def _no_difference(sides: dict[str, Trace], weights: dict[str, Array]) -> list[str]:
    """Say why the axis makes no difference here, or one side is trivial; nothing as a rule."""
    _, n_query, n_key = weights["keys"].shape
    normaliser = normaliser_of(sides["keys"].config)
    if normaliser.judges_alone:
        return [CASES["by_cell"].format(normaliser=normaliser.label)]
    if n_query == 1 or n_key == 1:
        return [CASES["one_cell" if n_query == n_key else "one_query" if n_query == 1 else "one_key"]]
    difference = float(np.abs(weights["keys"] - weights["queries"]).max())
    return [CASES["same"].format(difference=small(difference))] if difference < 1e-9 else []


def _masked(sides: dict[str, Trace], layer: int, weights: dict[str, Array], may: Array) -> list[str]:
    """Describe the effect of a mask on the columns; nothing without one."""
    sentences = []
    if not may.all():
        leak = max(float(np.abs(A[~may]).max()) for A in weights.values())
        sentences.append(CASES["leak"].format(leak=small(leak)))
        n_open = may[0].sum(axis=-2)
        for case, n in (("emptied", int((n_open == 0).sum())), ("alone", int((n_open == 1).sum()))):
            if n and may.shape[-2] > 1:
                sentences.append(CASES[case].format(n=COLUMNS.format(n=n)))
    if layer > 0:
        sentences.append(CASES["layers"].format(layer=ordinal(layer)))
    return sentences


def span(values: Array) -> str:
    """Write a range from the smallest to the largest, and once if they are the same.

    >>> span(np.array([1.0, 1.0])), span(np.array([0.5, 2.0]))
    ('1', '0.5 to 2')
    """
    if not values.size:
        return translate("nothing")
    low, high = (short(value) for value in (values.min(), values.max()))
    return low if low == high else translate("{low} to {high}", low=low, high=high)


def small(x: float) -> str:
    """Return a difference that is nothing but rounding, or nothing at all.

    >>> small(0.0), small(2.3e-16)
    ('exactly 0', '2.3e-16')
    """
    return f"{x:.2g}" if x else translate("exactly 0")


@dataclass(frozen=True)
class Shared:
    """The cost and the maps with a number of key/value heads.

    cache       numbers kept a token and layer
    parameters  of one layer
    alike       weight that heads of one group have in common, the mean; NaN where every head is a group
    apart       the same pairs of heads where each has keys and values of its own
    """

    n_kv_heads: int
    cache: int
    parameters: int
    alike: float
    apart: float


def shared(variants: Sequence[Trace], layer: int) -> list[Shared]:
    """Compare runs that differ in their number of key/value heads, the first with as many as heads."""
    own_weights = variants[0].layers[layer]["weights"].array
    variants_of_head = []
    for trace in variants:
        group, A = trace.config.group_size, trace.layers[layer]["weights"].array
        kept, n_parameters = (
            variance_and_sharing.cache_size(trace.config),
            cost_ledger.ledger(trace, layer).n_parameters,
        )
        pairs = variance_and_sharing.shared_weight(A, group), variance_and_sharing.shared_weight(own_weights, group)
        variants_of_head.append(Shared(trace.config.kv_heads, kept, n_parameters, *pairs))
    return variants_of_head


SHARED_COLUMNS = (
    "Key/value heads",
    "KV cache: numbers",
    "bytes, float16",
    "bytes, float32",
    "Parameters of the layer",
    "Weight in common",
    "Same heads, own keys and values",
)
NO_PAIRS = "–"
SHARED = Words(
    {
        "cache": "For every token and layer {many:,} numbers have to be kept with keys and values for each head, "
        "{few:,} with one for all: {many16:,} and {few16:,} bytes in float16, a factor of {times:.4g}.",
        "alike": "With one for all, two heads have {alike} of their weight in common on average; with their own, "
        "{apart}.",
        "maps": "The maps do not become equal: only keys and values are shared, and every head still asks with its own "
        "query.",
        "equal": "Here the maps of a group are equal, as its heads ask with the same queries.",
        "one": "With one head there is nothing to share: {cache:,} numbers for every token and layer.",
        "same_draws": "Key/value head 1 holds the same numbers in all of them, head 2 wherever there is one, and so "
        "on; the queries are the same throughout.",
        "by_hand": "The heads are set by hand, once for each key/value head, so queries change along with keys.",
        "tied": "As W_K = W_Q, heads that share keys share their queries as well.",
        "widths": "Widths belong to key/value heads, so queries of another width change along with keys.",
        "changes": "The queries of this layer change as well, as it reads what the layer before it makes.",
    }
)


def sharing_sentences(variants: Sequence[Trace], layer: int) -> list[str]:
    """Describe the saving by sharing and its effect on the maps."""
    by_variant = shared(variants, layer)
    many, few = by_variant[0].cache, by_variant[-1].cache
    if len(by_variant) == 1:
        return [SHARED["one"].format(cache=many)]
    sentences = [SHARED["cache"].format(many=many, few=few, many16=2 * many, few16=2 * few, times=many / few)]
    last = by_variant[-1]
    if not np.isnan(last.alike):
        sentences.append(SHARED["alike"].format(alike=percent(last.alike), apart=percent(last.apart)))
        sentences.append(SHARED["equal" if last.alike > 1 - 1e-9 else "maps"])
    return [*sentences, SHARED[_queries(variants, layer)]]


def _queries(variants: Sequence[Trace], layer: int) -> str:
    """Return whether all variants have the same queries, and the first keys in common; or why they do not."""
    steps, config = [trace.layers[layer] for trace in variants], variants[0].config
    Q, K = steps[0]["queries"].array, steps[0]["keys"].array
    if all(
        np.array_equal(Q, s["queries"].array) and np.array_equal(K[: len(s["keys"].array)], s["keys"].array)
        for s in steps
    ):
        return "same_draws"
    if INITIALISERS[config.initialiser].solved:
        return "by_hand"
    if config.tied and not config.is_cross_attention:
        return "tied"
    return "widths" if len(set(config.key_widths())) > 1 else "changes"


def sharing_table(by_variant: Sequence[Shared]) -> pd.DataFrame:
    """Return the variants as a table, a row each."""
    rows = [
        (
            *(each.n_kv_heads, each.cache, 2 * each.cache, 4 * each.cache, each.parameters),
            *(NO_PAIRS if np.isnan(share) else percent(share) for share in (each.alike, each.apart)),
        )
        for each in by_variant
    ]
    return pd.DataFrame(rows, columns=translate_all(SHARED_COLUMNS))
