"""Methods of masking, and their leaks: the weights under five ways to forbid a cell, in pictures, tables and words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd

from attnviz.analysis.mask_forms import FILLS, leaked, unmasked
from attnviz.arrays import Array
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import normaliser_in, normaliser_of
from attnviz.engine.tables.normalised_axes import NORMALISED_AXES
from attnviz.exports.tables import labels
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, sign, translate, translate_all
from attnviz.text.format.number_format import localised, short
from attnviz.text.format.sentence_parts import QUOTED

TITLE = "Weights, head {head}"
PHRASE = "the same scores, forbidden cells masked in five ways"
ALT = "Weights of head {head} under five ways to mask forbidden cells: {ways}."

COLUMNS = Words(
    {
        "way": "Forbidden cells",
        "what": "Method",
        "leaked": "Largest leak in a row",
        "differs": "Largest difference from −∞",
        "empty": "A row with nothing allowed",
    }
)
DONE = Words(
    {
        "minus_infinity": "score −∞, then {normaliser}",
        "large_number": "score {large}, then {normaliser}",
        "zero_score": "score 0, then {normaliser}: scores × mask",
        "zero_after": "{normaliser} of all scores, then weights × mask",
        "renormalised": "the same, then each row divided by its sum",
    }
)
EMPTY = Words(
    {
        "zeros": "zeros",
        "zeros_here": "zeros here; by the bare formula 0 / 0, NaN",
        "nan": "NaN: 0 / 0",
        "equal": "{weight} for every key, all of them forbidden",
        "sum": "weights on forbidden keys, {sum} in all",
    }
)
SENTENCES = Words(
    {
        "stands_in": "Nothing is forbidden in the current setting, so the causal mask stands in here.",
        "emptied": "In this experiment the first query, {query}, may attend to nothing.",
        "any": "What leaks depends on the formula: a key stays out only where the formula gives it 0.",
        "columns": "Weights are normalised over the queries here, the wrong way: a hidden cell leaves its share to "
        "the rest of its column.",
    }
)
RUN, READ = "run, PyTorch 2.13 on a CPU", "read, keras-team/keras pull request 21149"
LIBRARIES = (
    ("torch.softmax over a row of −∞", "NaN", RUN),
    ("scaled_dot_product_attention, attn_mask of booleans or of −∞", "output 0", RUN),
    ("nn.MultiheadAttention, called as by default", "weights and output NaN", RUN),
    ("nn.MultiheadAttention, need_weights=False", "zeros into the output projection", RUN),
    ("scores.masked_fill(~allowed, -1e9), then softmax", "1/n for every key", RUN),
    ("scores + (-1e9), then softmax, float32", "1/n for every key: the scores drown", RUN),
    ("scores + (-1e9), then softmax, float64", "nearly as without a mask", RUN),
    ("masked_fill with -1e9 in float16", "refused: it is beyond float16", RUN),
    ("keras.layers.Softmax, before that change", "1/n for every key", READ),
    ("keras.layers.Softmax, since that change", "zeros", READ),
    ("jax.nn.softmax(where=mask)", "zeros", READ),
    ("attnviz", "weights 0, output 0", "tested with every change"),
)
LIBRARY_COLUMNS = ("Call", "A row with nothing allowed", "How this is known")
"""The result of libraries for a row with nothing allowed: only what was run or read, and where."""


@dataclass(frozen=True)
class MaskingTrial:
    """The trial of one head.

    scores    (queries, keys), just before the mask
    allowed   (queries, keys), True = may attend
    large     what stands for −∞ in the second way
    notes     what a reader should know of it
    """

    trace: Trace
    layer: int
    head: int
    scores: Array
    allowed: Array
    large: float
    notes: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The ways as a picture or a table names them."""
        labels = {name: row.label for name, row in FILLS.items()}
        return list((labels | {"large_number": short(self.large)}).values())

    @cached_property
    def weights(self) -> Array:
        """The weights (ways, queries, keys), in the order of FILLS."""
        return self._hidden(self.allowed)

    def hidden_by(self, method: str) -> Array:
        """Return the weights under one way of FILLS alone, (queries, keys)."""
        return self._hidden(self.allowed, (method,))[0]

    @cached_property
    def emptied(self) -> Array:
        """The weights (ways, keys) of a row with nothing allowed, the first of this mask or else the first query."""
        allowed = self.allowed.copy()
        row = int(allowed.any(axis=-1).argmin())
        allowed[row] = False
        return self._hidden(allowed)[:, row]

    def _hidden(self, allowed: Array, methods: Iterable[str] = FILLS) -> Array:
        config = self.trace.config
        normaliser = normaliser_in(config, self.trace.layers[self.layer], [self.head]).fn
        normalise = partial(NORMALISED_AXES[config.normalise_over].fn, normaliser, T=config.temperature)
        with np.errstate(all="ignore"):
            return np.stack([FILLS[way].fn(self.scores, allowed, normalise, self.large) for way in methods])


def masking_trial(
    trace: Trace, layer: int, head: int, *, large: float = -1e9, empty_a_row: bool = False
) -> MaskingTrial:
    """Return the trial of one head; head and layer count from 0.

    Without a forbidden cell the causal mask stands in. `empty_a_row` forbids the first query every key, unless there
    is such a row already.
    """
    config, steps = trace.config, trace.layers[layer]
    allowed, notes = ~np.isneginf(steps["masked"].array[head]), []
    if allowed.all():
        allowed = np.tri(*allowed.shape, dtype=bool)
        notes.append(SENTENCES["stands_in"])
    if empty_a_row and allowed.any(axis=-1).all():
        allowed[0] = False
        notes.append(SENTENCES["emptied"].format(query=translate(QUOTED, token=trace.query_tokens[0])))
    over_rows = normaliser_of(config).masked_as_0 or SENTENCES["any"]
    notes.append(SENTENCES["columns"] if config.normalise_over == "queries" else over_rows)
    return MaskingTrial(trace, layer, head, unmasked(steps)[head], allowed, large, tuple(notes))


def leakiest(trace: Trace, layer: int) -> tuple[int, float]:
    """Return the head that leaks most where 0 stands for a hidden score, counted from 0, and how much of a row that is.

    Heads that leak equally, but for rounding, are equal: the first of them. What is no number counts as all.
    """
    trials = [masking_trial(trace, layer, head) for head in range(trace.config.n_heads)]
    most = [_most(each.hidden_by("zero_score"), each.allowed) for each in trials]
    counted = np.nan_to_num(most, nan=np.inf)
    head = int(np.argmax(counted >= counted.max() - 1e-9))
    return head, most[head]


def _most(A: Array, allowed: Array) -> float:
    """Return the most that leaks in a row that may attend to anything at all."""
    return float(leaked(A, allowed)[allowed.any(axis=-1)].max(initial=0.0))


def stage(trial: MaskingTrial) -> Stage:
    """Return the five ways side by side on one scale.

    Forbidden cells are grey in the first and numbers in the others.
    """
    masked = np.zeros(trial.weights.shape, dtype=bool)
    masked[0] = ~trial.allowed
    return Stage(
        name="fills",
        title=translate(TITLE, head=ordinal(trial.head)),
        array=trial.weights,
        kind="share",
        rows=trial.trace.query_tokens,
        columns=trial.trace.key_tokens,
        masked=masked,
        heads=trial.names,
        phrase=translate(PHRASE),
        alt=translate(ALT, head=ordinal(trial.head), ways=sign(", ").join(trial.names)),
    )


def ways(trial: MaskingTrial) -> pd.DataFrame:
    """Return a row for each way: what is done, what leaks, how far it is from −∞, and what an emptied row becomes.

    Rows with nothing allowed count only in the last.
    """
    normaliser = normaliser_of(trial.trace.config)
    full = trial.allowed.any(axis=-1)
    rows = [
        {
            "way": label,
            "what": DONE[name].format(normaliser=normaliser.plain, large=short(trial.large)),
            "leaked": _most(A, trial.allowed),
            "differs": np.abs(A - trial.weights[0])[full].max(initial=0.0),
            "empty": _becomes(row, bare=name == "minus_infinity" and normaliser.sums_to_one),
        }
        for name, label, A, row in zip(FILLS, trial.names, trial.weights, trial.emptied, strict=True)
    ]
    return pd.DataFrame(rows).rename(columns=dict(COLUMNS))


def _becomes(row: Array, *, bare: bool) -> str:
    """Describe a row with nothing allowed; `bare` if the formula alone would divide 0 by 0."""
    if np.isnan(row).any():
        return EMPTY["nan"]
    if not row.any():
        return EMPTY["zeros_here" if bare else "zeros"]
    if np.ptp(row) < 1e-12:
        return EMPTY["equal"].format(weight=localised(short(row[0])))
    return EMPTY["sum"].format(sum=localised(short(row.sum())))


def leaked_weights(trial: MaskingTrial) -> pd.DataFrame:
    """Return for each query the sum of its weights on forbidden keys, a column for each way."""
    return _by_query(trial, leaked(trial.weights, trial.allowed))


def sums(trial: MaskingTrial) -> pd.DataFrame:
    """Return for each query the sum of all its weights, a column for each way."""
    return _by_query(trial, trial.weights.sum(axis=-1))


def _by_query(trial: MaskingTrial, numbers: Array) -> pd.DataFrame:
    index = pd.Index(labels(trial.trace.query_tokens), name=translate("query"))
    return pd.DataFrame(numbers.T, index=index, columns=trial.names)


def libraries() -> pd.DataFrame:
    """Return a table of the libraries' results for a row with nothing allowed."""
    return pd.DataFrame(translate_all(LIBRARIES), columns=pd.Index(translate_all(LIBRARY_COLUMNS)))
